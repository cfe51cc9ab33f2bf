//! What writers make: layouts, names, rolling, descriptions, footers, and what they leave behind when they fail.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use tidewater_files::{
    FileDirectory, FileNames, FileWriterOptions, FilesContext, RollingFileWriter,
};
use tidewater_format::{
    DataFileMeta, FileSource, StatsBounds, TableSchema, sequence_number_field, value_kind_field,
};
use tidewater_io::FileIo;
use tidewater_types::{BinaryRow, DataType, Datum, ErrorKind, RowType};

use crate::support::{DIR, batch, context, keyed, options, path, read, table, write, write_with};

fn keyed_table(extra: &[(&str, &str)]) -> Arc<TableSchema> {
    let row = RowType::of([
        ("v", DataType::int()),
        ("k2", DataType::string().not_null()),
        ("k1", DataType::int().not_null()),
    ]);
    let options: Vec<_> = [("bucket", "1")]
        .into_iter()
        .chain(extra.iter().copied())
        .collect();
    table(&row, &["k1", "k2"], &options)
}

fn keyed_rows(schema: &TableSchema) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![Some(5), None, Some(1)])),
        Arc::new(StringArray::from(vec!["z", "a", "b"])),
        Arc::new(Int32Array::from(vec![1, 2, 2])),
    ];
    keyed(&batch(&schema.fields, columns), 10, vec![3, 0, 2])
}

async fn metadata(context: &FilesContext, file: &DataFileMeta) -> ParquetMetaData {
    let bytes = context.io().read(&path(file)).await.unwrap();
    assert_eq!(bytes.len() as i64, file.file_size);
    ParquetMetaDataReader::new()
        .with_page_index_policy(PageIndexPolicy::Required)
        .parse_and_finish(&bytes)
        .unwrap()
}

fn names_and_ids(metadata: &ParquetMetaData) -> Vec<(String, i32)> {
    let root = metadata.file_metadata().schema_descr().root_schema_ptr();
    root.get_fields()
        .iter()
        .map(|field| (field.name().to_owned(), field.get_basic_info().id()))
        .collect()
}

#[tokio::test]
async fn a_keyed_file_has_keys_sequence_kind_and_columns() {
    let context = context();
    let schema = keyed_table(&[]);
    let files = write(&context, &schema, &[keyed_rows(&schema)])
        .await
        .unwrap();
    let metadata = metadata(&context, &files[0]).await;
    let expected = [
        ("_KEY_k1", 1_073_741_825),
        ("_KEY_k2", 1_073_741_824),
        ("_SEQUENCE_NUMBER", 2_147_483_646),
        ("_VALUE_KIND", 2_147_483_645),
        ("v", 0),
        ("k2", 1),
        ("k1", 2),
    ];
    assert_eq!(
        names_and_ids(&metadata),
        expected.map(|(name, id)| (name.to_owned(), id))
    );
    let file = &files[0];
    let types = [DataType::int().not_null(), DataType::string().not_null()];
    let key = |k1, k2: &str| {
        BinaryRow::from_datums(&[Datum::Int(k1), Datum::String(k2.to_owned())], &types).unwrap()
    };
    assert_eq!((&file.min_key, &file.max_key), (&key(1, "z"), &key(2, "b")));
    assert_eq!(
        (file.min_sequence_number, file.max_sequence_number),
        (10, 12)
    );
    assert_eq!((file.row_count, file.delete_row_count), (3, Some(1)));
    assert_eq!(
        (file.level, file.file_source, file.schema_id),
        (0, Some(FileSource::Append), schema.id)
    );
    assert_eq!(file.creation_time_millis, Some(context.env().now_millis()));
    let bounds = StatsBounds::of(&file.key_stats, &types).unwrap();
    assert_eq!(
        (&bounds.columns()[1].min, &bounds.columns()[1].max),
        (&Datum::String("a".into()), &Datum::String("z".into()))
    );
    // Whoever reads `_KEY_k2` finds the values of `k2`: one encoding serves both.
    let bytes = context.io().read(&path(file)).await.unwrap();
    let all = ParquetRecordBatchReaderBuilder::try_new(bytes)
        .unwrap()
        .build()
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    assert_eq!(
        all.column_by_name("_KEY_k2").unwrap(),
        all.column_by_name("k2").unwrap()
    );
    assert_eq!(
        all.column_by_name("_KEY_k1").unwrap(),
        all.column_by_name("k1").unwrap()
    );
    let system = [sequence_number_field(), value_kind_field()];
    let back = read(&context, &path(file), &system).await.unwrap();
    assert_eq!(back, keyed_rows(&schema).project(&[0, 1]).unwrap());
}

