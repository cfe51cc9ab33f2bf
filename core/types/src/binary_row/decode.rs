//! Columns from rows: the inverse of `encode`, for every type.

use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::{Array, ArrayRef, ListArray, MapArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType as ArrowType, Fields};

use super::view::{ArrayView, MapView, RowView, Slot};
use crate::arrow_types::to_arrow_type;
use crate::data_type::{DataType, TypeKind};
use crate::datum::{Datum, datums_to_array};
use crate::error::{Result, TypeError};

/// The fields of these rows as columns in the canonical Arrow types.
///
/// Memory is bounded by the size of the rows: items that overlap are refused.
///
/// # Errors
/// [`TypeError::Corrupt`] or [`TypeError::Truncated`] for bytes that are no rows of these types.
pub fn decode_rows(rows: &[RowView<'_>], types: &[DataType]) -> Result<Vec<ArrayRef>> {
    if let Some(row) = rows.iter().find(|row| row.arity() != types.len()) {
        let reason = format!(
            "it has {} fields where {} were expected",
            row.arity(),
            types.len()
        );
        return Err(TypeError::corrupt("row", reason));
    }
    let budget = rows.iter().map(|row| row.as_bytes().len()).sum();
    let column = |index: usize, data_type: &DataType| {
        let slots = rows
            .iter()
            .map(|row| row.slot(index))
            .collect::<Result<Vec<_>>>()?;
        decode_column(&slots, data_type, budget)
    };
    types
        .iter()
        .enumerate()
        .map(|(index, data_type)| column(index, data_type))
        .collect()
}

/// `budget`: bytes that all items of one level may have together; honest items do not overlap.
fn decode_column(
    slots: &[Option<Slot<'_>>],
    data_type: &DataType,
    budget: usize,
) -> Result<ArrayRef> {
    let mut left = budget;
    let mut spend = |size: usize| match left.checked_sub(size) {
        Some(rest) => {
            left = rest;
            Ok(())
        }
        None => Err(TypeError::corrupt("row", "its items overlap")),
    };
    let arrow_type = to_arrow_type(data_type);
    match (&data_type.kind, arrow_type) {
        (TypeKind::Array(element), ArrowType::List(field)) => {
            let mut elements = Vec::new();
            let mut lengths = Vec::with_capacity(slots.len());
            for slot in slots {
                let before = elements.len();
                if let Some(bytes) = slot_item(slot)? {
                    spend(bytes.len())?;
                    push_elements(&ArrayView::new(bytes, element)?, &mut elements)?;
                }
                lengths.push(elements.len() - before);
            }
            let elements = decode_column(&elements, element, budget)?;
            let list = ListArray::try_new(field, offsets(lengths)?, elements, nulls(slots));
            Ok(Arc::new(list.map_err(not_of_type)?))
        }
        (TypeKind::Map(..) | TypeKind::Multiset(_), ArrowType::Map(field, sorted)) => {
            let counts = DataType::int().not_null();
            let (key, value) = match &data_type.kind {
                TypeKind::Map(key, value) => (&**key, &**value),
                TypeKind::Multiset(element) => (&**element, &counts),
                _ => return Err(TypeError::internal("a map type that is none")),
            };
            let (mut keys, mut values) = (Vec::new(), Vec::new());
            let mut lengths = Vec::with_capacity(slots.len());
            for slot in slots {
                let before = keys.len();
                if let Some(bytes) = slot_item(slot)? {
                    spend(bytes.len())?;
                    let map = MapView::new(bytes, key, value)?;
                    push_elements(&map.keys, &mut keys)?;
                    push_elements(&map.values, &mut values)?;
                }
                lengths.push(keys.len() - before);
            }
            let ArrowType::Struct(fields) = field.data_type().clone() else {
                return Err(TypeError::internal("map entries that are no struct"));
            };
            let columns = vec![
                decode_column(&keys, key, budget)?,
                decode_column(&values, value, budget)?,
            ];
            let entries = struct_array(fields, columns, None, keys.len())?;
            let map = MapArray::try_new(field, offsets(lengths)?, entries, nulls(slots), sorted);
            Ok(Arc::new(map.map_err(not_of_type)?))
        }
        (TypeKind::Row(row), ArrowType::Struct(fields)) => {
            let mut rows = Vec::with_capacity(slots.len());
            for slot in slots {
                let bytes = slot_item(slot)?;
                if let Some(bytes) = bytes {
                    spend(bytes.len())?;
                }
                rows.push(
                    bytes
                        .map(|bytes| RowView::new(bytes, row.len()))
                        .transpose()?,
                );
            }
            let column = |(index, data_type): (usize, &DataType)| {
                let slots = rows
                    .iter()
                    .map(|row| row.map_or(Ok(None), |row| row.slot(index)));
                decode_column(&slots.collect::<Result<Vec<_>>>()?, data_type, budget)
            };
            let types = row.fields.iter().map(|field| &field.data_type);
            let columns = types.enumerate().map(column).collect::<Result<Vec<_>>>()?;
            Ok(Arc::new(struct_array(
                fields,
                columns,
                nulls(slots),
                slots.len(),
            )?))
        }
        (TypeKind::Variant, ArrowType::Struct(fields)) => {
            let mut values = BinaryBuilder::with_capacity(slots.len(), 0);
            let mut metadata = BinaryBuilder::with_capacity(slots.len(), 0);
            for slot in slots {
                let (value, meta) = match slot {
                    Some(slot) => slot.variant()?,
                    // Both parts are not null: under a null they are empty.
                    None => (&[][..], &[][..]),
                };
                spend(value.len() + meta.len())?;
                values.append_value(value);
                metadata.append_value(meta);
            }
            let columns: Vec<ArrayRef> =
                vec![Arc::new(values.finish()), Arc::new(metadata.finish())];
            Ok(Arc::new(struct_array(
                fields,
                columns,
                nulls(slots),
                slots.len(),
            )?))
        }
        _ => {
            let mut datums = Vec::with_capacity(slots.len());
            for slot in slots {
                let datum = slot.map_or(Ok(Datum::Null), |slot| slot.datum(data_type))?;
                match &datum {
                    Datum::String(text) => spend(text.len())?,
                    Datum::Bytes(bytes) => spend(bytes.len())?,
                    _ => {}
                }
                datums.push(datum);
            }
            datums_to_array(data_type, &datums)
        }
    }
}

fn slot_item<'a>(slot: &Option<Slot<'a>>) -> Result<Option<&'a [u8]>> {
    slot.as_ref().map(Slot::item).transpose()
}

