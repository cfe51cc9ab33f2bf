//! Avro files: whatever is written comes back, in any choice of rows, and damage is told, never trusted.

use std::ops::Range;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use bytes::Bytes;
use proptest::prelude::*;
use tidewater_files::{AvroFileReader, DataFileReader, FilesError, ReadRequest, RowChoice};
use tidewater_format::avro::{AvroCodec, ContainerWriter, put};
use tidewater_index::{DeletionVector, DvKind};
use tidewater_types::{
    DataField, DataType, Datum, ErrorKind, Predicate, PredicateOp, RowType, TypeKind,
};

use crate::arrays::{Numbers, any_type, array, row_of};
use crate::support::{batch, context, options, path, read, read_with, table, write, write_with};

const CODECS: [&str; 7] = ["zstd", "ZSTD", "snappy", "deflate", "bzip2", "xz", "null"];

/// The nearest type that Avro files hold.
fn fit(mut data_type: DataType) -> DataType {
    data_type.kind = match data_type.kind {
        TypeKind::Time(precision) => TypeKind::Time(precision.min(3)),
        TypeKind::Timestamp(precision) => TypeKind::Timestamp(precision.min(6)),
        TypeKind::TimestampLtz(precision) => TypeKind::TimestampLtz(precision.min(6)),
        TypeKind::Variant => TypeKind::VarBinary(i32::MAX as u32),
        TypeKind::Array(element) => TypeKind::Array(Box::new(fit(*element))),
        TypeKind::Map(key, value) => TypeKind::Map(Box::new(fit(*key)), Box::new(fit(*value))),
        TypeKind::Multiset(_) => TypeKind::Multiset(Box::new(DataType::string().not_null())),
        TypeKind::Row(mut row) => {
            for field in &mut row.fields {
                field.data_type = fit(field.data_type.clone());
            }
            TypeKind::Row(row)
        }
        other => other,
    };
    data_type
}

fn rows(fields: &[DataField], rows: usize, seed: u64) -> RecordBatch {
    let mut numbers = Numbers::new(seed);
    let columns = fields
        .iter()
        .map(|field| array(&field.data_type, rows, &mut numbers))
        .collect();
    batch(fields, columns)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever the types, the codec and the sizes: the rows read are the rows written, and another library takes the file for Avro.
    #[test]
    fn avro_rows_survive(
        types in prop::collection::vec(any_type(3).prop_map(fit), 1..6),
        count in 1_usize..400,
        seed in any::<u64>(),
        codec in prop::sample::select(CODECS.to_vec()),
        batch_rows in 1_usize..500,
        unit_bytes in prop::sample::select(vec![1_u64, 100, 1 << 20]),
    ) {
        let schema = table(&row_of(types), &[], &[("file.format", "avro"), ("file.compression", codec)]);
        let rows = rows(&schema.fields, count, seed);
        runtime().block_on(async {
            let context = context();
            let half = count / 2;
            let parts = [rows.slice(0, half), rows.slice(half, count - half)];
            let files = write(&context, &schema, &parts).await.unwrap();
            assert_eq!(files.len(), 1);
            let path = path(&files[0]);
            assert_eq!(read(&context, &path, &schema.fields).await.unwrap(), rows);
            // Any choice of rows and columns, in small pieces.
            let mut numbers = Numbers::new(seed);
            let mask: Vec<bool> = (0..count).map(|_| numbers.below(3) == 0).collect();
            let mut request = ReadRequest::new(schema.fields.iter().rev().step_by(2).cloned().collect());
            request.file_fields = schema.fields.clone();
            request.whole = true;
            request.rows = RowChoice::Mask(mask.clone().into());
            request.unit_bytes = unit_bytes;
            request.batch_rows = batch_rows;
            let back = read_with(&context, &path, request.clone()).await.unwrap();
            let columns: Vec<usize> = (0..schema.fields.len()).rev().step_by(2).collect();
            let expected = rows.project(&columns).unwrap();
            let expected = arrow_select::filter::filter_record_batch(&expected, &mask.clone().into()).unwrap();
            assert_eq!(back, expected);
            // And without the rows that are deleted.
            let deleted: Vec<bool> = (0..count).map(|_| numbers.below(4) == 0).collect();
            let positions = (0_u64..).zip(&deleted).filter(|(_, deleted)| **deleted);
            let vector = DeletionVector::of(DvKind::Bits32, positions.map(|(row, _)| row));
            request.deleted = Some(std::sync::Arc::new(vector.unwrap()));
            let back = read_with(&context, &path, request).await.unwrap();
            let left = mask.iter().zip(&deleted).map(|(chosen, deleted)| *chosen && !deleted);
            let left: Vec<bool> = left.collect();
            let expected = rows.project(&columns).unwrap();
            assert_eq!(back, arrow_select::filter::filter_record_batch(&expected, &left.into()).unwrap());
            let bytes = context.io().read(&path).await.unwrap();
            let other = apache_avro::Reader::new(&bytes[..]).unwrap();
            assert_eq!(other.map(Result::unwrap).count(), count);
        });
    }
}

