//! A point on the time line in Paimon's form: epoch milliseconds, floored, plus nanoseconds of that millisecond.
//! Source: Paimon `data/Timestamp.java`, spec 01c §1.

use crate::error::{Result, TypeError};

const NANOS_PER_MILLI: i32 = 1_000_000;

/// Milliseconds since 1970-01-01T00:00 and the nanoseconds above them.
///
/// `nano_of_milli` is in `0..=999_999`, before 1970 too: one nanosecond before the epoch is `(-1, 999_999)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TimestampValue {
    /// Whole milliseconds, floored.
    pub millis: i64,
    /// Nanoseconds above `millis`, 0..=999_999.
    pub nano_of_milli: i32,
}

impl TimestampValue {
    /// A value of whole milliseconds.
    pub const fn from_millis(millis: i64) -> Self {
        Self {
            millis,
            nano_of_milli: 0,
        }
    }

    /// A value of whole microseconds.
    pub fn from_micros(micros: i64) -> Self {
        Self::from_parts(micros.div_euclid(1_000), micros.rem_euclid(1_000) * 1_000)
    }

    /// A value of nanoseconds.
    pub fn from_nanos(nanos: i64) -> Self {
        let per_milli = i64::from(NANOS_PER_MILLI);
        Self::from_parts(nanos.div_euclid(per_milli), nanos.rem_euclid(per_milli))
    }

    fn from_parts(millis: i64, nano_of_milli: i64) -> Self {
        // Proven by the callers: a remainder of less than a million.
        Self {
            millis,
            nano_of_milli: i32::try_from(nano_of_milli).unwrap_or_default(),
        }
    }

    /// The microseconds, floored; `None` when they do not fit 64 bits.
    pub fn to_micros(self) -> Option<i64> {
        // In 128 bits, so that the smallest values survive the product.
        let micros = i128::from(self.millis) * 1_000 + i128::from(self.nano_of_milli / 1_000);
        i64::try_from(micros).ok()
    }

    /// The nanoseconds; `None` outside the years 1677 to 2262, where they do not fit 64 bits.
    pub fn to_nanos(self) -> Option<i64> {
        let nanos =
            i128::from(self.millis) * i128::from(NANOS_PER_MILLI) + i128::from(self.nano_of_milli);
        i64::try_from(nanos).ok()
    }

    /// The value floored to `precision` fraction digits of the second.
    #[must_use]
    pub fn floor_to(self, precision: u8) -> Self {
        if precision >= 9 {
            return self;
        }
        if let Some(digits) = precision.checked_sub(3) {
            let unit = 10_i32.pow(u32::from(6 - digits.min(6)));
            return Self {
                nano_of_milli: self.nano_of_milli - self.nano_of_milli % unit,
                ..self
            };
        }
        let unit = 10_i64.pow(u32::from(3 - precision.min(3)));
        Self::from_millis(self.millis.saturating_sub(self.millis.rem_euclid(unit)))
    }

    /// Checks values that were read from bytes.
    ///
    /// # Errors
    /// [`TypeError::Corrupt`] when `nano_of_milli` is not in `0..=999_999`.
    pub fn checked(millis: i64, nano_of_milli: i32) -> Result<Self> {
        if (0..NANOS_PER_MILLI).contains(&nano_of_milli) {
            Ok(Self {
                millis,
                nano_of_milli,
            })
        } else {
            Err(TypeError::corrupt(
                "timestamp",
                format!("{nano_of_milli} nanoseconds of a millisecond"),
            ))
        }
    }
}
