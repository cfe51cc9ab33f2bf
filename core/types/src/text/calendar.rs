//! Days since 1970-01-01 and dates of the proleptic Gregorian calendar.

use super::value_error;
use crate::error::{Result, TypeError};

/// Years with more digits than this are no dates (Java's `Year.MAX_VALUE`).
const MAX_YEAR: i64 = 999_999_999;

/// Days from 1970-01-01 to a date; `month` and `day` must be valid.
pub fn days_from_civil(year: i64, month: u8, day: u8) -> i64 {
    // The year begins in March here, so that the leap day is its last.
    let (month, day) = (i64::from(month), i64::from(day));
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Year, month and day of a day number.
pub(super) fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// `2024-02-29`; years above 9999 have a plus sign, years below 0 a minus sign, at least four digits always.
pub fn iso_date(days: i32) -> String {
    let mut text = String::with_capacity(10);
    push_date(&mut text, i64::from(days));
    text
}

pub(super) fn push_date(text: &mut String, days: i64) {
    let (year, month, day) = civil_from_days(days);
    if year > 9999 {
        text.push('+');
    } else if year < 0 {
        text.push('-');
    }
    super::clock::push_padded(text, year.unsigned_abs(), 4);
    text.push('-');
    super::clock::push_padded(text, month.unsigned_abs(), 2);
    text.push('-');
    super::clock::push_padded(text, day.unsigned_abs(), 2);
}

/// Days since 1970-01-01 of a date such as `2024-02-29`.
///
/// # Errors
/// [`TypeError::ValueText`] for text that is no date, [`TypeError::DoesNotFit`] if the day number needs more than 32 bits.
pub fn parse_date(text: &str) -> Result<i32> {
    let days =
        split_date(text).ok_or_else(|| value_error(text, "DATE", "not a date like 2024-02-29"))?;
    i32::try_from(days).map_err(|_| TypeError::DoesNotFit {
        value: text.to_owned(),
        data_type: "DATE".to_owned(),
    })
}

/// `[+-]YYYY-M-D`, one or two digits for month and day.
pub(super) fn split_date(text: &str) -> Option<i64> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut parts = rest.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || !(1..=9).contains(&year.len()) {
        return None;
    }
    let year = i64::try_from(digits(year)?).ok()?;
    let year = if negative { -year } else { year };
    let month = short_digits(month)?;
    let day = short_digits(day)?;
    if year.abs() > MAX_YEAR
        || !(1..=12).contains(&month)
        || !(1..=days_of_month(year, month)).contains(&day)
    {
        return None;
    }
    Some(days_from_civil(year, month, day))
}

fn days_of_month(year: i64, month: u8) -> u8 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 31,
    }
}

/// A number of ASCII digits only.
pub(super) fn digits(text: &str) -> Option<u64> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// A number of one or two ASCII digits.
pub(super) fn short_digits(text: &str) -> Option<u8> {
    if text.len() > 2 {
        return None;
    }
    digits(text).and_then(|number| u8::try_from(number).ok())
}
