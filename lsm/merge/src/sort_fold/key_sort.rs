//! Stable sort of row numbers by their keys.
//!
//! ```text
//!  keys        0000_1a2b_0000_0003   bits that differ anywhere:  ....1111........1111
//!  packed      1a2b 3 | row          only those bits, row number below; radix-sorted as one machine word
//! ```
//!
//! Bits that no two keys differ in are squeezed out, so a key of an order number and a line number is three radix
//! passes instead of twelve bytes of comparing. Keys whose differing bits do not fit 64 (and byte keys, of which the
//! 16 bytes after the common prefix are looked at) are finished by comparing within what is still equal.

use std::cmp::Ordering;

use arrow_row::Rows;
use tidewater_types::Keys;

use crate::sort_fold::radix::{RadixWord, radix_sort};
use crate::sort_merge::first_word;

/// Rows in key order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SortedKeys {
    /// Row numbers; rows of equal keys ascend.
    pub(crate) order: Vec<u32>,
    /// Positions in `order`, ascending, whose key equals that of the position before.
    pub(crate) repeats: Vec<u32>,
}

/// Sorts the rows of `keys`, which are fewer than 2^32.
pub(crate) fn sort_keys(keys: &Keys) -> SortedKeys {
    match keys {
        Keys::U64(keys) => {
            let compare = |left, right| value(keys, left).cmp(&value(keys, right));
            sort_by_words(keys.len(), |row| value(keys, row).into(), compare, true)
        }
        Keys::U128(keys) => {
            let compare = |left, right| value(keys, left).cmp(&value(keys, right));
            sort_by_words(keys.len(), |row| value(keys, row), compare, true)
        }
        Keys::Rows(rows) => {
            let prefix = common_prefix(rows);
            let tail = |row: usize| rows.row(row).data().get(prefix..).unwrap_or_default();
            // Rows that agree in 16 bytes may still differ in length or further on.
            let compare = |left, right| tail(left).cmp(tail(right));
            sort_by_words(rows.num_rows(), |row| first_word(tail(row)), compare, false)
        }
    }
}

#[inline]
fn value<T: Copy + Default>(keys: &[T], row: usize) -> T {
    keys.get(row).copied().unwrap_or_default()
}

/// Bytes that all rows begin with.
fn common_prefix(rows: &Rows) -> usize {
    if rows.num_rows() == 0 {
        return 0;
    }
    let first = rows.row(0).data();
    let mut prefix = first.len();
    for row in rows.iter() {
        let agreed = row.data().iter().zip(first).take(prefix);
        prefix = agreed.take_while(|(left, right)| left == right).count();
        if prefix == 0 {
            break;
        }
    }
    prefix
}

/// Sorts `rows` rows by `word`, and by `compare` where words agree but do not settle it.
fn sort_by_words(
    rows: usize,
    word: impl Fn(usize) -> u128,
    compare: impl Fn(usize, usize) -> Ordering,
    words_are_keys: bool,
) -> SortedKeys {
    if let Some(sorted) = already_sorted(rows, &compare) {
        return sorted;
    }
    let (mut ones, mut zeros) = (0, 0);
    for row in 0..rows {
        let word = word(row);
        ones |= word;
        zeros |= !word;
    }
    let squeeze = Squeeze::of(ones & zeros);
    let row_bits = usize::BITS - rows.leading_zeros();
    let exact = words_are_keys && squeeze.complete;
    if squeeze.bits + row_bits <= 64 {
        let packed: Vec<u64> = (0u64..)
            .take(rows)
            .zip(0..rows)
            .map(|(number, row)| squeeze.apply(word(row)) << row_bits | number)
            .collect();
        sort_packed(packed, row_bits, squeeze.bits, exact, compare)
    } else {
        let packed: Vec<u128> = (0u128..)
            .take(rows)
            .zip(0..rows)
            .map(|(number, row)| u128::from(squeeze.apply(word(row))) << row_bits | number)
            .collect();
        sort_packed(packed, row_bits, squeeze.bits, exact, compare)
    }
}

/// Answers at once if the rows ascend as they are.
fn already_sorted(rows: usize, compare: &impl Fn(usize, usize) -> Ordering) -> Option<SortedKeys> {
    let mut repeats = Vec::new();
    for (position, row) in (1u32..).zip(1..rows) {
        match compare(row - 1, row) {
            Ordering::Less => {}
            Ordering::Equal => repeats.push(position),
            Ordering::Greater => return None,
        }
    }
    Some(SortedKeys {
        order: (0u32..).take(rows).collect(),
        repeats,
    })
}

/// A packed word: a value above, a row number below.
trait Packed: RadixWord {
    fn row(self, row_bits: u32) -> u32;
    fn same_value(self, other: Self, row_bits: u32) -> bool;
}

impl Packed for u64 {
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "row numbers are below 2^32"
    )]
    fn row(self, row_bits: u32) -> u32 {
        (self & ((1 << row_bits) - 1)) as u32
    }

    #[inline]
    fn same_value(self, other: Self, row_bits: u32) -> bool {
        (self ^ other) >> row_bits == 0
    }
}

impl Packed for u128 {
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "row numbers are below 2^32"
    )]
    fn row(self, row_bits: u32) -> u32 {
        (self & ((1 << row_bits) - 1)) as u32
    }

    #[inline]
    fn same_value(self, other: Self, row_bits: u32) -> bool {
        (self ^ other) >> row_bits == 0
    }
}

