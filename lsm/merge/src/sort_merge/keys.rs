//! What the merge needs of a column of keys: a word that orders most pairs, and the bytes for the rest.
//!
//! Native integers are their own word. Of a row of bytes the word is 16 bytes after the prefix that all rows in play
//! share, so most comparisons never leave the tournament; only equal words look at the bytes. One merge works on one of the three kinds throughout,
//! chosen once, so the hot loop is compiled for each and dispatches nothing per row.

use arrow_row::Rows;

/// Sorted keys of one batch.
pub(crate) trait RunKeys {
    /// Orders like the key as far as it reaches: unequal words order the keys.
    type Word: Copy + Ord + std::fmt::Debug;

    /// Whether equal words are equal keys, so that [`RunKeys::bytes`] is never asked.
    const EXACT: bool;

    /// Number of keys.
    fn count(&self) -> usize;

    /// The word of the key at `row`, which is below [`RunKeys::count`]. Keys of bytes leave out the first `skip`, which
    /// must be the same in all keys that are compared by these words.
    fn word(&self, row: usize, skip: usize) -> Self::Word;

    /// All bytes of the key at `row`; empty for exact words.
    fn bytes(&self, row: usize) -> &[u8];

    /// How many rows from `from` on, at most `limit`, have a key below the one of this word and these bytes.
    fn count_below(
        &self,
        from: usize,
        limit: usize,
        skip: usize,
        word: Self::Word,
        bytes: &[u8],
    ) -> usize;
}

impl RunKeys for Vec<u64> {
    type Word = u64;
    const EXACT: bool = true;

    #[inline]
    fn count(&self) -> usize {
        self.len()
    }

    #[inline]
    #[expect(
        clippy::indexing_slicing,
        reason = "the merge only asks for rows of the batch, see RunKeys::word"
    )]
    fn word(&self, row: usize, _skip: usize) -> u64 {
        self[row]
    }

    #[inline]
    fn bytes(&self, _row: usize) -> &[u8] {
        &[]
    }

    #[inline]
    fn count_below(
        &self,
        from: usize,
        limit: usize,
        _skip: usize,
        word: u64,
        _bytes: &[u8],
    ) -> usize {
        count_below(self, from, limit, word)
    }
}

impl RunKeys for Vec<u128> {
    type Word = u128;
    const EXACT: bool = true;

    #[inline]
    fn count(&self) -> usize {
        self.len()
    }

    #[inline]
    #[expect(
        clippy::indexing_slicing,
        reason = "the merge only asks for rows of the batch, see RunKeys::word"
    )]
    fn word(&self, row: usize, _skip: usize) -> u128 {
        self[row]
    }

    #[inline]
    fn bytes(&self, _row: usize) -> &[u8] {
        &[]
    }

    #[inline]
    fn count_below(
        &self,
        from: usize,
        limit: usize,
        _skip: usize,
        word: u128,
        _bytes: &[u8],
    ) -> usize {
        count_below(self, from, limit, word)
    }
}

impl RunKeys for Rows {
    type Word = u128;
    const EXACT: bool = false;

    #[inline]
    fn count(&self) -> usize {
        self.num_rows()
    }

    #[inline]
    fn word(&self, row: usize, skip: usize) -> u128 {
        first_word(self.row(row).data().get(skip..).unwrap_or_default())
    }

    #[inline]
    fn bytes(&self, row: usize) -> &[u8] {
        self.row(row).data()
    }

    #[inline]
    fn count_below(
        &self,
        from: usize,
        limit: usize,
        skip: usize,
        word: u128,
        bytes: &[u8],
    ) -> usize {
        gallop(from, limit, |row| {
            let mine = self.row(row).data();
            let mine_word = first_word(mine.get(skip..).unwrap_or_default());
            mine_word < word || (mine_word == word && mine < bytes)
        })
    }
}

