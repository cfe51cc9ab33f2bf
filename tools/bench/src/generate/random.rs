//! Numbers that look random and are the same on every machine.

/// Steele, Lea and Flood's SplitMix64: short, and good enough for benchmark data.
pub(super) struct Random(u64);

impl Random {
    /// The sequence of this seed.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, 0 if there is none.
    pub(super) fn below(&mut self, end: usize) -> usize {
        let wide = u128::from(self.next()) * end as u128;
        usize::try_from(wide >> 64).unwrap_or_default()
    }

    /// A number from `first` to `last`, both included.
    pub(super) fn between(&mut self, first: i64, last: i64) -> i64 {
        let count = usize::try_from(last - first + 1).unwrap_or_default();
        first + i64::try_from(self.below(count)).unwrap_or_default()
    }

    /// Puts items into random order.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            let other = self.below(end + 1);
            items.swap(end, other);
        }
    }

    /// The numbers below `end` in random order.
    pub(super) fn shuffled(&mut self, end: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..end).collect();
        self.shuffle(&mut numbers);
        numbers
    }

    /// So many different numbers below `end`.
    pub(super) fn some_of(&mut self, end: usize, count: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..end).collect();
        for at in 0..count.min(end) {
            let other = at + self.below(end - at);
            numbers.swap(at, other);
        }
        numbers.truncate(count);
        numbers
    }
}
