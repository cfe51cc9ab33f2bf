//! Sorting rows by their keys.
//!
//! What is sorted is one `u64` a row: no comparison looks anywhere else, and equal keys stay in order of arrival by
//! themselves. Bits in which no two keys differ are left out:
//!
//! ```text
//!  key     |same in all|differ ....|same in all|differ ....|
//!                       \_________/             \______/ as many as fit
//!  sorted                      |highest differing bits|row number|
//! ```
//!
//! When not all differing bits fit, rows whose words tie are sorted again by their whole keys. Byte strings go by the
//! first eight bytes after what they have in common, ties by all bytes and the row.

use std::cmp::Ordering;

use arrow_row::Rows;

use super::{Keys, first_eight_bytes, row_bytes};

/// The rows in ascending order of their keys; equal keys in order of arrival, that is of row numbers.
///
/// There are at most 2^32 - 1 keys: row numbers of a batch are `u32` throughout.
pub fn sort_indices(keys: &Keys) -> Vec<u32> {
    debug_assert!(
        u32::try_from(keys.len()).is_ok(),
        "row numbers are 32 bits wide"
    );
    if keys.is_sorted() {
        return rows_of(keys.len()).collect();
    }
    match keys {
        Keys::U64(keys) => sort_integers(keys),
        Keys::U128(keys) => sort_integers(keys),
        Keys::Rows(rows) => sort_rows(rows),
    }
}

/// The rows in ascending order of their keys, rows of equal keys in ascending order of their sequence fields, the rest in
/// order of arrival. `sequences` has a key for each row.
pub fn sort_indices_with_sequence(keys: &Keys, sequences: &Keys) -> Vec<u32> {
    let mut order = sort_indices(keys);
    let at = |row: u32| usize::try_from(row).unwrap_or(usize::MAX);
    let same_key = |a: &u32, b: &u32| keys.eq(at(*a), keys, at(*b));
    for run in order.chunk_by_mut(same_key).filter(|run| run.len() > 1) {
        // Stable, so that the order of arrival stays.
        run.sort_by(|a, b| sequences.cmp(at(*a), sequences, at(*b)));
    }
    order
}

fn rows_of(count: usize) -> impl Iterator<Item = u32> {
    (0..=u32::MAX).take(count)
}

/// The integers that keys are packed in.
trait PackedKey: Copy + Ord + Into<u128> {
    fn difference(self, other: Self) -> Self;
    fn union(self, other: Self) -> Self;
    /// The low 64 bits after a shift to the right.
    fn bits_from(self, shift: u32) -> u64;
}

macro_rules! packed_key {
    ($word:ty) => {
        impl PackedKey for $word {
            #[inline]
            fn difference(self, other: Self) -> Self {
                self ^ other
            }
            #[inline]
            fn union(self, other: Self) -> Self {
                self | other
            }
            #[inline]
            #[allow(
                clippy::cast_possible_truncation,
                reason = "the low bits are what is asked for; nothing is cut off a u64"
            )]
            fn bits_from(self, shift: u32) -> u64 {
                (self >> shift) as u64
            }
        }
    };
}

packed_key!(u64);
packed_key!(u128);

/// Neighbouring bits of a key that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    /// Bits below it.
    shift: u32,
    width: u32,
}

/// Segments that together hold all differing bits, highest first. There are few, so bits that do not differ may be in
/// them where the gap is small.
fn segments(differing: u128) -> Vec<Segment> {
    const MOST: usize = 3;
    let mut segments: Vec<Segment> = Vec::new();
    let mut rest = differing;
    while rest != 0 {
        let end = u128::BITS - rest.leading_zeros();
        let width = (rest << (u128::BITS - end)).leading_ones();
        segments.push(Segment {
            shift: end - width,
            width,
        });
        rest = if end == width {
            0
        } else {
            rest & (u128::MAX >> (u128::BITS - (end - width)))
        };
        if segments.len() > MOST {
            close_smallest_gap(&mut segments);
        }
    }
    segments
}

fn close_smallest_gap(segments: &mut Vec<Segment>) {
    let gap = |pair: &[Segment]| match pair {
        [high, low] => high.shift - (low.shift + low.width),
        _ => u32::MAX,
    };
    let smallest = segments
        .windows(2)
        .enumerate()
        .min_by_key(|(_, pair)| gap(pair))
        .map(|(at, _)| at);
    let Some(at) = smallest.filter(|at| at + 1 < segments.len()) else {
        return;
    };
    let low = segments.remove(at + 1);
    if let Some(high) = segments.get_mut(at) {
        *high = Segment {
            shift: low.shift,
            width: high.shift + high.width - low.shift,
        };
    }
}

