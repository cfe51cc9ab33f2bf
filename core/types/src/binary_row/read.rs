//! Values out of the bytes of a row. Nothing in the bytes is trusted.

use crate::data_type::{DataType, TypeKind};
use crate::datum::{Datum, TimestampValue};
use crate::error::{Result, TypeError};

/// Longest value that lies in its slot.
const INLINE_MAX: usize = 7;

/// Bit `bit` of the area that begins with the row.
pub(super) fn bit(bytes: &[u8], bit: usize) -> bool {
    bytes
        .get(bit / 8)
        .is_some_and(|byte| byte & (1 << (bit % 8)) != 0)
}

/// The value in the slot at `slot` of a row or array that begins at offset 0 of `bytes`.
pub(super) fn datum(bytes: &[u8], slot: usize, data_type: &DataType) -> Result<Datum> {
    Ok(match &data_type.kind {
        TypeKind::Boolean => Datum::Boolean(fixed::<1>(bytes, slot)? != [0]),
        TypeKind::TinyInt => Datum::TinyInt(i8::from_le_bytes(fixed(bytes, slot)?)),
        TypeKind::SmallInt => Datum::SmallInt(i16::from_le_bytes(fixed(bytes, slot)?)),
        TypeKind::Int => Datum::Int(i32::from_le_bytes(fixed(bytes, slot)?)),
        TypeKind::BigInt => Datum::BigInt(i64::from_le_bytes(fixed(bytes, slot)?)),
        TypeKind::Float => Datum::Float(f32::from_le_bytes(fixed(bytes, slot)?)),
        TypeKind::Double => Datum::Double(f64::from_le_bytes(fixed(bytes, slot)?)),
        TypeKind::Date => Datum::Date(i32::from_le_bytes(fixed(bytes, slot)?)),
        TypeKind::Time(_) => Datum::Time(i32::from_le_bytes(fixed(bytes, slot)?)),
        TypeKind::Char(_) | TypeKind::VarChar(_) => {
            let text = std::str::from_utf8(variable(bytes, slot)?)
                .map_err(|e| TypeError::corrupt("binary row", format!("text is not UTF-8: {e}")))?;
            Datum::String(text.to_owned())
        }
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => {
            Datum::Bytes(variable(bytes, slot)?.to_vec())
        }
        TypeKind::Decimal { precision, scale } => {
            let unscaled = if *precision <= 18 {
                i128::from(i64::from_le_bytes(fixed(bytes, slot)?))
            } else {
                big_endian(part(bytes, slot)?)?
            };
            Datum::Decimal {
                unscaled,
                precision: *precision,
                scale: *scale,
            }
        }
        TypeKind::Timestamp(precision) | TypeKind::TimestampLtz(precision) => {
            if *precision <= 3 {
                Datum::Timestamp(TimestampValue::checked(
                    i64::from_le_bytes(fixed(bytes, slot)?),
                    0,
                )?)
            } else {
                let word = u64::from_le_bytes(fixed(bytes, slot)?);
                let offset = usize::try_from(word >> 32).unwrap_or(usize::MAX);
                let nanos = i32::try_from(word & 0xffff_ffff).map_err(|_| {
                    TypeError::corrupt("binary row", "nanoseconds of a timestamp out of range")
                })?;
                Datum::Timestamp(TimestampValue::checked(
                    i64::from_le_bytes(fixed(bytes, offset)?),
                    nanos,
                )?)
            }
        }
        TypeKind::Variant
        | TypeKind::Array(_)
        | TypeKind::Map(..)
        | TypeKind::Multiset(_)
        | TypeKind::Row(_) => {
            return Err(TypeError::unsupported(format!(
                "a single value of type {data_type} out of a binary row"
            )));
        }
    })
}

fn fixed<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N]> {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk::<N>())
        .copied()
        .ok_or_else(|| {
            TypeError::corrupt(
                "binary row",
                format!("{N} bytes at offset {at} of {}", bytes.len()),
            )
        })
}

/// Text or bytes: in the slot, or where the slot says.
fn variable(bytes: &[u8], slot: usize) -> Result<&[u8]> {
    let mark = fixed::<8>(bytes, slot)?[7];
    if mark & 0x80 == 0 {
        return part(bytes, slot);
    }
    let length = usize::from(mark & 0x7f);
    if length > INLINE_MAX {
        return Err(TypeError::corrupt(
            "binary row",
            format!("{length} bytes inside a slot"),
        ));
    }
    bytes
        .get(slot..slot + length)
        .ok_or_else(|| TypeError::corrupt("binary row", "slot beyond the row"))
}

/// The part of the variable area that a slot points to.
fn part(bytes: &[u8], slot: usize) -> Result<&[u8]> {
    let word = u64::from_le_bytes(fixed(bytes, slot)?);
    let offset = usize::try_from(word >> 32).unwrap_or(usize::MAX);
    let length = usize::try_from(word & 0xffff_ffff).unwrap_or(usize::MAX);
    offset
        .checked_add(length)
        .and_then(|end| bytes.get(offset..end))
        .ok_or_else(|| {
            TypeError::corrupt(
                "binary row",
                format!("{length} bytes at offset {offset} of {}", bytes.len()),
            )
        })
}

/// A big-endian two's-complement integer of 1 to 16 bytes.
fn big_endian(bytes: &[u8]) -> Result<i128> {
    let Some(first) = bytes.first().filter(|_| bytes.len() <= 16) else {
        return Err(TypeError::corrupt(
            "binary row",
            format!("a decimal of {} bytes", bytes.len()),
        ));
    };
    let start = if *first & 0x80 == 0 { 0 } else { -1 };
    Ok(bytes
        .iter()
        .fold(start, |value, byte| (value << 8) | i128::from(*byte)))
}
