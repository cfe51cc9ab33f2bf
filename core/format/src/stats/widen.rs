//! Bounds of a column whose type changed, as values of its present type.
//!
//! Only changes that keep every value and their order: then a bound stays a bound.
//! Source: spec 01c §5.5, 02c §4.1.

use tidewater_types::{DataType, Datum, TypeKind};

/// Whether values of `from` read as `to` are the same values in the same order. Nullability is not looked at.
pub(crate) fn keeps_values(from: &DataType, to: &DataType) -> bool {
    use TypeKind::{
        BigInt, Char, Decimal, Double, Float, Int, SmallInt, Timestamp, TimestampLtz, TinyInt,
        VarChar,
    };
    match (&from.kind, &to.kind) {
        (TinyInt, SmallInt | Int | BigInt | Float | Double)
        | (SmallInt, Int | BigInt | Float | Double)
        | (Int, BigInt | Double)
        | (Float, Double) => true,
        // Each digit before and after the point keeps its place.
        (
            Decimal {
                precision: p,
                scale: s,
            },
            Decimal {
                precision: q,
                scale: t,
            },
        ) => t >= s && q.saturating_sub(*t) >= p.saturating_sub(*s),
        (Char(from) | VarChar(from), VarChar(to)) => to >= from,
        (Timestamp(from), Timestamp(to)) | (TimestampLtz(from), TimestampLtz(to)) => to >= from,
        (from, to) => from == to,
    }
}

/// `value` of a type whose values `to` keeps ([`keeps_values`]), as a value of `to`; `None` if it has no such value after all.
pub(crate) fn widen(value: Datum, to: &DataType) -> Option<Datum> {
    if value.is_of(to) && !matches!(value, Datum::Decimal { .. }) {
        return Some(value);
    }
    let integer = match value {
        Datum::TinyInt(value) => Some(i64::from(value)),
        Datum::SmallInt(value) => Some(i64::from(value)),
        Datum::Int(value) => Some(i64::from(value)),
        _ => None,
    };
    Some(match (&to.kind, value, integer) {
        (TypeKind::SmallInt, _, Some(value)) => Datum::SmallInt(i16::try_from(value).ok()?),
        (TypeKind::Int, _, Some(value)) => Datum::Int(i32::try_from(value).ok()?),
        (TypeKind::BigInt, _, Some(value)) => Datum::BigInt(value),
        (TypeKind::Float, _, Some(value)) => Datum::Float(f32::from(i16::try_from(value).ok()?)),
        (TypeKind::Double, _, Some(value)) => Datum::Double(f64::from(i32::try_from(value).ok()?)),
        (TypeKind::Double, Datum::Float(value), _) => Datum::Double(f64::from(value)),
        (
            TypeKind::Decimal { precision, scale },
            Datum::Decimal {
                unscaled,
                scale: from,
                ..
            },
            _,
        ) => {
            let places = scale.checked_sub(from)?;
            Datum::Decimal {
                unscaled: unscaled.checked_mul(10_i128.checked_pow(u32::from(places))?)?,
                precision: *precision,
                scale: *scale,
            }
        }
        _ => return None,
    })
}
