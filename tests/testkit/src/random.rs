//! A small random source that gives the same numbers on every machine and in every build.

/// SplitMix64: a few adds and shifts, good enough to make test data from a seed. Not for secrets.
#[derive(Debug, Clone)]
pub struct SeededRandom {
    state: u64,
}

impl SeededRandom {
    /// The sequence that belongs to `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A sequence of its own for something named by `label`, so that two uses of one seed do not disturb each other.
    pub fn labelled(seed: u64, label: &str) -> Self {
        let hash = label.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Self::new(seed ^ hash)
    }

    /// 64 uniform bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number in `low..=high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = u128::from(high.abs_diff(low)) + 1;
        let offset = (u128::from(self.next_u64()) * span) >> 64;
        let value = i128::from(low) + i128::try_from(offset).unwrap_or(0);
        i64::try_from(value).unwrap_or(high)
    }

    /// A number in `0..bound`; 0 when `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX);
        let scaled = (u128::from(self.next_u64()) * u128::from(bound)) >> 64;
        usize::try_from(scaled).unwrap_or(0)
    }

    /// True in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.between(0, 99) < i64::from(percent)
    }

    /// One of `items`, which must not be empty; with none, the default.
    pub fn choose<T: Clone + Default>(&mut self, items: &[T]) -> T {
        items
            .get(self.below(items.len()))
            .cloned()
            .unwrap_or_default()
    }

    /// Puts `items` in a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_and_another_differs() {
        let draw = |seed| {
            let mut random = SeededRandom::new(seed);
            (0..8).map(|_| random.next_u64()).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn bounds_hold_even_at_the_ends_of_the_range() {
        let mut random = SeededRandom::new(1);
        for _ in 0..1000 {
            assert!((-3..=4).contains(&random.between(-3, 4)));
            random.between(i64::MIN, i64::MAX);
            assert!(random.below(5) < 5);
        }
        assert_eq!(random.between(9, 9), 9);
        assert_eq!(random.below(0), 0);
    }
}
