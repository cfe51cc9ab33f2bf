//! Fixed-width values as unsigned integers of the same order.

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType,
};

use crate::datum::{canonical_f32, canonical_f64};

/// An Arrow type whose values become ordinals of at most 64 bits.
pub(super) trait Ordinal: ArrowPrimitiveType {
    /// The ordinal; smaller values have smaller ones.
    fn ordinal(value: Self::Native) -> u64;
}

macro_rules! signed_ordinal {
    ($arrow:ty, $unsigned:ty) => {
        impl Ordinal for $arrow {
            #[inline]
            fn ordinal(value: Self::Native) -> u64 {
                // Flipping the sign bit puts the negative half below the positive one.
                u64::from(value.cast_unsigned() ^ (1 << (<$unsigned>::BITS - 1)))
            }
        }
    };
}

signed_ordinal!(Int8Type, u8);
signed_ordinal!(Int16Type, u16);
signed_ordinal!(Int32Type, u32);
signed_ordinal!(Int64Type, u64);
signed_ordinal!(Date32Type, u32);
signed_ordinal!(Time32MillisecondType, u32);
signed_ordinal!(TimestampMillisecondType, u64);
signed_ordinal!(TimestampMicrosecondType, u64);
signed_ordinal!(TimestampNanosecondType, u64);

impl Ordinal for Float32Type {
    #[inline]
    fn ordinal(value: f32) -> u64 {
        let bits = canonical_f32(value).to_bits();
        // Larger magnitudes of negative floats are smaller: invert them, and lift the positive half above.
        let mask = if value.is_sign_negative() && !value.is_nan() {
            u32::MAX
        } else {
            1 << 31
        };
        u64::from(bits ^ mask)
    }
}

impl Ordinal for Float64Type {
    #[inline]
    fn ordinal(value: f64) -> u64 {
        let bits = canonical_f64(value).to_bits();
        let mask = if value.is_sign_negative() && !value.is_nan() {
            u64::MAX
        } else {
            1 << 63
        };
        bits ^ mask
    }
}

/// The ordinal of a wide decimal, 128 bits.
#[inline]
pub(super) fn wide_ordinal(value: <Decimal128Type as ArrowPrimitiveType>::Native) -> u128 {
    value.cast_unsigned() ^ (1 << 127)
}
