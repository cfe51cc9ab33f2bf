//! One value of an atomic type, owned.
//!
//! Datums stand where there are few values: bounds of statistics, literals, partition values, default values. Columns
//! of rows are Arrow arrays; `arrow` leads from one to the other.

mod arrow;
mod timestamp;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use crate::data_type::{DataType, TypeKind};

pub use arrow::datums_to_array;
pub use timestamp::TimestampValue;

/// A value of an atomic type, or null.
///
/// `==` and `Hash` compare floats as Java's `equals` does: all NaNs are one value, -0.0 is not 0.0. `==` tells decimals
/// of different precision apart; [`Datum::compare`] does not.
#[derive(Debug, Clone)]
pub enum Datum {
    /// No value.
    Null,
    /// BOOLEAN.
    Boolean(bool),
    /// TINYINT.
    TinyInt(i8),
    /// SMALLINT.
    SmallInt(i16),
    /// INT.
    Int(i32),
    /// BIGINT.
    BigInt(i64),
    /// FLOAT.
    Float(f32),
    /// DOUBLE.
    Double(f64),
    /// DECIMAL: `unscaled / 10^scale`.
    Decimal {
        /// The digits as an integer.
        unscaled: i128,
        /// Digits the type allows.
        precision: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// CHAR, VARCHAR.
    String(String),
    /// BINARY, VARBINARY.
    Bytes(Vec<u8>),
    /// DATE: days since 1970-01-01.
    Date(i32),
    /// TIME: milliseconds of the day.
    Time(i32),
    /// TIMESTAMP (local date-time read as UTC) and TIMESTAMP_LTZ (instant).
    Timestamp(TimestampValue),
}

impl Datum {
    /// Whether this is [`Datum::Null`].
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Orders two values of one type; `None` if either is null or their types differ.
    ///
    /// Floats go by Java's total order (-0.0 < 0.0, NaN greatest), text and bytes by unsigned bytes, decimals by value.
    pub fn compare(&self, other: &Datum) -> Option<Ordering> {
        Some(match (self, other) {
            (Self::Boolean(a), Self::Boolean(b)) => a.cmp(b),
            (Self::TinyInt(a), Self::TinyInt(b)) => a.cmp(b),
            (Self::SmallInt(a), Self::SmallInt(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b))
            | (Self::Date(a), Self::Date(b))
            | (Self::Time(a), Self::Time(b)) => a.cmp(b),
            (Self::BigInt(a), Self::BigInt(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => canonical_f32(*a).total_cmp(&canonical_f32(*b)),
            (Self::Double(a), Self::Double(b)) => canonical_f64(*a).total_cmp(&canonical_f64(*b)),
            (
                Self::Decimal {
                    unscaled: a,
                    scale: s,
                    ..
                },
                Self::Decimal {
                    unscaled: b,
                    scale: t,
                    ..
                },
            ) => compare_decimals(*a, *s, *b, *t),
            (Self::String(a), Self::String(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            (Self::Timestamp(a), Self::Timestamp(b)) => a.cmp(b),
            _ => return None,
        })
    }

    /// Whether a column of this type can hold the value; null fits every type here, nullability is not looked at.
    pub fn is_of(&self, data_type: &DataType) -> bool {
        match (self, &data_type.kind) {
            (Self::Null, _)
            | (Self::Boolean(_), TypeKind::Boolean)
            | (Self::TinyInt(_), TypeKind::TinyInt)
            | (Self::SmallInt(_), TypeKind::SmallInt)
            | (Self::Int(_), TypeKind::Int)
            | (Self::BigInt(_), TypeKind::BigInt)
            | (Self::Float(_), TypeKind::Float)
            | (Self::Double(_), TypeKind::Double)
            | (Self::String(_), TypeKind::Char(_) | TypeKind::VarChar(_))
            | (Self::Bytes(_), TypeKind::Binary(_) | TypeKind::VarBinary(_))
            | (Self::Date(_), TypeKind::Date)
            | (Self::Time(_), TypeKind::Time(_))
            | (Self::Timestamp(_), TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_)) => true,
            (
                Self::Decimal {
                    unscaled,
                    scale: has,
                    ..
                },
                TypeKind::Decimal { precision, scale },
            ) => has == scale && fits_precision(*unscaled, *precision),
            _ => false,
        }
    }

    /// The variant's name for messages: the SQL name of the first type it stands for.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Boolean(_) => "BOOLEAN",
            Self::TinyInt(_) => "TINYINT",
            Self::SmallInt(_) => "SMALLINT",
            Self::Int(_) => "INT",
            Self::BigInt(_) => "BIGINT",
            Self::Float(_) => "FLOAT",
            Self::Double(_) => "DOUBLE",
            Self::Decimal { .. } => "DECIMAL",
            Self::String(_) => "STRING",
            Self::Bytes(_) => "BYTES",
            Self::Date(_) => "DATE",
            Self::Time(_) => "TIME",
            Self::Timestamp(_) => "TIMESTAMP",
        }
    }
}

impl PartialEq for Datum {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (
                Self::Decimal {
                    precision: p,
                    scale: s,
                    ..
                },
                Self::Decimal {
                    precision: q,
                    scale: t,
                    ..
                },
            ) if (p, s) != (q, t) => false,
            _ => self.compare(other) == Some(Ordering::Equal),
        }
    }
}

impl Eq for Datum {}

impl Hash for Datum {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Self::Null => {}
            Self::Boolean(v) => v.hash(state),
            Self::TinyInt(v) => v.hash(state),
            Self::SmallInt(v) => v.hash(state),
            Self::Int(v) | Self::Date(v) | Self::Time(v) => v.hash(state),
            Self::BigInt(v) => v.hash(state),
            Self::Float(v) => canonical_f32(*v).to_bits().hash(state),
            Self::Double(v) => canonical_f64(*v).to_bits().hash(state),
            Self::Decimal {
                unscaled,
                precision,
                scale,
            } => (unscaled, precision, scale).hash(state),
            Self::String(v) => v.hash(state),
            Self::Bytes(v) => v.hash(state),
            Self::Timestamp(v) => v.hash(state),
        }
    }
}

/// The value with every NaN made the one positive quiet NaN, so that `total_cmp` is Java's order.
pub(crate) fn canonical_f32(value: f32) -> f32 {
    if value.is_nan() {
        f32::from_bits(0x7fc0_0000)
    } else {
        value
    }
}

/// As [`canonical_f32`].
pub(crate) fn canonical_f64(value: f64) -> f64 {
    if value.is_nan() {
        f64::from_bits(0x7ff8_0000_0000_0000)
    } else {
        value
    }
}

/// Whether `unscaled` has at most `precision` digits.
pub(crate) fn fits_precision(unscaled: i128, precision: u8) -> bool {
    match 10_u128.checked_pow(u32::from(precision)) {
        Some(limit) => unscaled.unsigned_abs() < limit,
        None => true,
    }
}

fn compare_decimals(a: i128, a_scale: u8, b: i128, b_scale: u8) -> Ordering {
    if a_scale == b_scale {
        return a.cmp(&b);
    }
    if a_scale > b_scale {
        return compare_decimals(b, b_scale, a, a_scale).reverse();
    }
    // `a` has fewer fraction digits: bring it to `b`'s scale; if that overflows, |a| is larger than any `b`.
    let power = 10_i128.checked_pow(u32::from(b_scale - a_scale));
    match power.and_then(|power| a.checked_mul(power)) {
        Some(a) => a.cmp(&b),
        None => a.cmp(&0),
    }
}