/// The first 16 bytes, most significant first; missing ones count as zero, which keeps a prefix in front.
#[inline]
fn first_word(bytes: &[u8]) -> u128 {
    if let Some(head) = bytes.first_chunk::<16>() {
        return u128::from_be_bytes(*head);
    }
    let mut padded = [0u8; 16];
    for (to, from) in padded.iter_mut().zip(bytes) {
        *to = *from;
    }
    u128::from_be_bytes(padded)
}

/// Length of what both begin with.
pub(crate) fn common_prefix(left: &[u8], right: &[u8]) -> usize {
    left.iter()
        .zip(right)
        .take_while(|(left, right)| left == right)
        .count()
}

/// Words that are looked at together, without a branch between them.
const LOOK_AHEAD: usize = 8;

/// [`RunKeys::count_below`] of native keys.
///
/// Stretches between the rows of other runs are mostly short. Comparing a few words at once and adding up the answers
/// takes no longer than mispredicting one branch; only longer stretches gallop.
#[inline]
fn count_below<W: Copy + Ord>(keys: &[W], from: usize, limit: usize, word: W) -> usize {
    let rest = keys.get(from..from + limit).unwrap_or_default();
    let Some(ahead) = rest.first_chunk::<LOOK_AHEAD>() else {
        return rest.iter().map(|key| usize::from(*key < word)).sum();
    };
    let below = ahead.iter().map(|key| usize::from(*key < word)).sum();
    if below < LOOK_AHEAD {
        return below;
    }
    let far = rest.get(LOOK_AHEAD..).unwrap_or_default();
    LOOK_AHEAD
        + gallop(0, far.len(), |row| {
            far.get(row).is_some_and(|key| *key < word)
        })
}

/// Number of rows from `from` on, at most `limit`, that are `below`; those come first.
///
/// Gallops: the distance looked ahead doubles until it overshoots, then halves. A stretch of n rows costs about
/// 2 log n comparisons, and a stretch of one costs one.
#[inline]
pub(crate) fn gallop(from: usize, limit: usize, mut below: impl FnMut(usize) -> bool) -> usize {
    // Invariant: the first `known` rows are below, and row `known + width` has not been looked at.
    let mut known = 0;
    let mut width = 1;
    loop {
        let probe = known + width;
        if probe > limit {
            break;
        }
        if !below(from + probe - 1) {
            break;
        }
        known = probe;
        width *= 2;
    }
    // The border lies in known..known + width (exclusive of the probed row), or at the limit.
    let mut high = (known + width - 1).min(limit);
    while known < high {
        let middle = known + (high - known).div_ceil(2);
        if below(from + middle - 1) {
            known = middle;
        } else {
            high = middle - 1;
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;

    #[test]
    fn gallop_finds_the_border_wherever_it_lies() {
        for limit in 0..40 {
            for border in 0..=40usize {
                let found = gallop(7, limit, |row| {
                    assert!(
                        row >= 7 && row < 7 + limit,
                        "row {row} is outside the limit"
                    );
                    row < 7 + border
                });
                assert_eq!(found, border.min(limit), "limit {limit}, border {border}");
            }
        }
    }

    #[test]
    fn native_keys_count_like_the_gallop() {
        let keys: Vec<u64> = (0..50).map(|row| row * 2).collect();
        for from in [0, 1, 30, 45] {
            for limit in 0..=50 - from {
                for word in 0..103 {
                    let expected = keys[from..from + limit]
                        .iter()
                        .filter(|key| **key < word)
                        .count();
                    assert_eq!(keys.count_below(from, limit, 0, word, &[]), expected);
                }
            }
        }
    }

    #[test]
    fn first_word_orders_as_bytes_do_and_never_against_them() {
        let samples: [&[u8]; 7] = [
            b"",
            b"\0",
            b"a",
            b"a\0",
            b"ab",
            b"aaaaaaaaaaaaaaaaa",
            b"\xff",
        ];
        for left in samples {
            for right in samples {
                let words = first_word(left).cmp(&first_word(right));
                if words != Ordering::Equal {
                    assert_eq!(words, left.cmp(right), "{left:?} {right:?}");
                }
            }
        }
    }
}
