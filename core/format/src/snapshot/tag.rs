//! Tag files: a snapshot's members, and when a retention was given its creation time and retention.
//!
//! Java writes the time as an array (`[2026, 11, 30, 2, 18, 13, 473415297]`, zero seconds and fractions left out at the
//! end) and the retention as decimal seconds with nine fraction digits. Source: spec 01b §2, Paimon `tag/Tag.java`.

use std::str::FromStr;
use std::time::Duration;

use serde_json::{Number, Value};

use super::Snapshot;
use super::wire::WireSnapshot;
use crate::error::Result;
use crate::json::{Members, to_java_pretty};
use crate::options::parse_iso_duration;

const WHAT: &str = "tag";
const CREATE_TIME: &str = "tagCreateTime";
const TIME_RETAINED: &str = "tagTimeRetained";

/// A named snapshot that expiry leaves alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Tag {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// When the tag was made.
    pub create_time: Option<TagTime>,
    /// How long it is kept from then on.
    pub time_retained: Option<Duration>,
}

/// Date and time of the writer's clock, without a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TagTime {
    /// Year.
    pub year: i32,
    /// Month, 1 to 12.
    pub month: u8,
    /// Day, 1 to 31.
    pub day: u8,
    /// Hour, 0 to 23.
    pub hour: u8,
    /// Minute, 0 to 59.
    pub minute: u8,
    /// Second, 0 to 59.
    pub second: u8,
    /// Nanosecond, below 10⁹.
    pub nano: u32,
}

impl Tag {
    /// Reads a tag file.
    ///
    /// # Errors
    /// As [`Snapshot::from_json`]; also for a time or retention that is none.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        let mut members = Members::parse(WHAT, bytes)?;
        let create_time = members.take(CREATE_TIME);
        let create_time = create_time.map(|value| match TagTime::from_json(&value) {
            Some(time) => Ok(time),
            None => Err(members.wrong(CREATE_TIME, "a date and time", &value)),
        });
        let time_retained = members.take(TIME_RETAINED);
        let time_retained = time_retained.map(|value| match retention(&value) {
            Some(duration) => Ok(duration),
            None => Err(members.wrong(TIME_RETAINED, "a duration", &value)),
        });
        let (create_time, time_retained) = (create_time.transpose()?, time_retained.transpose()?);
        let snapshot = WireSnapshot::from_members(members)?.validate()?;
        Ok(Self {
            snapshot,
            create_time,
            time_retained,
        })
    }

    /// The tag file's bytes, as Java would print them.
    pub fn to_json(&self) -> Vec<u8> {
        let mut members = WireSnapshot::from(self.snapshot.clone()).into_members();
        if let Some(time) = self.create_time {
            members.insert(CREATE_TIME.to_owned(), time.to_json());
        }
        if let Some(retained) = self.time_retained {
            let text = format!("{}.{:09}", retained.as_secs(), retained.subsec_nanos());
            // Digits, a point and digits are a JSON number, kept digit by digit.
            if let Ok(number) = Number::from_str(&text) {
                members.insert(TIME_RETAINED.to_owned(), Value::Number(number));
            }
        }
        to_java_pretty(&Value::Object(members))
    }
}

/// Decimal seconds, or ISO-8601 text.
fn retention(value: &Value) -> Option<Duration> {
    match value {
        Value::String(text) => parse_iso_duration(text),
        Value::Number(number) => {
            let text = number.to_string();
            let (seconds, fraction) = text.split_once('.').unwrap_or((text.as_str(), ""));
            if fraction.len() > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            let nanos = format!("{fraction:0<9}").parse().ok()?;
            let seconds = seconds
                .parse::<u64>()
                .ok()
                .filter(|seconds| *seconds <= i64::MAX as u64)?;
            Some(Duration::new(seconds, nanos))
        }
        _ => None,
    }
}

impl TagTime {
    fn from_json(value: &Value) -> Option<Self> {
        match value {
            Value::Array(parts) => {
                let parts: Option<Vec<i64>> = parts.iter().map(Value::as_i64).collect();
                Self::from_parts(&parts?)
            }
            Value::String(text) => Self::from_text(text),
            _ => None,
        }
    }

    /// `2024-06-10T01:02`, with seconds and up to nine fraction digits if there are any.
    fn from_text(text: &str) -> Option<Self> {
        let (date, time) = text.split_once('T')?;
        let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
        if fraction.len() > 9 {
            return None;
        }
        let digits = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            if digits {
                text.parse::<i64>().ok()
            } else {
                None
            }
        };
        let mut parts = Vec::with_capacity(7);
        for part in date.split('-').chain(time.split(':')) {
            parts.push(digits(part)?);
        }
        if !fraction.is_empty() {
            if parts.len() != 6 {
                return None;
            }
            parts.push(digits(&format!("{fraction:0<9}"))?);
        }
        Self::from_parts(&parts)
    }

    fn from_parts(parts: &[i64]) -> Option<Self> {
        let (&[year, month, day, hour, minute], rest) = parts.split_first_chunk::<5>()?;
        let (second, nano) = match rest {
            [] => (0, 0),
            [second] => (*second, 0),
            [second, nano] => (*second, *nano),
            _ => return None,
        };
        let within = |value: i64, min: i64, max: i64| {
            let within = (min..=max).contains(&value);
            within.then(|| u8::try_from(value).ok()).flatten()
        };
        Some(Self {
            year: i32::try_from(year).ok()?,
            month: within(month, 1, 12)?,
            day: within(day, 1, 31)?,
            hour: within(hour, 0, 23)?,
            minute: within(minute, 0, 59)?,
            second: within(second, 0, 59)?,
            nano: u32::try_from(nano)
                .ok()
                .filter(|nano| *nano < 1_000_000_000)?,
        })
    }

    fn to_json(self) -> Value {
        let mut parts: Vec<Value> = vec![
            self.year.into(),
            self.month.into(),
            self.day.into(),
            self.hour.into(),
            self.minute.into(),
        ];
        if self.second != 0 || self.nano != 0 {
            parts.push(self.second.into());
        }
        if self.nano != 0 {
            parts.push(self.nano.into());
        }
        Value::Array(parts)
    }
}

impl std::fmt::Display for TagTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            year,
            month,
            day,
            hour,
            minute,
            second,
            nano,
        } = self;
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
        )?;
        if *nano == 0 {
            Ok(())
        } else {
            write!(f, ".{nano:09}")
        }
    }
}
