//! Key schemas, encoded batches and file metadata for the tests of this crate.

use std::sync::Arc;

use proptest::prelude::*;
use tidewater_format::{DataFileMeta, FileSource, SimpleStats};
use tidewater_types::{
    BinaryRow, DataType, Datum, KeyEncoder, Keys, RowKind, SequenceOrder, TimestampValue,
    datums_to_array,
};

use crate::key_comparator::KeyComparator;
use crate::model::ModelRow;

/// A case of `tests/fixtures/vectors`.
pub(crate) fn vector(name: &str) -> serde_json::Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/vectors/");
    let text = std::fs::read_to_string(format!("{folder}{name}")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Key schemas that end up in each kind of encoded keys: 64 bits, 128 bits, bytes.
pub(crate) fn key_schemas() -> Vec<Vec<DataType>> {
    vec![
        vec![DataType::int()],
        vec![DataType::big_int()],
        vec![DataType::big_int(), DataType::int()],
        vec![DataType::double()],
        vec![DataType::boolean(), DataType::date(), DataType::small_int()],
        vec![DataType::decimal(38, 10)],
        vec![DataType::timestamp(9)],
        vec![DataType::string()],
        vec![DataType::string(), DataType::int()],
        vec![DataType::bytes()],
        vec![
            DataType::big_int(),
            DataType::big_int(),
            DataType::big_int(),
        ],
    ]
}

/// One of a few values of the type, chosen by `n`; not in the order of `n`, and some `n` share a value.
pub(crate) fn datum(data_type: &DataType, n: u32) -> Datum {
    use tidewater_types::TypeKind;
    let signed = (i64::from(n) * 7) % 61 - 30;
    let small = i32::try_from(signed).unwrap();
    match &data_type.kind {
        TypeKind::Boolean => Datum::Boolean(n % 2 == 1),
        TypeKind::SmallInt => Datum::SmallInt(i16::try_from(signed).unwrap()),
        TypeKind::Int => Datum::Int(small),
        TypeKind::Date => Datum::Date(small),
        TypeKind::BigInt => Datum::BigInt(signed << 40),
        TypeKind::Double => Datum::Double(match n % 13 {
            0 => f64::NAN,
            1 => -f64::NAN,
            2 => -0.0,
            3 => 0.0,
            4 => f64::INFINITY,
            5 => f64::NEG_INFINITY,
            _ => signed as f64 / 3.0,
        }),
        TypeKind::Decimal { precision, scale } => Datum::Decimal {
            unscaled: i128::from(signed) << 70,
            precision: *precision,
            scale: *scale,
        },
        TypeKind::Timestamp(_) => Datum::Timestamp(TimestampValue::from_nanos(signed * 500_000)),
        TypeKind::VarChar(_) => Datum::String(match n % 3 {
            0 => "a".repeat(n as usize),
            1 => format!("a common prefix of some length, then {n}"),
            _ => format!("{n}"),
        }),
        TypeKind::VarBinary(_) => Datum::Bytes(match n % 3 {
            0 => vec![0; n as usize],
            1 => vec![0xff, u8::try_from(n).unwrap()],
            _ => n.to_be_bytes().to_vec(),
        }),
        other => unreachable!("no test values for {other:?}"),
    }
}

/// A key of these types, chosen by `n`.
pub(crate) fn key(types: &[DataType], n: u32) -> Vec<Datum> {
    let mut rest = n;
    let mut columns = Vec::new();
    for (place, data_type) in types.iter().enumerate() {
        let last = place + 1 == types.len();
        columns.push(datum(data_type, if last { rest } else { rest % 3 }));
        rest /= 3;
    }
    columns
}

fn columns(types: &[DataType], rows: &[Vec<Datum>]) -> Vec<arrow_array::ArrayRef> {
    let column = |(place, data_type): (usize, &DataType)| {
        let datums: Vec<Datum> = rows.iter().map(|row| row[place].clone()).collect();
        datums_to_array(data_type, &datums).unwrap()
    };
    types.iter().enumerate().map(column).collect()
}

pub(crate) fn encode_keys(types: &[DataType], rows: &[Vec<Datum>]) -> Keys {
    let not_null: Vec<DataType> = types.iter().cloned().map(DataType::not_null).collect();
    KeyEncoder::new(&not_null)
        .unwrap()
        .encode(&columns(types, rows))
        .unwrap()
}

/// Types of the sequence fields in tests.
pub(crate) fn seq_types() -> Vec<DataType> {
    vec![DataType::int(), DataType::string()]
}

pub(crate) fn encode_seq_fields(rows: &[Vec<Datum>], descending: bool) -> Keys {
    let types = seq_types();
    let order = if descending {
        SequenceOrder::Descending
    } else {
        SequenceOrder::Ascending
    };
    let encoder = KeyEncoder::for_sequence(&types, order).unwrap();
    encoder.encode(&columns(&types, rows)).unwrap()
}

/// What a random row is made of: key, sequence number, sequence fields, kind.
pub(crate) type RawRow = (u32, i64, (u8, u8), i8);

/// Rows with many equal keys, equal sequence numbers and null sequence fields.
pub(crate) fn raw_row() -> impl Strategy<Value = RawRow> {
    (0u32..40, 0i64..12, (0u8..4, 0u8..4), 0i8..4)
}

pub(crate) fn model_row(types: &[DataType], raw: RawRow, value: i64) -> ModelRow {
    let (n, sequence, (first, second), kind) = raw;
    let or_null = |n: u8, value: Datum| if n == 0 { Datum::Null } else { value };
    ModelRow {
        key: key(types, n),
        seq_fields: vec![
            or_null(first, Datum::Int(i32::from(first) - 2)),
            or_null(second, Datum::String("x".repeat(usize::from(second)))),
        ],
        sequence,
        kind: RowKind::from_i8(kind).unwrap(),
        value,
    }
}

/// Comparator of the single INT key that [`file`] uses.
pub(crate) fn int_keys() -> KeyComparator {
    KeyComparator::new(vec![DataType::int().not_null()])
}

/// Metadata of a file of a table with one INT key.
pub(crate) fn file(name: &str, level: i32, size: i64, min: i32, max: i32) -> DataFileMeta {
    let key = |value| {
        BinaryRow::from_datums(&[Datum::Int(value)], &[DataType::int().not_null()]).unwrap()
    };
    file_with_keys(name, level, size, key(min), key(max))
}

pub(crate) fn file_with_keys(
    name: &str,
    level: i32,
    size: i64,
    min_key: BinaryRow,
    max_key: BinaryRow,
) -> DataFileMeta {
    DataFileMeta {
        file_name: name.to_owned(),
        file_size: size,
        row_count: 1,
        min_key,
        max_key,
        key_stats: SimpleStats::empty(),
        value_stats: SimpleStats::empty(),
        min_sequence_number: 0,
        max_sequence_number: 0,
        schema_id: tidewater_types::SchemaId(0),
        level,
        extra_files: Vec::new(),
        creation_time_millis: None,
        delete_row_count: Some(0),
        embedded_file_index: None,
        file_source: Some(FileSource::Append),
        value_stats_cols: None,
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    }
}

pub(crate) fn arcs(files: impl IntoIterator<Item = DataFileMeta>) -> Vec<Arc<DataFileMeta>> {
    files.into_iter().map(Arc::new).collect()
}

pub(crate) fn names(files: &[Arc<DataFileMeta>]) -> Vec<&str> {
    files.iter().map(|file| file.file_name.as_str()).collect()
}
