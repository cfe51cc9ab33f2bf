//! Literals and the values a column can hold.

use crate::arrow_types::TimestampUnit;
use crate::cast::rescale_exact;
use crate::data_type::{DataType, MAX_DECIMAL_PRECISION, TypeKind};
use crate::datum::Datum;
use crate::error::{Result, TypeError};
use crate::text::{parse_datum, parse_decimal, parse_timestamp};

/// How a literal stands to the values of a column.
#[derive(Debug, PartialEq)]
pub(super) enum Fit {
    /// The same value in the column's type.
    Exact(Datum),
    /// Comparable, but equal to no value that the column can hold.
    Between,
    /// Of a type that does not compare with the column's.
    Foreign,
}

/// Brings a literal to a column's type.
pub(super) fn fit(literal: &Datum, data_type: &DataType) -> Fit {
    let integer = match literal {
        Datum::TinyInt(value) => Some(i64::from(*value)),
        Datum::SmallInt(value) => Some(i64::from(*value)),
        Datum::Int(value) => Some(i64::from(*value)),
        Datum::BigInt(value) => Some(*value),
        _ => None,
    };
    match (literal, &data_type.kind) {
        (
            Datum::Timestamp(value),
            TypeKind::Timestamp(precision) | TypeKind::TimestampLtz(precision),
        ) => {
            if value.floor_to(unit_digits(*precision)) == *value {
                Fit::Exact(literal.clone())
            } else {
                Fit::Between
            }
        }
        (
            Datum::Decimal {
                unscaled,
                scale: from,
                ..
            },
            TypeKind::Decimal { precision, scale },
        ) => match rescale_exact(*unscaled, *from, *precision, *scale) {
            Some(unscaled) => Fit::Exact(Datum::Decimal {
                unscaled,
                precision: *precision,
                scale: *scale,
            }),
            None => Fit::Between,
        },
        _ if literal.is_of(data_type) => Fit::Exact(literal.clone()),
        _ => match integer {
            Some(integer) => integer_in(integer, &data_type.kind),
            None => Fit::Foreign,
        },
    }
}

fn integer_in(integer: i64, kind: &TypeKind) -> Fit {
    let fitted = match kind {
        TypeKind::TinyInt => i8::try_from(integer).ok().map(Datum::TinyInt),
        TypeKind::SmallInt => i16::try_from(integer).ok().map(Datum::SmallInt),
        TypeKind::Int => i32::try_from(integer).ok().map(Datum::Int),
        TypeKind::BigInt => Some(Datum::BigInt(integer)),
        _ => return Fit::Foreign,
    };
    fitted.map_or(Fit::Between, Fit::Exact)
}

/// Fraction digits that timestamps of this precision are stored with.
pub(super) fn unit_digits(precision: u8) -> u8 {
    match TimestampUnit::of_precision(precision) {
        TimestampUnit::Milli => 3,
        TimestampUnit::Micro => 6,
        TimestampUnit::Nano => 9,
    }
}

/// Reads a literal by the column's type.
///
/// Unlike a value to be stored, a decimal may have more digits than the column and a timestamp more fraction digits. A
/// FLOAT is read as a double and then narrowed, as the values that are written are.
pub(super) fn from_text(text: &str, data_type: &DataType) -> Result<Datum> {
    match &data_type.kind {
        TypeKind::Float => match parse_datum(text, &DataType::double())? {
            #[expect(clippy::cast_possible_truncation, reason = "narrowing is the rule")]
            Datum::Double(value) => Ok(Datum::Float(value as f32)),
            other => Ok(other),
        },
        TypeKind::Decimal { .. } => match parse_datum(text, data_type) {
            Err(error @ TypeError::DoesNotFit { .. }) => any_decimal(text).ok_or(error),
            read => read,
        },
        TypeKind::Timestamp(_) => Ok(Datum::Timestamp(parse_timestamp(text.trim(), false)?)),
        TypeKind::TimestampLtz(_) => Ok(Datum::Timestamp(parse_timestamp(text.trim(), true)?)),
        _ => parse_datum(text, data_type),
    }
}

/// The decimal with as few fraction digits as it takes.
fn any_decimal(text: &str) -> Option<Datum> {
    (0..=MAX_DECIMAL_PRECISION).find_map(|scale| {
        let unscaled = parse_decimal(text.trim(), MAX_DECIMAL_PRECISION, scale).ok()?;
        Some(Datum::Decimal {
            unscaled,
            precision: MAX_DECIMAL_PRECISION,
            scale,
        })
    })
}

/// The form of a decimal literal that no column value equals: no zeros at the end, so that equal ones are `==`.
pub(super) fn plain_decimal(unscaled: i128, scale: u8) -> Datum {
    let (mut unscaled, mut scale) = (unscaled, scale);
    while scale > 0 && unscaled % 10 == 0 {
        unscaled /= 10;
        scale -= 1;
    }
    Datum::Decimal {
        unscaled,
        precision: MAX_DECIMAL_PRECISION,
        scale,
    }
}
