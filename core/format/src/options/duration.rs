//! Durations in option text: `10 s`, `1 h`, `PT1H`.

use std::time::Duration;

use super::memory::split_number;
use super::value::OptionValue;

/// Reads a whole number with a unit (without one: milliseconds), or ISO-8601 text (`PT1H30M`, `P1D`).
///
/// `None` for anything else: signs, fractions outside ISO text, several units. Java 1.3 does not read the ISO form, so
/// options are never stored with it (see `validate_option_values`). Source: spec 02d, Paimon `utils/TimeUtils.java`.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let trimmed = text.trim();
    if trimmed.starts_with(['P', 'p']) {
        return parse_iso_duration(trimmed);
    }
    let (number, unit) = split_number(trimmed)?;
    let seconds = |unit_seconds: u64| {
        let seconds = number.checked_mul(unit_seconds)?;
        (seconds <= i64::MAX as u64).then(|| Duration::from_secs(seconds))
    };
    // Lower case as Java does it before it compares; only the micro sign is not ASCII.
    match unit.to_ascii_lowercase().as_str() {
        "d" | "day" | "days" => seconds(86_400),
        "h" | "hour" | "hours" => seconds(3_600),
        "m" | "min" | "minute" | "minutes" => seconds(60),
        "s" | "sec" | "secs" | "second" | "seconds" => seconds(1),
        "" | "ms" | "milli" | "millis" | "millisecond" | "milliseconds" => {
            Some(Duration::from_millis(number))
        }
        "µs" | "micro" | "micros" | "microsecond" | "microseconds" => {
            Some(Duration::from_micros(number))
        }
        "ns" | "nano" | "nanos" | "nanosecond" | "nanoseconds" => {
            Some(Duration::from_nanos(number))
        }
        _ => None,
    }
}

/// Reads `PnDTnHnMn.nS` without signs, as `java.time.Duration` prints it.
pub(crate) fn parse_iso_duration(text: &str) -> Option<Duration> {
    let text = text.strip_prefix(['P', 'p'])?;
    let (days, time) = match text.split_once(['T', 't']) {
        Some((_, "")) => return None,
        Some((days, time)) => (days, time),
        None => (text, ""),
    };
    if days.is_empty() && time.is_empty() {
        return None;
    }
    let mut total = Duration::ZERO;
    if !days.is_empty() {
        let number = days.strip_suffix(['D', 'd'])?;
        total = total.checked_add(iso_part(number, 86_400, false)?)?;
    }
    let mut rest = time;
    for (unit, unit_seconds) in [('H', 3_600), ('M', 60), ('S', 1)] {
        let end = rest.find([unit, unit.to_ascii_lowercase()]);
        if let Some((number, after)) = end.and_then(|end| rest.split_at_checked(end)) {
            total = total.checked_add(iso_part(number, unit_seconds, unit == 'S')?)?;
            rest = after.get(1..)?;
        }
    }
    rest.is_empty().then_some(total)
}

fn iso_part(number: &str, unit_seconds: u64, fraction_allowed: bool) -> Option<Duration> {
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) if fraction_allowed => (whole, fraction),
        Some(_) => return None,
        None => (number, ""),
    };
    let digits_only = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits_only(whole) || !digits_only(fraction) || fraction.len() > 9 {
        return None;
    }
    let seconds = whole.parse::<u64>().ok()?.checked_mul(unit_seconds)?;
    let nanos: u32 = format!("{fraction:0<9}").parse().ok()?;
    (seconds <= i64::MAX as u64).then(|| Duration::new(seconds, nanos))
}

/// The duration in the largest unit that says it exactly: `2 h`, `1500 ms`.
pub fn format_duration(duration: Duration) -> String {
    let (seconds, nanos) = (duration.as_secs(), duration.subsec_nanos());
    if nanos == 0 {
        let units = [(86_400, "d"), (3_600, "h"), (60, "min")];
        let unit = units
            .into_iter()
            .find(|(unit, _)| seconds > 0 && seconds.is_multiple_of(*unit));
        return match unit {
            Some((unit, name)) => format!("{} {name}", seconds / unit),
            None => format!("{seconds} s"),
        };
    }
    if nanos % 1_000_000 == 0 {
        format!("{} ms", duration.as_millis())
    } else if nanos % 1_000 == 0 {
        format!("{} µs", duration.as_micros())
    } else {
        format!("{} ns", duration.as_nanos())
    }
}

impl OptionValue for Duration {
    const TYPE: &'static str = "duration";

    fn parse(text: &str) -> Option<Self> {
        parse_duration(text)
    }

    fn text(&self) -> Option<String> {
        Some(format_duration(*self))
    }

    fn expected() -> String {
        "a duration such as '10 s' (units ns, µs, ms, s, min, h, d)".to_owned()
    }
}