fn words() -> RowType {
    RowType::of([("k", DataType::int().not_null()), ("w", DataType::string())])
}

fn numbered(fields: &[DataField], range: Range<i32>, width: usize) -> RecordBatch {
    let words = range.clone().map(|n| format!("{}{n}", "x".repeat(width)));
    let columns: Vec<ArrayRef> = vec![
        std::sync::Arc::new(Int32Array::from_iter_values(range.clone())),
        std::sync::Arc::new(StringArray::from_iter_values(words)),
    ];
    batch(fields, columns)
}

#[tokio::test]
async fn rows_over_many_blocks_are_chosen_by_position_and_filtered_by_value() {
    let schema = table(&words(), &[], &[("file.format", "avro")]);
    let context = context();
    let all = numbered(&schema.fields, 0..60_000, 20);
    let files = write(&context, &schema, std::slice::from_ref(&all))
        .await
        .unwrap();
    let path = path(&files[0]);
    assert_eq!(files[0].row_count, 60_000);
    for (unit_bytes, batch_rows) in [(1 << 20, 8192), (1000, 100_000), (1, 333)] {
        let mut request = ReadRequest::new(schema.fields.clone());
        (request.unit_bytes, request.batch_rows) = (unit_bytes, batch_rows);
        assert_eq!(
            read_with(&context, &path, request.clone()).await.unwrap(),
            all
        );
        request.rows = RowChoice::Ranges(vec![0..2, 29_999..30_001, 59_999..70_000]);
        let back = read_with(&context, &path, request.clone()).await.unwrap();
        let parts = [all.slice(0, 2), all.slice(29_999, 2), all.slice(59_999, 1)];
        let expected = arrow_select::concat::concat_batches(&all.schema(), &parts).unwrap();
        assert_eq!(back, expected);
        // The predicate's column is not among those that are asked for.
        let row = RowType::new(schema.fields.clone());
        request.rows = RowChoice::All;
        request.columns = vec![schema.fields[1].clone()];
        request.filter_columns = schema.fields.clone();
        request.filter =
            Some(Predicate::leaf(&row, "k", PredicateOp::GtEq, vec![Datum::Int(59_990)]).unwrap());
        assert_eq!(
            read_with(&context, &path, request.clone())
                .await
                .unwrap()
                .num_rows(),
            60_000
        );
        request.exact_filter = true;
        let back = read_with(&context, &path, request).await.unwrap();
        assert_eq!(back, all.slice(59_990, 10).project(&[1]).unwrap());
    }
    let none = read(&context, &path, &[]).await.unwrap();
    assert_eq!((none.num_rows(), none.num_columns()), (60_000, 0));
}

