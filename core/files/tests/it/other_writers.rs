//! Forms of files that Java Paimon does not write: read all the same.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, FixedSizeBinaryArray, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray, TimestampNanosecondArray,
};
use arrow_schema::{DataType as ArrowType, Field, Schema, TimeUnit};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, Int96};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::{Value, json};
use tidewater_files::{FilesContext, ReadRequest};
use tidewater_types::{DataField, DataType, ErrorKind};

use crate::json_rows::cell;
use crate::support::{context, read_with};

const PATH: &str = "/t/bucket-0/foreign.parquet";

/// Writes leaf columns as they are: values, definition levels, repetition levels.
async fn raw(context: &FilesContext, schema: &str, write: impl Fn(usize, &mut ColumnWriter<'_>)) {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut column = 0;
    while let Some(mut writer) = group.next_column().unwrap() {
        write(column, writer.untyped());
        writer.close().unwrap();
        column += 1;
    }
    group.close().unwrap();
    let bytes = file.into_inner().unwrap();
    context.io().write(PATH, Bytes::from(bytes)).await.unwrap();
}

async fn arrow(context: &FilesContext, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    let bytes = writer.into_inner().unwrap();
    context.io().write(PATH, Bytes::from(bytes)).await.unwrap();
}

async fn read(context: &FilesContext, fields: &[DataField]) -> Value {
    let batch = read_with(context, PATH, ReadRequest::new(fields.to_vec()))
        .await
        .unwrap();
    let row = |row| {
        fields
            .iter()
            .zip(batch.columns())
            .map(|(field, array)| cell(array, row, &field.data_type))
            .collect()
    };
    (0..batch.num_rows())
        .map(row)
        .collect::<Vec<Value>>()
        .into()
}

fn field(id: i32, name: &str, data_type: DataType) -> DataField {
    DataField::new(id, name, data_type)
}

#[tokio::test]
async fn lists_of_two_levels() {
    let context = context();
    let schema = "message m { optional group a (LIST) = 0 { repeated int32 array; } }";
    raw(&context, schema, |_, writer| {
        let ColumnWriter::Int32ColumnWriter(writer) = writer else {
            panic!()
        };
        writer
            .write_batch(&[1, 2, 3], Some(&[2, 2, 0, 1, 2]), Some(&[0, 1, 0, 0, 0]))
            .unwrap();
    })
    .await;
    let rows = read(&context, &[field(0, "a", DataType::array(DataType::int()))]).await;
    assert_eq!(rows, json!([[[1, 2]], [null], [[]], [[3]]]));
}

#[tokio::test]
async fn decimals_in_bytes_of_any_width_and_in_wider_integers() {
    let context = context();
    let schema = "message m { optional binary a (DECIMAL(9,2)) = 0; optional int64 b (DECIMAL(9,2)) = 1;
        optional fixed_len_byte_array(16) c (DECIMAL(20,2)) = 2; optional binary d (DECIMAL(9,3)) = 3; }";
    raw(&context, schema, |column, writer| match (column, writer) {
        (0, ColumnWriter::ByteArrayColumnWriter(writer)) => {
            let values = [
                ByteArray::from(vec![0xff]),
                ByteArray::from(vec![0, 0, 1, 0]),
            ];
            writer
                .write_batch(&values, Some(&[1, 1]), None)
                .map(drop)
                .unwrap();
        }
        (1, ColumnWriter::Int64ColumnWriter(writer)) => writer
            .write_batch(&[-1, 256], Some(&[1, 1]), None)
            .map(drop)
            .unwrap(),
        (2, ColumnWriter::FixedLenByteArrayColumnWriter(writer)) => {
            let values = [
                (-1_i128).to_be_bytes().to_vec(),
                256_i128.to_be_bytes().to_vec(),
            ];
            let values = values.map(|value| ByteArray::from(value).into());
            writer
                .write_batch(&values, Some(&[1, 1]), None)
                .map(drop)
                .unwrap();
        }
        (3, ColumnWriter::ByteArrayColumnWriter(writer)) => {
            let values = [ByteArray::from(vec![15]), ByteArray::from(vec![14])];
            writer
                .write_batch(&values, Some(&[1, 1]), None)
                .map(drop)
                .unwrap();
        }
        _ => panic!(),
    })
    .await;
    let decimal = |id, name| field(id, name, DataType::decimal(9, 2));
    let rows = read(
        &context,
        &[
            decimal(0, "a"),
            decimal(1, "b"),
            decimal(2, "c"),
            decimal(3, "d"),
        ],
    )
    .await;
    // Another scale is rounded half up, as a type change is.
    assert_eq!(
        rows,
        json!([
            ["-0.01", "-0.01", "-0.01", "0.02"],
            ["2.56", "2.56", "2.56", "0.01"]
        ])
    );
}

#[tokio::test]
async fn nanoseconds_in_64_bits_and_zones_that_the_type_does_not_have() {
    let context = context();
    let utc = ArrowType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let zoned = TimestampMicrosecondArray::from(vec![-1]).with_data_type(utc);
    arrow(
        &context,
        vec![
            (
                "a",
                Arc::new(TimestampNanosecondArray::from(vec![1_234_567_890])) as ArrayRef,
            ),
            ("b", Arc::new(TimestampNanosecondArray::from(vec![-1]))),
            ("c", Arc::new(zoned)),
        ],
    )
    .await;
    let fields = [
        field(0, "a", DataType::timestamp(9)),
        field(1, "b", DataType::timestamp(3)),
        field(2, "c", DataType::timestamp(6)),
    ];
    let rows = read(&context, &fields).await;
    assert_eq!(
        rows,
        json!([[
            "1970-01-01T00:00:01.234567890",
            "1969-12-31T23:59:59.999",
            "1969-12-31T23:59:59.999999"
        ]])
    );
}

