//! Batches of other programs as batches of a table's row type.
//!
//! Nothing is lost on the way: a value that the target cannot hold is an error that names column, row and value. A column
//! that already has the canonical type is taken over without a copy.
//!
//! ```text
//!  any Arrow array -- plain: no dictionary, view, run ends, large offsets -- atomic: `values`; nested: here, recursively
//! ```

mod misfit;
mod plain;
mod values;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, ListArray, MapArray, RecordBatch, RecordBatchOptions, StructArray,
    new_null_array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType as ArrowType, Fields};

use super::{to_arrow_schema, to_arrow_type};
use crate::data_type::{DataType, TypeKind};
use crate::error::{Result, TypeError};
use crate::row_type::RowType;
use crate::variant::json_to_variant;
use misfit::Misfit;

/// Outcome inside: the misfit has no column yet.
type Fit<T> = std::result::Result<T, Misfit>;

/// The batch with the columns of `row_type`, in its order, in the canonical Arrow types, matched by name.
///
/// Columns the batch lacks are null. Values are converted where that loses nothing: integers of any width and sign, decimals
/// of any width, floats that the narrower type holds exactly, times and timestamps of any unit, text that reads as the type
/// (see [`crate::text::parse_datum`]), JSON text as VARIANT. Timestamps without a zone and in UTC are each other's; another
/// zone fits TIMESTAMP_LTZ only.
///
/// # Errors
/// [`TypeError::ColumnValue`] for a value that does not fit, [`TypeError::ColumnNull`] for a null in a NOT NULL column (a
/// missing one too), [`TypeError::Column`] around [`TypeError::TypeMismatch`] for a type that never converts and around
/// [`TypeError::Invalid`] for a column that the table does not have or the batch has twice.
pub fn coerce_batch(batch: &RecordBatch, row_type: &RowType) -> Result<RecordBatch> {
    let schema = batch.schema_ref();
    for (index, field) in schema.fields().iter().enumerate() {
        let twice = schema
            .fields()
            .iter()
            .take(index)
            .any(|other| other.name() == field.name());
        if twice || row_type.index_of(field.name()).is_none() {
            let what = if twice {
                "the batch has it twice"
            } else {
                "the table has no such column"
            };
            return Err(TypeError::invalid(what).in_column(field.name()));
        }
    }
    let rows = batch.num_rows();
    let columns = row_type.fields.iter().map(|field| {
        let column = batch.column_by_name(&field.name);
        let column = member(column, rows, None, &field.data_type);
        column.map_err(|misfit| misfit.into_error(&field.name))
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(
        to_arrow_schema(row_type),
        columns,
        &options,
    )?)
}

/// A column of a batch or a field of a struct: nulls if it is missing; nulls of its parent are its own.
fn member(
    array: Option<&ArrayRef>,
    rows: usize,
    parent: Option<&NullBuffer>,
    data_type: &DataType,
) -> Fit<ArrayRef> {
    let array = match array {
        Some(array) => coerce(array, parent, data_type)?,
        None => new_null_array(&to_arrow_type(data_type), rows),
    };
    if !data_type.nullable {
        // Rows whose parent is null have no value here and need none.
        let is_null =
            |row: &usize| array.is_null(*row) && parent.is_none_or(|parent| parent.is_valid(*row));
        if array.null_count() > 0
            && let Some(row) = (0..rows).find(is_null)
        {
            return Err(Misfit::null(row));
        }
    }
    Ok(array)
}

/// `outer`: rows that are null whatever the array says; their values are not looked at.
fn coerce(array: &ArrayRef, outer: Option<&NullBuffer>, data_type: &DataType) -> Fit<ArrayRef> {
    let target = to_arrow_type(data_type);
    if array.data_type() == &target && !data_type.is_nested() {
        return Ok(Arc::clone(array));
    }
    let array = plain::plain(array)?;
    if matches!(array.data_type(), ArrowType::Null) {
        return Ok(new_null_array(&target, array.len()));
    }
    let nulls = NullBuffer::union(array.nulls(), outer);
    match (&data_type.kind, target) {
        (TypeKind::Array(element), ArrowType::List(field)) => {
            let (list, offsets) = plain::compact_list(&array, nulls.as_ref())
                .ok_or_else(|| mismatch(&array, data_type))?;
            let elements = member(Some(&list), list.len(), None, element);
            let elements =
                elements.map_err(|misfit| misfit.inside("element", |at| row_of(&offsets, at)))?;
            Ok(Arc::new(ListArray::try_new(
                field, offsets, elements, nulls,
            )?))
        }
        (TypeKind::Map(..) | TypeKind::Multiset(_), ArrowType::Map(field, sorted)) => {
            let counts = DataType::int().not_null();
            let (key, value) = match &data_type.kind {
                TypeKind::Map(key, value) => (&**key, &**value),
                TypeKind::Multiset(element) => (&**element, &counts),
                _ => return Err(TypeError::internal("a map type that is none").into()),
            };
            let (entries, offsets) = plain::compact_map(&array, nulls.as_ref())
                .ok_or_else(|| mismatch(&array, data_type))?;
            let part = |index: usize, name: &str, data_type: &DataType| {
                let part = member(entries.columns().get(index), entries.len(), None, data_type);
                part.map_err(|misfit| misfit.inside(name, |at| row_of(&offsets, at)))
            };
            let columns = vec![
                part(0, "key", &key.clone().not_null())?,
                part(1, "value", value)?,
            ];
            let ArrowType::Struct(fields) = field.data_type().clone() else {
                return Err(TypeError::internal("map entries that are no struct").into());
            };
            let entries = StructArray::try_new(fields, columns, None)?;
            Ok(Arc::new(MapArray::try_new(
                field, offsets, entries, nulls, sorted,
            )?))
        }
        (TypeKind::Row(row), ArrowType::Struct(fields)) => {
            let found = array
                .as_struct_opt()
                .ok_or_else(|| mismatch(&array, data_type))?;
            if let Some(extra) = found
                .fields()
                .iter()
                .find(|field| row.index_of(field.name()).is_none())
            {
                let error = TypeError::invalid("the table has no such field");
                return Err(Misfit::from(error).inside(extra.name(), |row| row));
            }
            let columns = row.fields.iter().map(|field| {
                let column = found.column_by_name(&field.name);
                let column = member(column, found.len(), nulls.as_ref(), &field.data_type);
                column.map_err(|misfit| misfit.inside(&field.name, |row| row))
            });
            let columns = columns.collect::<Fit<Vec<_>>>()?;
            struct_array(fields, columns, nulls, found.len())
        }
        (TypeKind::Variant, ArrowType::Struct(fields)) => variant(&array, fields, nulls, data_type),
        _ => values::convert(&array, nulls.as_ref(), data_type),
    }
}

fn struct_array(
    fields: Fields,
    columns: Vec<ArrayRef>,
    nulls: Option<NullBuffer>,
    len: usize,
) -> Fit<ArrayRef> {
    Ok(Arc::new(StructArray::try_new_with_length(
        fields, columns, nulls, len,
    )?))
}

/// From JSON text, or from a struct of the two byte columns in any order.
fn variant(
    array: &ArrayRef,
    fields: Fields,
    nulls: Option<NullBuffer>,
    data_type: &DataType,
) -> Fit<ArrayRef> {
    let bytes = DataType::bytes();
    let columns: Vec<ArrayRef> = if let Some(parts) = array.as_struct_opt() {
        if parts.num_columns() != 2 {
            return Err(mismatch(array, data_type).into());
        }
        let part = |name: &str| {
            let part = parts
                .column_by_name(name)
                .ok_or_else(|| Misfit::from(mismatch(array, data_type)))?;
            let part = coerce(part, nulls.as_ref(), &bytes)?;
            // Below a null the library wants bytes all the same.
            plain::without_nulls(&part, nulls.as_ref())
                .ok_or_else(|| Misfit::from(mismatch(array, data_type)))
        };
        vec![part("value")?, part("metadata")?]
    } else {
        let texts = array
            .as_string_opt::<i32>()
            .ok_or_else(|| mismatch(array, data_type))?;
        let mut values = arrow_array::builder::BinaryBuilder::with_capacity(
            texts.len(),
            texts.value_data().len(),
        );
        let mut metadata = arrow_array::builder::BinaryBuilder::with_capacity(texts.len(), 0);
        for row in 0..texts.len() {
            if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                values.append_value([]);
                metadata.append_value([]);
                continue;
            }
            let json = texts.value(row);
            let (value, names) =
                json_to_variant(json).map_err(|_| Misfit::value(row, json, data_type))?;
            values.append_value(value);
            metadata.append_value(names);
        }
        vec![Arc::new(values.finish()), Arc::new(metadata.finish())]
    };
    struct_array(fields, columns, nulls, array.len())
}

/// The row whose elements hold the one at `at`.
fn row_of(offsets: &OffsetBuffer<i32>, at: usize) -> usize {
    let at = i32::try_from(at).unwrap_or(i32::MAX);
    offsets
        .partition_point(|offset| *offset <= at)
        .saturating_sub(1)
}

fn mismatch(array: &dyn Array, data_type: &DataType) -> TypeError {
    TypeError::mismatch(data_type, array.data_type())
}
