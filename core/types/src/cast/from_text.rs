//! Text as values of the other atomic types. Text that does not read is an error, never null; a decimal that reads but
//! does not fit is null. Source: Paimon `utils/BinaryStringUtils.java`, spec 02a §6.3.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, PrimitiveBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray, StringArray};

use super::decimal::parse_decimal;
use super::{bad_text, mismatch, no_kernel};
use crate::arrow_types::TimestampUnit;
use crate::data_type::{DataType, TypeKind};
use crate::datum::TimestampValue;
use crate::error::{Result, TypeError};
use crate::text;

const MILLIS_PER_DAY: i32 = 86_400_000;

pub(super) fn cast(array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
    let text = array
        .as_string_opt::<i32>()
        .ok_or_else(|| mismatch(array, from))?;
    Ok(match &to.kind {
        TypeKind::Boolean => {
            let mut builder = BooleanBuilder::with_capacity(text.len());
            for value in text {
                builder.append_option(value.map(|value| parse_boolean(value, to)).transpose()?);
            }
            Arc::new(builder.finish())
        }
        TypeKind::TinyInt => Arc::new(integers::<Int8Type>(text, to)?),
        TypeKind::SmallInt => Arc::new(integers::<Int16Type>(text, to)?),
        TypeKind::Int => Arc::new(integers::<Int32Type>(text, to)?),
        TypeKind::BigInt => Arc::new(integers::<Int64Type>(text, to)?),
        TypeKind::Float => Arc::new(read::<Float32Type>(text, |text| {
            parse_float(text)
                .map(Some)
                .ok_or_else(|| bad_text(text, to, "not a number"))
        })?),
        TypeKind::Double => Arc::new(read::<Float64Type>(text, |text| {
            parse_float(text)
                .map(Some)
                .ok_or_else(|| bad_text(text, to, "not a number"))
        })?),
        TypeKind::Decimal { precision, scale } => {
            let decimals = read::<Decimal128Type>(text, |text| {
                parse_decimal(text, *precision, *scale)
                    .map_err(|_| bad_text(text, to, "not a decimal number"))
            })?;
            Arc::new(decimals.with_precision_and_scale(*precision, scale.cast_signed())?)
        }
        TypeKind::Date => Arc::new(read::<Date32Type>(text, |text| {
            parse_date(text, to).map(Some)
        })?),
        TypeKind::Time(_) => Arc::new(read::<Time32MillisecondType>(text, |text| {
            parse_time(text)
                .map(Some)
                .ok_or_else(|| bad_text(text, to, "not a time of the day"))
        })?),
        TypeKind::Timestamp(precision) | TypeKind::TimestampLtz(precision) => {
            let zone = matches!(to.kind, TypeKind::TimestampLtz(_)).then_some("UTC");
            let instant = |text: &str, convert: fn(TimestampValue) -> Option<i64>| {
                let in_unit = convert(parse_timestamp(text, to)?.floor_to(*precision));
                let too_far = || TypeError::DoesNotFit {
                    value: text.to_owned(),
                    data_type: to.to_string(),
                };
                in_unit.map(Some).ok_or_else(too_far)
            };
            match TimestampUnit::of_precision(*precision) {
                TimestampUnit::Milli => Arc::new(
                    read::<TimestampMillisecondType>(text, |text| {
                        instant(text, |value| Some(value.millis))
                    })?
                    .with_timezone_opt(zone),
                ),
                TimestampUnit::Micro => Arc::new(
                    read::<TimestampMicrosecondType>(text, |text| {
                        instant(text, TimestampValue::to_micros)
                    })?
                    .with_timezone_opt(zone),
                ),
                TimestampUnit::Nano => Arc::new(
                    read::<TimestampNanosecondType>(text, |text| {
                        instant(text, TimestampValue::to_nanos)
                    })?
                    .with_timezone_opt(zone),
                ),
            }
        }
        _ => return Err(no_kernel(from, to)),
    })
}

fn read<T: ArrowPrimitiveType>(
    text: &StringArray,
    parse: impl Fn(&str) -> Result<Option<T::Native>>,
) -> Result<PrimitiveArray<T>> {
    let mut builder = PrimitiveBuilder::<T>::with_capacity(text.len());
    for value in text {
        match value {
            Some(value) => builder.append_option(parse(value)?),
            None => builder.append_null(),
        }
    }
    Ok(builder.finish())
}