#[tokio::test]
async fn a_vector_of_another_file_is_refused() {
    let schema = table(&words(), &[], &[("file.format", "avro")]);
    let context = context();
    let files = write(&context, &schema, &[numbered(&schema.fields, 0..10, 20)])
        .await
        .unwrap();
    let mut request = ReadRequest::new(schema.fields.clone());
    let vector = DeletionVector::of(DvKind::Bits32, [3, 10]).unwrap();
    request.deleted = Some(std::sync::Arc::new(vector));
    let error = read_with(&context, &path(&files[0]), request)
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            FilesError::DeletedBeyondEnd {
                position: 10,
                rows: 10,
                ..
            }
        ),
        "{error}"
    );
}

#[tokio::test]
async fn a_reader_that_goes_away_in_the_middle_leaves_nothing_behind() {
    let schema = table(&words(), &[], &[("file.format", "avro")]);
    let context = context();
    let files = write(
        &context,
        &schema,
        &[numbered(&schema.fields, 0..60_000, 20)],
    )
    .await
    .unwrap();
    let reader = DataFileReader::open(&context, &path(&files[0]), None)
        .await
        .unwrap();
    let mut batches = reader
        .read(ReadRequest::new(schema.fields.clone()))
        .await
        .unwrap();
    assert_eq!(
        batches.next_batch().await.unwrap().unwrap().num_rows(),
        8192
    );
    assert!(batches.take_ready().is_some());
}

#[tokio::test]
async fn rows_of_megabytes_are_written_and_come_in_batches_of_bounded_bytes() {
    let schema = table(
        &words(),
        &[],
        &[("file.format", "avro"), ("file.compression", "null")],
    );
    let context = context();
    let all = numbered(&schema.fields, 0..12, 3 << 20);
    let files = write(&context, &schema, std::slice::from_ref(&all))
        .await
        .unwrap();
    let reader = DataFileReader::open(&context, &path(&files[0]), None)
        .await
        .unwrap();
    let mut request = ReadRequest::new(schema.fields.clone());
    request.unit_bytes = 4 << 20;
    let mut batches = reader.read(request).await.unwrap();
    let mut rows = 0;
    while let Some(batch) = batches.next_batch().await.unwrap() {
        assert!(batch.num_rows() <= 2, "{}", batch.num_rows());
        rows += batch.num_rows();
    }
    assert_eq!(rows, 12);
}

#[tokio::test]
async fn a_new_file_begins_when_the_blocks_of_one_have_the_target_size() {
    let schema = table(
        &words(),
        &[],
        &[
            ("file.format", "avro"),
            ("file.compression", "null"),
            ("target-file-size", "200kb"),
        ],
    );
    let context = context();
    let files = write(
        &context,
        &schema,
        &[numbered(&schema.fields, 0..40_000, 20)],
    )
    .await
    .unwrap();
    assert!(files.len() > 3, "{}", files.len());
    let rows: i64 = files.iter().map(|file| file.row_count).sum();
    assert_eq!(rows, 40_000);
    for file in &files {
        let bytes = context.io().size(&path(file)).await.unwrap();
        assert_eq!(u64::try_from(file.file_size).unwrap(), bytes);
        assert!(file.file_name.ends_with(".avro"));
    }
    for file in &files[..files.len() - 1] {
        assert!(
            (200 << 10..300 << 10).contains(&file.file_size),
            "{}",
            file.file_size
        );
    }
}

