//! Dates, times and timestamps among each other, and epoch seconds.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Int32Type, Int64Type, Time32MillisecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_buffer::{NullBuffer, ScalarBuffer};

use super::{no_kernel, typed};
use crate::arrow_types::TimestampUnit;
use crate::data_type::{DataType, TypeKind};
use crate::error::{Result, TypeError};

const SECONDS_PER_DAY: i64 = 86_400;

pub(super) fn cast(array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
    match (&from.kind, &to.kind) {
        // Whatever the precision says, TIME is milliseconds of the day.
        (TypeKind::Time(_), TypeKind::Time(_)) => Ok(Arc::clone(array)),
        (_, TypeKind::Timestamp(precision) | TypeKind::TimestampLtz(precision)) => {
            let source = Instants::read(array, from, to)?;
            timestamps(&source, *precision, to)
        }
        (TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_), _) => {
            parts_of_timestamp(&Instants::read(array, from, to)?, from, to)
        }
        _ => Err(no_kernel(from, to)),
    }
}

/// Points in time as a count of some unit since the epoch.
struct Instants {
    values: ScalarBuffer<i64>,
    nulls: Option<NullBuffer>,
    per_second: i64,
}

impl Instants {
    fn read(array: &ArrayRef, from: &DataType, to: &DataType) -> Result<Self> {
        let nulls = array.nulls().cloned();
        let (values, per_second) = match &from.kind {
            TypeKind::Int => (widen(typed::<Int32Type>(array, from)?, 1), 1),
            TypeKind::BigInt => (typed::<Int64Type>(array, from)?.values().clone(), 1),
            TypeKind::Date => (widen(typed::<Date32Type>(array, from)?, SECONDS_PER_DAY), 1),
            TypeKind::Time(_) => (
                widen(typed::<Time32MillisecondType>(array, from)?, 1),
                1_000,
            ),
            TypeKind::Timestamp(precision) | TypeKind::TimestampLtz(precision) => {
                match TimestampUnit::of_precision(*precision) {
                    TimestampUnit::Milli => (
                        typed::<TimestampMillisecondType>(array, from)?
                            .values()
                            .clone(),
                        1_000,
                    ),
                    TimestampUnit::Micro => (
                        typed::<TimestampMicrosecondType>(array, from)?
                            .values()
                            .clone(),
                        1_000_000,
                    ),
                    TimestampUnit::Nano => (
                        typed::<TimestampNanosecondType>(array, from)?
                            .values()
                            .clone(),
                        1_000_000_000,
                    ),
                }
            }
            _ => return Err(no_kernel(from, to)),
        };
        Ok(Self {
            values,
            nulls,
            per_second,
        })
    }

    /// Maps the values that are not null; what lies under a null is not looked at.
    fn try_map(&self, f: impl Fn(i64) -> Result<i64>) -> Result<ScalarBuffer<i64>> {
        let Some(nulls) = &self.nulls else {
            return self.values.iter().map(|value| f(*value)).collect();
        };
        let values = self.values.iter().zip(nulls.iter());
        values
            .map(|(value, valid)| if valid { f(*value) } else { Ok(0) })
            .collect()
    }
}

fn widen<T: ArrowPrimitiveType<Native = i32>>(
    array: &PrimitiveArray<T>,
    factor: i64,
) -> ScalarBuffer<i64> {
    array
        .values()
        .iter()
        .map(|value| i64::from(*value) * factor)
        .collect()
}

/// Floors to the digits of the target and moves to its unit.
fn timestamps(source: &Instants, precision: u8, to: &DataType) -> Result<ArrayRef> {
    let unit = TimestampUnit::of_precision(precision);
    let to_per_second = match unit {
        TimestampUnit::Milli => 1_000,
        TimestampUnit::Micro => 1_000_000,
        TimestampUnit::Nano => 1_000_000_000,
    };
    // In the source's unit: how much one digit of the target is, if it is more than one.
    let kept_per_second = 10_i64.pow(u32::from(precision.min(9)));
    let step = source.per_second / kept_per_second.min(source.per_second);
    let values = source.try_map(|value| {
        let floored = value - value.rem_euclid(step);
        if to_per_second >= source.per_second {
            floored
                .checked_mul(to_per_second / source.per_second)
                .ok_or_else(|| does_not_fit(value, source, to))
        } else {
            Ok(floored.div_euclid(source.per_second / to_per_second))
        }
    })?;
    let nulls = source.nulls.clone();
    let zone = matches!(to.kind, TypeKind::TimestampLtz(_)).then_some("UTC");
    Ok(match unit {
        TimestampUnit::Milli => Arc::new(
            PrimitiveArray::<TimestampMillisecondType>::new(values, nulls).with_timezone_opt(zone),
        ),
        TimestampUnit::Micro => Arc::new(
            PrimitiveArray::<TimestampMicrosecondType>::new(values, nulls).with_timezone_opt(zone),
        ),
        TimestampUnit::Nano => Arc::new(
            PrimitiveArray::<TimestampNanosecondType>::new(values, nulls).with_timezone_opt(zone),
        ),
    })
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "INT keeps the low bits; the other results are small by division"
)]
fn parts_of_timestamp(source: &Instants, from: &DataType, to: &DataType) -> Result<ArrayRef> {
    let nulls = source.nulls.clone();
    let per_day = source.per_second * SECONDS_PER_DAY;
    let per_milli = source.per_second / 1_000;
    // Java divides floored milliseconds by 1000 toward zero: half a second before the epoch is second 0.
    let seconds = |value: &i64| value.div_euclid(per_milli) / 1_000;
    Ok(match &to.kind {
        TypeKind::Date => {
            // In milliseconds the range of a timestamp goes far beyond that of a date.
            let days = source.try_map(|value| {
                let days = value.div_euclid(per_day);
                i32::try_from(days)
                    .map(i64::from)
                    .map_err(|_| does_not_fit(value, source, to))
            })?;
            let days = days.iter().map(|days| *days as i32).collect();
            Arc::new(PrimitiveArray::<Date32Type>::new(days, nulls))
        }
        TypeKind::Time(_) => {
            let millis = source
                .values
                .iter()
                .map(|value| (value.rem_euclid(per_day) / per_milli) as i32)
                .collect();
            Arc::new(PrimitiveArray::<Time32MillisecondType>::new(millis, nulls))
        }
        TypeKind::Int => {
            let seconds = source
                .values
                .iter()
                .map(|value| seconds(value) as i32)
                .collect();
            Arc::new(PrimitiveArray::<Int32Type>::new(seconds, nulls))
        }
        TypeKind::BigInt => Arc::new(PrimitiveArray::<Int64Type>::new(
            source.values.iter().map(seconds).collect(),
            nulls,
        )),
        _ => return Err(no_kernel(from, to)),
    })
}

fn does_not_fit(value: i64, source: &Instants, to: &DataType) -> TypeError {
    TypeError::DoesNotFit {
        value: format!("{value} / {} s since the epoch", source.per_second),
        data_type: to.to_string(),
    }
}
