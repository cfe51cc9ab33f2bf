//! One value of any type, for the reference model.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Decimal128Array, ListArray, MapArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::DataType as ArrowType;
use tidewater_types::arrow_types::to_arrow_type;
use tidewater_types::{DataType, Datum, TypeKind, datums_to_array};

use crate::error::{MergeError, Result};

/// A value, nested or not.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ModelValue {
    /// No value.
    Null,
    /// A value of an atomic type; never [`Datum::Null`].
    Atom(Datum),
    /// ARRAY.
    List(Vec<ModelValue>),
    /// MAP.
    Map(Vec<(ModelValue, ModelValue)>),
    /// ROW.
    Row(Vec<ModelValue>),
}

impl ModelValue {
    /// Whether there is no value.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The value at a row of an array in the canonical type of `data_type`.
    ///
    /// # Errors
    /// An array of another type.
    pub fn from_array(array: &dyn Array, row: usize, data_type: &DataType) -> Result<Self> {
        if array.is_null(row) {
            return Ok(Self::Null);
        }
        let wrong = || MergeError::WrongType {
            column: "of the model".to_owned(),
            function: "",
            expected: "its canonical Arrow type",
            found: array.data_type().to_string(),
        };
        Ok(match &data_type.kind {
            TypeKind::Array(element) => {
                let list = array.as_list_opt::<i32>().ok_or_else(wrong)?.value(row);
                Self::List(Self::all(&list, element)?)
            }
            TypeKind::Map(key, value) => {
                let entries = array.as_map_opt().ok_or_else(wrong)?.value(row);
                let keys = Self::all(entries.column(0), key)?;
                let values = Self::all(entries.column(1), value)?;
                Self::Map(keys.into_iter().zip(values).collect())
            }
            TypeKind::Row(fields) => {
                let columns = array.as_struct_opt().ok_or_else(wrong)?.columns();
                let values = columns.iter().zip(&fields.fields);
                let values =
                    values.map(|(column, field)| Self::from_array(column, row, &field.data_type));
                Self::Row(values.collect::<Result<_>>()?)
            }
            _ => Self::Atom(Datum::from_array(array, row, data_type)?),
        })
    }

    fn all(array: &dyn Array, data_type: &DataType) -> Result<Vec<Self>> {
        (0..array.len())
            .map(|row| Self::from_array(array, row, data_type))
            .collect()
    }

    /// An array of these values.
    ///
    /// # Errors
    /// Values of other types.
    pub fn to_array(data_type: &DataType, values: &[Self]) -> Result<ArrayRef> {
        let nulls = NullBuffer::from_iter(values.iter().map(|value| !value.is_null()));
        let nulls = (nulls.null_count() > 0).then_some(nulls);
        let arrow = to_arrow_type(data_type);
        Ok(match (&data_type.kind, arrow) {
            (TypeKind::Array(element), ArrowType::List(field)) => {
                let lists = values.iter().map(|value| match value {
                    Self::List(elements) => elements.clone(),
                    _ => Vec::new(),
                });
                let lists: Vec<Vec<Self>> = lists.collect();
                let offsets = OffsetBuffer::from_lengths(lists.iter().map(Vec::len));
                let elements = Self::to_array(element, &lists.concat())?;
                Arc::new(ListArray::try_new(field, offsets, elements, nulls)?)
            }
            (TypeKind::Map(key, value), ArrowType::Map(field, sorted)) => {
                let maps = values.iter().map(|value| match value {
                    Self::Map(entries) => entries.clone(),
                    _ => Vec::new(),
                });
                let maps: Vec<Vec<(Self, Self)>> = maps.collect();
                let offsets = OffsetBuffer::from_lengths(maps.iter().map(Vec::len));
                let (keys, items): (Vec<Self>, Vec<Self>) = maps.concat().into_iter().unzip();
                let columns = vec![Self::to_array(key, &keys)?, Self::to_array(value, &items)?];
                let fields = match field.data_type() {
                    ArrowType::Struct(fields) => fields.clone(),
                    _ => arrow_schema::Fields::empty(),
                };
                let entries = StructArray::try_new(fields, columns, None)?;
                Arc::new(MapArray::try_new(field, offsets, entries, nulls, sorted)?)
            }
            (TypeKind::Row(row), ArrowType::Struct(fields)) => {
                let mut columns = Vec::new();
                for (at, field) in row.fields.iter().enumerate() {
                    let column: Vec<Self> = values
                        .iter()
                        .map(|value| match value {
                            Self::Row(values) => values.get(at).cloned().unwrap_or(Self::Null),
                            _ => Self::Null,
                        })
                        .collect();
                    columns.push(Self::to_array(&field.data_type, &column)?);
                }
                Arc::new(StructArray::try_new(fields, columns, nulls)?)
            }
            // Sums of DECIMAL may have more digits than their type.
            (TypeKind::Decimal { .. }, arrow) => {
                let unscaled = values.iter().map(|value| match value {
                    Self::Atom(Datum::Decimal { unscaled, .. }) => Some(*unscaled),
                    _ => None,
                });
                Arc::new(Decimal128Array::from_iter(unscaled).with_data_type(arrow))
            }
            _ => {
                let datums = values.iter().map(|value| match value {
                    Self::Atom(datum) => datum.clone(),
                    _ => Datum::Null,
                });
                datums_to_array(data_type, &datums.collect::<Vec<_>>())?
            }
        })
    }
}
