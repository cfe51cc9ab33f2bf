//! The format's Murmur3: 32 bits, seed 42, on little-endian words. Source: Paimon `utils/MurmurHashUtils.java`; spec 01c §4.1.

const SEED: u32 = 42;

/// Hashes whole words; up to three bytes behind the last whole word are left out (rows are multiples of 8 bytes).
pub fn hash_by_words(bytes: &[u8]) -> i32 {
    let (words, _) = bytes.as_chunks::<4>();
    let hash = words
        .iter()
        .fold(SEED, |hash, word| mix(hash, u32::from_le_bytes(*word)));
    finish(hash, words.len() * 4)
}

/// Hashes bytes of any number: each byte behind the last whole word counts as a word of its own, sign-extended.
pub fn hash_by_bytes(bytes: &[u8]) -> i32 {
    let (words, rest) = bytes.as_chunks::<4>();
    let hash = words
        .iter()
        .fold(SEED, |hash, word| mix(hash, u32::from_le_bytes(*word)));
    let hash = rest.iter().fold(hash, |hash, byte| {
        mix(hash, i32::from(byte.cast_signed()).cast_unsigned())
    });
    finish(hash, bytes.len())
}

/// One word into the hash.
#[inline]
pub(crate) fn mix(hash: u32, word: u32) -> u32 {
    let word = word
        .wrapping_mul(0xcc9e_2d51)
        .rotate_left(15)
        .wrapping_mul(0x1b87_3593);
    (hash ^ word)
        .rotate_left(13)
        .wrapping_mul(5)
        .wrapping_add(0xe654_6b64)
}

/// The hash after the last word of `length` bytes.
#[inline]
pub(crate) fn finish(hash: u32, length: usize) -> i32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the length counts modulo 2^32, as Java's int does"
    )]
    let mut hash = hash ^ length as u32;
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x85eb_ca6b);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xc2b2_ae35);
    hash ^= hash >> 16;
    hash.cast_signed()
}
