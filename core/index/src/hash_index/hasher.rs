//! A map from key hashes to buckets. The keys are hashes already, so hashing them again takes one multiplication.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The bucket of each key hash. Two bytes are enough: buckets end below 2^15.
pub(super) type BucketOfHash = HashMap<i32, u16, BuildHasherDefault<SpreadHasher>>;

/// Spreads a number over 64 bits.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct SpreadHasher(u64);

impl Hasher for SpreadHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    fn write_i32(&mut self, number: i32) {
        let spread = u64::from(number.cast_unsigned()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // Maps look at the top seven bits and at the low ones.
        self.0 = spread ^ (spread >> 32);
    }
}
