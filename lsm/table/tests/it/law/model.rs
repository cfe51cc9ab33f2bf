//! What a table must hold: maps and lists of rows, told apart by the ids of their columns.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use arrow_array::{ArrayRef, RecordBatch};
use tidewater_types::arrow_types::to_arrow_schema;
use tidewater_types::{
    DataField, DataType, Datum, Predicate, PredicateOp, RowKind, RowType, TimestampValue, TypeKind,
    datums_to_array,
};

/// A row by field id. A field that is not there is null.
pub(crate) type Row = BTreeMap<i32, Datum>;

/// A row as it was written.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) kind: RowKind,
    pub(crate) row: Row,
}

/// How rows of one key meet.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    /// Ids of the primary key; none in append tables.
    pub(crate) key: Vec<i32>,
    /// The sequence field.
    pub(crate) sequence: Option<i32>,
}

/// The rows of a table: the newest of each key, or all of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    keyed: BTreeMap<String, Change>,
    all: Vec<Row>,
}

impl State {
    /// Takes in a row.
    pub(crate) fn apply(&mut self, rules: &Rules, change: &Change) {
        if rules.key.is_empty() {
            self.all.push(change.row.clone());
            return;
        }
        let key = key_text(rules, &change.row);
        let late = rules.sequence.is_some_and(|sequence| {
            self.keyed.get(&key).is_some_and(|there| {
                compare_nulls_first(&value(&change.row, sequence), &value(&there.row, sequence))
                    == Ordering::Less
            })
        });
        if !late {
            self.keyed.insert(key, change.clone());
        }
    }

    /// Whether the newest row of this key took it away.
    pub(crate) fn is_deleted(&self, rules: &Rules, row: &Row) -> bool {
        let newest = self.keyed.get(&key_text(rules, row));
        newest.is_some_and(|change| change.kind.is_retract())
    }

    /// The rows that a reader sees.
    pub(crate) fn rows(&self) -> Vec<&Row> {
        let keyed = self.keyed.values();
        let live = keyed.filter(|change| !change.kind.is_retract());
        live.map(|change| &change.row).chain(&self.all).collect()
    }

    /// The newest change of each key.
    pub(crate) fn newest(&self) -> &BTreeMap<String, Change> {
        &self.keyed
    }
}

/// The key of a row as text.
pub(crate) fn key_text(rules: &Rules, row: &Row) -> String {
    let values: Vec<Datum> = rules.key.iter().map(|id| value(row, *id)).collect();
    format!("{values:?}")
}

fn value(row: &Row, id: i32) -> Datum {
    row.get(&id).cloned().unwrap_or(Datum::Null)
}

fn compare_nulls_first(left: &Datum, right: &Datum) -> Ordering {
    match (left.is_null(), right.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => left.compare(right).expect("values of one type"),
    }
}

/// The row with these fields: missing ones null, others in the type that the field has by now.
pub(crate) fn seen_as(row: &Row, fields: &[DataField]) -> Vec<Datum> {
    let seen = fields
        .iter()
        .map(|field| widened(value(row, field.id), &field.data_type));
    seen.collect()
}

fn widened(value: Datum, to: &DataType) -> Datum {
    match (value, &to.kind) {
        (Datum::Int(v), TypeKind::BigInt) => Datum::BigInt(v.into()),
        (Datum::Float(v), TypeKind::Double) => Datum::Double(v.into()),
        (Datum::Decimal { unscaled, .. }, TypeKind::Decimal { precision, scale }) => {
            Datum::Decimal {
                unscaled,
                precision: *precision,
                scale: *scale,
            }
        }
        (value, _) => value,
    }
}

/// The type that a column of this type can be widened to.
pub(crate) fn wider(data_type: &DataType) -> Option<DataType> {
    let wide = match &data_type.kind {
        TypeKind::Int => DataType::big_int(),
        TypeKind::Float => DataType::double(),
        TypeKind::Decimal {
            precision: 6,
            scale,
        } => DataType::decimal(14, *scale),
        TypeKind::VarChar(12) => DataType::string(),
        TypeKind::Timestamp(3) => DataType::timestamp(6),
        _ => return None,
    };
    Some(wide)
}

