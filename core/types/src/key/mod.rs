//! Keys as integers or byte strings that sort the way rows do.
//!
//! ```text
//!  columns -> KeyEncoder -> Keys::U64    all columns together fill at most 64 bits
//!                           Keys::U128   at most 128 bits
//!                           Keys::Rows   everything else: byte strings of the arrow-row format
//! ```
//!
//! Comparing two encoded keys is comparing the rows column by column: numbers and instants by value, text and bytes as
//! unsigned bytes, false before true, floats in Java's total order (-0.0 before 0.0, one NaN, greatest).
//! A packed key holds its columns side by side, the first in the highest bits:
//!
//! ```text
//!  (SMALLINT, INT)   |0 .. 0|smallint: sign bit flipped|int: sign bit flipped|
//!  sequence field    |1 when not null, else 0|value, inverted when descending; 0 when null|
//! ```
//!
//! Source: spec 02a §1.4 (keys), 02b §4.2 (sequence fields).

mod encode;
mod ordinal;
mod packed;
mod sort;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;

pub use encode::{KeyEncoder, SequenceOrder};
pub use sort::{sort_indices, sort_indices_with_sequence};

/// Encoded keys of consecutive rows. Only keys of equally made encoders may be compared.
#[derive(Debug)]
pub enum Keys {
    /// Keys of at most 64 bits.
    U64(Vec<u64>),
    /// Keys of at most 128 bits.
    U128(Vec<u128>),
    /// Keys of any length.
    Rows(arrow_row::Rows),
}

impl Keys {
    /// Number of keys.
    pub fn len(&self) -> usize {
        match self {
            Self::U64(keys) => keys.len(),
            Self::U128(keys) => keys.len(),
            Self::Rows(rows) => rows.num_rows(),
        }
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Orders key `i` of this and key `j` of the other. A row past the end sorts before all others.
    #[inline]
    pub fn cmp(&self, i: usize, other: &Keys, j: usize) -> Ordering {
        match (self, other) {
            (Self::U64(a), Self::U64(b)) => a.get(i).cmp(&b.get(j)),
            (Self::U128(a), Self::U128(b)) => a.get(i).cmp(&b.get(j)),
            (Self::Rows(a), Self::Rows(b)) => row_bytes(a, i).cmp(&row_bytes(b, j)),
            _ => {
                debug_assert!(false, "keys of different encoders are compared");
                self.variant().cmp(&other.variant())
            }
        }
    }

    /// Whether key `i` of this equals key `j` of the other.
    #[inline]
    pub fn eq(&self, i: usize, other: &Keys, j: usize) -> bool {
        self.cmp(i, other, j) == Ordering::Equal
    }

    /// Whether keys `i` and `i + 1` are equal; false at the last row and past it.
    #[inline]
    pub fn eq_adjacent(&self, i: usize) -> bool {
        let next = i.saturating_add(1);
        next < self.len() && self.cmp(i, self, next) == Ordering::Equal
    }

    /// The keys, when they are of at most 64 bits: for loops that cannot afford a match per row.
    pub fn as_u64(&self) -> Option<&[u64]> {
        match self {
            Self::U64(keys) => Some(keys),
            _ => None,
        }
    }

    /// The keys, when they are of at most 128 bits but not of at most 64.
    pub fn as_u128(&self) -> Option<&[u128]> {
        match self {
            Self::U128(keys) => Some(keys),
            _ => None,
        }
    }

    /// The bytes of key `i` when keys are byte strings.
    pub fn as_bytes(&self, i: usize) -> Option<&[u8]> {
        match self {
            Self::Rows(rows) => row_bytes(rows, i),
            _ => None,
        }
    }

    /// The first 64 bits of key `i`: a smaller prefix means a smaller key, equal prefixes mean nothing (but for keys of
    /// at most 64 bits, where they are the keys). 0 past the end.
    #[inline]
    pub fn prefix_u64(&self, i: usize) -> u64 {
        match self {
            Self::U64(keys) => keys.get(i).copied().unwrap_or_default(),
            Self::U128(keys) => keys.get(i).map_or(0, |key| high_half(*key)),
            Self::Rows(rows) => row_bytes(rows, i).map_or(0, |bytes| first_eight_bytes(bytes, 0)),
        }
    }

    /// Whether [`Keys::prefix_u64`] is the whole key.
    pub fn prefix_is_exact(&self) -> bool {
        matches!(self, Self::U64(_))
    }

    /// Whether no key is smaller than the one before.
    pub fn is_sorted(&self) -> bool {
        match self {
            Self::U64(keys) => keys.is_sorted(),
            Self::U128(keys) => keys.is_sorted(),
            Self::Rows(rows) => rows.iter().is_sorted_by(|a, b| a.data() <= b.data()),
        }
    }

    /// Whether every key is greater than the one before: sorted and without duplicates.
    pub fn is_strictly_ascending(&self) -> bool {
        match self {
            Self::U64(keys) => keys.is_sorted_by(|a, b| a < b),
            Self::U128(keys) => keys.is_sorted_by(|a, b| a < b),
            Self::Rows(rows) => rows.iter().is_sorted_by(|a, b| a.data() < b.data()),
        }
    }

    /// Bytes that the keys take in memory.
    pub fn memory_size(&self) -> usize {
        match self {
            Self::U64(keys) => keys.capacity() * size_of::<u64>(),
            Self::U128(keys) => keys.capacity() * size_of::<u128>(),
            Self::Rows(rows) => rows.size(),
        }
    }

    fn variant(&self) -> u8 {
        match self {
            Self::U64(_) => 0,
            Self::U128(_) => 1,
            Self::Rows(_) => 2,
        }
    }
}

#[inline]
fn row_bytes(rows: &arrow_row::Rows, i: usize) -> Option<&[u8]> {
    (i < rows.num_rows()).then(|| rows.row(i).data())
}

fn high_half(key: u128) -> u64 {
    (key >> 64) as u64
}

/// Up to eight bytes from `start` on, big endian, filled up with zeros.
#[inline]
fn first_eight_bytes(bytes: &[u8], start: usize) -> u64 {
    let rest = bytes.get(start..).unwrap_or_default();
    if let Some(word) = rest.first_chunk::<8>() {
        return u64::from_be_bytes(*word);
    }
    let mut word = [0; 8];
    for (to, from) in word.iter_mut().zip(rest) {
        *to = *from;
    }
    u64::from_be_bytes(word)
}
