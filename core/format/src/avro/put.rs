//! Writes Avro's binary items to a buffer.
//!
//! Source: Avro specification 1.11, "Binary encoding".

/// A zigzag varint.
#[inline]
pub fn long(out: &mut Vec<u8>, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest >= 0x80 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the low seven bits are what is meant"
        )]
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    #[expect(clippy::cast_possible_truncation, reason = "less than 0x80 here")]
    out.push(rest as u8);
}

/// A varint of a 32-bit value.
#[inline]
pub fn int(out: &mut Vec<u8>, value: i32) {
    long(out, i64::from(value));
}

/// A count or length.
#[inline]
pub fn length(out: &mut Vec<u8>, value: usize) {
    // A buffer in memory is never longer than i64::MAX.
    long(out, i64::try_from(value).unwrap_or(i64::MAX));
}

/// Length-prefixed bytes.
#[inline]
pub fn bytes(out: &mut Vec<u8>, value: &[u8]) {
    length(out, value.len());
    out.extend_from_slice(value);
}

/// Length-prefixed UTF-8.
#[inline]
pub fn string(out: &mut Vec<u8>, value: &str) {
    bytes(out, value.as_bytes());
}

/// A `["null", X]` union: branch 0, or branch 1 and the value.
#[inline]
pub fn optional<T>(out: &mut Vec<u8>, value: Option<T>, put: impl FnOnce(&mut Vec<u8>, T)) {
    match value {
        None => out.push(0),
        Some(value) => {
            out.push(2);
            put(out, value);
        }
    }
}

/// An array in one block.
#[inline]
pub fn array<T>(
    out: &mut Vec<u8>,
    items: impl ExactSizeIterator<Item = T>,
    mut put: impl FnMut(&mut Vec<u8>, T),
) {
    if items.len() > 0 {
        length(out, items.len());
        for item in items {
            put(out, item);
        }
    }
    out.push(0);
}
