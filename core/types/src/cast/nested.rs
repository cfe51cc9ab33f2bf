//! Casts of ARRAY, MAP, MULTISET and ROW: part by part, or as text.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, ListArray, MapArray, StringArray, StructArray, make_array, new_null_array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::DataType as ArrowType;

use super::to_text::TextColumn;
use super::{cast_array, mismatch, no_kernel};
use crate::arrow_types::to_arrow_type;
use crate::data_type::{DataType, TypeKind};
use crate::error::Result;
use crate::row_type::RowType;

/// Casts the parts and builds the nested array of the target type around them.
pub(super) fn parts(array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
    match (&from.kind, &to.kind) {
        (TypeKind::Array(old), TypeKind::Array(new)) => {
            let list = array
                .as_list_opt::<i32>()
                .ok_or_else(|| mismatch(array, from))?;
            let ArrowType::List(field) = to_arrow_type(to) else {
                return Err(no_kernel(from, to));
            };
            let (offsets, start, length) = compact(list.offsets());
            let elements = cast_array(&list.values().slice(start, length), old, new)?;
            Ok(Arc::new(ListArray::try_new(
                field,
                offsets,
                elements,
                list.nulls().cloned(),
            )?))
        }
        (TypeKind::Map(old_key, old_value), TypeKind::Map(new_key, new_value)) => entries(
            array,
            from,
            to,
            (old_key, new_key),
            Some((old_value, new_value)),
        ),
        // The counts of a MULTISET have one type only.
        (TypeKind::Multiset(old), TypeKind::Multiset(new)) => {
            entries(array, from, to, (old, new), None)
        }
        (TypeKind::Row(old), TypeKind::Row(new)) => members(array, from, to, old, new),
        _ => Err(no_kernel(from, to)),
    }
}

/// Offsets that start at 0, and the range of the values they cover: what lies outside was never anybody's value.
fn compact(offsets: &OffsetBuffer<i32>) -> (OffsetBuffer<i32>, usize, usize) {
    let first = offsets.first().copied().unwrap_or(0);
    let last = offsets.last().copied().unwrap_or(0);
    let start = usize::try_from(first).unwrap_or(0);
    let length = usize::try_from(last.saturating_sub(first)).unwrap_or(0);
    let moved = if first == 0 {
        offsets.clone()
    } else {
        OffsetBuffer::from_lengths(offsets.lengths())
    };
    (moved, start, length)
}

fn entries(
    array: &ArrayRef,
    from: &DataType,
    to: &DataType,
    (old_key, new_key): (&DataType, &DataType),
    value: Option<(&DataType, &DataType)>,
) -> Result<ArrayRef> {
    let map = array.as_map_opt().ok_or_else(|| mismatch(array, from))?;
    let ArrowType::Map(field, sorted) = to_arrow_type(to) else {
        return Err(no_kernel(from, to));
    };
    let ArrowType::Struct(entry_fields) = field.data_type() else {
        return Err(no_kernel(from, to));
    };
    let (offsets, start, length) = compact(map.offsets());
    let keys = cast_array(&map.keys().slice(start, length), old_key, new_key)?;
    let values = map.values().slice(start, length);
    let values = match value {
        Some((old, new)) => cast_array(&values, old, new)?,
        None => values,
    };
    let entries = StructArray::try_new(entry_fields.clone(), vec![keys, values], None)?;
    Ok(Arc::new(MapArray::try_new(
        field,
        offsets,
        entries,
        map.nulls().cloned(),
        sorted,
    )?))
}

