//! Times of day and timestamps.

use super::calendar::{digits, push_date, short_digits, split_date};
use super::value_error;
use crate::datum::TimestampValue;
use crate::error::{Result, TypeError};

const MILLIS_PER_DAY: i64 = 86_400_000;
const MILLIS_PER_MINUTE: i64 = 60_000;

pub(super) fn push_padded(text: &mut String, number: u64, width: usize) {
    let digits = number.to_string();
    for _ in digits.len()..width {
        text.push('0');
    }
    text.push_str(&digits);
}

fn push_hours_minutes(text: &mut String, second_of_day: u64) {
    push_padded(text, second_of_day / 3_600, 2);
    text.push(':');
    push_padded(text, second_of_day / 60 % 60, 2);
}

fn push_clock(text: &mut String, second_of_day: u64) {
    push_hours_minutes(text, second_of_day);
    text.push(':');
    push_padded(text, second_of_day % 60, 2);
}

/// The first `count` of the nine digits of a fraction.
fn push_fraction(text: &mut String, nano_of_second: u64, count: usize) {
    if count > 0 {
        text.push('.');
        push_padded(
            text,
            nano_of_second / 10_u64.pow(u32::try_from(9 - count.min(9)).unwrap_or(0)),
            count.min(9),
        );
    }
}

/// Digits that are left of nine after trailing zeros are cut, but at least `least`.
fn significant_digits(nano_of_second: u64, least: usize) -> usize {
    let mut count = 9;
    let mut rest = nano_of_second;
    while count > least && rest.is_multiple_of(10) {
        rest /= 10;
        count -= 1;
    }
    count
}

/// Day number, second of that day, nanosecond of that second.
fn split(value: TimestampValue) -> (i64, u64, u64) {
    let millis = value.millis.rem_euclid(MILLIS_PER_DAY).unsigned_abs();
    let nanos = millis % 1_000 * 1_000_000 + u64::from(value.nano_of_milli.unsigned_abs());
    (
        value.millis.div_euclid(MILLIS_PER_DAY),
        millis / 1_000,
        nanos,
    )
}

/// `2024-02-29 12:34:56.123`: nine fraction digits with trailing zeros cut down to `precision`.
/// Source: Paimon `utils/DateTimeUtils.java` (`formatTimestamp`).
pub fn format_timestamp(value: TimestampValue, precision: u8) -> String {
    let (days, second_of_day, nanos) = split(value);
    let mut text = String::with_capacity(29);
    push_date(&mut text, days);
    text.push(' ');
    push_clock(&mut text, second_of_day);
    push_fraction(
        &mut text,
        nanos,
        significant_digits(nanos, usize::from(precision)),
    );
    text
}

/// `2024-02-29T12:34:56.123`, with `Z` at the end if `utc`: exactly `precision` fraction digits, and all nine where the
/// value holds more than the precision says.
pub fn iso_timestamp(value: TimestampValue, precision: u8, utc: bool) -> String {
    let (days, second_of_day, nanos) = split(value);
    let mut text = String::with_capacity(30);
    push_date(&mut text, days);
    text.push('T');
    push_clock(&mut text, second_of_day);
    let precision = usize::from(precision);
    let count = if significant_digits(nanos, precision) > precision {
        9
    } else {
        precision
    };
    push_fraction(&mut text, nanos, count);
    if utc {
        text.push('Z');
    }
    text
}

/// `2024-06-10T06:14`, `…:20`, `…:20.123`: seconds left out when nothing is below the minute; 3, 6 or 9 fraction digits.
/// Source: `java.time.LocalDateTime.toString`, which legacy partition names use.
pub(crate) fn java_local_date_time(value: TimestampValue) -> String {
    let (days, second_of_day, nanos) = split(value);
    let mut text = String::with_capacity(29);
    push_date(&mut text, days);
    text.push('T');
    push_hours_minutes(&mut text, second_of_day);
    if second_of_day % 60 > 0 || nanos > 0 {
        text.push(':');
        push_padded(&mut text, second_of_day % 60, 2);
        push_fraction(
            &mut text,
            nanos,
            significant_digits(nanos, 0).next_multiple_of(3),
        );
    }
    text
}

/// `HH:MM:SS.mmm`: always three fraction digits. Values outside a day wrap into it.
pub fn iso_time(millis: i32) -> String {
    let millis = i64::from(millis).rem_euclid(MILLIS_PER_DAY).unsigned_abs();
    let mut text = String::with_capacity(12);
    push_clock(&mut text, millis / 1_000);
    push_fraction(&mut text, millis % 1_000 * 1_000_000, 3);
    text
}