/// Cuts the lowest bits off until at most `bits` are left.
fn keep_highest(segments: &mut Vec<Segment>, bits: u32) {
    let mut left = bits;
    for segment in &mut *segments {
        let cut = segment.width.saturating_sub(left);
        *segment = Segment {
            shift: segment.shift + cut,
            width: segment.width - cut,
        };
        left -= segment.width;
    }
    segments.retain(|segment| segment.width > 0);
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the mask leaves the bits of a row number, at most 32"
)]
fn sort_integers<K: PackedKey>(keys: &[K]) -> Vec<u32> {
    let Some(first) = keys.first() else {
        return Vec::new();
    };
    let differing = keys.iter().fold(first.difference(*first), |bits, key| {
        bits.union(key.difference(*first))
    });
    let mut segments = segments(differing.into());
    let all_bits: u32 = segments.iter().map(|segment| segment.width).sum();
    let row_bits = usize::BITS - (keys.len() - 1).leading_zeros();
    keep_highest(&mut segments, u64::BITS - row_bits);
    let kept_bits: u32 = segments.iter().map(|segment| segment.width).sum();

    let mut words: Vec<u64> = match segments.as_slice() {
        [only] => {
            let (shift, mask) = (only.shift, low_bits(only.width));
            let pack = |(key, row): (&K, u64)| ((key.bits_from(shift) & mask) << row_bits) | row;
            keys.iter().zip(0..).map(pack).collect()
        }
        several => {
            let pack = |(key, row): (&K, u64)| {
                let bits = several.iter().fold(0, |bits, segment| {
                    (bits << segment.width)
                        | (key.bits_from(segment.shift) & low_bits(segment.width))
                });
                (bits << row_bits) | row
            };
            keys.iter().zip(0..).map(pack).collect()
        }
    };
    words.sort_unstable();
    let row_mask = low_bits(row_bits);
    if kept_bits < all_bits {
        let mut ties: Vec<(K, u64)> = Vec::new();
        for run in words
            .chunk_by_mut(|a, b| a >> row_bits == b >> row_bits)
            .filter(|run| run.len() > 1)
        {
            let key_of = |word: u64| {
                usize::try_from(word & row_mask)
                    .ok()
                    .and_then(|row| keys.get(row))
            };
            ties.clear();
            ties.extend(run.iter().filter_map(|word| Some((*key_of(*word)?, *word))));
            ties.sort_unstable();
            for (word, (_, sorted)) in run.iter_mut().zip(&ties) {
                *word = *sorted;
            }
        }
    }
    words
        .into_iter()
        .map(|word| (word & row_mask) as u32)
        .collect()
}

/// A mask of the lowest bits; 0 to 64 of them.
fn low_bits(count: u32) -> u64 {
    u64::MAX
        .checked_shr(u64::BITS - count.min(u64::BITS))
        .unwrap_or_default()
}

fn sort_rows(rows: &Rows) -> Vec<u32> {
    let prefix = common_prefix(rows);
    let words = rows.iter().map(|row| first_eight_bytes(row.data(), prefix));
    let mut pairs: Vec<(u64, u32)> = words.zip(rows_of(rows.num_rows())).collect();
    let bytes = |row: u32| {
        usize::try_from(row)
            .ok()
            .and_then(|row| row_bytes(rows, row))
    };
    pairs.sort_unstable_by(
        |(word, row), (other_word, other_row)| match word.cmp(other_word) {
            Ordering::Equal => bytes(*row).cmp(&bytes(*other_row)).then(row.cmp(other_row)),
            decided => decided,
        },
    );
    pairs.into_iter().map(|(_, row)| row).collect()
}

/// Bytes that all rows begin with.
fn common_prefix(rows: &Rows) -> usize {
    let first = row_bytes(rows, 0).unwrap_or_default();
    let mut length = first.len();
    for row in rows {
        let common = first
            .iter()
            .zip(row.data())
            .take(length)
            .take_while(|(a, b)| a == b)
            .count();
        length = length.min(common);
        if length == 0 {
            break;
        }
    }
    length
}
