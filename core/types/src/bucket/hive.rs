//! Hive's row hash. Source: spec 01c §4.3, Paimon 2.x `bucket/HiveBucketFunction.java` and its hasher.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type,
};
use arrow_array::{Array, ArrayRef};

use crate::data_type::{DataType, TypeKind};
use crate::datum::{canonical_f32, canonical_f64};
use crate::error::{Result, TypeError};

/// `h = 31 * h + hash of the column`, over the columns; nulls hash to 0.
pub(super) fn hash_rows(columns: &[ArrayRef], types: &[DataType]) -> Result<Vec<i32>> {
    if columns.len() != types.len() {
        return Err(TypeError::invalid(format!(
            "{} columns for {} types",
            columns.len(),
            types.len()
        )));
    }
    let mut hashes = vec![0; columns.first().map_or(0, |column| column.len())];
    for (column, data_type) in columns.iter().zip(types) {
        if column.len() != hashes.len() {
            return Err(TypeError::invalid(format!(
                "columns of {} and of {} rows",
                hashes.len(),
                column.len()
            )));
        }
        take_column(column, data_type, &mut hashes)?;
    }
    Ok(hashes)
}

fn take_column(column: &ArrayRef, data_type: &DataType, hashes: &mut [i32]) -> Result<()> {
    let mismatch = || TypeError::mismatch(format!("an array of {data_type}"), column.data_type());
    macro_rules! primitives {
        ($arrow:ty, $hash:expr) => {
            take_primitive::<$arrow>(column, hashes, $hash).ok_or_else(mismatch)
        };
    }
    match &data_type.kind {
        TypeKind::Boolean => {
            let array = column.as_boolean_opt().ok_or_else(mismatch)?;
            take(
                hashes,
                array.iter().map(|value| i32::from(value == Some(true))),
            );
            Ok(())
        }
        TypeKind::TinyInt => primitives!(Int8Type, i32::from),
        TypeKind::SmallInt => primitives!(Int16Type, i32::from),
        TypeKind::Int => primitives!(Int32Type, |value| value),
        TypeKind::Date => primitives!(Date32Type, |value| value),
        TypeKind::BigInt => primitives!(Int64Type, |value| fold(value.cast_unsigned())),
        TypeKind::Float => primitives!(Float32Type, |value| {
            if value == 0.0 {
                0
            } else {
                canonical_f32(value).to_bits().cast_signed()
            }
        }),
        TypeKind::Double => primitives!(Float64Type, |value| {
            if value == 0.0 {
                0
            } else {
                fold(canonical_f64(value).to_bits())
            }
        }),
        TypeKind::Decimal { scale, .. } => {
            let scale = *scale;
            primitives!(Decimal128Type, |unscaled| decimal_hash(unscaled, scale))
        }
        TypeKind::Char(_) | TypeKind::VarChar(_) => {
            let array = column.as_string_opt::<i32>().ok_or_else(mismatch)?;
            take(
                hashes,
                array
                    .iter()
                    .map(|value| value.map_or(0, |text| bytes_hash(text.as_bytes()))),
            );
            Ok(())
        }
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => {
            let array = column.as_binary_opt::<i32>().ok_or_else(mismatch)?;
            take(
                hashes,
                array.iter().map(|value| value.map_or(0, bytes_hash)),
            );
            Ok(())
        }
        _ => Err(TypeError::unsupported(format!(
            "the bucket function hive on a key of type {data_type}"
        ))),
    }
}

fn take_primitive<T: ArrowPrimitiveType>(
    column: &ArrayRef,
    hashes: &mut [i32],
    hash: impl Fn(T::Native) -> i32,
) -> Option<()> {
    let array = column.as_primitive_opt::<T>()?;
    take(hashes, array.iter().map(|value| value.map_or(0, &hash)));
    Some(())
}

fn take(hashes: &mut [i32], column: impl Iterator<Item = i32>) {
    for (hash, value) in hashes.iter_mut().zip(column) {
        *hash = hash.wrapping_mul(31).wrapping_add(value);
    }
}

/// `(int) (bits ^ (bits >>> 32))`
fn fold(bits: u64) -> i32 {
    let [a, b, c, d, e, f, g, h] = bits.to_le_bytes();
    (u32::from_le_bytes([a, b, c, d]) ^ u32::from_le_bytes([e, f, g, h])).cast_signed()
}

fn bytes_hash(bytes: &[u8]) -> i32 {
    bytes.iter().fold(0, |hash: i32, byte| {
        hash.wrapping_mul(31)
            .wrapping_add(i32::from(byte.cast_signed()))
    })
}

/// `BigDecimal.hashCode` after trailing zeros are cut; a scale never falls below 0.
fn decimal_hash(unscaled: i128, scale: u8) -> i32 {
    let (mut unscaled, mut scale) = (unscaled, i32::from(scale));
    while scale > 0 && unscaled % 10 == 0 {
        unscaled /= 10;
        scale -= 1;
    }
    // `BigInteger.hashCode`: the magnitude's 32-bit words, highest first, then the sign.
    let bytes = unscaled.unsigned_abs().to_be_bytes();
    let magnitude = bytes.as_chunks::<4>().0.iter().fold(0, |hash: i32, word| {
        hash.wrapping_mul(31)
            .wrapping_add(i32::from_be_bytes(*word))
    });
    let integer = if unscaled < 0 {
        magnitude.wrapping_neg()
    } else {
        magnitude
    };
    integer.wrapping_mul(31).wrapping_add(scale)
}
