//! Arrays without encodings: what is left to convert are values, not layouts.

use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, OffsetSizeTrait, StructArray, UInt64Array};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType as ArrowType};

/// Dictionaries and run ends unpacked; views, large offsets and fixed sizes as their common forms. Elements of nested arrays
/// are left as they are.
pub(super) fn plain(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let target = match array.data_type() {
        ArrowType::Dictionary(_, values) => (**values).clone(),
        ArrowType::RunEndEncoded(_, values) => values.data_type().clone(),
        ArrowType::LargeUtf8 | ArrowType::Utf8View => ArrowType::Utf8,
        ArrowType::LargeBinary | ArrowType::BinaryView | ArrowType::FixedSizeBinary(_) => {
            ArrowType::Binary
        }
        ArrowType::LargeList(field)
        | ArrowType::FixedSizeList(field, _)
        | ArrowType::ListView(field)
        | ArrowType::LargeListView(field) => ArrowType::List(Arc::clone(field)),
        _ => return Ok(Arc::clone(array)),
    };
    // Once more: a dictionary may hold large strings.
    plain(&arrow_cast::cast(array, &target)?)
}

/// The elements of a list that some row shows, and the offsets of all rows; `None` if it is no list.
pub(super) fn compact_list(
    array: &ArrayRef,
    nulls: Option<&NullBuffer>,
) -> Option<(ArrayRef, OffsetBuffer<i32>)> {
    let list = array.as_list_opt::<i32>()?;
    let elements = Arc::clone(list.values());
    compact(list.offsets(), nulls, elements.len()).map_or_else(
        || Some((elements, list.offsets().clone())),
        |(shown, offsets)| {
            Some((
                arrow_select::take::take(list.values(), &shown, None).ok()?,
                offsets,
            ))
        },
    )
}

/// As [`compact_list`], for the entries of a map.
pub(super) fn compact_map(
    array: &ArrayRef,
    nulls: Option<&NullBuffer>,
) -> Option<(StructArray, OffsetBuffer<i32>)> {
    let map = array.as_map_opt()?;
    let entries = map.entries().clone();
    compact(map.offsets(), nulls, entries.len()).map_or_else(
        || Some((entries, map.offsets().clone())),
        |(shown, offsets)| {
            let shown = arrow_select::take::take(map.entries(), &shown, None).ok()?;
            Some((shown.as_struct_opt()?.clone(), offsets))
        },
    )
}

/// Which elements are shown and the new offsets; `None` if all are.
fn compact<O: OffsetSizeTrait>(
    offsets: &OffsetBuffer<O>,
    nulls: Option<&NullBuffer>,
    elements: usize,
) -> Option<(UInt64Array, OffsetBuffer<O>)> {
    let starts_at_zero = offsets.first().is_some_and(|first| first.as_usize() == 0);
    let ends_with_last = offsets
        .last()
        .is_some_and(|last| last.as_usize() == elements);
    if starts_at_zero && ends_with_last && nulls.is_none_or(|nulls| nulls.null_count() == 0) {
        return None;
    }
    let ranges = offsets
        .iter()
        .zip(offsets.iter().skip(1))
        .enumerate()
        .map(|(row, (from, to))| {
            let hidden = nulls.is_some_and(|nulls| nulls.is_null(row));
            if hidden {
                0..0
            } else {
                from.as_usize()..to.as_usize()
            }
        });
    let lengths = ranges.clone().map(|range| range.len());
    let shown = ranges.flatten().map(|index| index as u64);
    Some((
        UInt64Array::from_iter_values(shown),
        OffsetBuffer::from_lengths(lengths),
    ))
}

/// Bytes with empty ones where the parent is null; `None` if others are null, or if these are no bytes.
pub(super) fn without_nulls(array: &ArrayRef, parent: Option<&NullBuffer>) -> Option<ArrayRef> {
    let bytes = array.as_binary_opt::<i32>()?;
    if bytes.null_count() == 0 {
        return Some(Arc::clone(array));
    }
    let mut filled = BinaryBuilder::with_capacity(bytes.len(), bytes.value_data().len());
    for row in 0..bytes.len() {
        if !bytes.is_null(row) {
            filled.append_value(bytes.value(row));
        } else if parent.is_some_and(|parent| parent.is_null(row)) {
            filled.append_value([]);
        } else {
            return None;
        }
    }
    Some(Arc::new(filled.finish()))
}
