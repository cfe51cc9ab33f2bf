//! Tests of predicates: evaluation, statistics, rewriting, and the two written forms.

mod evaluation;
mod forms;
mod generated;
mod pruning;
mod rewriting;

use arrow_array::{Array, ArrayRef, RecordBatch};
use serde_json::json;

use super::*;
use crate::arrow_types::to_arrow_schema;
use crate::data_type::TypeKind;
use crate::datum::{TimestampValue, datums_to_array};
use crate::error::{ErrorKind, TypeError};
use crate::row_type::RowType;

/// A column of every atomic type.
fn row_type() -> RowType {
    RowType::of([
        ("flag", DataType::boolean()),
        ("tiny", DataType::tiny_int()),
        ("small", DataType::small_int()),
        ("id", DataType::int()),
        ("big", DataType::big_int()),
        ("f", DataType::float()),
        ("d", DataType::double()),
        ("name", DataType::string()),
        ("code", DataType::new(TypeKind::Char(3))),
        ("raw", DataType::bytes()),
        ("price", DataType::decimal(10, 2)),
        ("wide", DataType::decimal(38, 18)),
        ("day", DataType::date()),
        ("clock", DataType::time(3)),
        ("ts3", DataType::timestamp(3)),
        ("ts6", DataType::timestamp(6)),
        ("ts9", DataType::timestamp(9)),
        ("seen", DataType::timestamp_ltz(3)),
        ("a b", DataType::int()),
        ("list", DataType::array(DataType::int())),
    ])
}

/// One column of a batch with these values.
fn batch(name: &str, values: &[Datum]) -> RecordBatch {
    let row = row_type();
    let row = row.project(&[row.index_of(name).unwrap()]);
    let array: ArrayRef = datums_to_array(&row.fields[0].data_type, values).unwrap();
    RecordBatch::try_new(to_arrow_schema(&row), vec![array]).unwrap()
}

fn text(predicate: &str) -> Predicate {
    Predicate::parse_text(predicate, &row_type())
        .unwrap_or_else(|error| panic!("{predicate}: {error}"))
}

/// Rows of the values that match, by position.
fn matching(predicate: &Predicate, values: &RecordBatch) -> Vec<usize> {
    let answer = predicate
        .eval(values)
        .unwrap_or_else(|error| panic!("{predicate}: {error:?}"));
    assert_eq!((answer.len(), answer.nulls()), (values.num_rows(), None));
    answer.values().set_indices().collect()
}

fn string(text: &str) -> Datum {
    Datum::String(text.to_owned())
}

fn decimal(unscaled: i128, scale: u8) -> Datum {
    let precision = if scale == 2 { 10 } else { 38 };
    Datum::Decimal {
        unscaled,
        precision,
        scale,
    }
}

fn micros(micros: i64) -> Datum {
    Datum::Timestamp(TimestampValue::from_micros(micros))
}
