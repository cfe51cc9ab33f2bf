//! Rows like those of TPC-H's lineitem: sixteen columns of eight types, some with few values, some with many.

use std::sync::Arc;

use arrow_array::types::Decimal128Type;
use arrow_array::{
    ArrayRef, Date32Array, Float64Array, Int32Array, Int64Array, PrimitiveArray, StringArray,
    TimestampMicrosecondArray,
};
use arrow_schema::{DataType, Field, Schema, TimeUnit};

use super::random::Random;

/// Days within which rows are shipped.
pub(super) const SHIP_DAYS: i64 = 2_526;
/// 2 January 1992.
const FIRST_DAY: i64 = 8_036;
const DAY_MICROS: i64 = 86_400_000_000;
const PRECISION: u8 = 12;
const SCALE: i8 = 2;
/// Different halves of comments.
const PHRASES: usize = 4_096;
/// Most characters of a comment.
const COMMENT: usize = 43;

const WORDS: [&str; 24] = [
    "amber", "brisk", "candid", "drifting", "eager", "faint", "gentle", "hollow", "idle", "jagged",
    "keen", "lively", "muted", "narrow", "open", "patient", "quiet", "restless", "silver", "tidal",
    "upward", "vivid", "warm", "yellow",
];
const FLAGS: [&str; 3] = ["A", "N", "R"];
const STATUS: [&str; 2] = ["O", "F"];
const INSTRUCTIONS: [&str; 4] = [
    "DELIVER IN PERSON",
    "COLLECT COD",
    "NONE",
    "TAKE BACK RETURN",
];
const MODES: [&str; 7] = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"];

/// A primary key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    pub(super) order: i64,
    pub(super) line: i32,
}

/// Makes rows for keys.
pub(super) struct Lines {
    phrases: Vec<String>,
    parts: i64,
    suppliers: i64,
}

/// Rows, and what facts are made of.
pub(super) struct MadeLines {
    pub(super) columns: Vec<ArrayRef>,
    pub(super) parts: Vec<i64>,
    /// Day of shipment, counted from the first.
    pub(super) ship_days: Vec<i32>,
}

/// The columns, and these behind them.
pub(super) fn lines_schema(further: &[Field]) -> Schema {
    let field = |name: &str, data_type| Field::new(name, data_type, true);
    let decimal = DataType::Decimal128(PRECISION, SCALE);
    let mut fields = vec![
        Field::new("l_orderkey", DataType::Int64, false),
        Field::new("l_linenumber", DataType::Int32, false),
        field("l_partkey", DataType::Int64),
        field("l_suppkey", DataType::Int32),
        field("l_quantity", decimal.clone()),
        field("l_extendedprice", decimal),
        field("l_discount", DataType::Float64),
        field("l_tax", DataType::Float64),
        field("l_returnflag", DataType::Utf8),
        field("l_linestatus", DataType::Utf8),
        field("l_shipdate", DataType::Date32),
        field("l_commitdate", DataType::Date32),
        field(
            "l_receiptts",
            DataType::Timestamp(TimeUnit::Microsecond, None),
        ),
        field("l_shipinstruct", DataType::Utf8),
        field("l_shipmode", DataType::Utf8),
        field("l_comment", DataType::Utf8),
    ];
    fields.extend_from_slice(further);
    Schema::new(fields)
}

impl Lines {
    /// For a table of this many rows.
    pub(super) fn new(seed: u64, rows: usize) -> Self {
        let mut random = Random::new(seed + 77);
        let phrase = |_| {
            let count = random.between(1, 3);
            let words: Vec<&str> = (0..count).map(|_| one_of(&mut random, &WORDS)).collect();
            words.join(" ")
        };
        let rows = i64::try_from(rows).unwrap_or(i64::MAX);
        Self {
            phrases: (0..PHRASES).map(phrase).collect(),
            parts: (rows / 30).max(2) + 1,
            suppliers: (rows / 600).max(10),
        }
    }