/// Members by their ids; a member that the old row lacks is null.
fn members(
    array: &ArrayRef,
    from: &DataType,
    to: &DataType,
    old: &RowType,
    new: &RowType,
) -> Result<ArrayRef> {
    let row = array.as_struct_opt().ok_or_else(|| mismatch(array, from))?;
    let ArrowType::Struct(fields) = to_arrow_type(to) else {
        return Err(no_kernel(from, to));
    };
    let columns = new.fields.iter().map(|field| {
        let position = old.fields.iter().position(|member| member.id == field.id);
        let found = position.and_then(|at| Some((row.columns().get(at)?, old.fields.get(at)?)));
        let Some((column, member)) = found else {
            return Ok(new_null_array(&to_arrow_type(&field.data_type), row.len()));
        };
        let unchanged = member.data_type.kind == field.data_type.kind;
        let column = if unchanged {
            Arc::clone(column)
        } else {
            hide(column, row.nulls())?
        };
        cast_array(&column, &member.data_type, &field.data_type)
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(StructArray::try_new_with_length(
        fields,
        columns,
        row.nulls().cloned(),
        row.len(),
    )?))
}

/// The column with nulls where its row is null, so that no cast looks at what lies there.
fn hide(column: &ArrayRef, row_nulls: Option<&NullBuffer>) -> Result<ArrayRef> {
    if row_nulls.is_none_or(|nulls| nulls.null_count() == 0) {
        return Ok(Arc::clone(column));
    }
    let nulls = NullBuffer::union(column.nulls(), row_nulls);
    Ok(make_array(
        column.to_data().into_builder().nulls(nulls).build()?,
    ))
}

/// `[a, b]` for arrays, `{k -> v, k -> v}` for maps, `{a, b}` for rows, `null` for null parts.
pub(super) fn to_text(array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
    let mut out = TextColumn::new(array.len(), to)?;
    match &from.kind {
        TypeKind::Array(element) => {
            let list = array
                .as_list_opt::<i32>()
                .ok_or_else(|| mismatch(array, from))?;
            let (offsets, start, length) = compact(list.offsets());
            let elements = text_of(&list.values().slice(start, length), element)?;
            write_ranges(
                &mut out,
                list.nulls(),
                &offsets,
                ('[', ']'),
                |buffer, at| push_part(buffer, &elements, at),
            )?;
        }
        TypeKind::Map(key, value) => {
            let map = array.as_map_opt().ok_or_else(|| mismatch(array, from))?;
            let (offsets, start, length) = compact(map.offsets());
            let keys = text_of(&map.keys().slice(start, length), key)?;
            let values = text_of(&map.values().slice(start, length), value)?;
            write_ranges(&mut out, map.nulls(), &offsets, ('{', '}'), |buffer, at| {
                push_part(buffer, &keys, at);
                buffer.push_str(" -> ");
                push_part(buffer, &values, at);
            })?;
        }
        TypeKind::Row(members) => {
            let row = array.as_struct_opt().ok_or_else(|| mismatch(array, from))?;
            let columns = row.columns().iter().zip(&members.fields);
            let columns = columns
                .map(|(column, member)| text_of(column, &member.data_type))
                .collect::<Result<Vec<_>>>()?;
            for at in 0..row.len() {
                if row.is_null(at) {
                    out.push_null();
                    continue;
                }
                out.push(|buffer| {
                    buffer.push('{');
                    for (position, column) in columns.iter().enumerate() {
                        if position > 0 {
                            buffer.push_str(", ");
                        }
                        push_part(buffer, column, at);
                    }
                    buffer.push('}');
                })?;
            }
        }
        _ => return Err(no_kernel(from, to)),
    }
    Ok(out.finish())
}

fn text_of(array: &ArrayRef, data_type: &DataType) -> Result<StringArray> {
    let text = cast_array(array, data_type, &DataType::string())?;
    Ok(text
        .as_string_opt::<i32>()
        .ok_or_else(|| mismatch(&text, data_type))?
        .clone())
}

fn push_part(buffer: &mut String, parts: &StringArray, at: usize) {
    buffer.push_str(if parts.is_null(at) {
        "null"
    } else {
        parts.value(at)
    });
}

fn write_ranges(
    out: &mut TextColumn,
    nulls: Option<&NullBuffer>,
    offsets: &OffsetBuffer<i32>,
    (open, close): (char, char),
    push: impl Fn(&mut String, usize),
) -> Result<()> {
    let mut start = 0;
    for (row, length) in offsets.lengths().enumerate() {
        let range = start..start + length;
        start = range.end;
        if nulls.is_some_and(|nulls| nulls.is_null(row)) {
            out.push_null();
            continue;
        }
        out.push(|buffer| {
            buffer.push(open);
            for at in range.clone() {
                if at > range.start {
                    buffer.push_str(", ");
                }
                push(buffer, at);
            }
            buffer.push(close);
        })?;
    }
    Ok(())
}
