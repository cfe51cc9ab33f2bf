//! Parquet and Arrow files as other programs write them.

use std::fs::File;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, Date32Array, DictionaryArray, Int8Array, Int64Array, LargeStringArray,
    RecordBatch, StringArray, TimestampNanosecondArray, UInt32Array, UInt64Array,
};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::data_type::{Int96, Int96Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use tidewater_types::{DataType, ErrorKind, RowType};

use super::super::{Input, InputFormat, LoadError, SourceOptions};
use super::{Folder, batches, error, kinds, lines, plain, rows};

pub(super) fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), true))
        .collect();
    let columns = columns.into_iter().map(|(_, array)| array).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

/// Writes a file with row groups of 10 rows.
pub(super) fn write_parquet(folder: &Folder, name: &str, batch: &RecordBatch) {
    let file = File::create(folder.path(name)).unwrap();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(10))
        .build();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

pub(super) fn write_ipc(folder: &Folder, name: &str, batch: &RecordBatch, stream: bool) {
    let file = File::create(folder.path(name)).unwrap();
    if stream {
        let mut writer = StreamWriter::try_new(file, &batch.schema()).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
    } else {
        let mut writer = FileWriter::try_new(file, &batch.schema()).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
    }
}

fn foreign() -> RecordBatch {
    let dictionary: DictionaryArray<Int32Type> = [Some("x"), None, Some("x")].into_iter().collect();
    batch(vec![
        ("u32", Arc::new(UInt32Array::from(vec![0, 7, u32::MAX]))),
        ("u64", Arc::new(UInt64Array::from(vec![0, 7, 9]))),
        ("dict", Arc::new(dictionary)),
        (
            "large",
            Arc::new(LargeStringArray::from(vec![Some("a"), None, Some("c")])),
        ),
        ("day", Arc::new(Date32Array::from(vec![0, -1, 19_782]))),
        (
            "ts",
            Arc::new(TimestampNanosecondArray::from(vec![0, 1_000, -1_000])),
        ),
    ])
}

fn foreign_type() -> RowType {
    RowType::of([
        ("u32", DataType::big_int()),
        ("u64", DataType::int()),
        ("dict", DataType::string()),
        ("large", DataType::string()),
        ("day", DataType::date()),
        ("ts", DataType::timestamp(6)),
        ("none", DataType::int()),
    ])
}

const FOREIGN_ROWS: [&str; 3] = [
    r#"{"u32":0,"u64":0,"dict":"x","large":"a","day":"1970-01-01","ts":"1970-01-01T00:00:00.000000","none":null}"#,
    r#"{"u32":7,"u64":7,"dict":null,"large":null,"day":"1969-12-31","ts":"1970-01-01T00:00:00.000001","none":null}"#,
    r#"{"u32":4294967295,"u64":9,"dict":"x","large":"c","day":"2024-02-29","ts":"1969-12-31T23:59:59.999999","none":null}"#,
];

#[test]
fn types_of_other_programs_become_those_of_the_table() {
    let folder = Folder::new();
    write_parquet(&folder, "a.parquet", &foreign());
    assert_eq!(
        rows(folder.named("a.parquet"), &foreign_type()),
        FOREIGN_ROWS
    );
    write_ipc(&folder, "a.arrow", &foreign(), false);
    assert_eq!(rows(folder.named("a.arrow"), &foreign_type()), FOREIGN_ROWS);
    write_ipc(&folder, "a.arrows", &foreign(), true);
    assert_eq!(
        rows(folder.named("a.arrows"), &foreign_type()),
        FOREIGN_ROWS
    );
}

#[test]
fn every_columnar_format_comes_by_standard_input_too() {
    let folder = Folder::new();
    write_parquet(&folder, "a.parquet", &foreign());
    write_ipc(&folder, "a.arrow", &foreign(), false);
    write_ipc(&folder, "a.arrows", &foreign(), true);
    for (name, format) in [
        ("a.parquet", InputFormat::Parquet),
        ("a.arrow", InputFormat::Arrow),
        ("a.arrows", InputFormat::Arrow),
    ] {
        let stream = File::open(folder.path(name)).unwrap();
        let mut options = SourceOptions::new(vec![Input::Stream(Box::new(stream))]);
        options.format = Some(format);
        assert_eq!(rows(options, &foreign_type()), FOREIGN_ROWS, "{name}");
    }
}

