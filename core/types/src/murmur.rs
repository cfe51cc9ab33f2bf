//! The format's 32-bit Murmur3: seed 42, and a tail of its own.
//!
//! [`hash_by_words`] hashes rows, arrays and maps, [`hash_by_bytes`] text. The latter differs from standard Murmur3: each
//! byte of the tail, sign-extended, goes through a full round.
//! Source: spec 01c §4.1, Paimon `utils/MurmurHashUtils.java`.

const SEED: u32 = 42;

/// Hash of whole little-endian 32-bit words; bytes past the last whole word only count in the length.
pub fn hash_by_words(bytes: &[u8]) -> i32 {
    let (words, _) = bytes.as_chunks::<4>();
    let hash = words
        .iter()
        .fold(SEED, |hash, word| mix(hash, u32::from_le_bytes(*word)));
    finish(hash, length(bytes))
}

/// Hash of any bytes.
pub fn hash_by_bytes(bytes: &[u8]) -> i32 {
    let (words, tail) = bytes.as_chunks::<4>();
    let hash = words
        .iter()
        .fold(SEED, |hash, word| mix(hash, u32::from_le_bytes(*word)));
    let hash = tail.iter().fold(hash, |hash, byte| {
        mix(hash, i32::from(byte.cast_signed()).cast_unsigned())
    });
    finish(hash, length(bytes))
}

/// Lengths are Java ints: they wrap past 4 GiB.
fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len() & 0xffff_ffff).unwrap_or_default()
}

/// The state before the first word.
pub(crate) const fn start() -> u32 {
    SEED
}

/// Takes in one word.
#[inline(always)]
pub(crate) const fn mix(hash: u32, word: u32) -> u32 {
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
#[inline(always)]
pub(crate) const fn finish(hash: u32, length: u32) -> i32 {
    let hash = hash ^ length;
    let hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    let hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    (hash ^ hash >> 16).cast_signed()
}
