//! Puts values into slots and variable parts.
//!
//! The functions here write into one growing buffer; a [`Place`] says where in it the row or array begins and where the
//! slot is. Nested rows, arrays and maps are written at the end of the same buffer, never copied.

use arrow_array::ArrayRef;

use super::BinaryRow;
use super::column::{COMPACT_DECIMAL, COMPACT_TIMESTAMP, Column};
use super::encode::put_element;
use super::layout::{
    MAX_INLINE, SLOT, WIDE_DECIMAL, fixed_size, minimal_big_endian, null_bits_size, pointer,
    row_null_bit,
};
use crate::data_type::{DataType, TypeKind};
use crate::datum::{Datum, TimestampValue};
use crate::error::{Result, TypeError};
use crate::row_kind::RowKind;

/// Writes one row, field after field.
///
/// Fields must be written in order: items of the variable part lie in the order they were written, and equal rows must
/// have equal bytes. Fields never written are zero and not null.
#[derive(Debug)]
pub struct BinaryRowWriter {
    arity: usize,
    buffer: Vec<u8>,
}

impl BinaryRowWriter {
    /// A writer of a row of `arity` fields, of kind `Insert`.
    pub fn new(arity: usize) -> Self {
        Self {
            arity,
            buffer: vec![0; fixed_size(arity).unwrap_or(SLOT)],
        }
    }

    /// Sets the kind in the header byte. Keys, partitions and statistics leave it at `Insert`.
    pub fn set_kind(&mut self, kind: RowKind) {
        set(&mut self.buffer, 0, &[kind.as_i8().cast_unsigned()]);
    }

    fn place(&self, index: usize) -> Result<Place> {
        if index >= self.arity {
            return Err(TypeError::invalid(format!(
                "field {index} of a row of {} fields",
                self.arity
            )));
        }
        Ok(Place {
            container: 0,
            slot: null_bits_size(self.arity) + index * SLOT,
        })
    }

    /// Writes a null. Wide decimals and timestamps reserve their space even so (spec 01c §2.4).
    ///
    /// # Errors
    /// [`TypeError::Invalid`] for a field past the last.
    pub fn write_null(&mut self, index: usize, data_type: &DataType) -> Result<()> {
        let place = self.place(index)?;
        set_row_null(&mut self.buffer, place.container, index);
        match data_type.kind {
            TypeKind::Decimal { precision, .. } if precision > COMPACT_DECIMAL => {
                reserve(&mut self.buffer, place, WIDE_DECIMAL)
            }
            TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p) if p > COMPACT_TIMESTAMP => {
                reserve(&mut self.buffer, place, SLOT)
            }
            _ => Ok(()),
        }
    }

    /// Writes a value of an atomic type, or null.
    ///
    /// # Errors
    /// [`TypeError::TypeMismatch`] for a value of another type, [`TypeError::Invalid`] for a field past the last.
    pub fn write_datum(&mut self, index: usize, datum: &Datum, data_type: &DataType) -> Result<()> {
        if datum.is_null() {
            return self.write_null(index, data_type);
        }
        if !datum.is_of(data_type) {
            return Err(TypeError::mismatch(
                format!("a value of {data_type}"),
                format!("{datum:?}"),
            ));
        }
        let place = self.place(index)?;
        let buffer = &mut self.buffer;
        match (datum, &data_type.kind) {
            (Datum::Null, _) => {}
            (Datum::Boolean(value), _) => set(buffer, place.slot, &[u8::from(*value)]),
            (Datum::TinyInt(value), _) => set(buffer, place.slot, &value.to_le_bytes()),
            (Datum::SmallInt(value), _) => set(buffer, place.slot, &value.to_le_bytes()),
            (Datum::Int(value) | Datum::Date(value) | Datum::Time(value), _) => {
                set(buffer, place.slot, &value.to_le_bytes());
            }
            (Datum::BigInt(value), _) => set(buffer, place.slot, &value.to_le_bytes()),
            (Datum::Float(value), _) => set(buffer, place.slot, &value.to_le_bytes()),
            (Datum::Double(value), _) => set(buffer, place.slot, &value.to_le_bytes()),
            (Datum::Decimal { unscaled, .. }, TypeKind::Decimal { precision, .. })
                if *precision <= COMPACT_DECIMAL =>
            {
                set(
                    buffer,
                    place.slot,
                    &compact_decimal(*unscaled)?.to_le_bytes(),
                );
            }
            (Datum::Decimal { unscaled, .. }, _) => put_wide_decimal(buffer, place, *unscaled)?,
            (Datum::String(text), _) => put_bytes(buffer, place, text.as_bytes())?,
            (Datum::Bytes(bytes), _) => put_bytes(buffer, place, bytes)?,
            (Datum::Timestamp(value), TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p))
                if *p <= COMPACT_TIMESTAMP =>
            {
                set(buffer, place.slot, &value.millis.to_le_bytes());
            }
            (Datum::Timestamp(value), _) => put_timestamp(buffer, place, *value)?,
        }
        Ok(())
    }

    /// Writes the value at `row` of an array in the canonical Arrow type of `data_type`, whatever the type.
    ///
    /// # Errors
    /// [`TypeError::TypeMismatch`] for an array of another type, [`TypeError::Invalid`] for a field or row past the last.
    pub fn write_from_array(
        &mut self,
        index: usize,
        array: &ArrayRef,
        row: usize,
        data_type: &DataType,
    ) -> Result<()> {
        if row >= array.len() {
            return Err(TypeError::invalid(format!(
                "row {row} of an array of {} rows",
                array.len()
            )));
        }
        let column = Column::new(array, data_type)?;
        if column.is_null(row) {
            return self.write_null(index, data_type);
        }
        let place = self.place(index)?;
        put_element(&mut self.buffer, place, &column, row, false)
    }

    /// The bytes written up to here: a whole row once the last field is written.
    pub fn as_bytes(&self) -> &[u8] {
        &self.buffer
    }

    /// Starts over with a row of the same arity, kind `Insert`; keeps the memory.
    pub fn reset(&mut self) {
        self.buffer.clear();
        self.buffer
            .resize(fixed_size(self.arity).unwrap_or(SLOT), 0);
    }

    /// The row.
    pub fn finish(self) -> BinaryRow {
        BinaryRow::trusted(self.arity, self.buffer.into())
    }
}

