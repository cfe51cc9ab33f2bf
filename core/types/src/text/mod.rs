//! Values as text and back.
//!
//! Two written forms: SQL-like text ([`format_datum`], the one casts to STRING and partition names use) and the ISO 8601
//! forms of the command line's JSON ([`iso_date`], [`iso_time`], [`iso_timestamp`]). One parser reads both.
//!
//! Everything before 1970 is floored: one millisecond before the epoch is `1969-12-31 23:59:59.999`.

mod calendar;
mod clock;
mod decimal;
mod number;

#[cfg(test)]
mod tests;

use crate::data_type::{DataType, TypeKind};
use crate::datum::Datum;
use crate::error::{Result, TypeError};

pub use calendar::{days_from_civil, iso_date, parse_date};
pub(crate) use clock::format_time;
pub(crate) use clock::java_local_date_time;
pub use clock::{format_timestamp, iso_time, iso_timestamp, parse_time, parse_timestamp};
pub use decimal::{format_decimal, parse_decimal};
pub use number::{format_double, format_float};

/// The value as SQL-like text: `2024-02-29`, `2024-02-29 12:34:56.123`, `12.50`, `1.0E10`; null is `null`.
///
/// Decimals are plain with all digits of the scale. Timestamps have the type's fraction digits, and more only where the
/// value holds more. Bytes are read as UTF-8 (with replacement characters where they are none), as Java's cast does.
pub fn format_datum(datum: &Datum, data_type: &DataType) -> String {
    match (datum, &data_type.kind) {
        (Datum::Null, _) => "null".to_owned(),
        (Datum::Boolean(value), _) => value.to_string(),
        (Datum::TinyInt(value), _) => value.to_string(),
        (Datum::SmallInt(value), _) => value.to_string(),
        (Datum::Int(value), _) => value.to_string(),
        (Datum::BigInt(value), _) => value.to_string(),
        (Datum::Float(value), _) => format_float(*value),
        (Datum::Double(value), _) => format_double(*value),
        (
            Datum::Decimal {
                unscaled, scale, ..
            },
            _,
        ) => format_decimal(*unscaled, *scale),
        (Datum::String(text), _) => text.clone(),
        (Datum::Bytes(bytes), _) => String::from_utf8_lossy(bytes).into_owned(),
        (Datum::Date(days), _) => iso_date(*days),
        (Datum::Time(millis), TypeKind::Time(precision)) => format_time(*millis, *precision),
        (Datum::Time(millis), _) => iso_time(*millis),
        (
            Datum::Timestamp(value),
            TypeKind::Timestamp(precision) | TypeKind::TimestampLtz(precision),
        ) => format_timestamp(*value, *precision),
        (Datum::Timestamp(value), _) => format_timestamp(*value, 9),
    }
}

/// Reads a value of an atomic type. The inverse of [`format_datum`] for every value but null.
///
/// White space around everything but text and bytes is skipped. Dates and times may be in SQL or ISO form; a
/// TIMESTAMP_LTZ may carry `Z` or an offset and is UTC without.
///
/// # Errors
/// [`TypeError::ValueText`] for text of another shape; [`TypeError::DoesNotFit`] for values outside the type: integers too
/// large, decimals with too many digits on either side of the point, fractions of a second finer than the type stores.
/// [`TypeError::Unsupported`] for VARIANT and nested types.
pub fn parse_datum(text: &str, data_type: &DataType) -> Result<Datum> {
    let trimmed = text.trim();
    let shape = |reason: &'static str| value_error(text, data_type, reason);
    let range = || TypeError::DoesNotFit {
        value: trimmed.to_owned(),
        data_type: data_type.to_string(),
    };
    let integer = || number::parse_integer(trimmed).ok_or_else(|| shape("not a whole number"));
    Ok(match &data_type.kind {
        TypeKind::Boolean => Datum::Boolean(
            number::parse_boolean(trimmed).ok_or_else(|| shape("not true or false"))?,
        ),
        TypeKind::TinyInt => Datum::TinyInt(i8::try_from(integer()?).map_err(|_| range())?),
        TypeKind::SmallInt => Datum::SmallInt(i16::try_from(integer()?).map_err(|_| range())?),
        TypeKind::Int => Datum::Int(i32::try_from(integer()?).map_err(|_| range())?),
        TypeKind::BigInt => Datum::BigInt(i64::try_from(integer()?).map_err(|_| range())?),
        TypeKind::Float => {
            Datum::Float(number::parse_float(trimmed).ok_or_else(|| shape("not a number"))?)
        }
        TypeKind::Double => {
            Datum::Double(number::parse_double(trimmed).ok_or_else(|| shape("not a number"))?)
        }
        TypeKind::Char(_) | TypeKind::VarChar(_) => Datum::String(text.to_owned()),
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => Datum::Bytes(text.as_bytes().to_vec()),
        TypeKind::Decimal { precision, scale } => Datum::Decimal {
            unscaled: parse_decimal(trimmed, *precision, *scale)?,
            precision: *precision,
            scale: *scale,
        },
        TypeKind::Date => Datum::Date(parse_date(trimmed)?),
        TypeKind::Time(_) => Datum::Time(parse_time(trimmed)?),
        TypeKind::Timestamp(precision) => {
            Datum::Timestamp(stored(parse_timestamp(trimmed, false)?, *precision, range)?)
        }
        TypeKind::TimestampLtz(precision) => {
            Datum::Timestamp(stored(parse_timestamp(trimmed, true)?, *precision, range)?)
        }
        TypeKind::Variant
        | TypeKind::Array(_)
        | TypeKind::Map(..)
        | TypeKind::Multiset(_)
        | TypeKind::Row(_) => {
            return Err(TypeError::unsupported(format!(
                "reading a value of type {data_type} from text"
            )));
        }
    })
}

/// Refuses digits finer than the unit that timestamps of this precision are stored in.
fn stored(
    value: crate::datum::TimestampValue,
    precision: u8,
    error: impl FnOnce() -> TypeError,
) -> Result<crate::datum::TimestampValue> {
    let unit_digits = match precision {
        0..=3 => 3,
        4..=6 => 6,
        _ => 9,
    };
    if value.floor_to(unit_digits) == value {
        Ok(value)
    } else {
        Err(error())
    }
}

fn value_error(text: &str, data_type: impl std::fmt::Display, reason: &'static str) -> TypeError {
    TypeError::ValueText {
        text: text.to_owned(),
        data_type: data_type.to_string(),
        reason,
    }
}
