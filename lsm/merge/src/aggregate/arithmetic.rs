//! `sum` and `product` of integers and floats. A total that leaves the type is an error, or wraps and is counted.

use arrow_array::builder::PrimitiveBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use arrow_array::{Array, ArrayRef, ArrowNativeTypeOp};
use arrow_schema::DataType;

use super::{ColumnRules, Contested, Failure, Fault, Folding, Result, Step, decimal};

/// What becomes of a total that its column cannot hold: `fields.<column>.<function>.fail-on-overflow`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// The merge fails.
    Fail,
    /// As in Java 1.3: integers wrap, a DECIMAL of up to 18 digits grows beyond them, a longer one becomes null.
    Wrap,
}

pub(super) fn sum(
    column: &ArrayRef,
    contested: Contested<'_>,
    rules: ColumnRules,
    overflow: Overflow,
) -> Result<Folding> {
    if let DataType::Decimal128(precision, _) = column.data_type() {
        return decimal::sum(column, contested, rules, *precision, overflow);
    }
    by_type(column, contested, rules, overflow, Total::Sum)
}

pub(super) fn product(
    column: &ArrayRef,
    contested: Contested<'_>,
    rules: ColumnRules,
    overflow: Overflow,
) -> Result<Folding> {
    if let DataType::Decimal128(precision, scale) = column.data_type() {
        return decimal::product(column, contested, rules, (*precision, *scale), overflow);
    }
    by_type(column, contested, rules, overflow, Total::Product)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Total {
    Sum,
    Product,
}

fn by_type(
    column: &ArrayRef,
    contested: Contested<'_>,
    rules: ColumnRules,
    overflow: Overflow,
    total: Total,
) -> Result<Folding> {
    // Floats never overflow: they become infinite.
    match column.data_type() {
        DataType::Int8 => fold::<Int8Type, true>(column, contested, rules, overflow, total),
        DataType::Int16 => fold::<Int16Type, true>(column, contested, rules, overflow, total),
        DataType::Int32 => fold::<Int32Type, true>(column, contested, rules, overflow, total),
        DataType::Int64 => fold::<Int64Type, true>(column, contested, rules, overflow, total),
        DataType::Float32 => fold::<Float32Type, false>(column, contested, rules, overflow, total),
        DataType::Float64 => fold::<Float64Type, false>(column, contested, rules, overflow, total),
        _ => Err(Failure::Type),
    }
}

/// What of a total is looked at when it overflows.
struct Tally {
    overflow: Overflow,
    wrapped: bool,
}

impl Tally {
    /// The exact value, or the wrapped one if that is allowed.
    fn take<V>(&mut self, row: usize, exact: Option<V>, wrapped: impl FnOnce() -> V) -> Result<V> {
        match (exact, self.overflow) {
            (Some(value), _) => Ok(value),
            (None, Overflow::Fail) => Err(Failure::At(row, Fault::Overflow)),
            (None, Overflow::Wrap) => {
                self.wrapped = true;
                Ok(wrapped())
            }
        }
    }
}

fn fold<T: ArrowPrimitiveType, const CHECKED: bool>(
    column: &ArrayRef,
    contested: Contested<'_>,
    rules: ColumnRules,
    overflow: Overflow,
    total: Total,
) -> Result<Folding> {
    let array = column.as_primitive_opt::<T>().ok_or(Failure::Type)?;
    let nulls = array.nulls();
    let mut folded = PrimitiveBuilder::<T>::with_capacity(contested.keys.len());
    let mut wraps = 0;
    for key in contested.keys {
        let mut acc: Option<T::Native> = None;
        let mut tally = Tally {
            overflow,
            wrapped: false,
        };
        contested.steps(key, rules, |row, step| {
            let null = nulls.is_some_and(|nulls| nulls.is_null(row));
            let value = array.values().get(row).copied().filter(|_| !null);
            acc = match (step, acc, value) {
                (Step::Set, _, value) => value,
                (Step::Clear, _, _) => None,
                (_, acc, None) => acc,
                (Step::Add | Step::AddOlder, None, value) => value,
                (Step::Add | Step::AddOlder, Some(acc), Some(value)) => {
                    Some(add::<T::Native, CHECKED>(
                        total, acc, value, row, &mut tally,
                    )?)
                }
                (Step::Retract | Step::RetractOlder, acc, Some(value)) => {
                    retract::<T::Native, CHECKED>(total, acc, value, row, &mut tally)?
                }
            };
            Ok(())
        })?;
        wraps += u64::from(tally.wrapped);
        folded.append_option(acc);
    }
    Ok(Folding::Values {
        values: std::sync::Arc::new(folded.finish()),
        wraps,
    })
}

#[inline]
fn add<V: ArrowNativeTypeOp, const CHECKED: bool>(
    total: Total,
    acc: V,
    value: V,
    row: usize,
    tally: &mut Tally,
) -> Result<V> {
    match (total, CHECKED) {
        (Total::Sum, true) => {
            tally.take(row, acc.add_checked(value).ok(), || acc.add_wrapping(value))
        }
        (Total::Sum, false) => Ok(acc.add_wrapping(value)),
        (Total::Product, true) => {
            tally.take(row, acc.mul_checked(value).ok(), || acc.mul_wrapping(value))
        }
        (Total::Product, false) => Ok(acc.mul_wrapping(value)),
    }
}

/// Nothing was added yet: a sum becomes negative, a product stays nothing.
#[inline]
fn retract<V: ArrowNativeTypeOp, const CHECKED: bool>(
    total: Total,
    acc: Option<V>,
    value: V,
    row: usize,
    tally: &mut Tally,
) -> Result<Option<V>> {
    match (total, acc) {
        (Total::Sum, acc) => {
            let acc = acc.unwrap_or(V::ZERO);
            if !CHECKED {
                return Ok(Some(acc.sub_wrapping(value)));
            }
            let exact = acc.sub_checked(value).ok();
            tally.take(row, exact, || acc.sub_wrapping(value)).map(Some)
        }
        (Total::Product, None) => Ok(None),
        (Total::Product, Some(acc)) if !CHECKED => Ok(Some(acc.div_wrapping(value))),
        (Total::Product, Some(_)) if value.is_zero() => {
            Err(Failure::At(row, Fault::DivisionByZero))
        }
        (Total::Product, Some(acc)) => {
            let exact = acc.div_checked(value).ok();
            tally.take(row, exact, || acc.div_wrapping(value)).map(Some)
        }
    }
}
