//! Dates and times as the read-time casts write and read them.
//!
//! Reading takes what Java takes: one or two digits for each part, a blank or a `T` before the time, a date cut after
//! its day, plain numbers as days or milliseconds. Writing gives `2024-01-01`, `01:01:01.001` and
//! `2023-11-14 22:13:20.123`. Source: Paimon `utils/DateTimeUtils.java`, `utils/BinaryStringUtils.java`.

use std::fmt::Write;

use super::civil::{MILLIS_PER_DAY, civil_from_days, days_from_civil, days_of_month};
use crate::datum::TimestampValue;

/// Appends `yyyy-MM-dd`.
pub(super) fn push_date(out: &mut String, days: i32) {
    push_civil(out, i64::from(days));
}

fn push_civil(out: &mut String, days: i64) {
    let (year, month, day) = civil_from_days(days);
    if year < 0 {
        out.push('-');
    }
    // Writing to a String cannot fail.
    let _ = write!(out, "{:04}-{month:02}-{day:02}", year.unsigned_abs());
}

/// Appends `HH:mm:ss` and, for a precision above 0, the fraction without trailing zeros but at least one digit.
pub(super) fn push_time(out: &mut String, millis: i32, precision: u8) {
    let millis = i64::from(millis).rem_euclid(MILLIS_PER_DAY);
    push_clock(out, millis / 1_000);
    if precision > 0 {
        out.push('.');
        let mut fraction = millis % 1_000;
        for _ in 0..precision {
            let _ = write!(out, "{}", fraction / 100);
            fraction = fraction % 100 * 10;
            if fraction == 0 {
                break;
            }
        }
    }
}

fn push_clock(out: &mut String, seconds: i64) {
    let _ = write!(out, "{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
}

/// Appends `yyyy-MM-dd HH:mm:ss.fff`: nine fraction digits, trailing zeros cut down to `precision` digits.
pub(super) fn push_timestamp(out: &mut String, value: TimestampValue, precision: u8) {
    push_civil(out, value.millis.div_euclid(MILLIS_PER_DAY));
    out.push(' ');
    let millis = value.millis.rem_euclid(MILLIS_PER_DAY);
    push_clock(out, millis / 1_000);
    let start = out.len();
    let nanos = millis % 1_000 * 1_000_000 + i64::from(value.nano_of_milli);
    let _ = write!(out, ".{nanos:09}");
    let shortest = start + 1 + usize::from(precision);
    while out.len() > shortest && out.ends_with('0') {
        out.pop();
    }
    if out.ends_with('.') {
        out.pop();
    }
}

fn is_numeric(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Digits only, at most nine of them, blanks around them allowed.
fn small_number(text: &str) -> Option<i64> {
    let text = text.trim();
    if is_numeric(text) && text.len() <= 9 { text.parse().ok() } else { None }
}

/// A date as days since 1970-01-01: a number of days, `y`, `y-m` or `y-m-d` within the years 0 to 9999, and whatever
/// follows a blank or a `T`.
pub(super) fn parse_date(text: &str) -> Option<i32> {
    if is_numeric(text) {
        return text.parse().ok();
    }
    let end = text.find([' ', 'T']).filter(|end| *end > 0).unwrap_or(text.len());
    let mut parts = text.get(..end)?.splitn(3, '-');
    let year = small_number(parts.next()?)?;
    let month = parts.next().map_or(Some(1), small_number)?;
    let day = parts.next().map_or(Some(1), small_number)?;
    days(year, month, day).filter(|_| year <= 9_999).and_then(|days| i32::try_from(days).ok())
}

fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let valid = (1..=12).contains(&month) && (1..=days_of_month(year, month)).contains(&day);
    valid.then(|| days_from_civil(year, month, day))
}

/// A time as milliseconds of the day: a number of milliseconds, `h`, `h:m`, `h:m:s` or `h:m:s.f`, the fraction rounded
/// half up.
pub(super) fn parse_time(text: &str) -> Option<i32> {
    let millis = if is_numeric(text) {
        text.parse::<i64>().ok()?
    } else {
        let mut parts = text.splitn(3, ':');
        let hour = small_number(parts.next()?)?;
        let minute = parts.next().map_or(Some(0), small_number)?;
        let (second, millis) = match parts.next() {
            None => (0, 0),
            Some(text) => match text.split_once('.') {
                None => (small_number(text)?, 0),
                Some((second, fraction)) => (small_number(second)?, parse_millis(fraction)?),
            },
        };
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        // Rounding up must not leave the day.
        (((hour * 60 + minute) * 60 + second) * 1_000 + millis).min(MILLIS_PER_DAY - 1)
    };
    i32::try_from(millis).ok().filter(|_| millis < MILLIS_PER_DAY)
}

fn parse_millis(fraction: &str) -> Option<i64> {
    let fraction = fraction.trim();
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digit = |at: usize| fraction.as_bytes().get(at).map_or(0, |byte| i64::from(byte - b'0'));
    Some(digit(0) * 100 + digit(1) * 10 + digit(2) + i64::from(digit(3) >= 5))
}

/// A timestamp floored to `precision` digits: a number of milliseconds, or `y-M-d` with `H:m:s` and a fraction of up to
/// nine digits after a blank or `T`. A `Z` at the end is skipped: text is in UTC.
pub(super) fn parse_timestamp(text: &str, precision: u8) -> Option<TimestampValue> {
    if is_numeric(text) {
        let millis = text.parse().ok()?;
        return Some(TimestampValue::from_millis(millis).floor_to(precision));
    }
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (date, time) = match text.find([' ', 'T']) {
        Some(at) => (text.get(..at)?, text.get(at + 1..)?),
        None => (text, "0:0:0"),
    };
    let (negative, date) = match date.strip_prefix(['-', '+']) {
        Some(rest) => (date.starts_with('-'), rest),
        None => (false, date),
    };
    let mut parts = date.splitn(3, '-');
    let year = parts.next().filter(|year| (4..=9).contains(&year.len())).and_then(digits)?;
    let month = parts.next().and_then(one_or_two)?;
    let day = parts.next().and_then(one_or_two)?;
    let days = days(if negative { -year } else { year }, month, day)?;
    let mut parts = time.splitn(3, ':');
    let hour = parts.next().and_then(one_or_two)?;
    let minute = parts.next().and_then(one_or_two)?;
    let (second, nanos) = {
        let second = parts.next()?;
        let (second, fraction) = second.split_once('.').unwrap_or((second, ""));
        (one_or_two(second)?, parse_nanos(fraction)?)
    };
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let millis = days * MILLIS_PER_DAY + ((hour * 60 + minute) * 60 + second) * 1_000 + nanos / 1_000_000;
    let nano_of_milli = i32::try_from(nanos % 1_000_000).ok()?;
    Some(TimestampValue { millis, nano_of_milli }.floor_to(precision))
}

fn digits(text: &str) -> Option<i64> {
    if is_numeric(text) { text.parse().ok() } else { None }
}

fn one_or_two(text: &str) -> Option<i64> {
    digits(text).filter(|_| text.len() <= 2)
}

fn parse_nanos(fraction: &str) -> Option<i64> {
    if fraction.is_empty() {
        return Some(0);
    }
    if fraction.len() > 9 {
        return None;
    }
    let power = u32::try_from(9 - fraction.len()).ok()?;
    Some(digits(fraction)? * 10_i64.pow(power))
}
