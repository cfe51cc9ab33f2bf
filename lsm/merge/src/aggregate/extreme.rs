//! `max` and `min`. Floats go by Java's total order, text and bytes by unsigned bytes; of equal values the older stays.

use std::cmp::Ordering;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};

use super::select::as_pick;
use super::{ColumnRules, Contested, Failure, Folding, NO_ROW, Result, Step, no_retract};

/// Which end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extreme {
    Max,
    Min,
}

pub(super) fn fold(
    column: &ArrayRef,
    contested: Contested<'_>,
    rules: ColumnRules,
    extreme: Extreme,
) -> Result<Folding> {
    let fold = Fold {
        column,
        contested,
        rules,
        wanted: match extreme {
            Extreme::Max => Ordering::Greater,
            Extreme::Min => Ordering::Less,
        },
    };
    match column.data_type() {
        DataType::Int8 => fold.primitives::<Int8Type>(Ord::cmp),
        DataType::Int16 => fold.primitives::<Int16Type>(Ord::cmp),
        DataType::Int32 => fold.primitives::<Int32Type>(Ord::cmp),
        DataType::Int64 => fold.primitives::<Int64Type>(Ord::cmp),
        DataType::Float32 => fold.primitives::<Float32Type>(|a, b| total_f32(*a, *b)),
        DataType::Float64 => fold.primitives::<Float64Type>(|a, b| total_f64(*a, *b)),
        DataType::Decimal128(..) => fold.primitives::<Decimal128Type>(Ord::cmp),
        DataType::Date32 => fold.primitives::<Date32Type>(Ord::cmp),
        DataType::Time32(TimeUnit::Millisecond) => {
            fold.primitives::<Time32MillisecondType>(Ord::cmp)
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            fold.primitives::<TimestampMillisecondType>(Ord::cmp)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            fold.primitives::<TimestampMicrosecondType>(Ord::cmp)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            fold.primitives::<TimestampNanosecondType>(Ord::cmp)
        }
        DataType::Utf8 => {
            let values = column.as_string_opt::<i32>().ok_or(Failure::Type)?;
            fold.rows(|a, b| values.value(a).as_bytes().cmp(values.value(b).as_bytes()))
        }
        DataType::Binary => {
            let values = column.as_binary_opt::<i32>().ok_or(Failure::Type)?;
            fold.rows(|a, b| values.value(a).cmp(values.value(b)))
        }
        _ => Err(Failure::Type),
    }
}

/// Java's order of floats: -0.0 before 0.0, every NaN one value and the greatest.
fn total_f32(a: f32, b: f32) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (false, false) => a.total_cmp(&b),
        (a, b) => a.cmp(&b),
    }
}

fn total_f64(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (false, false) => a.total_cmp(&b),
        (a, b) => a.cmp(&b),
    }
}

struct Fold<'a> {
    column: &'a ArrayRef,
    contested: Contested<'a>,
    rules: ColumnRules,
    /// How a value that wins compares with the one so far.
    wanted: Ordering,
}

impl Fold<'_> {
    fn primitives<T: ArrowPrimitiveType>(
        &self,
        compare: impl Fn(&T::Native, &T::Native) -> Ordering,
    ) -> Result<Folding> {
        let values = self
            .column
            .as_primitive_opt::<T>()
            .ok_or(Failure::Type)?
            .values();
        self.rows(|a, b| match (values.get(a), values.get(b)) {
            (Some(a), Some(b)) => compare(a, b),
            _ => Ordering::Equal,
        })
    }

    fn rows(&self, compare: impl Fn(usize, usize) -> Ordering) -> Result<Folding> {
        let nulls = self.column.nulls();
        let mut picks = Vec::with_capacity(self.contested.keys.len());
        for key in self.contested.keys {
            let mut best: Option<usize> = None;
            self.contested.steps(key, self.rules, |row, step| {
                let null = nulls.is_some_and(|nulls| nulls.is_null(row));
                match step {
                    Step::Set => best = (!null).then_some(row),
                    Step::Clear => best = None,
                    Step::Retract | Step::RetractOlder => return no_retract(row),
                    Step::Add | Step::AddOlder if null => {}
                    Step::Add | Step::AddOlder => {
                        if best.is_none_or(|best| compare(row, best) == self.wanted) {
                            best = Some(row);
                        }
                    }
                }
                Ok(())
            })?;
            picks.push(best.map_or(NO_ROW, as_pick));
        }
        Ok(Folding::Picks(picks))
    }
}
