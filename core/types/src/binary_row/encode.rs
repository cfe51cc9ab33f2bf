//! Rows from columns: one buffer for all of them.

use arrow_array::ArrayRef;

use super::BinaryRow;
use super::column::{Column, Values, range};
use super::layout::{
    SLOT, WIDE_DECIMAL, array_header_size, array_null_bit, fixed_size, null_bits_size,
};
use super::writer::{
    Place, compact_decimal, finish_item, put_bytes, put_timestamp, put_wide_decimal, reserve, set,
    set_bit, set_row_null,
};
use crate::data_type::DataType;
use crate::datum::{TimestampValue, canonical_f32, canonical_f64};
use crate::error::{Result, TypeError};
use crate::murmur;

/// Many rows of one arity behind each other.
#[derive(Debug, Clone)]
pub struct BinaryRows {
    arity: usize,
    bytes: Vec<u8>,
    /// Row `i` is `bytes[offsets[i]..offsets[i + 1]]`.
    offsets: Vec<usize>,
}

impl BinaryRows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn bounds(&self, index: usize) -> std::ops::Range<usize> {
        match (self.offsets.get(index), self.offsets.get(index + 1)) {
            (Some(from), Some(to)) => *from..*to,
            _ => 0..0,
        }
    }

    /// The bytes of a row, without arity; empty for rows past the last.
    pub fn row(&self, index: usize) -> &[u8] {
        self.bytes.get(self.bounds(index)).unwrap_or_default()
    }

    /// A copy of a row; `None` past the last.
    pub fn to_row(&self, index: usize) -> Option<BinaryRow> {
        (index < self.len()).then(|| BinaryRow::trusted(self.arity, self.row(index).into()))
    }

    /// The hash of a row; see [`BinaryRow::hash`].
    pub fn hash(&self, index: usize) -> i32 {
        murmur::hash_by_words(self.row(index))
    }

    /// The bytes of the rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.row(index))
    }
}

/// Encodes rows whose fields are these columns, in the canonical Arrow types of `types`.
///
/// Without columns the number of rows is unknown and the answer has none.
///
/// # Errors
/// [`TypeError::TypeMismatch`] for a column of another type, [`TypeError::Invalid`] for columns of different lengths.
pub fn encode_rows(columns: &[ArrayRef], types: &[DataType]) -> Result<BinaryRows> {
    let (columns, rows) = Column::all(columns, types)?;
    let arity = columns.len();
    let row_size = fixed_size(arity).ok_or_else(|| TypeError::invalid("too many columns"))?;
    let mut buffer = Vec::with_capacity(rows.saturating_mul(row_size));
    let mut offsets = Vec::with_capacity(rows + 1);
    offsets.push(0);
    for row in 0..rows {
        encode_row(&mut buffer, &columns, row)?;
        offsets.push(buffer.len());
    }
    Ok(BinaryRows {
        arity,
        bytes: buffer,
        offsets,
    })
}