    /// A row for each key.
    pub(super) fn make(&self, random: &mut Random, keys: &[Key]) -> MadeLines {
        let rows = keys.len();
        let many = |random: &mut Random, first, last| -> Vec<i64> {
            (0..rows).map(|_| random.between(first, last)).collect()
        };
        let parts = many(random, 1, self.parts);
        let suppliers = parts
            .iter()
            .map(|part| (part * 7 + random.between(0, 3)) % self.suppliers);
        let suppliers: Vec<i32> = suppliers.map(|supplier| narrow(supplier + 1)).collect();
        let quantities = many(random, 1, 50);
        let prices = quantities.iter().zip(&parts).map(|(quantity, part)| {
            quantity * (90_000 + (part % 200_001) / 10 + 100 * (part % 1_000)) / 10
        });
        let prices: Vec<i64> = prices.collect();
        let ship = many(random, 0, SHIP_DAYS - 1);
        let commit = ship
            .iter()
            .map(|day| narrow(FIRST_DAY + day + random.between(-60, 60)));
        let commit: Vec<i32> = commit.collect();
        let receipt = ship.iter().map(|day| {
            let day = FIRST_DAY + day + random.between(1, 30);
            day * DAY_MICROS + random.between(0, DAY_MICROS / 1_000 - 1) * 1_000
        });
        let receipt: Vec<i64> = receipt.collect();
        let ship_days: Vec<i32> = ship.iter().map(|day| narrow(*day)).collect();
        let shares = |random: &mut Random, last| -> ArrayRef {
            let shares = (0..rows).map(|_| hundredths(random.between(0, last)));
            Arc::new(Float64Array::from_iter_values(shares))
        };
        let days = |days: &[i32]| -> ArrayRef { Arc::new(Date32Array::from(days.to_vec())) };
        let absolute: Vec<i32> = ship.iter().map(|day| narrow(FIRST_DAY + day)).collect();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from_iter_values(
                keys.iter().map(|key| key.order),
            )),
            Arc::new(Int32Array::from_iter_values(
                keys.iter().map(|key| key.line),
            )),
            Arc::new(Int64Array::from(parts.clone())),
            Arc::new(Int32Array::from(suppliers)),
            decimals(quantities.iter().map(|quantity| quantity * 100)),
            decimals(prices.into_iter()),
            shares(random, 10),
            shares(random, 8),
            texts(random, rows, &FLAGS),
            texts(random, rows, &STATUS),
            days(&absolute),
            days(&commit),
            Arc::new(TimestampMicrosecondArray::from(receipt)),
            texts(random, rows, &INSTRUCTIONS),
            texts(random, rows, &MODES),
            self.comments(random, rows),
        ];
        MadeLines {
            columns,
            parts,
            ship_days,
        }
    }

    fn comments(&self, random: &mut Random, rows: usize) -> ArrayRef {
        let mut phrase = || match self.phrases.get(random.below(PHRASES)) {
            Some(phrase) => phrase.as_str(),
            None => "",
        };
        let comments = (0..rows).map(|_| {
            let mut comment = format!("{} {}", phrase(), phrase());
            comment.truncate(COMMENT);
            comment
        });
        Arc::new(StringArray::from_iter_values(comments))
    }
}

fn decimals(cents: impl Iterator<Item = i64>) -> ArrayRef {
    let values: PrimitiveArray<Decimal128Type> =
        cents.map(|cents| Some(i128::from(cents))).collect();
    Arc::new(values.with_data_type(DataType::Decimal128(PRECISION, SCALE)))
}

fn texts(random: &mut Random, rows: usize, values: &[&'static str]) -> ArrayRef {
    let texts = (0..rows).map(|_| one_of(random, values));
    Arc::new(StringArray::from_iter_values(texts))
}

fn one_of(random: &mut Random, values: &[&'static str]) -> &'static str {
    values
        .get(random.below(values.len()))
        .copied()
        .unwrap_or_default()
}

fn narrow(value: i64) -> i32 {
    i32::try_from(value).unwrap_or_default()
}

fn hundredths(value: i64) -> f64 {
    f64::from(narrow(value)) / 100.0
}