fn push_elements<'a>(array: &ArrayView<'a>, elements: &mut Vec<Option<Slot<'a>>>) -> Result<()> {
    elements.reserve(array.len());
    for index in 0..array.len() {
        elements.push(array.slot(index)?);
    }
    Ok(())
}

fn offsets(lengths: Vec<usize>) -> Result<OffsetBuffer<i32>> {
    let total: usize = lengths.iter().sum();
    i32::try_from(total)
        .map_err(|_| TypeError::corrupt("row", format!("{total} elements in one column")))?;
    Ok(OffsetBuffer::from_lengths(lengths))
}

fn nulls(slots: &[Option<Slot<'_>>]) -> Option<NullBuffer> {
    let nulls: NullBuffer = slots.iter().map(Option::is_some).collect();
    (nulls.null_count() > 0).then_some(nulls)
}

/// Structs without fields know their length only from here. Nulls below a null struct are no nulls of the field, but a
/// field that is not null needs the struct's own nulls to see that.
fn struct_array(
    fields: Fields,
    columns: Vec<ArrayRef>,
    nulls: Option<NullBuffer>,
    len: usize,
) -> Result<StructArray> {
    debug_assert!(columns.iter().all(|column| column.len() == len));
    StructArray::try_new_with_length(fields, columns, nulls, len).map_err(not_of_type)
}

fn not_of_type(error: arrow_schema::ArrowError) -> TypeError {
    TypeError::corrupt("nested value", error.to_string())
}