/// Appends one row to the buffer.
pub(super) fn encode_row(buffer: &mut Vec<u8>, columns: &[Column<'_>], row: usize) -> Result<()> {
    let container = buffer.len();
    let bits = null_bits_size(columns.len());
    buffer.resize(container + bits + columns.len() * SLOT, 0);
    for (index, column) in columns.iter().enumerate() {
        let place = Place {
            container,
            slot: container + bits + index * SLOT,
        };
        if column.is_null(row) {
            set_row_null(buffer, container, index);
            match column.values {
                Values::WideDecimal(_) => reserve(buffer, place, WIDE_DECIMAL)?,
                Values::Micros(_) | Values::Nanos(_) => reserve(buffer, place, SLOT)?,
                _ => {}
            }
        } else {
            put_element(buffer, place, column, row, false)?;
        }
    }
    Ok(())
}

/// Puts a value that is not null into its slot. NaNs are made canonical in arrays and kept as they are in rows.
pub(super) fn put_element(
    buffer: &mut Vec<u8>,
    place: Place,
    column: &Column<'_>,
    row: usize,
    in_array: bool,
) -> Result<()> {
    match &column.values {
        Values::Boolean(values) => set(
            buffer,
            place.slot,
            &[u8::from(row < values.len() && values.value(row))],
        ),
        Values::I8(values) => set(buffer, place.slot, &at(values, row)?.to_le_bytes()),
        Values::I16(values) => set(buffer, place.slot, &at(values, row)?.to_le_bytes()),
        Values::I32(values) => set(buffer, place.slot, &at(values, row)?.to_le_bytes()),
        Values::I64(values) => set(buffer, place.slot, &at(values, row)?.to_le_bytes()),
        Values::F32(values) => {
            let value = at(values, row)?;
            let value = if in_array {
                canonical_f32(value)
            } else {
                value
            };
            set(buffer, place.slot, &value.to_bits().to_le_bytes());
        }
        Values::F64(values) => {
            let value = at(values, row)?;
            let value = if in_array {
                canonical_f64(value)
            } else {
                value
            };
            set(buffer, place.slot, &value.to_bits().to_le_bytes());
        }
        Values::CompactDecimal(values) => {
            set(
                buffer,
                place.slot,
                &compact_decimal(at(values, row)?)?.to_le_bytes(),
            );
        }
        Values::WideDecimal(values) => put_wide_decimal(buffer, place, at(values, row)?)?,
        Values::Micros(values) => {
            put_timestamp(buffer, place, TimestampValue::from_micros(at(values, row)?))?
        }
        Values::Nanos(values) => {
            put_timestamp(buffer, place, TimestampValue::from_nanos(at(values, row)?))?
        }
        Values::Bytes(runs) => put_bytes(buffer, place, runs.get(row))?,
        Values::List { offsets, element } => {
            let start = buffer.len();
            put_array(buffer, element, range(offsets, row))?;
            finish_item(buffer, place, start)?;
        }
        Values::Map {
            offsets,
            key,
            value,
        } => {
            let entries = range(offsets, row);
            let start = buffer.len();
            buffer.extend_from_slice(&[0; 4]);
            put_array(buffer, key, entries)?;
            let key_size = length_prefix(buffer.len() - start - 4)?;
            set(buffer, start, &key_size);
            put_array(buffer, value, entries)?;
            finish_item(buffer, place, start)?;
        }
        Values::Row(columns) => {
            let start = buffer.len();
            encode_row(buffer, columns, row)?;
            finish_item(buffer, place, start)?;
        }
        Values::Variant { value, metadata } => {
            let start = buffer.len();
            let value = value.get(row);
            buffer.extend_from_slice(&length_prefix(value.len())?);
            buffer.extend_from_slice(value);
            buffer.extend_from_slice(metadata.get(row));
            finish_item(buffer, place, start)?;
        }
    }
    Ok(())
}

/// Appends the elements `from..to` as a BinaryArray (spec 01c §2.5).
fn put_array(buffer: &mut Vec<u8>, element: &Column<'_>, (from, to): (usize, usize)) -> Result<()> {
    let container = buffer.len();
    let count = to.saturating_sub(from);
    let header = array_header_size(count);
    let width = element.element_width();
    buffer.resize(
        container + (header + count * width).next_multiple_of(SLOT),
        0,
    );
    set(buffer, container, &length_prefix(count)?);
    for index in 0..count {
        if element.is_null(from + index) {
            let (byte, mask) = array_null_bit(index);
            set_bit(buffer, container + byte, mask);
        } else {
            let place = Place {
                container,
                slot: container + header + index * width,
            };
            put_element(buffer, place, element, from + index, true)?;
        }
    }
    Ok(())
}

fn at<T: Copy>(values: &[T], row: usize) -> Result<T> {
    values
        .get(row)
        .copied()
        .ok_or_else(|| TypeError::internal("a row past the end of its column"))
}

fn length_prefix(length: usize) -> Result<[u8; 4]> {
    let length = i32::try_from(length)
        .map_err(|_| TypeError::invalid("an item of more than 2 GiB has no binary form"))?;
    Ok(length.to_le_bytes())
}