#[tokio::test]
async fn the_codec_is_that_of_the_option_and_unknown_ones_are_refused() {
    for (key, value, header) in [
        ("file.compression", "zstd", "zstandard"),
        ("file.compression", "snappy", "snappy"),
        ("file.compression.per.level", "0:deflate", "deflate"),
        ("avro.codec", "bzip2", "bzip2"),
    ] {
        let schema = table(&words(), &[], &[("file.format", "avro"), (key, value)]);
        let context = context();
        let files = write(&context, &schema, &[numbered(&schema.fields, 0..10, 4)])
            .await
            .unwrap();
        let bytes = context.io().read(&path(&files[0])).await.unwrap();
        let header_of_file = tidewater_format::avro::Header::parse(&bytes).unwrap();
        assert_eq!(header_of_file.codec.name(), header, "{key} {value}");
    }
    for value in ["none", "lz4", "gzip", "uncompressed", "lzo"] {
        let schema = table(
            &words(),
            &[],
            &[("file.format", "avro"), ("file.compression", value)],
        );
        let made = tidewater_files::FileWriterOptions::data(
            &schema,
            0,
            tidewater_format::FileSource::Append,
        );
        assert!(matches!(made, Err(FilesError::Option { .. })), "{value}");
    }
}

#[tokio::test]
async fn a_null_where_a_nested_type_has_none_is_refused_and_no_file_is_left() {
    let member = DataType::row(RowType::of([("x", DataType::int().not_null())]));
    let row = RowType::of([("r", DataType::array(member))]);
    let schema = table(&row, &[], &[("file.format", "avro")]);
    let context = context();
    // A batch whose types say less than the table's.
    let items = arrow_array::ListArray::from_iter_primitive::<arrow_array::types::Int32Type, _, _>(
        [Some(vec![Some(1)])],
    );
    let wrong =
        RecordBatch::try_from_iter([("r", std::sync::Arc::new(items) as ArrayRef)]).unwrap();
    let error = write_with(&context, &schema, options(&schema), &[wrong])
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

/// A file of these records and schema, as bytes.
fn file(schema: &'static str, codec: AvroCodec, records: &[&[u8]]) -> Vec<u8> {
    let mut writer = ContainerWriter::new(schema, codec).unwrap();
    for record in records {
        writer
            .try_append(|out| {
                out.extend_from_slice(record);
                Ok::<_, tidewater_format::avro::AvroError>(())
            })
            .unwrap();
    }
    writer.finish().unwrap()
}

async fn read_bytes(bytes: Vec<u8>, fields: &[DataField]) -> Result<RecordBatch, FilesError> {
    let context = context();
    let path = "/t/bucket-0/x.avro";
    context.io().write(path, Bytes::from(bytes)).await.unwrap();
    let read = read(&context, path, fields).await;
    if let Err(error) = &read {
        let kind = error.kind();
        assert!(
            matches!(
                kind,
                ErrorKind::Corrupt | ErrorKind::Unsupported | ErrorKind::Invalid
            ),
            "{error}"
        );
    }
    read
}

fn list() -> Vec<DataField> {
    vec![DataField::new(0, "a", DataType::array(DataType::int()))]
}

const LIST: &str = r#"{"type":"record","name":"r","fields":[{"name":"a","type":["null",{"type":"array","items":["null","int"]}]}]}"#;

#[tokio::test]
async fn counts_and_lengths_that_lie_are_damage_of_the_named_column() {
    let mut huge = vec![2];
    put::long(&mut huge, i64::MAX);
    let mut negative = vec![2];
    put::long(&mut negative, i64::MIN);
    put::long(&mut negative, i64::MAX);
    for record in [
        &huge[..],
        &negative[..],
        &[2, 2, 6],
        &[4],
        &[2, 2, 2],
        &[2, 2, 2, 0x80],
    ] {
        let error = read_bytes(file(LIST, AvroCodec::Null, &[record]), &list())
            .await
            .unwrap_err();
        let text = error.to_string();
        assert!(text.contains("x.avro") && text.contains("\"a\""), "{text}");
    }
    // Bytes that no record owns.
    let error = read_bytes(file(LIST, AvroCodec::Null, &[&[0, 0]]), &list())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    // A writer may tell how many bytes the items of a list take.
    let told: [&[u8]; 2] = [&[0], &[2, 3, 6, 0, 2, 1, 0]];
    let read = read_bytes(file(LIST, AvroCodec::Null, &told), &list())
        .await
        .unwrap();
    let items = arrow_array::cast::AsArray::as_list::<i32>(read.column(0)).value(1);
    assert_eq!(*items, Int32Array::from(vec![None, Some(-1)]));
}

#[tokio::test]
async fn items_that_take_no_bytes_cost_no_memory() {
    let schema = r#"{"type":"record","name":"r","fields":[{"name":"a","type":{"type":"array","items":{"type":"record","name":"e","fields":[]}}}]}"#;
    let mut record = vec![];
    put::long(&mut record, 1 << 40);
    record.push(0);
    let fields = vec![DataField::new(
        0,
        "a",
        DataType::array(DataType::row(RowType::new(vec![]))),
    )];
    assert!(
        read_bytes(file(schema, AvroCodec::Null, &[&record]), &fields)
            .await
            .is_err()
    );
}

#[tokio::test]
async fn a_block_that_grows_beyond_all_bounds_is_refused() {
    let zeros = vec![0_u8; 300 << 20];
    let bomb = file(LIST, AvroCodec::default(), &[&zeros]);
    assert!(bomb.len() < 1 << 20);
    let error = read_bytes(bomb, &list()).await.unwrap_err();
    assert!(error.to_string().contains("holds more than"), "{error}");
}

#[tokio::test]
async fn schemas_that_are_no_table_are_refused() {
    let endless = r#"{"type":"record","name":"r","fields":[{"name":"a","type":["null","r"]}]}"#;
    let mut wide = String::from(
        r#"{"type":"record","name":"r","fields":[{"name":"r0","type":{"type":"record","name":"R0","fields":[{"name":"x","type":"int"}]}}"#,
    );
    for level in 1..40 {
        let below = level - 1;
        wide += &format!(
            r#",{{"name":"r{level}","type":{{"type":"record","name":"R{level}","fields":[{{"name":"a","type":"R{below}"}},{{"name":"b","type":"R{below}"}}]}}}}"#
        );
    }
    wide += "]}";
    let wide: &'static str = Box::leak(wide.into_boxed_str());
    for schema in [
        endless,
        wide,
        r#""int""#,
        r#"{"type":"array","items":"int"}"#,
        "{",
    ] {
        let error = read_bytes(file(schema, AvroCodec::Null, &[&[0]]), &list())
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{schema}");
    }
    // Columns of types that no table has are passed unless they are asked for.
    let others = r#"{"type":"record","name":"r","fields":[
        {"name":"e","type":{"type":"enum","name":"en","symbols":["x"]}},{"name":"u","type":["int","string"]},
        {"name":"a","type":["null",{"type":"array","items":["null","int"]}]}]}"#;
    let bytes = file(others, AvroCodec::Null, &[&[0, 2, 2, 120, 0]]);
    assert_eq!(
        read_bytes(bytes.clone(), &list()).await.unwrap().num_rows(),
        1
    );
    for name in ["e", "u"] {
        let fields = vec![DataField::new(0, name, DataType::int())];
        let error = read_bytes(bytes.clone(), &fields).await.unwrap_err();
        assert!(matches!(error, FilesError::ColumnType { .. }), "{error}");
    }
}

