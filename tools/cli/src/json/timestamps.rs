//! Moments between Arrow's integers and text.

use arrow_schema::TimeUnit;

use super::civil::{parse_timestamp, write_moment};

/// Units of `unit` in a second.
pub(super) fn units_a_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// Appends a moment with `precision` fraction digits, or all nine when the value holds more than that.
pub(super) fn write_timestamp(out: &mut Vec<u8>, value: i64, unit: TimeUnit, precision: u8) {
    let per_second = units_a_second(unit);
    let nanos = value.rem_euclid(per_second) * (1_000_000_000 / per_second);
    let grain = 10_i64.pow(u32::from(9_u8.saturating_sub(precision)));
    let digits = if nanos % grain == 0 { precision } else { 9 };
    write_moment(out, value.div_euclid(per_second), nanos, digits);
}

/// Why a text gives no moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoTimestamp {
    /// It is no moment at all.
    Text,
    /// The unit's 64 bits do not reach it.
    Range,
}

/// Reads a moment in units of `unit`; finer digits are cut off, toward the past.
pub(super) fn read_timestamp(text: &str, unit: TimeUnit) -> Result<i64, NoTimestamp> {
    let (seconds, nanos) = parse_timestamp(text).ok_or(NoTimestamp::Text)?;
    let per_second = units_a_second(unit);
    let rest = nanos / (1_000_000_000 / per_second);
    let value = i128::from(seconds) * i128::from(per_second) + i128::from(rest);
    i64::try_from(value).map_err(|_| NoTimestamp::Range)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: i64, unit: TimeUnit, precision: u8) -> String {
        let mut out = Vec::new();
        write_timestamp(&mut out, value, unit, precision);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn digits_are_those_of_the_type_or_all_nine() {
        assert_eq!(text(0, TimeUnit::Millisecond, 0), "1970-01-01T00:00:00");
        assert_eq!(
            text(123, TimeUnit::Millisecond, 3),
            "1970-01-01T00:00:00.123"
        );
        assert_eq!(
            text(120, TimeUnit::Millisecond, 2),
            "1970-01-01T00:00:00.12"
        );
        assert_eq!(
            text(123, TimeUnit::Millisecond, 2),
            "1970-01-01T00:00:00.123000000"
        );
        assert_eq!(
            text(-1, TimeUnit::Microsecond, 6),
            "1969-12-31T23:59:59.999999"
        );
        assert_eq!(
            text(1, TimeUnit::Nanosecond, 9),
            "1970-01-01T00:00:00.000000001"
        );
    }

    #[test]
    fn finer_digits_are_cut_toward_the_past() {
        assert_eq!(
            read_timestamp("1969-12-31T23:59:59.9999", TimeUnit::Millisecond),
            Ok(-1)
        );
        assert_eq!(
            read_timestamp("1970-01-01T00:00:00.0019", TimeUnit::Millisecond),
            Ok(1)
        );
        assert_eq!(
            read_timestamp("yesterday", TimeUnit::Millisecond),
            Err(NoTimestamp::Text)
        );
    }

    #[test]
    fn what_64_bits_of_nanoseconds_do_not_reach_is_out_of_range() {
        assert_eq!(
            read_timestamp("9999-12-31T00:00:00", TimeUnit::Nanosecond),
            Err(NoTimestamp::Range)
        );
        assert_eq!(
            read_timestamp("2262-04-11T23:47:16.854775807", TimeUnit::Nanosecond),
            Ok(i64::MAX)
        );
    }
}