/// `HH:MM:SS`, and for a precision above 0 a point and up to that many of the three digits there are, the last of which
/// is not 0 unless it is the only one.
/// Source: Paimon `utils/DateTimeUtils.java` (`formatTimestampMillis`).
pub(crate) fn format_time(millis: i32, precision: u8) -> String {
    let millis = i64::from(millis).rem_euclid(MILLIS_PER_DAY).unsigned_abs();
    let mut text = String::with_capacity(12);
    push_clock(&mut text, millis / 1_000);
    let nanos = millis % 1_000 * 1_000_000;
    let count = significant_digits(nanos, 1).min(usize::from(precision));
    push_fraction(&mut text, nanos, count);
    text
}

/// Milliseconds of the day of `HH:MM`, `HH:MM:SS` or `HH:MM:SS.fff`.
///
/// # Errors
/// [`TypeError::ValueText`] for text that is no time of day, [`TypeError::DoesNotFit`] for digits below the millisecond.
pub fn parse_time(text: &str) -> Result<i32> {
    let error = || value_error(text, "TIME", "not a time like 12:34:56.789");
    let (second_of_day, nanos) = split_time(text).ok_or_else(error)?;
    if nanos % 1_000_000 != 0 {
        return Err(TypeError::DoesNotFit {
            value: text.to_owned(),
            data_type: "TIME".to_owned(),
        });
    }
    i32::try_from(second_of_day * 1_000 + nanos / 1_000_000).map_err(|_| error())
}

/// Reads a timestamp: a date, alone (midnight) or followed by `T` or white space and a time of day.
///
/// With `zone_allowed` a `Z` or an offset (`+02`, `+0230`, `+02:30`) may follow and moves the value to UTC; without an
/// offset the text is UTC.
///
/// # Errors
/// [`TypeError::ValueText`] for text of another shape, [`TypeError::DoesNotFit`] when the milliseconds exceed 64 bits.
pub fn parse_timestamp(text: &str, zone_allowed: bool) -> Result<TimestampValue> {
    let error = || {
        value_error(
            text,
            "TIMESTAMP",
            "not a timestamp like 2024-02-29 12:34:56.123",
        )
    };
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let days = split_date(date).ok_or_else(error)?;
    let time = time.get(1..).unwrap_or_default().trim_start();
    let (time, offset_minutes) = if zone_allowed {
        split_zone(time).ok_or_else(error)?
    } else {
        (time, 0)
    };
    let (second_of_day, nanos) = match time {
        "" => (0, 0),
        time => split_time(time).ok_or_else(error)?,
    };
    let millis = days
        .checked_mul(MILLIS_PER_DAY)
        .and_then(|millis| millis.checked_add(second_of_day * 1_000 + nanos / 1_000_000))
        .and_then(|millis| millis.checked_sub(offset_minutes * MILLIS_PER_MINUTE))
        .ok_or_else(|| TypeError::DoesNotFit {
            value: text.to_owned(),
            data_type: "TIMESTAMP".to_owned(),
        })?;
    TimestampValue::checked(
        millis,
        i32::try_from(nanos % 1_000_000).map_err(|_| error())?,
    )
}

/// Second of the day and nanosecond of the second.
fn split_time(text: &str) -> Option<(i64, i64)> {
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (text, None),
    };
    let mut parts = clock.split(':');
    let (hour, minute) = (short_digits(parts.next()?)?, short_digits(parts.next()?)?);
    let second = match parts.next() {
        Some(second) => short_digits(second)?,
        None if fraction.is_some() => return None,
        None => 0,
    };
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let nanos = match fraction {
        None => 0,
        Some(fraction) => {
            // Digits beyond the ninth may only be zeros: there is nothing to store them in.
            let fraction = fraction
                .get(9..)
                .filter(|rest| rest.bytes().all(|b| b == b'0'))
                .map_or(fraction, |_| fraction.get(..9).unwrap_or(fraction));
            let missing = u32::try_from(9_usize.checked_sub(fraction.len())?).ok()?;
            i64::try_from(digits(fraction)?).ok()? * 10_i64.pow(missing)
        }
    };
    Some((
        i64::from(hour) * 3_600 + i64::from(minute) * 60 + i64::from(second),
        nanos,
    ))
}

/// Cuts a zone off the end: the rest and the offset east of UTC in minutes.
fn split_zone(text: &str) -> Option<(&str, i64)> {
    if let Some(rest) = text
        .strip_suffix(['Z', 'z'])
        .or_else(|| text.strip_suffix("UTC"))
    {
        return Some((rest.trim_end(), 0));
    }
    let Some(at) = text.find(['+', '-']) else {
        return Some((text, 0));
    };
    let (rest, zone) = text.split_at(at);
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let zone = zone.get(1..)?;
    let (hours, minutes) = match zone.split_once(':') {
        Some(parts) => parts,
        None if zone.len() == 4 => zone.split_at_checked(2)?,
        None => (zone, "0"),
    };
    let (hours, minutes) = (short_digits(hours)?, short_digits(minutes)?);
    if hours > 18 || minutes > 59 {
        return None;
    }
    Some((
        rest.trim_end(),
        sign * (i64::from(hours) * 60 + i64::from(minutes)),
    ))
}
