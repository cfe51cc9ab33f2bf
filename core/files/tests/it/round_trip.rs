//! What is written comes back, for every type.

use proptest::prelude::*;
use tidewater_format::TableSchema;
use tidewater_types::DataField;

use crate::arrays::{Numbers, any_type, array, row_of};
use crate::support::{
    batch, context, local_context, options, path, read, read_with, table, write, write_with,
};
use tidewater_files::{ParquetFileReader, ReadRequest, RowChoice};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

fn rows(schema: &TableSchema, rows: usize, seed: u64) -> arrow_array::RecordBatch {
    let mut numbers = Numbers::new(seed);
    let columns = schema
        .fields
        .iter()
        .map(|field| array(&field.data_type, rows, &mut numbers))
        .collect();
    batch(&schema.fields, columns)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever the types, the codec, the page sizes and the number of threads: the rows read are the rows written.
    #[test]
    fn rows_survive(
        types in prop::collection::vec(any_type(3), 1..6),
        count in 0_usize..400,
        seed in any::<u64>(),
        codec in prop::sample::select(vec!["zstd", "snappy", "gzip", "lz4", "lz4_raw", "brotli", "uncompressed"]),
        page_bytes in prop::sample::select(vec!["64", "4096", "1048576"]),
        block in prop::sample::select(vec!["2kb", "64mb"]),
        version in prop::sample::select(vec!["PARQUET_1_0", "PARQUET_2_0"]),
        threads in 1_usize..3,
    ) {
        let row = row_of(types);
        let schema = table(&row, &[], &[
            ("file.compression", codec), ("parquet.page.size", page_bytes), ("file.block-size", block),
            ("parquet.writer.version", version), ("parquet.page.row.count.limit", "50"),
        ]);
        let rows = rows(&schema, count, seed);
        runtime().block_on(async {
            let context = context();
            let mut settings = options(&schema);
            settings.encode_threads = threads;
            let half = count / 2;
            let parts = [rows.slice(0, half), rows.slice(half, count - half)];
            let files = write_with(&context, &schema, settings, &parts).await.unwrap();
            if count == 0 {
                assert!(files.is_empty(), "no rows, no file");
                return;
            }
            assert_eq!(files.len(), 1);
            let back = read(&context, &path(&files[0]), &schema.fields).await.unwrap();
            assert_eq!(back, rows);
            // Any choice of rows gives those rows, in order, also when row groups are cut to single pages.
            let mut numbers = Numbers::new(seed);
            let mask: Vec<bool> = (0..count).map(|_| numbers.below(3) == 0).collect();
            let mut request = ReadRequest::new(schema.fields.clone());
            request.rows = RowChoice::Mask(mask.clone().into());
            request.unit_bytes = 1;
            request.batch_rows = 7;
            request.parallel = threads;
            let back = read_with(&context, &path(&files[0]), request.clone()).await.unwrap();
            let expected = arrow_select::filter::filter_record_batch(&rows, &mask.into()).unwrap();
            assert_eq!(back, expected);
            // And of a file that is read in place.
            let folder = tempfile::tempdir().unwrap();
            let on_disk = folder.path().join("copy.parquet");
            std::fs::write(&on_disk, context.io().read(&path(&files[0])).await.unwrap()).unwrap();
            let back = read_with(&local_context(), on_disk.to_str().unwrap(), request).await.unwrap();
            assert_eq!(back, expected);
        });
    }
}

#[tokio::test]
async fn a_projection_reads_columns_in_the_order_asked() {
    let row = row_of(vec![
        tidewater_types::DataType::int(),
        tidewater_types::DataType::string(),
        tidewater_types::DataType::timestamp(9),
    ]);
    let schema = table(&row, &[], &[]);
    let context = context();
    let rows = rows(&schema, 100, 5);
    let files = write(&context, &schema, std::slice::from_ref(&rows))
        .await
        .unwrap();
    let asked: Vec<DataField> = [2, 0]
        .map(|column: usize| schema.fields[column].clone())
        .to_vec();
    let back = read(&context, &path(&files[0]), &asked).await.unwrap();
    assert_eq!(back, rows.project(&[2, 0]).unwrap());
}

#[tokio::test]
async fn parts_decoded_at_the_same_time_come_in_file_order() {
    let row = row_of(vec![
        tidewater_types::DataType::big_int(),
        tidewater_types::DataType::string(),
    ]);
    let schema = table(&row, &[], &[]);
    let context = context();
    let count = 300_000;
    let rows = rows(&schema, count, 5);
    let files = write(&context, &schema, std::slice::from_ref(&rows))
        .await
        .unwrap();
    for parallel in [1, 2, 5] {
        let mut request = ReadRequest::new(schema.fields.clone());
        request.parallel = parallel;
        let back = read_with(&context, &path(&files[0]), request.clone())
            .await
            .unwrap();
        assert_eq!(back, rows, "{parallel} at the same time");
        // A reader that goes away in the middle leaves nothing behind that could block or panic.
        let reader = ParquetFileReader::open(&context, &path(&files[0]), None)
            .await
            .unwrap();
        let mut batches = reader.read(request).await.unwrap().batches;
        assert_eq!(
            batches.next_batch().await.unwrap().unwrap().num_rows(),
            8192
        );
    }
}

#[tokio::test]
async fn no_columns_still_tell_the_number_of_rows() {
    let row = row_of(vec![tidewater_types::DataType::int()]);
    let schema = table(&row, &[], &[("file.block-size", "1kb")]);
    let context = context();
    let files = write(&context, &schema, &[rows(&schema, 20_000, 5)])
        .await
        .unwrap();
    let back = read(&context, &path(&files[0]), &[]).await.unwrap();
    assert_eq!((back.num_rows(), back.num_columns()), (20_000, 0));
}
