//! Dates and times of day as ISO 8601 text, for all the days an `i32` can count.
//!
//! The calendar is proleptic Gregorian; years beyond four digits carry a sign. Day arithmetic after Howard Hinnant.

use super::decimal::write_u64;

const SECONDS_A_DAY: i64 = 86_400;

/// Appends the date of a day number, 0 being 1970-01-01.
pub(super) fn write_date(out: &mut Vec<u8>, days: i64) {
    let (year, month, day) = date_of(days);
    if !(0..=9999).contains(&year) {
        out.push(if year < 0 { b'-' } else { b'+' });
    }
    write_padded(out, year.unsigned_abs(), 4);
    out.push(b'-');
    write_padded(out, month, 2);
    out.push(b'-');
    write_padded(out, day, 2);
}

/// Appends `HH:MM:SS` of a second of the day.
pub(super) fn write_clock(out: &mut Vec<u8>, second: i64) {
    let second = second.unsigned_abs();
    write_padded(out, second / 3600, 2);
    out.push(b':');
    write_padded(out, second / 60 % 60, 2);
    out.push(b':');
    write_padded(out, second % 60, 2);
}

/// Appends the first `digits` digits of a nine-digit fraction, after a point; nothing for none.
pub(super) fn write_fraction(out: &mut Vec<u8>, nanos: i64, digits: u8) {
    if digits == 0 {
        return;
    }
    out.push(b'.');
    let start = out.len();
    write_padded(out, nanos.unsigned_abs(), 9);
    out.truncate(start + usize::from(digits.min(9)));
}

/// Appends a number with zeros in front up to `width`.
pub(super) fn write_padded(out: &mut Vec<u8>, number: u64, width: usize) {
    let start = out.len();
    write_u64(out, number);
    let digits = out.len() - start;
    if digits < width {
        out.resize(start + width, b'0');
        if let Some(field) = out.get_mut(start..) {
            field.rotate_right(width - digits);
            field
                .get_mut(..width - digits)
                .unwrap_or_default()
                .fill(b'0');
        }
    }
}

/// Year, month and day of a day number.
fn date_of(days: i64) -> (i64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 {
        month_index + 3
    } else {
        month_index - 9
    };
    (
        year_of_era + era * 400 + i64::from(month <= 2),
        month.unsigned_abs(),
        day.unsigned_abs(),
    )
}

/// The day number of a date that exists.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_index = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * month_index + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The day number of `2024-02-29`; none if the text is no date or its year has more than nine digits.
pub(super) fn parse_date(text: &str) -> Option<i64> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1, text.get(1..)?),
        b'+' => (1, text.get(1..)?),
        _ => (1, text),
    };
    let signed = digits.len() < text.len();
    let mut parts = digits.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let year_width = if signed { 4..=9 } else { 4..=4 };
    if !year_width.contains(&year.len()) {
        return None;
    }
    let (year, month, day) = (sign * number(year)?, two_digits(month)?, two_digits(day)?);
    let exists = (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
    exists.then(|| days_of(year, month, day))
}

/// Nanoseconds of the day of `12:34`, `12:34:56` or `12:34:56.789`.
pub(super) fn parse_time(text: &str) -> Option<i64> {
    let (clock, fraction) = text
        .split_once('.')
        .map_or((text, None), |(clock, fraction)| (clock, Some(fraction)));
    let mut parts = clock.split(':');
    let (hour, minute) = (two_digits(parts.next()?)?, two_digits(parts.next()?)?);
    let second = parts.next().map(two_digits);
    if parts.next().is_some() || (fraction.is_some() && second.is_none()) {
        return None;
    }
    let second = second.unwrap_or(Some(0))?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let nanos = fraction.map_or(Some(0), |digits| {
        let scale = u32::try_from(9_usize.checked_sub(digits.len())?).ok()?;
        Some(number(digits)? * 10_i64.pow(scale))
    })?;
    Some((hour * 3600 + minute * 60 + second) * 1_000_000_000 + nanos)
}

/// Seconds since 1970 and nanoseconds of `2024-02-29T12:34:56.789`; a blank serves for the `T`.
pub(super) fn parse_timestamp(text: &str) -> Option<(i64, i64)> {
    let (date, time) = text.split_once(['T', ' '])?;
    let nanos = parse_time(time)?;
    Some((
        parse_date(date)? * SECONDS_A_DAY + nanos / 1_000_000_000,
        nanos % 1_000_000_000,
    ))
}

fn two_digits(text: &str) -> Option<i64> {
    if text.len() == 2 { number(text) } else { None }
}

fn number(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// Appends `date T clock` and the fraction of a moment.
pub(super) fn write_moment(out: &mut Vec<u8>, seconds: i64, nanos: i64, digits: u8) {
    write_date(out, seconds.div_euclid(SECONDS_A_DAY));
    out.push(b'T');
    write_clock(out, seconds.rem_euclid(SECONDS_A_DAY));
    write_fraction(out, nanos, digits);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn date(days: i64) -> String {
        let mut out = Vec::new();
        write_date(&mut out, days);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn dates_of_all_eras() {
        for (days, text) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (19_782, "2024-02-29"),
            (-719_162, "0001-01-01"),
            (-719_163, "0000-12-31"),
            (-719_529, "-0001-12-31"),
            (2_932_896, "9999-12-31"),
            (2_932_897, "+10000-01-01"),
            (i64::from(i32::MAX), "+5881580-07-11"),
            (i64::from(i32::MIN), "-5877641-06-23"),
        ] {
            assert_eq!(date(days), text);
            assert_eq!(parse_date(text), Some(days));
        }
    }

    #[test]
    fn texts_that_are_no_dates_or_times() {
        for bad in [
            "",
            "2024",
            "2024-2-29",
            "2023-02-29",
            "2024-13-01",
            "2024-00-01",
            "20240229",
            "10000-01-01",
            "2024-02-29 ",
            "-",
            "+",
        ] {
            assert_eq!(parse_date(bad), None, "{bad}");
        }
        for bad in [
            "",
            "24:00",
            "12",
            "12:60",
            "12:00:60",
            "12:00.5",
            "12:00:00.",
            "12:00:00.1234567890",
            "1:00",
            "12:00:00:00",
        ] {
            assert_eq!(parse_time(bad), None, "{bad}");
        }
        assert_eq!(parse_time("00:00:01.5"), Some(1_500_000_000));
        assert_eq!(
            parse_timestamp("1969-12-31T23:59:59.999999999"),
            Some((-1, 999_999_999))
        );
        assert_eq!(parse_timestamp("2024-02-29"), None);
    }

    proptest! {
        #[test]
        fn dates_come_back(days in any::<i32>()) {
            prop_assert_eq!(parse_date(&date(i64::from(days))), Some(i64::from(days)));
        }

        #[test]
        fn moments_come_back(seconds in -100_000_000_000_i64..100_000_000_000, nanos in 0_i64..1_000_000_000) {
            let mut out = Vec::new();
            write_moment(&mut out, seconds, nanos, 9);
            prop_assert_eq!(parse_timestamp(std::str::from_utf8(&out).unwrap()), Some((seconds, nanos)));
        }
    }
}
