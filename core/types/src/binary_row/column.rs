//! Arrow columns as the row encoder sees them: downcast once, then plain slices.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ByteArrayType, Date32Type, Decimal128Type, Float32Type, Float64Type,
    Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, GenericByteArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};

use crate::arrow_types::TimestampUnit;
use crate::data_type::{DataType, TypeKind};
use crate::error::{Result, TypeError};

/// DECIMALs up to this precision and TIMESTAMPs up to this one have the whole value in the slot.
pub(super) const COMPACT_DECIMAL: u8 = 18;
pub(super) const COMPACT_TIMESTAMP: u8 = 3;

pub(super) struct Column<'a> {
    pub(super) nulls: Option<&'a NullBuffer>,
    pub(super) values: Values<'a>,
}

pub(super) enum Values<'a> {
    Boolean(&'a BooleanBuffer),
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    /// BIGINT, and timestamps of milliseconds.
    I64(&'a [i64]),
    F32(&'a [f32]),
    F64(&'a [f64]),
    CompactDecimal(&'a [i128]),
    WideDecimal(&'a [i128]),
    Micros(&'a [i64]),
    Nanos(&'a [i64]),
    Bytes(ByteRuns<'a>),
    List {
        offsets: &'a [i32],
        element: Box<Column<'a>>,
    },
    Map {
        offsets: &'a [i32],
        key: Box<Column<'a>>,
        value: Box<Column<'a>>,
    },
    Row(Vec<Column<'a>>),
    Variant {
        value: ByteRuns<'a>,
        metadata: ByteRuns<'a>,
    },
}

/// Text or bytes of all rows behind each other.
#[derive(Clone, Copy)]
pub(super) struct ByteRuns<'a> {
    offsets: &'a [i32],
    data: &'a [u8],
}

impl<'a> ByteRuns<'a> {
    fn of<T: ByteArrayType<Offset = i32>>(array: &'a GenericByteArray<T>) -> Self {
        Self {
            offsets: array.value_offsets(),
            data: array.value_data(),
        }
    }

    pub(super) fn get(&self, row: usize) -> &'a [u8] {
        let (from, to) = range(self.offsets, row);
        self.data.get(from..to).unwrap_or_default()
    }
}

/// Where the elements of `row` lie.
pub(super) fn range(offsets: &[i32], row: usize) -> (usize, usize) {
    let at = |index: usize| {
        offsets
            .get(index)
            .and_then(|offset| usize::try_from(*offset).ok())
            .unwrap_or_default()
    };
    (at(row), at(row + 1))
}

impl<'a> Column<'a> {
    pub(super) fn new(array: &'a ArrayRef, data_type: &DataType) -> Result<Self> {
        let mismatch =
            || TypeError::mismatch(format!("an array of {data_type}"), array.data_type());
        let values = match &data_type.kind {
            TypeKind::Boolean => {
                Values::Boolean(array.as_boolean_opt().ok_or_else(mismatch)?.values())
            }
            TypeKind::TinyInt => Values::I8(primitive::<Int8Type>(array).ok_or_else(mismatch)?),
            TypeKind::SmallInt => Values::I16(primitive::<Int16Type>(array).ok_or_else(mismatch)?),
            TypeKind::Int => Values::I32(primitive::<Int32Type>(array).ok_or_else(mismatch)?),
            TypeKind::Date => Values::I32(primitive::<Date32Type>(array).ok_or_else(mismatch)?),
            TypeKind::Time(_) => {
                Values::I32(primitive::<Time32MillisecondType>(array).ok_or_else(mismatch)?)
            }
            TypeKind::BigInt => Values::I64(primitive::<Int64Type>(array).ok_or_else(mismatch)?),
            TypeKind::Float => Values::F32(primitive::<Float32Type>(array).ok_or_else(mismatch)?),
            TypeKind::Double => Values::F64(primitive::<Float64Type>(array).ok_or_else(mismatch)?),
            TypeKind::Decimal { precision, .. } => {
                let values = primitive::<Decimal128Type>(array).ok_or_else(mismatch)?;
                if *precision <= COMPACT_DECIMAL {
                    Values::CompactDecimal(values)
                } else {
                    Values::WideDecimal(values)
                }
            }
            TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p) => {
                match TimestampUnit::of_precision(*p) {
                    TimestampUnit::Milli => Values::I64(
                        primitive::<TimestampMillisecondType>(array).ok_or_else(mismatch)?,
                    ),
                    TimestampUnit::Micro => Values::Micros(
                        primitive::<TimestampMicrosecondType>(array).ok_or_else(mismatch)?,
                    ),
                    TimestampUnit::Nano => Values::Nanos(
                        primitive::<TimestampNanosecondType>(array).ok_or_else(mismatch)?,
                    ),
                }
            }
            TypeKind::Char(_) | TypeKind::VarChar(_) => Values::Bytes(ByteRuns::of(
                array.as_string_opt::<i32>().ok_or_else(mismatch)?,
            )),
            TypeKind::Binary(_) | TypeKind::VarBinary(_) => Values::Bytes(ByteRuns::of(
                array.as_binary_opt::<i32>().ok_or_else(mismatch)?,
            )),
            TypeKind::Array(element) => {
                let list = array.as_list_opt::<i32>().ok_or_else(mismatch)?;
                Values::List {
                    offsets: list.value_offsets(),
                    element: Box::new(Column::new(list.values(), element)?),
                }
            }
            TypeKind::Map(key, value) => {
                let map = array.as_map_opt().ok_or_else(mismatch)?;
                Values::Map {
                    offsets: map.value_offsets(),
                    key: Box::new(Column::new(map.keys(), key)?),
                    value: Box::new(Column::new(map.values(), value)?),
                }
            }
            TypeKind::Multiset(element) => {
                let map = array.as_map_opt().ok_or_else(mismatch)?;
                Values::Map {
                    offsets: map.value_offsets(),
                    key: Box::new(Column::new(map.keys(), element)?),
                    value: Box::new(Column::new(map.values(), &DataType::int())?),
                }
            }
            TypeKind::Row(row) => {
                let columns = array.as_struct_opt().ok_or_else(mismatch)?.columns();
                if columns.len() != row.len() {
                    return Err(mismatch());
                }
                let columns = columns.iter().zip(&row.fields);
                Values::Row(
                    columns
                        .map(|(column, field)| Column::new(column, &field.data_type))
                        .collect::<Result<_>>()?,
                )
            }
            TypeKind::Variant => {
                let parts = array.as_struct_opt().ok_or_else(mismatch)?;
                let part = |name| {
                    let part = parts
                        .column_by_name(name)
                        .and_then(|part| part.as_binary_opt::<i32>());
                    part.map(ByteRuns::of).ok_or_else(mismatch)
                };
                Values::Variant {
                    value: part("value")?,
                    metadata: part("metadata")?,
                }
            }
        };
        Ok(Self {
            nulls: array.nulls(),
            values,
        })
    }

    /// One column per type, all of one length: the columns and that length.
    pub(super) fn all(columns: &'a [ArrayRef], types: &[DataType]) -> Result<(Vec<Self>, usize)> {
        if columns.len() != types.len() {
            return Err(TypeError::invalid(format!(
                "{} columns for {} types",
                columns.len(),
                types.len()
            )));
        }
        let rows = columns.first().map_or(0, |column| column.len());
        if let Some(other) = columns.iter().find(|column| column.len() != rows) {
            return Err(TypeError::invalid(format!(
                "columns of {rows} and of {} rows",
                other.len()
            )));
        }
        let columns = columns
            .iter()
            .zip(types)
            .map(|(array, data_type)| Column::new(array, data_type));
        Ok((columns.collect::<Result<_>>()?, rows))
    }

    pub(super) fn is_null(&self, row: usize) -> bool {
        // Whoever asks stays below the column's length.
        self.nulls
            .is_some_and(|nulls| row < nulls.len() && nulls.is_null(row))
    }

    /// Bytes of an element in an array.
    pub(super) fn element_width(&self) -> usize {
        match self.values {
            Values::Boolean(_) | Values::I8(_) => 1,
            Values::I16(_) => 2,
            Values::I32(_) | Values::F32(_) => 4,
            _ => 8,
        }
    }
}

fn primitive<T: ArrowPrimitiveType>(array: &ArrayRef) -> Option<&[T::Native]> {
    array
        .as_primitive_opt::<T>()
        .map(|array| &array.values()[..])
}