/// Forms of other writers: null last, a union of one, fixed, and times of other units.
#[tokio::test]
async fn other_forms_of_the_same_values_are_read() {
    let schema = r#"{"type":"record","name":"r","fields":[
        {"name":"n","type":["int","null"]},{"name":"o","type":["int"]},
        {"name":"f","type":{"type":"fixed","name":"fx","size":2}},
        {"name":"d","type":{"type":"fixed","name":"fd","size":3,"logicalType":"decimal","precision":5,"scale":2}},
        {"name":"t","type":{"type":"long","logicalType":"timestamp-micros"}},
        {"name":"z","type":"null"}]}"#;
    let mut first = vec![0, 2, 0, 4, 1, 2, 0xff, 0xff, 0xfe];
    put::long(&mut first, 1_999);
    let mut second = vec![2, 0, 6, 3, 4, 0, 0, 5];
    put::long(&mut second, -1);
    let fields = vec![
        DataField::new(0, "n", DataType::int()),
        DataField::new(1, "o", DataType::big_int()),
        DataField::new(2, "f", DataType::bytes()),
        DataField::new(3, "d", DataType::decimal(5, 2)),
        DataField::new(4, "t", DataType::timestamp_ltz(3)),
        DataField::new(5, "z", DataType::string()),
    ];
    let read = read_bytes(file(schema, AvroCodec::Snappy, &[&first, &second]), &fields)
        .await
        .unwrap();
    let value = |column: usize, row: usize| {
        Datum::from_array(read.column(column), row, &fields[column].data_type).unwrap()
    };
    assert_eq!([value(0, 0), value(0, 1)], [Datum::Int(1), Datum::Null]);
    assert_eq!(
        [value(1, 0), value(1, 1)],
        [Datum::BigInt(2), Datum::BigInt(3)]
    );
    assert_eq!(value(2, 1), Datum::Bytes(vec![3, 4]));
    let text = |column, row| format!("{:?}", value(column, row));
    assert!(
        text(3, 0).contains("-2") && text(3, 1).contains('5'),
        "{}",
        text(3, 0)
    );
    assert!(
        text(4, 0).contains('1') && text(4, 1).contains("-1"),
        "{}",
        text(4, 1)
    );
    assert!(value(5, 0).is_null());
}