/// Where a value goes: positions in the buffer.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// First byte of the row or array that the value belongs to; offsets count from here.
    pub(super) container: usize,
    /// First byte of the slot.
    pub(super) slot: usize,
}

/// Overwrites bytes that are there already.
pub(super) fn set(buffer: &mut [u8], at: usize, bytes: &[u8]) {
    let target = buffer.get_mut(at..at + bytes.len());
    debug_assert!(target.is_some(), "slots are reserved before they are set");
    if let Some(target) = target {
        target.copy_from_slice(bytes);
    }
}

pub(super) fn set_bit(buffer: &mut [u8], at: usize, mask: u8) {
    if let Some(byte) = buffer.get_mut(at) {
        *byte |= mask;
    }
}

pub(super) fn set_row_null(buffer: &mut [u8], row: usize, index: usize) {
    let (byte, mask) = row_null_bit(index);
    set_bit(buffer, row + byte, mask);
}

/// Space for a null of a type that always takes it: zero bytes, and a slot with their offset and length 0.
pub(super) fn reserve(buffer: &mut Vec<u8>, place: Place, size: usize) -> Result<()> {
    let slot = pointer(buffer.len() - place.container, 0)?;
    buffer.resize(buffer.len() + size, 0);
    set(buffer, place.slot, &slot.to_le_bytes());
    Ok(())
}

/// Text or bytes: in the slot up to seven bytes, else in the variable part.
pub(super) fn put_bytes(buffer: &mut Vec<u8>, place: Place, bytes: &[u8]) -> Result<()> {
    if bytes.len() <= MAX_INLINE {
        set(buffer, place.slot, bytes);
        // Proven by the comparison above: fits a byte.
        let length = u8::try_from(bytes.len()).unwrap_or_default();
        set(buffer, place.slot + MAX_INLINE, &[0x80 | length]);
        return Ok(());
    }
    let start = buffer.len();
    buffer.extend_from_slice(bytes);
    finish_item(buffer, place, start)
}

/// Pads the item that began at `start` and points the slot to it.
pub(super) fn finish_item(buffer: &mut Vec<u8>, place: Place, start: usize) -> Result<()> {
    let length = buffer.len() - start;
    let slot = pointer(start - place.container, length)?;
    buffer.resize(start + length.next_multiple_of(SLOT), 0);
    set(buffer, place.slot, &slot.to_le_bytes());
    Ok(())
}

pub(super) fn compact_decimal(unscaled: i128) -> Result<i64> {
    i64::try_from(unscaled).map_err(|_| TypeError::DoesNotFit {
        value: unscaled.to_string(),
        data_type: "a DECIMAL of 18 digits".to_owned(),
    })
}

pub(super) fn put_wide_decimal(buffer: &mut Vec<u8>, place: Place, unscaled: i128) -> Result<()> {
    let (bytes, count) = minimal_big_endian(unscaled);
    let start = buffer.len();
    let slot = pointer(start - place.container, count)?;
    buffer.extend_from_slice(
        bytes
            .get(WIDE_DECIMAL - count.min(WIDE_DECIMAL)..)
            .unwrap_or_default(),
    );
    buffer.resize(start + WIDE_DECIMAL, 0);
    set(buffer, place.slot, &slot.to_le_bytes());
    Ok(())
}

pub(super) fn put_timestamp(
    buffer: &mut Vec<u8>,
    place: Place,
    value: TimestampValue,
) -> Result<()> {
    let nanos = usize::try_from(value.nano_of_milli).map_err(|_| {
        TypeError::invalid(format!(
            "{} nanoseconds of a millisecond",
            value.nano_of_milli
        ))
    })?;
    let slot = pointer(buffer.len() - place.container, nanos)?;
    buffer.extend_from_slice(&value.millis.to_le_bytes());
    set(buffer, place.slot, &slot.to_le_bytes());
    Ok(())
}
