//! Roaring bitmaps as values of columns: what `rbm32` and `rbm64` unite.
//!
//! ```text
//!  bytes -> keys with containers of 65,536 values each -> union by key -> bytes
//!           container.rs                                  portable.rs (32 bits), art.rs (64 bits)
//! ```
//!
//! Only what the two functions need: read, unite, write. A container stays in the form it was read in until it meets
//! another, and a union takes the smallest form, so memory stays within a small multiple of the bytes read. 64-bit
//! bitmaps are in the layout of Java's `Roaring64Bitmap`, a radix tree, which no other library reads.

mod art;
mod container;
mod portable;
#[cfg(test)]
mod tests;

use container::Container;

/// Why bytes are no bitmap.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BitmapError {
    /// The bytes end inside a part.
    #[error("{part} needs {needed} bytes at offset {offset}, but {available} are left")]
    Truncated {
        part: &'static str,
        offset: usize,
        needed: usize,
        available: usize,
    },
    /// A value that no writer leaves there.
    #[error("{part} cannot be {found}")]
    Invalid { part: &'static str, found: u64 },
    /// Keys or values that do not ascend.
    #[error("{part} do not ascend")]
    OutOfOrder { part: &'static str },
}

type Result<T, E = BitmapError> = std::result::Result<T, E>;

/// Containers by the high bits of their values, ascending; no container is empty.
#[derive(Debug, Clone, PartialEq, Default)]
struct Containers<K>(Vec<(K, Container)>);

impl<K: Ord + Copy> Containers<K> {
    fn union(self, other: Self) -> Self {
        let mut united = Vec::with_capacity(self.0.len().max(other.0.len()));
        let mut left = self.0.into_iter().peekable();
        let mut right = other.0.into_iter().peekable();
        loop {
            let order = match (left.peek(), right.peek()) {
                (Some((a, _)), Some((b, _))) => a.cmp(b),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (None, None) => return Self(united),
            };
            match order {
                std::cmp::Ordering::Less => united.extend(left.next()),
                std::cmp::Ordering::Greater => united.extend(right.next()),
                std::cmp::Ordering::Equal => {
                    if let (Some((key, a)), Some((_, b))) = (left.next(), right.next()) {
                        united.push((key, a.union(&b)));
                    }
                }
            }
        }
    }
}

/// A set of 32-bit values in the portable format of the roaring libraries.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bitmap32(Containers<u16>);

/// A set of 64-bit values in Java's own layout.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bitmap64(Containers<u64>);

/// What a fold of bitmaps needs.
pub(crate) trait Bitmap: Sized {
    /// Reads a bitmap; bytes after it are not looked at, as in Java.
    fn decode(bytes: &[u8]) -> Result<Self>;
    /// The values of both.
    fn union(self, other: Self) -> Self;
    /// Writes it, every container in its smallest form.
    fn encode(&self) -> Vec<u8>;
}

impl Bitmap for Bitmap32 {
    fn decode(bytes: &[u8]) -> Result<Self> {
        portable::decode(bytes).map(Self)
    }

    fn union(self, other: Self) -> Self {
        Self(self.0.union(other.0))
    }

    fn encode(&self) -> Vec<u8> {
        portable::encode(&self.0)
    }
}

impl Bitmap for Bitmap64 {
    fn decode(bytes: &[u8]) -> Result<Self> {
        art::decode(bytes).map(Self)
    }

    fn union(self, other: Self) -> Self {
        Self(self.0.union(other.0))
    }

    fn encode(&self) -> Vec<u8> {
        art::encode(&self.0)
    }
}

/// Reads little-endian numbers off bytes.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    fn take(&mut self, needed: usize, part: &'static str) -> Result<&'a [u8]> {
        let taken = self
            .at
            .checked_add(needed)
            .and_then(|end| self.bytes.get(self.at..end))
            .ok_or(BitmapError::Truncated {
                part,
                offset: self.at,
                needed,
                available: self.left(),
            })?;
        self.at += needed;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, part: &'static str) -> Result<[u8; N]> {
        let mut array = [0; N];
        for (to, from) in array.iter_mut().zip(self.take(N, part)?) {
            *to = *from;
        }
        Ok(array)
    }

    fn u8(&mut self, part: &'static str) -> Result<u8> {
        Ok(u8::from_le_bytes(self.array(part)?))
    }

    fn u16(&mut self, part: &'static str) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array(part)?))
    }

    fn u32(&mut self, part: &'static str) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(part)?))
    }

    fn u64(&mut self, part: &'static str) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array(part)?))
    }
}