#[test]
fn int96_far_from_1970_does_not_wrap() {
    let folder = Folder::new();
    let schema = Arc::new(parse_message_type("message m { optional int96 ts; }").unwrap());
    let file = File::create(folder.path("a.parquet")).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let moment = |day: u32, nanos: u64| {
        let mut value = Int96::new();
        let low = u32::try_from(nanos & 0xffff_ffff).unwrap();
        value.set_data(low, u32::try_from(nanos >> 32).unwrap(), day);
        value
    };
    // Julian days of 1970-01-01 and 9999-12-31.
    let values = [
        moment(2_440_588, 1_000_000_000),
        moment(5_373_484, 86_399_000_000_000),
    ];
    column
        .typed::<Int96Type>()
        .write_batch(&values, Some(&[1, 0, 1]), None)
        .unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    let row_type = RowType::of([("ts", DataType::timestamp(6))]);
    assert_eq!(
        rows(folder.named("a.parquet"), &row_type),
        [
            r#"{"ts":"1970-01-01T00:00:01.000000"}"#,
            r#"{"ts":null}"#,
            r#"{"ts":"9999-12-31T23:59:59.000000"}"#
        ]
    );
}

#[test]
fn a_value_that_does_not_fit_is_named_with_its_row() {
    let folder = Folder::new();
    let mut numbers: Vec<i64> = (0..30).collect();
    numbers[25] = 1 << 40;
    let numbers = batch(vec![("id", Arc::new(Int64Array::from(numbers)))]);
    write_parquet(&folder, "a.parquet", &numbers);
    let row_type = RowType::of([("id", DataType::int())]);
    assert_eq!(
        plain(&error(folder.named("a.parquet"), &row_type), &folder),
        "a.parquet, row 26, column id: \"1099511627776\" is not INT"
    );
    let nulls = batch(vec![(
        "id",
        Arc::new(Int64Array::from(vec![Some(1), None])),
    )]);
    write_ipc(&folder, "a.arrow", &nulls, false);
    let row_type = RowType::of([("id", DataType::int().not_null())]);
    assert_eq!(
        plain(&error(folder.named("a.arrow"), &row_type), &folder),
        "a.arrow, row 2, column id: null, but the column is NOT NULL"
    );
    let row_type = RowType::of([("id", DataType::date())]);
    let told = batches(folder.named("a.arrow"), &row_type).unwrap_err();
    assert_eq!(told.kind(), ErrorKind::Invalid, "{told}");
}

