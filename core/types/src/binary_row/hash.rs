//! Row hashes of columns.
//!
//! Where every column has its whole value in its slot, the hash is computed from the slot words, block by block and column
//! by column: no row is built. Other rows are built one after the other in one buffer.

use arrow_array::ArrayRef;

use super::column::{Column, Values};
use super::encode::encode_row;
use super::layout::{null_bits_size, row_null_bit};
use super::writer::compact_decimal;
use crate::data_type::DataType;
use crate::error::Result;
use crate::murmur;

/// Rows whose hash states stay in the nearest cache while the columns are taken in.
const BLOCK: usize = 1024;

/// The [`super::BinaryRow::hash`] of every row of these columns.
///
/// Without columns the number of rows is unknown and the answer is empty.
///
/// # Errors
/// As [`super::encode_rows`].
pub fn hash_rows(columns: &[ArrayRef], types: &[DataType]) -> Result<Vec<i32>> {
    let (columns, rows) = Column::all(columns, types)?;
    if columns.iter().all(has_slot_words) && null_bits_size(columns.len()) == 8 {
        hash_slot_words(&columns, rows)
    } else {
        hash_built_rows(&columns, rows)
    }
}

pub(super) fn hash_built_rows(columns: &[Column<'_>], rows: usize) -> Result<Vec<i32>> {
    let mut hashes = Vec::with_capacity(rows);
    let mut buffer = Vec::new();
    for row in 0..rows {
        buffer.clear();
        encode_row(&mut buffer, columns, row)?;
        hashes.push(murmur::hash_by_words(&buffer));
    }
    Ok(hashes)
}

fn has_slot_words(column: &Column<'_>) -> bool {
    matches!(
        column.values,
        Values::Boolean(_)
            | Values::I8(_)
            | Values::I16(_)
            | Values::I32(_)
            | Values::I64(_)
            | Values::F32(_)
            | Values::F64(_)
            | Values::CompactDecimal(_)
    )
}

fn hash_slot_words(columns: &[Column<'_>], rows: usize) -> Result<Vec<i32>> {
    let row_bytes = u32::try_from(8 + 8 * columns.len()).unwrap_or_default();
    let any_nulls = columns
        .iter()
        .any(|column| column.nulls.is_some_and(|nulls| nulls.null_count() > 0));
    let no_nulls = murmur::mix(murmur::mix(murmur::start(), 0), 0);
    let mut hashes = Vec::with_capacity(rows);
    let mut states = [0_u32; BLOCK];
    let mut from = 0;
    while from < rows {
        let states = states.get_mut(..BLOCK.min(rows - from)).unwrap_or_default();
        if any_nulls {
            for (row, state) in (from..).zip(states.iter_mut()) {
                let (low, high) = halves(null_word(columns, row));
                *state = murmur::mix(murmur::mix(murmur::start(), low), high);
            }
        } else {
            states.fill(no_nulls);
        }
        for column in columns {
            mix_column(column, from, states)?;
        }
        hashes.extend(states.iter().map(|state| murmur::finish(*state, row_bytes)));
        from += states.len();
    }
    Ok(hashes)
}

/// Header byte and null bits of a row, as one little-endian word.
fn null_word(columns: &[Column<'_>], row: usize) -> u64 {
    let mut bytes = [0_u8; 8];
    for (index, column) in columns.iter().enumerate() {
        if column.is_null(row) {
            let (byte, mask) = row_null_bit(index);
            if let Some(byte) = bytes.get_mut(byte) {
                *byte |= mask;
            }
        }
    }
    u64::from_le_bytes(bytes)
}

fn mix_column(column: &Column<'_>, from: usize, states: &mut [u32]) -> Result<()> {
    match &column.values {
        Values::Boolean(values) => {
            for (row, state) in (from..).zip(states.iter_mut()) {
                let set = row < values.len() && values.value(row) && !column.is_null(row);
                *state = murmur::mix(murmur::mix(*state, u32::from(set)), 0);
            }
        }
        Values::I8(values) => mix_low(column, values, from, states, |value| {
            u32::from(value.cast_unsigned())
        }),
        Values::I16(values) => mix_low(column, values, from, states, |value| {
            u32::from(value.cast_unsigned())
        }),
        Values::I32(values) => mix_low(column, values, from, states, i32::cast_unsigned),
        Values::F32(values) => mix_low(column, values, from, states, f32::to_bits),
        Values::I64(values) => mix_both(column, values, from, states, i64::cast_unsigned),
        Values::F64(values) => mix_both(column, values, from, states, f64::to_bits),
        Values::CompactDecimal(values) => {
            let block = values.get(from..).unwrap_or_default();
            for ((row, state), value) in (from..).zip(states.iter_mut()).zip(block) {
                // A null's value may be anything: it must not fail, and its slot is zero.
                let value = if column.is_null(row) {
                    0
                } else {
                    compact_decimal(*value)?
                };
                let (low, high) = halves(value.cast_unsigned());
                *state = murmur::mix(murmur::mix(*state, low), high);
            }
        }
        // `has_slot_words` let none of these through.
        _ => {
            return Err(crate::error::TypeError::internal(
                "a column without slot words",
            ));
        }
    }
    Ok(())
}

#[inline(always)]
fn mix_low<T: Copy>(
    column: &Column<'_>,
    values: &[T],
    from: usize,
    states: &mut [u32],
    word: impl Fn(T) -> u32,
) {
    let block = values.get(from..).unwrap_or_default();
    match column.nulls {
        None => {
            for (state, value) in states.iter_mut().zip(block) {
                *state = murmur::mix(murmur::mix(*state, word(*value)), 0);
            }
        }
        Some(_) => {
            for ((row, state), value) in (from..).zip(states.iter_mut()).zip(block) {
                let low = if column.is_null(row) { 0 } else { word(*value) };
                *state = murmur::mix(murmur::mix(*state, low), 0);
            }
        }
    }
}

#[inline(always)]
fn mix_both<T: Copy>(
    column: &Column<'_>,
    values: &[T],
    from: usize,
    states: &mut [u32],
    word: impl Fn(T) -> u64,
) {
    let block = values.get(from..).unwrap_or_default();
    match column.nulls {
        None => {
            for (state, value) in states.iter_mut().zip(block) {
                let (low, high) = halves(word(*value));
                *state = murmur::mix(murmur::mix(*state, low), high);
            }
        }
        Some(_) => {
            for ((row, state), value) in (from..).zip(states.iter_mut()).zip(block) {
                let (low, high) = halves(if column.is_null(row) { 0 } else { word(*value) });
                *state = murmur::mix(murmur::mix(*state, low), high);
            }
        }
    }
}

/// The low and the high 32 bits.
#[inline(always)]
fn halves(word: u64) -> (u32, u32) {
    let [a, b, c, d, e, f, g, h] = word.to_le_bytes();
    (
        u32::from_le_bytes([a, b, c, d]),
        u32::from_le_bytes([e, f, g, h]),
    )
}
