//! Reads Avro's binary items from a slice, checking each length against the bytes left.
//!
//! Source: Avro specification 1.11, "Binary encoding".

use super::{AvroError, Fault};

/// A position in a slice that only moves forward.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    whole: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// At the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            whole: bytes,
            rest: bytes,
        }
    }

    /// Bytes read so far.
    pub fn offset(&self) -> usize {
        self.whole.len() - self.rest.len()
    }

    /// Bytes not read yet.
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Whether all was read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The bytes between `start` (an earlier [`Self::offset`]) and here.
    pub fn since(&self, start: usize) -> &'a [u8] {
        self.whole.get(start..self.offset()).unwrap_or_default()
    }

    /// Takes `length` bytes.
    #[inline]
    pub fn take(&mut self, length: usize, what: &'static str) -> Result<&'a [u8], Fault> {
        match self.rest.split_at_checked(length) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(self.truncated(what, length)),
        }
    }

    /// Takes `expected` if it is what comes next.
    #[inline]
    pub fn take_equal(&mut self, expected: &[u8]) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(expected.len())?;
        (taken == expected).then(|| {
            self.rest = rest;
            taken
        })
    }

    /// A zigzag varint of at most 64 bits.
    #[inline]
    pub fn long(&mut self, what: &'static str) -> Result<i64, Fault> {
        if let Some((&first, rest)) = self.rest.split_first()
            && first < 0x80
        {
            self.rest = rest;
            return Ok(zigzag(u64::from(first)));
        }
        self.long_slow(what)
    }

    #[inline(never)]
    fn long_slow(&mut self, what: &'static str) -> Result<i64, Fault> {
        let mut value = 0u64;
        for (index, &byte) in self.rest.iter().take(10).enumerate() {
            // The tenth byte carries the top bit only.
            if index == 9 && byte > 1 {
                break;
            }
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                self.rest = self.rest.get(index + 1..).unwrap_or_default();
                return Ok(zigzag(value));
            }
        }
        if self.rest.len() < 10 {
            return Err(self.truncated(what, self.rest.len() + 1));
        }
        Err(self.invalid(what))
    }

    /// A varint that must fit 32 bits.
    #[inline]
    pub fn int(&mut self, what: &'static str) -> Result<i32, Fault> {
        let offset = self.offset();
        let value = self.long(what)?;
        i32::try_from(value).map_err(|_| invalid(what, offset))
    }

    /// Length-prefixed bytes.
    #[inline]
    pub fn bytes(&mut self, what: &'static str) -> Result<&'a [u8], Fault> {
        let length = self.length(what)?;
        self.take(length, what)
    }

    /// Length-prefixed UTF-8.
    #[inline]
    pub fn string(&mut self, what: &'static str) -> Result<&'a str, Fault> {
        let offset = self.offset();
        let bytes = self.bytes(what)?;
        std::str::from_utf8(bytes).map_err(|_| invalid(what, offset))
    }

    /// A length or count that must not be negative.
    #[inline]
    pub fn length(&mut self, what: &'static str) -> Result<usize, Fault> {
        let offset = self.offset();
        let value = self.long(what)?;
        usize::try_from(value).map_err(|_| invalid(what, offset))
    }

    /// The head of an array's or map's next block: how many items follow, and how many bytes if the writer said so.
    /// `None` ends the array.
    #[inline]
    pub fn array_block(&mut self, what: &'static str) -> Result<Option<ArrayBlock>, Fault> {
        let offset = self.offset();
        let count = self.long(what)?;
        if count == 0 {
            return Ok(None);
        }
        let byte_length = if count < 0 {
            Some(self.length(what)?)
        } else {
            None
        };
        let count = usize::try_from(count.unsigned_abs()).map_err(|_| invalid(what, offset))?;
        Ok(Some(ArrayBlock { count, byte_length }))
    }

    /// The error that says the item here is invalid.
    #[cold]
    pub fn invalid(&self, what: &'static str) -> Fault {
        invalid(what, self.offset())
    }

    #[cold]
    fn truncated(&self, what: &'static str, needed: usize) -> Fault {
        Box::new(AvroError::Truncated {
            what,
            offset: self.offset(),
            needed,
            available: self.rest.len(),
        })
    }
}

#[cold]
fn invalid(what: &'static str, offset: usize) -> Fault {
    Box::new(AvroError::Invalid { what, offset })
}

/// What an array block announces.
#[derive(Debug, Clone, Copy)]
pub struct ArrayBlock {
    /// Items that follow.
    pub count: usize,
    /// Their bytes, if the writer said so.
    pub byte_length: Option<usize>,
}

fn zigzag(value: u64) -> i64 {
    ((value >> 1) as i64) ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::avro::put;

    #[test]
    fn varints_round_trip_at_the_edges() {
        for value in [
            0,
            -1,
            1,
            63,
            64,
            -64,
            -65,
            i64::from(i32::MAX),
            i64::MAX,
            i64::MIN,
        ] {
            let mut bytes = vec![];
            put::long(&mut bytes, value);
            let mut cursor = Cursor::new(&bytes);
            assert_eq!(cursor.long("value").unwrap(), value);
            assert!(cursor.is_empty());
        }
    }

    #[test]
    fn a_varint_of_more_than_64_bits_is_invalid() {
        let error = *Cursor::new(&[0xff; 11]).long("value").unwrap_err();
        assert!(matches!(
            error,
            AvroError::Invalid {
                what: "value",
                offset: 0
            }
        ));
        let mut too_high = [0xff; 10];
        too_high[9] = 2;
        assert!(Cursor::new(&too_high).long("value").is_err());
    }

    #[test]
    fn an_unfinished_varint_is_truncated() {
        let error = *Cursor::new(&[0x80, 0x80]).long("value").unwrap_err();
        assert!(matches!(error, AvroError::Truncated { available: 2, .. }));
    }

    #[test]
    fn a_length_beyond_the_end_is_truncated_without_allocating() {
        let mut bytes = vec![];
        put::long(&mut bytes, i64::MAX);
        let error = *Cursor::new(&bytes).bytes("name").unwrap_err();
        assert!(matches!(error, AvroError::Truncated { what: "name", .. }));
    }
}
