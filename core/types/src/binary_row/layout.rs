//! Sizes and the packing of slots.

use crate::error::{Result, TypeError};

/// Bytes of a slot.
pub(super) const SLOT: usize = 8;
/// Longest text or bytes that a slot holds itself.
pub(super) const MAX_INLINE: usize = 7;
/// Bytes a DECIMAL of more than 18 digits takes in the variable part.
pub(super) const WIDE_DECIMAL: usize = 16;
/// Header bits in front of the null bits.
const HEADER_BITS: usize = 8;

/// Bytes of header and null bits of a row.
pub(super) fn null_bits_size(arity: usize) -> usize {
    (arity + 63 + HEADER_BITS) / 64 * 8
}

/// Bytes of a row without its variable part; `None` on overflow.
pub(super) fn fixed_size(arity: usize) -> Option<usize> {
    arity.checked_mul(SLOT)?.checked_add(null_bits_size(arity))
}

/// Byte and mask of a field's null bit in a row.
pub(super) fn row_null_bit(index: usize) -> (usize, u8) {
    let bit = index + HEADER_BITS;
    (bit / 8, 1 << (bit % 8))
}

/// Bytes of count and null bits of an array.
pub(super) fn array_header_size(count: usize) -> usize {
    4 + count.div_ceil(32) * 4
}

/// Byte and mask of an element's null bit in an array.
pub(super) fn array_null_bit(index: usize) -> (usize, u8) {
    (4 + index / 8, 1 << (index % 8))
}

/// `offset << 32 | low`, little endian.
pub(super) fn pointer(offset: usize, low: usize) -> Result<u64> {
    let fits = |number: usize| {
        u64::try_from(number)
            .ok()
            .filter(|number| *number < 1 << 31)
    };
    match (fits(offset), fits(low)) {
        (Some(offset), Some(low)) => Ok(offset << 32 | low),
        _ => Err(TypeError::invalid(
            "a row of more than 2 GiB has no binary form",
        )),
    }
}

/// The shortest big-endian two's complement form: the bytes and how many at the end of them count.
pub(super) fn minimal_big_endian(value: i128) -> ([u8; WIDE_DECIMAL], usize) {
    let significant_bits = if value < 0 {
        128 - value.leading_ones()
    } else {
        128 - value.leading_zeros()
    };
    // One more bit for the sign.
    let count = usize::try_from(significant_bits / 8 + 1).unwrap_or(WIDE_DECIMAL);
    (value.to_be_bytes(), count)
}