/// A value of the type; equal seeds give equal values, and edges come up often.
pub(crate) fn value_of(data_type: &DataType, seed: u16) -> Datum {
    if data_type.nullable && seed.is_multiple_of(7) {
        return Datum::Null;
    }
    let small = i32::from(seed % 41) - 20;
    match &data_type.kind {
        TypeKind::Int => Datum::Int(match seed % 11 {
            1 => i32::MIN,
            2 => i32::MAX,
            _ => small,
        }),
        TypeKind::BigInt => Datum::BigInt(match seed % 11 {
            1 => i64::MIN,
            2 => i64::MAX,
            _ => i64::from(small) << 33,
        }),
        TypeKind::Float => Datum::Float(match seed % 11 {
            1 => f32::NAN,
            2 => -0.0,
            3 => 0.0,
            4 => f32::NEG_INFINITY,
            _ => small as f32 / 4.0,
        }),
        TypeKind::Double => Datum::Double(match seed % 11 {
            1 => f64::NAN,
            2 => -0.0,
            3 => f64::INFINITY,
            _ => f64::from(small) / 8.0,
        }),
        TypeKind::Decimal { precision, scale } => Datum::Decimal {
            unscaled: i128::from(small) * 4_999,
            precision: *precision,
            scale: *scale,
        },
        TypeKind::Timestamp(precision) => {
            let millis = i64::from(small) * 86_400_123;
            let nano_of_milli = if *precision > 3 {
                i32::from(seed % 3) * 450_000
            } else {
                0
            };
            Datum::Timestamp(TimestampValue {
                millis,
                nano_of_milli,
            })
        }
        TypeKind::VarChar(max) => Datum::String(match seed % 11 {
            1 => String::new(),
            2 => "\u{10FFFF}".repeat(3),
            3 => "aaaaaaaaaaaaaaaaaaaaaab"
                .chars()
                .take(*max as usize)
                .collect(),
            4 => "a/b=%".to_owned(),
            5 => "wide ".repeat(2_000).chars().take(*max as usize).collect(),
            _ => format!("t{small}"),
        }),
        TypeKind::Boolean => Datum::Boolean(seed.is_multiple_of(2)),
        other => panic!("no values for {other:?}"),
    }
}

/// A batch of these rows with the columns of `fields`.
pub(crate) fn batch_of(fields: &[DataField], rows: &[&Row]) -> RecordBatch {
    let columns: Vec<ArrayRef> = fields
        .iter()
        .map(|field| {
            let values: Vec<Datum> = rows.iter().map(|row| value(row, field.id)).collect();
            datums_to_array(&field.data_type, &values).unwrap()
        })
        .collect();
    let schema = to_arrow_schema(&RowType::new(fields.to_vec()));
    RecordBatch::try_new(schema, columns).unwrap()
}

/// The rows of a batch whose first columns are `fields`.
pub(crate) fn rows_of(batch: &RecordBatch, fields: &[DataField]) -> Vec<Vec<Datum>> {
    let mut rows = vec![Vec::with_capacity(fields.len()); batch.num_rows()];
    for (field, column) in fields.iter().zip(batch.columns()) {
        for (at, row) in rows.iter_mut().enumerate() {
            row.push(Datum::from_array(column, at, &field.data_type).unwrap());
        }
    }
    rows
}

/// Rows as text in an order that does not depend on how they came.
pub(crate) fn sorted(rows: impl IntoIterator<Item = Vec<Datum>>) -> Vec<String> {
    let mut texts: Vec<String> = rows.into_iter().map(|row| format!("{row:?}")).collect();
    texts.sort_unstable();
    texts
}

/// What SQL says of a condition, slowly.
pub(crate) fn holds(predicate: &Predicate, row: &[Datum]) -> Option<bool> {
    match predicate {
        Predicate::And(parts) => parts.iter().try_fold_sql(true, row),
        Predicate::Or(parts) => parts.iter().try_fold_sql(false, row),
        Predicate::Not(part) => holds(part, row).map(|holds| !holds),
        Predicate::AlwaysTrue => Some(true),
        Predicate::AlwaysFalse => Some(false),
        Predicate::Leaf {
            field,
            op,
            literals,
            ..
        } => {
            let value = &row[*field];
            match op {
                PredicateOp::IsNull => return Some(value.is_null()),
                PredicateOp::IsNotNull => return Some(!value.is_null()),
                _ => {}
            }
            let order = |at: usize| value.compare(&literals[at]);
            match op {
                PredicateOp::Eq => order(0).map(Ordering::is_eq),
                PredicateOp::NotEq => order(0).map(Ordering::is_ne),
                PredicateOp::Lt => order(0).map(Ordering::is_lt),
                PredicateOp::LtEq => order(0).map(Ordering::is_le),
                PredicateOp::Gt => order(0).map(Ordering::is_gt),
                PredicateOp::GtEq => order(0).map(Ordering::is_ge),
                PredicateOp::In if !value.is_null() => {
                    Some((0..literals.len()).any(|at| order(at) == Some(Ordering::Equal)))
                }
                PredicateOp::Between => match (order(0), order(1)) {
                    (Some(low), Some(high)) => Some(low.is_ge() && high.is_le()),
                    _ => None,
                },
                _ => None,
            }
        }
    }
}

trait SqlFold<'a> {
    /// AND if `and`, otherwise OR, of three-valued parts.
    fn try_fold_sql(self, and: bool, row: &[Datum]) -> Option<bool>;
}

impl<'a, I: Iterator<Item = &'a Predicate>> SqlFold<'a> for I {
    fn try_fold_sql(self, and: bool, row: &[Datum]) -> Option<bool> {
        let mut unknown = false;
        for part in self {
            match holds(part, row) {
                Some(truth) if truth != and => return Some(!and),
                Some(_) => {}
                None => unknown = true,
            }
        }
        (!unknown).then_some(and)
    }
}