#[tokio::test]
async fn a_thin_file_leaves_the_key_copies_out() {
    let context = context();
    let (full, thin) = (
        keyed_table(&[]),
        keyed_table(&[("data-file.thin-mode", "true")]),
    );
    let rows = keyed_rows(&full);
    let full = &write(&context, &full, std::slice::from_ref(&rows))
        .await
        .unwrap()[0];
    let thin = &write(&context, &thin, &[rows]).await.unwrap()[0];
    let names: Vec<String> = names_and_ids(&metadata(&context, thin).await)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names, ["_SEQUENCE_NUMBER", "_VALUE_KIND", "v", "k2", "k1"]);
    assert_eq!(
        (&thin.key_stats, &thin.min_key, &thin.max_key),
        (&full.key_stats, &full.min_key, &full.max_key)
    );
}

#[tokio::test]
async fn data_and_changelog_files_of_a_writer_count_together() {
    let context = context();
    let schema = keyed_table(&[
        ("file.suffix.include.compression", "true"),
        ("changelog-file.compression", "snappy"),
    ]);
    let names = FileNames::new(context.env());
    let writer = |options| {
        let directory = FileDirectory::external("memory:/elsewhere/bucket-0");
        RollingFileWriter::new(
            &context,
            names.clone(),
            directory,
            Arc::clone(&schema),
            options,
        )
        .unwrap()
    };
    let mut changelog = writer(FileWriterOptions::changelog(&schema, 0).unwrap());
    let mut data = writer(FileWriterOptions::data(&schema, 5, FileSource::Compact).unwrap());
    changelog.write(&keyed_rows(&schema)).await.unwrap();
    data.write(&keyed_rows(&schema)).await.unwrap();
    let data = data.finish().await.unwrap();
    let changelog = changelog.finish().await.unwrap();
    assert!(
        changelog[0].file_name.starts_with("changelog-")
            && changelog[0].file_name.ends_with("-0.zst.parquet")
    );
    assert!(
        data[0].file_name.starts_with("data-") && data[0].file_name.ends_with("-1.zst.parquet")
    );
    assert_eq!(
        (data[0].level, data[0].file_source),
        (5, Some(FileSource::Compact))
    );
    assert_eq!(changelog[0].file_source, Some(FileSource::Append));
    assert_eq!(
        data[0].external_path,
        Some(format!("memory:/elsewhere/bucket-0/{}", data[0].file_name))
    );
}

fn append_table(extra: &[(&str, &str)]) -> Arc<TableSchema> {
    table(
        &RowType::of([("a", DataType::big_int()), ("s", DataType::string())]),
        &[],
        extra,
    )
}

fn append_rows(schema: &TableSchema, rows: std::ops::Range<i64>) -> RecordBatch {
    let texts = StringArray::from_iter_values(
        rows.clone()
            .map(|row| format!("{:x}", row.wrapping_mul(0x1e37_79b9_7f4a_7c15))),
    );
    batch(
        &schema.fields,
        vec![
            Arc::new(Int64Array::from_iter_values(rows)),
            Arc::new(texts),
        ],
    )
}

#[tokio::test]
async fn files_roll_at_multiples_of_1000_rows_and_numbers_go_on() {
    let context = context();
    let schema = append_table(&[("target-file-size", "2kb")]);
    let mut settings = options(&schema);
    settings.first_sequence_number = 100;
    // One batch and many give the same files.
    let whole = write_with(
        &context,
        &schema,
        settings.clone(),
        &[append_rows(&schema, 0..5300)],
    )
    .await
    .unwrap();
    let parts: Vec<RecordBatch> = (0..53)
        .map(|part| append_rows(&schema, part * 100..part * 100 + 100))
        .collect();
    let many = write_with(&context, &schema, settings, &parts)
        .await
        .unwrap();
    for files in [&whole, &many] {
        assert_eq!(
            files.iter().map(|file| file.row_count).collect::<Vec<_>>(),
            [1000, 1000, 1000, 1000, 1000, 300]
        );
        let numbers: Vec<_> = files
            .iter()
            .map(|file| (file.min_sequence_number, file.max_sequence_number))
            .collect();
        assert_eq!(
            numbers,
            [
                (100, 1099),
                (1100, 2099),
                (2100, 3099),
                (3100, 4099),
                (4100, 5099),
                (5100, 5399)
            ]
        );
        assert!(
            files
                .iter()
                .all(|file| file.min_key == BinaryRow::empty() && file.level == 0)
        );
    }
    let mut first = 0;
    for file in &whole {
        let back = read(&context, &path(file), &schema.fields).await.unwrap();
        assert_eq!(back, append_rows(&schema, first..first + file.row_count));
        first += file.row_count;
    }
}