#[test]
fn kinds_come_from_words_or_paimon_numbers_and_extra_columns_are_left_out() {
    let folder = Folder::new();
    let words: DictionaryArray<Int32Type> = ["+I", "delete"].into_iter().collect();
    let rows = batch(vec![
        ("op", Arc::new(words)),
        ("more", Arc::new(StringArray::from(vec!["a", "b"]))),
        ("id", Arc::new(Int64Array::from(vec![1, 2]))),
        ("_VALUE_KIND", Arc::new(Int8Array::from(vec![2, 3]))),
    ]);
    write_parquet(&folder, "a.parquet", &rows);
    let row_type = RowType::of([("id", DataType::big_int())]);
    let told = error(folder.named("a.parquet"), &row_type);
    assert!(told.contains("no column op, more, _VALUE_KIND"), "{told}");
    for (column, expected) in [("op", ["+I", "-D"]), ("_VALUE_KIND", ["+U", "-D"])] {
        let mut options = folder.named("a.parquet");
        options.ignore_extra_columns = true;
        options.kind_column = Some(column.to_owned());
        let found = batches(options, &row_type).unwrap();
        assert_eq!(kinds(&found), expected);
        assert_eq!(lines(&found, &row_type), [r#"{"id":1}"#, r#"{"id":2}"#]);
    }
}

#[test]
fn torn_and_foreign_files_are_named() {
    let folder = Folder::new();
    write_parquet(&folder, "a.parquet", &foreign());
    write_ipc(&folder, "a.arrow", &foreign(), false);
    for name in ["a.parquet", "a.arrow"] {
        let bytes = std::fs::read(folder.path(name)).unwrap();
        for cut in [0, 3, 20, bytes.len() / 2, bytes.len() - 1] {
            let torn = folder.source(name, &bytes[..cut]);
            let told = batches(torn, &foreign_type()).unwrap_err();
            assert_eq!(told.kind(), ErrorKind::Corrupt, "{name} {cut}: {told:?}");
            assert!(told.to_string().contains(name));
        }
    }
}

#[test]
fn wide_rows_come_in_small_batches_even_if_the_file_does_not_say_that_they_are_wide() {
    let folder = Folder::new();
    let wide = "w".repeat(10_000);
    let texts: Vec<&str> = vec![wide.as_str(); 5_000];
    let ids: Vec<i64> = (0..5_000).collect();
    let rows = batch(vec![
        ("id", Arc::new(Int64Array::from(ids))),
        ("s", Arc::new(StringArray::from(texts))),
    ]);
    let file = File::create(folder.path("a.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, rows.schema(), None).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
    // The dictionary makes 50 MB of text a few kB.
    assert!(std::fs::metadata(folder.path("a.parquet")).unwrap().len() < 100_000);
    let row_type = RowType::of([("id", DataType::big_int()), ("s", DataType::string())]);
    let mut options = folder.named("a.parquet");
    options.batch_bytes = 1 << 20;
    let found = batches(options, &row_type).unwrap();
    assert!(
        found
            .iter()
            .all(|batch| batch.batch.get_array_memory_size() < 5 << 20)
    );
    let ids = found.iter().flat_map(|batch| {
        let ids = batch.batch.column(0).as_primitive::<Int64Type>();
        ids.values().to_vec()
    });
    assert!(ids.eq(0..5_000));
    assert_eq!(found.last().unwrap().end.row, 5_000);
}

#[test]
fn streams_that_follow_each_other_are_refused_and_torn_footers_too() {
    let folder = Folder::new();
    write_ipc(&folder, "a.arrows", &foreign(), true);
    let bytes = std::fs::read(folder.path("a.arrows")).unwrap();
    let told = batches(folder.source("b.arrows", bytes.repeat(2)), &foreign_type()).unwrap_err();
    assert!(format!("{told:?}").contains("bytes follow the end of the stream"));
    write_ipc(&folder, "a.arrow", &foreign(), false);
    let mut bytes = std::fs::read(folder.path("a.arrow")).unwrap();
    let last = bytes.len() - 1;
    bytes[last] = 0;
    let told = batches(folder.source("b.arrow", bytes), &foreign_type()).unwrap_err();
    assert!(format!("{told:?}").contains("torn"));
}

#[test]
fn flipped_bytes_are_read_or_refused_as_corrupt() {
    let folder = Folder::new();
    write_parquet(&folder, "a.parquet", &foreign());
    write_ipc(&folder, "a.arrow", &foreign(), false);
    write_ipc(&folder, "a.arrows", &foreign(), true);
    for name in ["a.parquet", "a.arrow", "a.arrows"] {
        let bytes = std::fs::read(folder.path(name)).unwrap();
        for at in (0..bytes.len()).step_by(11) {
            let mut flipped = bytes.clone();
            flipped[at] ^= [0x55, 0x80, 0x08, 0x01][at % 4];
            if let Err(told) = batches(folder.source(name, flipped), &foreign_type()) {
                let stopped = matches!(told, LoadError::ReaderStopped { .. });
                assert!(
                    !stopped && told.kind() != ErrorKind::Internal,
                    "{name} {at}: {told:?}"
                );
            }
        }
    }
}