#[tokio::test]
async fn a_file_shorter_than_its_entry_says_is_damage_wherever_it_is_cut() {
    let schema = table(&words(), &[], &[("file.format", "avro")]);
    let context = context();
    let files = write(
        &context,
        &schema,
        &[numbered(&schema.fields, 0..20_000, 20)],
    )
    .await
    .unwrap();
    let bytes = context.io().read(&path(&files[0])).await.unwrap();
    for cut in [
        0,
        3,
        100,
        bytes.len() / 2,
        bytes.len() - 17,
        bytes.len() - 1,
    ] {
        let short = "/t/bucket-0/short.avro";
        context
            .io()
            .overwrite(short, bytes.slice(..cut))
            .await
            .unwrap();
        for size in [Some(bytes.len() as u64), None] {
            let read = async {
                let reader = AvroFileReader::open(&context, short, size).await?;
                let mut batches = reader.read(ReadRequest::new(schema.fields.clone())).await?;
                while batches.next_batch().await?.is_some() {}
                Ok::<_, FilesError>(())
            };
            let error = read.await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{cut} {size:?}: {error}");
            let mut text = error.to_string();
            let mut source = std::error::Error::source(&error);
            while let Some(cause) = source {
                text = format!("{text}: {cause}");
                source = cause.source();
            }
            assert!(text.contains("short.avro"), "{text}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Any change of a byte is an answer or a typed error.
    #[test]
    fn changed_bytes_never_panic(at in any::<prop::sample::Index>(), value in any::<u8>(), codec in prop::sample::select(vec!["null", "zstd", "xz"])) {
        let types = vec![
            DataType::int(), DataType::string(), DataType::decimal(20, 2), DataType::timestamp(6),
            DataType::array(DataType::row(row_of(vec![DataType::int(), DataType::string()]))),
            DataType::map(DataType::int().not_null(), DataType::timestamp_ltz(3)),
            DataType::map(DataType::string().not_null(), DataType::date()),
            DataType::double(), DataType::boolean(),
        ];
        let schema = table(&row_of(types), &[], &[("file.format", "avro"), ("file.compression", codec)]);
        runtime().block_on(async {
            let context = context();
            let files = write(&context, &schema, &[rows(&schema.fields, 40, 3)]).await.unwrap();
            let mut bytes = context.io().read(&path(&files[0])).await.unwrap().to_vec();
            let at = at.index(bytes.len());
            bytes[at] = value;
            drop(read_bytes(bytes, &schema.fields).await);
        });
    }
}
