//! Integers, floats, decimals and booleans among each other.
//!
//! Java's conversions: an integer keeps its low bits, a float is cut toward zero and saturates at INT (for TINYINT and
//! SMALLINT it goes through INT) or BIGINT, a decimal becomes an integer by its low 64 bits.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use arrow_array::{ArrayRef, BooleanArray, PrimitiveArray};
use arrow_buffer::BooleanBuffer;

use super::decimal::{parse_decimal, rescale, to_f64, truncate_to_integer};
use super::{mismatch, no_kernel, typed};
use crate::data_type::{DataType, TypeKind};
use crate::error::Result;

/// Binds `$typed` to the typed array of an integer kind and runs `$body`, else runs `$other`.
macro_rules! for_integers {
    ($array:expr, $from:expr, $typed:ident => $body:expr, $other:expr) => {
        match &$from.kind {
            TypeKind::TinyInt => {
                let $typed = typed::<Int8Type>($array, $from)?;
                $body
            }
            TypeKind::SmallInt => {
                let $typed = typed::<Int16Type>($array, $from)?;
                $body
            }
            TypeKind::Int => {
                let $typed = typed::<Int32Type>($array, $from)?;
                $body
            }
            TypeKind::BigInt => {
                let $typed = typed::<Int64Type>($array, $from)?;
                $body
            }
            _ => $other,
        }
    };
}

/// Converts every value with `as`, the small integers by way of `i32` as the JVM does.
macro_rules! convert {
    ($typed:expr, $to:expr, $none:expr) => {
        match &$to.kind {
            TypeKind::TinyInt => {
                Arc::new($typed.unary::<_, Int8Type>(|value| value as i32 as i8)) as ArrayRef
            }
            TypeKind::SmallInt => {
                Arc::new($typed.unary::<_, Int16Type>(|value| value as i32 as i16))
            }
            TypeKind::Int => Arc::new($typed.unary::<_, Int32Type>(|value| value as i32)),
            TypeKind::BigInt => Arc::new($typed.unary::<_, Int64Type>(|value| value as i64)),
            TypeKind::Float => Arc::new($typed.unary::<_, Float32Type>(|value| value as f32)),
            TypeKind::Double => Arc::new($typed.unary::<_, Float64Type>(|value| value as f64)),
            _ => return Err($none),
        }
    };
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "wrapping and saturating are the rules; one macro serves all widths"
)]
pub(super) fn cast(array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
    if let TypeKind::Decimal { precision, scale } = to.kind {
        return to_decimal(array, from, precision, scale);
    }
    Ok(match &from.kind {
        TypeKind::Boolean => {
            let array = array
                .as_boolean_opt()
                .ok_or_else(|| mismatch(array, from))?;
            let ones = zero_or_one(array);
            convert!(ones, to, no_kernel(from, to))
        }
        TypeKind::Float => {
            let array = typed::<Float32Type>(array, from)?;
            convert!(array, to, no_kernel(from, to))
        }
        TypeKind::Double => {
            let array = typed::<Float64Type>(array, from)?;
            convert!(array, to, no_kernel(from, to))
        }
        TypeKind::Decimal { precision, scale } => {
            let array = typed::<Decimal128Type>(array, from)?;
            let (precision, scale) = (*precision, *scale);
            match &to.kind {
                TypeKind::Float => Arc::new(
                    array.unary::<_, Float32Type>(|value| to_f64(value, precision, scale) as f32),
                ),
                TypeKind::Double => {
                    Arc::new(array.unary::<_, Float64Type>(|value| to_f64(value, precision, scale)))
                }
                _ => {
                    let whole = array
                        .unary::<_, Int64Type>(|value| truncate_to_integer(value, scale) as i64);
                    convert!(whole, to, no_kernel(from, to))
                }
            }
        }
        _ => for_integers!(
            array,
            from,
            numbers => match &to.kind {
                TypeKind::Boolean => {
                    let values = BooleanBuffer::from_iter(numbers.values().iter().map(|value| *value != 0));
                    Arc::new(BooleanArray::new(values, numbers_nulls(numbers)))
                }
                _ => convert!(numbers, to, no_kernel(from, to)),
            },
            return Err(no_kernel(from, to))
        ),
    })
}

fn numbers_nulls<T: arrow_array::types::ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
) -> Option<arrow_buffer::NullBuffer> {
    arrow_array::Array::nulls(array).cloned()
}

fn zero_or_one(array: &BooleanArray) -> PrimitiveArray<Int32Type> {
    let values = array.values().iter().map(i32::from).collect();
    PrimitiveArray::new(values, arrow_array::Array::nulls(array).cloned())
}

#[expect(clippy::useless_conversion, reason = "one macro serves all widths")]
fn to_decimal(array: &ArrayRef, from: &DataType, precision: u8, scale: u8) -> Result<ArrayRef> {
    let whole = |value: i64| rescale(i128::from(value), 0, precision, scale);
    let decimals: PrimitiveArray<Decimal128Type> = match &from.kind {
        TypeKind::Boolean => {
            let array = array
                .as_boolean_opt()
                .ok_or_else(|| mismatch(array, from))?;
            zero_or_one(array).unary_opt(|value| whole(i64::from(value)))
        }
        TypeKind::Float => {
            let array = typed::<Float32Type>(array, from)?;
            array.unary_opt(|value| double_to_decimal(f64::from(value), precision, scale))
        }
        TypeKind::Double => {
            let array = typed::<Float64Type>(array, from)?;
            array.unary_opt(|value| double_to_decimal(value, precision, scale))
        }
        TypeKind::Decimal {
            scale: from_scale, ..
        } => {
            let array = typed::<Decimal128Type>(array, from)?;
            array.unary_opt(|value| rescale(value, *from_scale, precision, scale))
        }
        _ => for_integers!(
            array,
            from,
            numbers => numbers.unary_opt(|value| whole(i64::from(value))),
            return Err(no_kernel(from, &DataType::decimal(precision, scale)))
        ),
    };
    Ok(Arc::new(decimals.with_precision_and_scale(
        precision,
        scale.cast_signed(),
    )?))
}

/// By the shortest decimal text of the double, as `BigDecimal.valueOf` does: 1.255 becomes 1.26 at scale 2.
fn double_to_decimal(value: f64, precision: u8, scale: u8) -> Option<i128> {
    if !value.is_finite() {
        return None;
    }
    let text = format!("{value:e}");
    parse_decimal(&text, precision, scale).ok().flatten()
}
