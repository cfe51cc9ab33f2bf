//! The byte row of the table format: partitions, keys, statistics bounds and the input of bucket hashes.
//!
//! ```text
//!  header 1 B | null bits, padded to 8 B | one 8-byte slot per field | variable part, items padded to 8 B
//! ```
//!
//! All integers little endian; the serialised form has the arity in front, big endian. Equality is byte equality, so unused bytes
//! are zero. Source: Paimon `data/BinaryRow.java`; spec 01c §2, §3.

mod read;
mod write;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::data_type::DataType;
use crate::datum::Datum;
use crate::error::{Result, TypeError};
use crate::murmur::hash_by_words;

pub use write::BinaryRowWriter;

/// A row in the format's byte form. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BinaryRow {
    arity: u32,
    bytes: Arc<[u8]>,
}

impl BinaryRow {
    /// The row without fields: what unpartitioned tables and append files have.
    pub fn empty() -> Self {
        Self {
            arity: 0,
            bytes: Arc::from([0_u8; 8].as_slice()),
        }
    }

    /// Takes bytes without the arity in front.
    ///
    /// # Errors
    /// [`TypeError::Corrupt`] if they are too short for `arity` fields or no multiple of 8.
    pub fn from_bytes(arity: usize, bytes: &[u8]) -> Result<Self> {
        let count = u32::try_from(arity)
            .map_err(|_| TypeError::corrupt("binary row", format!("arity {arity}")))?;
        let fixed = arity
            .checked_mul(8)
            .and_then(|slots| slots.checked_add(bits_bytes(arity)));
        match fixed {
            Some(fixed) if bytes.len() >= fixed && bytes.len().is_multiple_of(8) => Ok(Self {
                arity: count,
                bytes: Arc::from(bytes),
            }),
            _ => Err(TypeError::corrupt(
                "binary row",
                format!("{} bytes for {arity} fields", bytes.len()),
            )),
        }
    }

    /// Reads the serialised form: arity as a big-endian `i32`, then the row.
    ///
    /// # Errors
    /// [`TypeError::Corrupt`] for a negative arity or too few bytes.
    pub fn from_serialized(bytes: &[u8]) -> Result<Self> {
        let (arity, row) = bytes.split_first_chunk::<4>().ok_or_else(|| {
            TypeError::corrupt("serialised row", format!("{} bytes", bytes.len()))
        })?;
        let arity = usize::try_from(i32::from_be_bytes(*arity))
            .map_err(|_| TypeError::corrupt("serialised row", "negative arity"))?;
        Self::from_bytes(arity, row)
    }

    /// The serialised form.
    pub fn to_serialized(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.bytes.len() + 4);
        out.extend_from_slice(&self.arity.to_be_bytes());
        out.extend_from_slice(&self.bytes);
        out
    }

    /// Encodes values of atomic types.
    ///
    /// # Errors
    /// Different numbers of values and types, or a value that is not of its type.
    pub fn from_datums(datums: &[Datum], types: &[DataType]) -> Result<Self> {
        let mut writer = BinaryRowWriter::new(types.len());
        if datums.len() != types.len() {
            return Err(TypeError::mismatch(
                format!("{} values", types.len()),
                format!("{} values", datums.len()),
            ));
        }
        for (index, (datum, data_type)) in datums.iter().zip(types).enumerate() {
            writer.write_datum(index, datum, data_type)?;
        }
        Ok(writer.finish())
    }

    /// Number of fields.
    pub fn arity(&self) -> usize {
        self.arity as usize
    }

    /// The row without the arity in front.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether field `index` is null; also true for a field that the row does not have.
    pub fn is_null(&self, index: usize) -> bool {
        index >= self.arity() || read::bit(&self.bytes, index + 8)
    }

    /// The value of field `index`, which is of an atomic type.
    ///
    /// # Errors
    /// [`TypeError::Corrupt`] if the bytes do not hold such a value, an error for nested types and a field beyond the arity.
    pub fn get(&self, index: usize, data_type: &DataType) -> Result<Datum> {
        if index >= self.arity() {
            return Err(TypeError::corrupt(
                "binary row",
                format!("field {index} of {}", self.arity),
            ));
        }
        if self.is_null(index) {
            return Ok(Datum::Null);
        }
        read::datum(&self.bytes, bits_bytes(self.arity()) + 8 * index, data_type)
    }

    /// All values, for fields of these atomic types.
    ///
    /// # Errors
    /// As [`BinaryRow::get`].
    pub fn to_datums(&self, types: &[DataType]) -> Result<Vec<Datum>> {
        types
            .iter()
            .enumerate()
            .map(|(index, data_type)| self.get(index, data_type))
            .collect()
    }

    /// The row hash that decides buckets: Murmur3 over the whole row (spec 01c §4.1).
    pub fn hash(&self) -> i32 {
        hash_by_words(&self.bytes)
    }
}

/// Bytes of the header and null bits of a row with `arity` fields.
pub(crate) fn bits_bytes(arity: usize) -> usize {
    (arity + 63 + 8) / 64 * 8
}