fn sort_packed<T: Packed>(
    mut packed: Vec<T>,
    row_bits: u32,
    value_bits: u32,
    exact: bool,
    compare: impl Fn(usize, usize) -> Ordering,
) -> SortedKeys {
    radix_sort(&mut packed, row_bits, value_bits);
    let mut order: Vec<u32> = packed.iter().map(|word| word.row(row_bits)).collect();
    let mut repeats = Vec::new();
    let mut start = 0;
    for chunk in packed.chunk_by(|left, right| left.same_value(*right, row_bits)) {
        let end = start + chunk.len();
        if chunk.len() > 1
            && let Some(equal) = order.get_mut(start..end)
        {
            if exact {
                repeats.extend((start + 1..end).map(position_u32));
            } else {
                finish_by_comparing(equal, start, &mut repeats, &compare);
            }
        }
        start = end;
    }
    SortedKeys { order, repeats }
}

/// Positions count rows, of which there are fewer than 2^32.
fn position_u32(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

/// Sorts rows whose words agree, and finds those whose keys agree.
fn finish_by_comparing(
    rows: &mut [u32],
    start: usize,
    repeats: &mut Vec<u32>,
    compare: &impl Fn(usize, usize) -> Ordering,
) {
    rows.sort_unstable_by(|left, right| {
        compare(*left as usize, *right as usize).then(left.cmp(right))
    });
    for (position, pair) in (start + 1..).zip(rows.windows(2)) {
        if let [left, right] = pair
            && compare(*left as usize, *right as usize) == Ordering::Equal
        {
            repeats.push(position_u32(position));
        }
    }
}

/// Which bits of a word are worth sorting by.
#[derive(Debug)]
struct Squeeze {
    /// Where each stretch of bits lies, most significant first.
    pieces: Vec<Piece>,
    /// Bits taken in all, at most 64.
    bits: u32,
    /// Whether every differing bit is taken.
    complete: bool,
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    shift: u32,
    width: u32,
}

impl Squeeze {
    /// Takes the most significant 64 bits in which words differ.
    fn of(differing: u128) -> Self {
        let mut left = differing;
        let mut pieces: Vec<Piece> = Vec::new();
        let mut bits = 0;
        while left != 0 && bits < 64 {
            let top = 128 - left.leading_zeros();
            // The stretch goes on over gaps of up to three constant bits: cheaper than another piece.
            let mut low = top - 1;
            while low > 0
                && (left >> low.saturating_sub(4)) & ((1 << (low - low.saturating_sub(4))) - 1) != 0
            {
                low -= 1;
            }
            let low = low.max(top.saturating_sub(64 - bits));
            pieces.push(Piece {
                shift: low,
                width: top - low,
            });
            bits += top - low;
            left &= (1u128 << low) - 1;
        }
        Self {
            pieces,
            bits,
            complete: left == 0,
        }
    }

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a piece is at most 64 bits wide and masked to its width"
    )]
    fn apply(&self, word: u128) -> u64 {
        let mut packed = 0u64;
        for piece in &self.pieces {
            let bits = (word >> piece.shift) as u64 & (u64::MAX >> (64 - piece.width));
            packed = if piece.width == 64 {
                bits
            } else {
                packed << piece.width | bits
            };
        }
        packed
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever bits differ, packed words order as far as the words do.
        #[test]
        fn squeezing_keeps_the_order(base in any::<u128>(), mask in any::<u128>(), words in prop::collection::vec(any::<u128>(), 2..40)) {
            let words: Vec<u128> = words.iter().map(|word| base & !mask | word & mask).collect();
            let ones = words.iter().fold(0, |all, word| all | word);
            let zeros = words.iter().fold(0, |all, word| all | !word);
            let squeeze = Squeeze::of(ones & zeros);
            prop_assert!(squeeze.bits <= 64);
            for left in &words {
                for right in &words {
                    let packed = squeeze.apply(*left).cmp(&squeeze.apply(*right));
                    if squeeze.complete || packed != Ordering::Equal {
                        prop_assert_eq!(packed, left.cmp(right));
                    }
                }
            }
        }

        /// Sparse keys, where duplicates are many, sort as a stable sort does.
        #[test]
        fn sorts_like_a_stable_sort(shift in 0u32..100, values in prop::collection::vec(0u128..50, 0..1500)) {
            let values: Vec<u128> = values.iter().map(|value| value << shift | 1 << 127).collect();
            let sorted = sort_keys(&Keys::U128(values.clone()));
            let mut order: Vec<u32> = (0..u32::try_from(values.len()).unwrap()).collect();
            order.sort_by_key(|row| values[*row as usize]);
            let repeats: Vec<u32> = (1..order.len())
                .filter(|at| values[order[*at] as usize] == values[order[*at - 1] as usize])
                .map(position_u32)
                .collect();
            prop_assert_eq!(sorted, SortedKeys { order, repeats });
        }

        /// Keys wider than the packed word are finished by comparing.
        #[test]
        fn sorts_wide_keys(values in prop::collection::vec((0u8..3, any::<u128>()), 0..1500)) {
            let values: Vec<u128> = values.iter().map(|(high, low)| u128::from(*high) << 100 | low & ((1 << 100) - 1)).collect();
            let sorted = sort_keys(&Keys::U128(values.clone()));
            let mut order: Vec<u32> = (0..u32::try_from(values.len()).unwrap()).collect();
            order.sort_by_key(|row| values[*row as usize]);
            prop_assert_eq!(sorted.order, order);
        }
    }

    #[test]
    fn squeeze_takes_an_order_number_and_a_line_number_in_two_pieces() {
        let differing = 0x7f_ffffu128 << 64 | 0x7 << 32;
        let squeeze = Squeeze::of(differing);
        assert_eq!(
            (squeeze.bits, squeeze.complete, squeeze.pieces.len()),
            (26, true, 2)
        );
    }
}
