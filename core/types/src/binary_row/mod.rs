//! BinaryRow: the byte form of rows in metadata (partitions, keys, statistics) and what buckets are hashed from.
//!
//! ```text
//!  0          1            bitsBytes                 bitsBytes + 8 * arity
//!  | row kind | null bits  | one 8-byte slot per field | variable part, items padded to 8 bytes |
//! ```
//!
//! A slot holds a small value itself, or `offset << 32 | length` of an item in the variable part. Equality of rows is
//! equality of bytes, so every unused byte is zero.
//!
//! `writer` and `encode` make rows (of single values; of columns), `view` and `decode` take them apart, `hash` hashes columns
//! without keeping rows. Source: spec 01c §2, Paimon `data/BinaryRow.java`, `data/BinaryRowWriter.java`.

mod column;
mod decode;
mod encode;
mod hash;
mod layout;
mod view;
mod writer;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use crate::data_type::DataType;
use crate::datum::Datum;
use crate::error::{Result, TypeError};
use crate::murmur;
use crate::row_kind::RowKind;

pub use decode::decode_rows;
pub use encode::{BinaryRows, encode_rows};
pub use hash::hash_rows;
pub use view::{ArrayView, MapView, RowView, Slot};
pub use writer::BinaryRowWriter;

/// One row in its byte form. Cheap to clone; equality, order and hash are those of the bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BinaryRow {
    /// A row is in memory with all its slots, so 32 bits are enough.
    arity: u32,
    bytes: Arc<[u8]>,
}

impl BinaryRow {
    /// The row without fields: eight zero bytes. What unpartitioned tables and files without a key have.
    pub fn empty() -> Self {
        Self {
            arity: 0,
            bytes: Arc::from([0; 8]),
        }
    }

    /// A row of these bytes, without the arity in front.
    ///
    /// # Errors
    /// [`TypeError::Truncated`] if the bytes do not even hold the slots.
    pub fn from_bytes(arity: usize, bytes: &[u8]) -> Result<Self> {
        RowView::new(bytes, arity)?;
        Ok(Self::trusted(arity, Arc::from(bytes)))
    }

    /// The caller has made the bytes, or checked their size.
    fn trusted(arity: usize, bytes: Arc<[u8]>) -> Self {
        debug_assert!(RowView::new(&bytes, arity).is_ok());
        Self {
            arity: u32::try_from(arity).unwrap_or(u32::MAX),
            bytes,
        }
    }

    /// Reads a row as metadata stores it: `int32` big-endian arity, then the bytes (spec 01c §3).
    ///
    /// # Errors
    /// [`TypeError::Truncated`] or [`TypeError::Corrupt`] for bytes that are no row of that arity.
    pub fn from_serialized(serialized: &[u8]) -> Result<Self> {
        let (prefix, bytes) = serialized
            .split_first_chunk::<4>()
            .ok_or(TypeError::Truncated {
                what: "row arity",
                offset: 0,
                needed: 4,
                available: serialized.len(),
            })?;
        let arity = i32::from_be_bytes(*prefix);
        let arity = usize::try_from(arity)
            .map_err(|_| TypeError::corrupt("row", format!("its arity is {arity}")))?;
        Self::from_bytes(arity, bytes)
    }

    /// The row with its big-endian arity in front.
    pub fn to_serialized(&self) -> Vec<u8> {
        let mut serialized = Vec::with_capacity(4 + self.bytes.len());
        serialized.extend_from_slice(&self.arity.to_be_bytes());
        serialized.extend_from_slice(&self.bytes);
        serialized
    }

    /// A row of these values.
    ///
    /// # Errors
    /// [`TypeError::Invalid`] if there is not one type per value, [`TypeError::TypeMismatch`] for a value of another type.
    pub fn from_datums(datums: &[Datum], types: &[DataType]) -> Result<Self> {
        if datums.len() != types.len() {
            let what = format!(
                "{} values for a row of {} fields",
                datums.len(),
                types.len()
            );
            return Err(TypeError::Invalid { what });
        }
        let mut writer = BinaryRowWriter::new(datums.len());
        for (index, (datum, data_type)) in datums.iter().zip(types).enumerate() {
            writer.write_datum(index, datum, data_type)?;
        }
        Ok(writer.finish())
    }

    /// Number of fields.
    pub fn arity(&self) -> usize {
        usize::try_from(self.arity).unwrap_or(usize::MAX)
    }

    /// The bytes without the arity.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The row's parts, for nested values too.
    pub fn view(&self) -> RowView<'_> {
        RowView::trusted(&self.bytes, self.arity())
    }

    /// The kind in the header byte; `Insert` in keys, partitions and statistics.
    ///
    /// # Errors
    /// [`TypeError::Corrupt`] for a byte that names no kind.
    pub fn row_kind(&self) -> Result<RowKind> {
        RowKind::from_i8(
            self.bytes
                .first()
                .copied()
                .unwrap_or_default()
                .cast_signed(),
        )
    }

    /// Whether the field is null; true for fields past the last.
    pub fn is_null(&self, index: usize) -> bool {
        self.view().is_null(index)
    }

    /// The value of a field of an atomic type.
    ///
    /// # Errors
    /// [`TypeError::Invalid`] for a field past the last, [`TypeError::Corrupt`] or [`TypeError::Truncated`] for bytes that
    /// are no such value, [`TypeError::Unsupported`] for nested types and VARIANT (see [`BinaryRow::view`]).
    pub fn get(&self, index: usize, data_type: &DataType) -> Result<Datum> {
        self.view().get(index, data_type)
    }

    /// All values, one per type.
    ///
    /// # Errors
    /// As [`BinaryRow::get`]; also if the row has not as many fields as there are types.
    pub fn to_datums(&self, types: &[DataType]) -> Result<Vec<Datum>> {
        if types.len() != self.arity() {
            let reason = format!(
                "it has {} fields where {} were expected",
                self.arity,
                types.len()
            );
            return Err(TypeError::corrupt("row", reason));
        }
        types
            .iter()
            .enumerate()
            .map(|(index, data_type)| self.get(index, data_type))
            .collect()
    }

    /// Murmur hash of the bytes: what bucket numbers come from (spec 01c §4.1).
    pub fn hash(&self) -> i32 {
        murmur::hash_by_words(&self.bytes)
    }
}

impl Default for BinaryRow {
    fn default() -> Self {
        Self::empty()
    }
}

impl fmt::Debug for BinaryRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BinaryRow({}; ", self.arity)?;
        for byte in self.bytes.iter() {
            write!(f, "{byte:02x}")?;
        }
        f.write_str(")")
    }
}
