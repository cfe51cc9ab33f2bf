//! Stable radix sort of machine words that carry a sort value above and a row number below.

/// Bits per digit: a histogram of 2048 counters stays in the first cache level.
const DIGIT_BITS: u32 = 11;
const BUCKETS: usize = 1 << DIGIT_BITS;

/// Below this the histograms cost more than comparing.
const SMALL: usize = 512;

/// A word that can be sorted by a range of its bits.
pub(crate) trait RadixWord: Copy + Ord + Default {
    /// The digit that begins at `shift`.
    fn digit(self, shift: u32) -> usize;
}

impl RadixWord for u64 {
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "only the digit's low bits are wanted"
    )]
    fn digit(self, shift: u32) -> usize {
        (self >> shift) as usize & (BUCKETS - 1)
    }
}

impl RadixWord for u128 {
    #[inline]
    fn digit(self, shift: u32) -> usize {
        (self >> shift) as usize & (BUCKETS - 1)
    }
}

/// Sorts by the bits from `low_bit` on, `bits` of them; everything above must be zero.
///
/// Words that agree there keep their order, and must be ascending in the bits below to begin with (row numbers are),
/// so that sorting small inputs by the whole word is the same.
pub(crate) fn radix_sort<T: RadixWord>(items: &mut Vec<T>, low_bit: u32, bits: u32) {
    if items.len() < SMALL {
        items.sort_unstable();
        return;
    }
    let shifts: Vec<u32> = (0..bits.div_ceil(DIGIT_BITS))
        .map(|digit| low_bit + digit * DIGIT_BITS)
        .collect();
    let mut counts = vec![0u32; BUCKETS * shifts.len()];
    for item in items.iter() {
        for (counts, shift) in counts.chunks_exact_mut(BUCKETS).zip(&shifts) {
            if let Some(count) = counts.get_mut(item.digit(*shift)) {
                *count += 1;
            }
        }
    }
    let mut scratch = vec![T::default(); items.len()];
    for (counts, shift) in counts.chunks_exact_mut(BUCKETS).zip(&shifts) {
        if counts.iter().any(|count| *count as usize == items.len()) {
            continue;
        }
        let mut start = 0;
        for count in counts.iter_mut() {
            start += std::mem::replace(count, start);
        }
        scatter(items, &mut scratch, counts, *shift);
        std::mem::swap(items, &mut scratch);
    }
}

#[inline]
#[expect(
    clippy::indexing_slicing,
    reason = "digits are below BUCKETS, and the starts are prefix sums of counts of these same items"
)]
fn scatter<T: RadixWord>(from: &[T], to: &mut [T], starts: &mut [u32], shift: u32) {
    for item in from {
        let start = &mut starts[item.digit(shift)];
        to[*start as usize] = *item;
        *start += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Radix and comparison sort agree for words that carry their position below.
        #[test]
        fn sorts_stably(values in prop::collection::vec(any::<u64>(), 0..2000), bits in 1u32..=64) {
            let mask = u64::MAX >> (64 - bits);
            let words: Vec<u128> = values.iter().enumerate()
                .map(|(row, value)| u128::from(value & mask) << 32 | row as u128)
                .collect();
            let mut expected = words.clone();
            expected.sort_unstable();
            let mut sorted = words;
            radix_sort(&mut sorted, 32, bits);
            prop_assert_eq!(sorted, expected);
        }
    }
}