#[tokio::test]
async fn files_close_near_their_target_size() {
    let context = context();
    let schema = append_table(&[("target-file-size", "1mb")]);
    let files = write(&context, &schema, &[append_rows(&schema, 0..400_000)])
        .await
        .unwrap();
    assert!(files.len() > 2);
    let (last, full) = files.split_last().unwrap();
    for file in full {
        assert!(
            (900_000..1_300_000).contains(&file.file_size),
            "{}",
            file.file_size
        );
        assert_eq!(file.row_count % 1000, 0);
    }
    assert!(last.file_size < 1_300_000);
}

#[tokio::test]
async fn large_files_have_bounded_row_groups_with_indexes_and_checksums() {
    let context = context();
    let schema = append_table(&[("file.block-size", "256kb")]);
    for threads in [1, 2] {
        let mut settings = options(&schema);
        settings.encode_threads = threads;
        let rows = append_rows(&schema, 0..200_000);
        let files = write_with(&context, &schema, settings, &[rows])
            .await
            .unwrap();
        let metadata = metadata(&context, &files[0]).await;
        assert!(metadata.num_row_groups() > 2);
        assert_eq!(
            metadata.column_index().unwrap().len(),
            metadata.num_row_groups()
        );
        for (group, pages) in metadata
            .row_groups()
            .iter()
            .zip(metadata.offset_index().unwrap())
        {
            assert!(
                group.compressed_size() < 3 << 20,
                "{}",
                group.compressed_size()
            );
            for (column, pages) in group.columns().iter().zip(pages) {
                let bytes = context.io().read(&path(&files[0])).await.unwrap();
                for page in pages.page_locations() {
                    // Header: type, two sizes, then field 4, the checksum: i32 fields one after the other are marked 0x15.
                    let start = usize::try_from(page.offset).unwrap();
                    let header = &bytes[start..start + 40];
                    let mut at = 0;
                    for _ in 0..4 {
                        assert_eq!(header[at], 0x15, "column {}", column.column_path().string());
                        at += 1
                            + header[at + 1..]
                                .iter()
                                .position(|byte| *byte < 0x80)
                                .unwrap()
                            + 1;
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn a_damaged_page_is_found_by_its_checksum() {
    let context = context();
    let schema = append_table(&[
        ("file.compression", "uncompressed"),
        ("parquet.enable.dictionary", "false"),
    ]);
    let files = write(&context, &schema, &[append_rows(&schema, 0..1000)])
        .await
        .unwrap();
    let whole = context.io().read(&path(&files[0])).await.unwrap();
    let column = metadata(&context, &files[0])
        .await
        .row_group(0)
        .column(0)
        .byte_range();
    let mut bytes = whole.to_vec();
    // In the middle of the values of column a.
    bytes[usize::try_from(column.0 + column.1 / 2).unwrap()] ^= 1;
    context
        .io()
        .write(&path(&files[0]), bytes.into())
        .await
        .unwrap();
    let error = read(&context, &path(&files[0]), &schema.fields)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let text = error.to_string();
    assert!(
        text.contains("column \"a\"") && text.contains("CRC") && text.contains(&files[0].file_name),
        "{text}"
    );
    // The other column is whole.
    let text = read(&context, &path(&files[0]), &schema.fields[1..])
        .await
        .unwrap();
    assert_eq!(text, append_rows(&schema, 0..1000).project(&[1]).unwrap());
}

#[tokio::test]
async fn batches_that_do_not_fit_are_refused_and_leave_no_file() {
    let context = context();
    let schema = keyed_table(&[]);
    let good = keyed_rows(&schema);
    let without_kind = good.project(&[0, 2, 3, 4]).unwrap();
    let wrong_type = {
        let mut columns = good.columns().to_vec();
        columns[4] = Arc::new(Int64Array::from(vec![1, 2, 2]));
        let fields: Vec<_> = good
            .schema()
            .fields()
            .iter()
            .zip(&columns)
            .map(|(field, column)| {
                field
                    .as_ref()
                    .clone()
                    .with_data_type(column.data_type().clone())
            })
            .collect();
        RecordBatch::try_new(Arc::new(arrow_schema::Schema::new(fields)), columns).unwrap()
    };
    let bad_kind = keyed(&good.project(&[2, 3, 4]).unwrap(), 0, vec![0, 4, 0]);
    for (bad, column) in [
        (without_kind, "_VALUE_KIND"),
        (wrong_type, "k1"),
        (bad_kind, "4"),
    ] {
        let error = write(&context, &schema, &[good.clone(), bad])
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(format!("{error:?}").contains(column), "{error:?}");
        assert_eq!(context.io().list(DIR).await.unwrap(), []);
    }
}

#[tokio::test]
async fn aborting_removes_finished_and_unfinished_files() {
    let folder = tempfile::tempdir().unwrap();
    let context = FilesContext::new(FileIo::local(), context().cpu().clone());
    let schema = append_table(&[("target-file-size", "1kb")]);
    let directory = FileDirectory::of_bucket(folder.path().join("bucket-0").to_str().unwrap());
    let names = FileNames::new(context.env());
    let mut writer = RollingFileWriter::new(
        &context,
        names,
        directory,
        Arc::clone(&schema),
        options(&schema),
    )
    .unwrap();
    writer.write(&append_rows(&schema, 0..2500)).await.unwrap();
    assert_eq!(
        std::fs::read_dir(folder.path().join("bucket-0"))
            .unwrap()
            .count(),
        3
    );
    writer.abort().await.unwrap();
    assert_eq!(
        std::fs::read_dir(folder.path().join("bucket-0"))
            .unwrap()
            .count(),
        0
    );
}

#[tokio::test]
async fn bounds_leave_out_nan_columns_and_huge_texts() {
    let context = context();
    let row = RowType::of([
        ("f", DataType::double()),
        ("g", DataType::float()),
        ("s", DataType::string()),
    ]);
    let schema = table(&row, &[], &[("metadata.stats-mode", "full")]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(arrow_array::Float64Array::from(vec![
            Some(1.0),
            Some(f64::NAN),
            None,
        ])),
        Arc::new(arrow_array::Float32Array::from(vec![0.0, -0.0, 2.0])),
        Arc::new(StringArray::from(vec![
            "a".repeat(3000),
            "b".repeat(3000),
            "c".to_owned(),
        ])),
    ];
    let files = write(&context, &schema, &[batch(&schema.fields, columns)])
        .await
        .unwrap();
    let bounds = StatsBounds::of(&files[0].value_stats, &row.types()).unwrap();
    let columns: Vec<_> = bounds
        .columns()
        .iter()
        .map(|column| (column.min.clone(), column.max.clone(), column.null_count))
        .collect();
    assert_eq!(columns[0], (Datum::Null, Datum::Null, Some(1)));
    assert_eq!(columns[1], (Datum::Float(-0.0), Datum::Float(2.0), Some(0)));
    assert_eq!(
        columns[2].0,
        Datum::String("a".repeat(3000)),
        "one of the two bounds is short, so both are kept"
    );
    let metadata = metadata(&context, &files[0]).await;
    assert_eq!(
        metadata
            .row_group(0)
            .column(0)
            .statistics()
            .unwrap()
            .min_bytes_opt(),
        None
    );
}

#[tokio::test]
async fn formats_that_are_not_built_are_refused() {
    let schema = append_table(&[("file.format", "orc")]);
    let error = FileWriterOptions::data(&schema, 0, FileSource::Append).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[tokio::test]
async fn bloom_filters_of_asked_columns_are_written() {
    let context = context();
    let schema = append_table(&[
        ("parquet.bloom.filter.enabled#s", "true"),
        ("parquet.bloom.filter.expected.ndv#s", "1000"),
    ]);
    let files = write(&context, &schema, &[append_rows(&schema, 0..1000)])
        .await
        .unwrap();
    let metadata = metadata(&context, &files[0]).await;
    assert!(
        metadata
            .row_group(0)
            .column(0)
            .bloom_filter_offset()
            .is_none()
    );
    assert!(
        metadata
            .row_group(0)
            .column(1)
            .bloom_filter_offset()
            .is_some()
    );
    let back = read(&context, &path(&files[0]), &schema.fields)
        .await
        .unwrap();
    assert_eq!(back.column(0).as_primitive::<Int64Type>().len(), 1000);
}