fn parse_boolean(text: &str, to: &DataType) -> Result<bool> {
    let is_one_of = |words: [&str; 5]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_one_of(["t", "true", "y", "yes", "1"]) {
        Ok(true)
    } else if is_one_of(["f", "false", "n", "no", "0"]) {
        Ok(false)
    } else {
        Err(bad_text(text, to, "not true or false"))
    }
}

fn integers<T: ArrowPrimitiveType>(text: &StringArray, to: &DataType) -> Result<PrimitiveArray<T>>
where
    T::Native: TryFrom<i64>,
{
    read::<T>(text, |text| {
        let number = parse_integer(text).map_err(|reason| bad_text(text, to, reason))?;
        T::Native::try_from(number)
            .map(Some)
            .map_err(|_| bad_text(text, to, "out of range"))
    })
}

/// `[+-]digits[.digits]`: digits after a point are checked, then dropped.
fn parse_integer(text: &str) -> Result<i64, &'static str> {
    let number = text.split_once('.').map_or(text, |(whole, _)| whole);
    if let Some((_, fraction)) = text.split_once('.')
        && !fraction.bytes().all(|byte| byte.is_ascii_digit())
    {
        return Err("not an integer");
    }
    let (negative, digits) = match number.strip_prefix(['+', '-']) {
        Some(digits) => (number.starts_with('-'), digits),
        None => (false, number),
    };
    // Java reads "." and "-." as 0, but nothing and a lone sign as errors.
    if text == number && digits.is_empty() {
        return Err("no digits");
    }
    digits.bytes().try_fold(0_i64, |value, byte| {
        if !byte.is_ascii_digit() {
            return Err("not an integer");
        }
        let digit = i64::from(byte - b'0');
        let next = value.checked_mul(10).and_then(|value| {
            if negative {
                value.checked_sub(digit)
            } else {
                value.checked_add(digit)
            }
        });
        next.ok_or("out of range")
    })
}

/// Java's `parseDouble`: blanks around, `NaN`, `Infinity`, a trailing type letter.
fn parse_float<F: std::str::FromStr + From<f32>>(text: &str) -> Option<F> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let (sign, magnitude) = match text.strip_prefix(['+', '-']) {
        Some(rest) => (if text.starts_with('-') { -1.0 } else { 1.0 }, rest),
        None => (1.0, text),
    };
    match magnitude {
        "NaN" => return Some(F::from(f32::NAN)),
        "Infinity" => return Some(F::from(f32::INFINITY * sign)),
        _ => {}
    }
    let digits = magnitude
        .strip_suffix(['f', 'F', 'd', 'D'])
        .unwrap_or(magnitude);
    // Rust also reads words such as `inf`; numbers start with a digit or a point.
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let signed = text.get(..text.len() - (magnitude.len() - digits.len()))?;
    signed.parse().ok()
}

fn is_numeric(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number of days since 1970-01-01, or a date with or without its day, and whatever follows a blank or a `T`.
fn parse_date(text: &str, to: &DataType) -> Result<i32> {
    if is_numeric(text) {
        return text.parse().map_err(|_| bad_text(text, to, "out of range"));
    }
    let end = text
        .find([' ', 'T'])
        .filter(|end| *end > 0)
        .unwrap_or(text.len());
    let date = text.get(..end).unwrap_or(text);
    if date.matches('-').count() == 1 {
        return text::parse_date(&format!("{date}-1"));
    }
    text::parse_date(date)
}

/// A number of milliseconds of the day, or a time whose fraction is rounded half up to milliseconds.
fn parse_time(text: &str) -> Option<i32> {
    let millis = if is_numeric(text) {
        text.parse().ok()?
    } else {
        let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
        if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digit = |at: usize| {
            fraction
                .as_bytes()
                .get(at)
                .map_or(0, |byte| i32::from(byte - b'0'))
        };
        let rounded = digit(0) * 100 + digit(1) * 10 + digit(2) + i32::from(digit(3) >= 5);
        // Rounding up must not leave the day.
        (text::parse_time(clock).ok()? + rounded).min(MILLIS_PER_DAY - 1)
    };
    (0..MILLIS_PER_DAY).contains(&millis).then_some(millis)
}

/// A number of milliseconds since the epoch, or a timestamp. TIMESTAMP_LTZ may carry an offset and is UTC without.
fn parse_timestamp(text: &str, to: &DataType) -> Result<TimestampValue> {
    if is_numeric(text) {
        let millis = text
            .parse()
            .map_err(|_| bad_text(text, to, "out of range"))?;
        return Ok(TimestampValue::from_millis(millis));
    }
    text::parse_timestamp(text, matches!(to.kind, TypeKind::TimestampLtz(_)))
}