#[tokio::test]
async fn files_without_ids_are_matched_by_the_names_of_their_schema() {
    let context = context();
    arrow(
        &context,
        vec![
            ("old", Arc::new(Int32Array::from(vec![1])) as ArrayRef),
            ("gone", Arc::new(StringArray::from(vec!["x"]))),
            ("_SEQUENCE_NUMBER", Arc::new(Int64Array::from(vec![7]))),
        ],
    )
    .await;
    let file_fields = vec![
        field(0, "old", DataType::int()),
        field(1, "gone", DataType::string()),
    ];
    // "gone" was dropped and came again: another id, other values.
    let asked = vec![
        field(0, "renamed", DataType::big_int()),
        field(2, "gone", DataType::string()),
        tidewater_format::sequence_number_field(),
    ];
    let mut request = ReadRequest::new(asked.clone());
    request.file_fields = file_fields;
    let batch = read_with(&context, PATH, request).await.unwrap();
    let row: Value = asked
        .iter()
        .zip(batch.columns())
        .map(|(field, array)| cell(array, 0, &field.data_type))
        .collect();
    assert_eq!(row, json!([1, null, 7]));
}

#[tokio::test]
async fn bytes_for_text_and_text_for_bytes() {
    let context = context();
    arrow(
        &context,
        vec![
            (
                "a",
                Arc::new(BinaryArray::from(vec![b"text".as_slice()])) as ArrayRef,
            ),
            ("b", Arc::new(StringArray::from(vec!["text"]))),
            (
                "c",
                Arc::new(FixedSizeBinaryArray::try_from_iter([b"abcd"].into_iter()).unwrap()),
            ),
        ],
    )
    .await;
    let fields = [
        field(0, "a", DataType::string()),
        field(1, "b", DataType::bytes()),
        field(2, "c", DataType::bytes()),
    ];
    assert_eq!(
        read(&context, &fields).await,
        json!([["text", "dGV4dA==", "YWJjZA=="]])
    );
    arrow(
        &context,
        vec![(
            "a",
            Arc::new(BinaryArray::from(vec![[0xff].as_slice()])) as ArrayRef,
        )],
    )
    .await;
    let context = crate::support::context_over(&context);
    let error = read_with(&context, PATH, ReadRequest::new(vec![fields[0].clone()]))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("\"a\""), "{error}");
}

/// Written by the library itself, so that the bytes are not ours: Julian day and nanoseconds of day as they are.
async fn int96(context: &FilesContext, values: &[(i64, u32)]) {
    raw(
        context,
        "message m { optional int96 t = 0; }",
        |_, writer| {
            let ColumnWriter::Int96ColumnWriter(writer) = writer else {
                panic!()
            };
            let word = |nanos: i64, shift: u32| {
                u32::try_from((nanos.cast_unsigned() >> shift) & 0xffff_ffff).unwrap()
            };
            let values: Vec<Int96> = values
                .iter()
                .map(|&(nanos, day)| Int96::from(vec![word(nanos, 0), word(nanos, 32), day]))
                .collect();
            writer
                .write_batch(&values, Some(&vec![1; values.len()]), None)
                .map(drop)
                .unwrap();
        },
    )
    .await;
}

#[tokio::test]
async fn int96_with_negative_nanoseconds_of_day() {
    let context = context();
    int96(
        &context,
        &[(-1_000_000, 2_440_588), (1, 2_440_588), (0, 2_440_589)],
    )
    .await;
    let rows = read(&context, &[field(0, "t", DataType::timestamp(9))]).await;
    let expected = json!([
        ["1969-12-31T23:59:59.999000000"],
        ["1970-01-01T00:00:00.000000001"],
        ["1970-01-02T00:00:00.000000000"]
    ]);
    assert_eq!(rows, expected);
}

#[tokio::test]
async fn int96_outside_64_bits_names_file_and_column() {
    let context = context();
    int96(&context, &[(0, 5_000_000)]).await;
    let error = read_with(
        &context,
        PATH,
        ReadRequest::new(vec![field(0, "t", DataType::timestamp(9))]),
    )
    .await
    .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let text = error.to_string();
    assert!(text.contains(PATH) && text.contains("\"t\""), "{text}");
    // Milliseconds reach that far.
    let rows = read(&context, &[field(0, "t", DataType::timestamp(3))]).await;
    assert_eq!(rows, json!([["8977-06-07T00:00:00.000"]]));
}

#[tokio::test]
async fn embedded_arrow_types_are_ignored() {
    let context = context();
    let schema = Arc::new(Schema::new(vec![Field::new(
        "a",
        ArrowType::LargeUtf8,
        true,
    )]));
    let column: ArrayRef = Arc::new(arrow_array::LargeStringArray::from(vec!["x"]));
    let batch = RecordBatch::try_new(schema, vec![column]).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    context
        .io()
        .write(PATH, Bytes::from(writer.into_inner().unwrap()))
        .await
        .unwrap();
    assert_eq!(
        read(&context, &[field(0, "a", DataType::string())]).await,
        json!([["x"]])
    );
}
