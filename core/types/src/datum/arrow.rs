//! Datums out of and into Arrow arrays of the canonical types.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, BooleanArray, PrimitiveArray, new_null_array};

use super::{Datum, TimestampValue};
use crate::arrow_types::{TimestampUnit, to_arrow_type};
use crate::data_type::{DataType, TypeKind};
use crate::error::{Result, TypeError};
use crate::text::format_datum;

impl Datum {
    /// The value at `row` of an array in the canonical Arrow type of `data_type`.
    ///
    /// # Errors
    /// [`TypeError::TypeMismatch`] if the array has another type, [`TypeError::Unsupported`] for values of nested types
    /// and VARIANT (their nulls are fine), [`TypeError::Invalid`] for a row past the end.
    pub fn from_array(array: &dyn Array, row: usize, data_type: &DataType) -> Result<Datum> {
        if row >= array.len() {
            return Err(TypeError::invalid(format!(
                "row {row} of an array of {} rows",
                array.len()
            )));
        }
        if array.is_null(row) {
            return Ok(Datum::Null);
        }
        Ok(match &data_type.kind {
            TypeKind::Boolean => {
                let array = array
                    .as_boolean_opt()
                    .ok_or_else(|| mismatch(array, data_type))?;
                Datum::Boolean(array.value(row))
            }
            TypeKind::TinyInt => Datum::TinyInt(primitive::<Int8Type>(array, row, data_type)?),
            TypeKind::SmallInt => Datum::SmallInt(primitive::<Int16Type>(array, row, data_type)?),
            TypeKind::Int => Datum::Int(primitive::<Int32Type>(array, row, data_type)?),
            TypeKind::BigInt => Datum::BigInt(primitive::<Int64Type>(array, row, data_type)?),
            TypeKind::Float => Datum::Float(primitive::<Float32Type>(array, row, data_type)?),
            TypeKind::Double => Datum::Double(primitive::<Float64Type>(array, row, data_type)?),
            TypeKind::Char(_) | TypeKind::VarChar(_) => {
                let array = array
                    .as_string_opt::<i32>()
                    .ok_or_else(|| mismatch(array, data_type))?;
                Datum::String(array.value(row).to_owned())
            }
            TypeKind::Binary(_) | TypeKind::VarBinary(_) => {
                let array = array
                    .as_binary_opt::<i32>()
                    .ok_or_else(|| mismatch(array, data_type))?;
                Datum::Bytes(array.value(row).to_vec())
            }
            TypeKind::Decimal { precision, scale } => Datum::Decimal {
                unscaled: primitive::<Decimal128Type>(array, row, data_type)?,
                precision: *precision,
                scale: *scale,
            },
            TypeKind::Date => Datum::Date(primitive::<Date32Type>(array, row, data_type)?),
            TypeKind::Time(_) => {
                Datum::Time(primitive::<Time32MillisecondType>(array, row, data_type)?)
            }
            TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p) => {
                Datum::Timestamp(match TimestampUnit::of_precision(*p) {
                    TimestampUnit::Milli => {
                        TimestampValue::from_millis(primitive::<TimestampMillisecondType>(
                            array, row, data_type,
                        )?)
                    }
                    TimestampUnit::Micro => {
                        TimestampValue::from_micros(primitive::<TimestampMicrosecondType>(
                            array, row, data_type,
                        )?)
                    }
                    TimestampUnit::Nano => {
                        TimestampValue::from_nanos(primitive::<TimestampNanosecondType>(
                            array, row, data_type,
                        )?)
                    }
                })
            }
            TypeKind::Variant
            | TypeKind::Array(_)
            | TypeKind::Map(..)
            | TypeKind::Multiset(_)
            | TypeKind::Row(_) => {
                return Err(TypeError::unsupported(format!(
                    "a single value of type {data_type}"
                )));
            }
        })
    }
}

fn primitive<T: ArrowPrimitiveType>(
    array: &dyn Array,
    row: usize,
    data_type: &DataType,
) -> Result<T::Native> {
    let array = array
        .as_primitive_opt::<T>()
        .ok_or_else(|| mismatch(array, data_type))?;
    Ok(array.value(row))
}

fn mismatch(array: &dyn Array, data_type: &DataType) -> TypeError {
    TypeError::mismatch(format!("an array of {data_type}"), array.data_type())
}

/// An array in the canonical Arrow type of `data_type` with these values.
///
/// Timestamps are floored to the unit of the array. Nested types and VARIANT take nulls only.
///
/// # Errors
/// [`TypeError::TypeMismatch`] for a value of another type, [`TypeError::DoesNotFit`] for decimals of another scale or
/// with too many digits and for timestamps outside the unit's range.
pub fn datums_to_array(data_type: &DataType, datums: &[Datum]) -> Result<ArrayRef> {
    let wrong = |datum: &Datum| TypeError::mismatch(data_type, datum.type_name());
    macro_rules! primitives {
        ($arrow:ty, $variant:ident) => {
            collect::<$arrow>(datums, |datum| match datum {
                Datum::$variant(value) => Ok(*value),
                other => Err(wrong(other)),
            })?
        };
    }
    Ok(match &data_type.kind {
        TypeKind::Boolean => {
            let values = datums.iter().map(|datum| match datum {
                Datum::Null => Ok(None),
                Datum::Boolean(value) => Ok(Some(*value)),
                other => Err(wrong(other)),
            });
            Arc::new(values.collect::<Result<BooleanArray>>()?)
        }
        TypeKind::TinyInt => Arc::new(primitives!(Int8Type, TinyInt)),
        TypeKind::SmallInt => Arc::new(primitives!(Int16Type, SmallInt)),
        TypeKind::Int => Arc::new(primitives!(Int32Type, Int)),
        TypeKind::BigInt => Arc::new(primitives!(Int64Type, BigInt)),
        TypeKind::Float => Arc::new(primitives!(Float32Type, Float)),
        TypeKind::Double => Arc::new(primitives!(Float64Type, Double)),
        TypeKind::Date => Arc::new(primitives!(Date32Type, Date)),
        TypeKind::Time(_) => Arc::new(primitives!(Time32MillisecondType, Time)),
        TypeKind::Char(_) | TypeKind::VarChar(_) => {
            let mut builder = StringBuilder::with_capacity(datums.len(), 0);
            for datum in datums {
                match datum {
                    Datum::Null => builder.append_null(),
                    Datum::String(text) => builder.append_value(text),
                    other => return Err(wrong(other)),
                }
            }
            Arc::new(builder.finish())
        }
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => {
            let mut builder = BinaryBuilder::with_capacity(datums.len(), 0);
            for datum in datums {
                match datum {
                    Datum::Null => builder.append_null(),
                    Datum::Bytes(bytes) => builder.append_value(bytes),
                    other => return Err(wrong(other)),
                }
            }
            Arc::new(builder.finish())
        }
        TypeKind::Decimal { precision, scale } => {
            let array = collect::<Decimal128Type>(datums, |datum| match datum {
                Datum::Decimal { unscaled, .. } if datum.is_of(data_type) => Ok(*unscaled),
                Datum::Decimal { .. } => Err(does_not_fit(datum, data_type)),
                other => Err(wrong(other)),
            })?;
            Arc::new(array.with_precision_and_scale(*precision, scale.cast_signed())?)
        }
        TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p) => {
            let zone = matches!(data_type.kind, TypeKind::TimestampLtz(_)).then_some("UTC");
            let value = |datum: &Datum, convert: fn(TimestampValue) -> Option<i64>| match datum {
                Datum::Timestamp(value) => {
                    convert(*value).ok_or_else(|| does_not_fit(datum, data_type))
                }
                other => Err(wrong(other)),
            };
            match TimestampUnit::of_precision(*p) {
                TimestampUnit::Milli => Arc::new(
                    collect::<TimestampMillisecondType>(datums, |datum| {
                        value(datum, |v| Some(v.millis))
                    })?
                    .with_timezone_opt(zone),
                ),
                TimestampUnit::Micro => Arc::new(
                    collect::<TimestampMicrosecondType>(datums, |datum| {
                        value(datum, TimestampValue::to_micros)
                    })?
                    .with_timezone_opt(zone),
                ),
                TimestampUnit::Nano => Arc::new(
                    collect::<TimestampNanosecondType>(datums, |datum| {
                        value(datum, TimestampValue::to_nanos)
                    })?
                    .with_timezone_opt(zone),
                ),
            }
        }
        TypeKind::Variant
        | TypeKind::Array(_)
        | TypeKind::Map(..)
        | TypeKind::Multiset(_)
        | TypeKind::Row(_) => match datums.iter().find(|datum| !datum.is_null()) {
            Some(datum) => return Err(wrong(datum)),
            None => new_null_array(&to_arrow_type(data_type), datums.len()),
        },
    })
}

fn collect<T: ArrowPrimitiveType>(
    datums: &[Datum],
    value: impl Fn(&Datum) -> Result<T::Native>,
) -> Result<PrimitiveArray<T>> {
    let values = datums.iter().map(|datum| match datum {
        Datum::Null => Ok(None),
        datum => value(datum).map(Some),
    });
    values.collect()
}

fn does_not_fit(datum: &Datum, data_type: &DataType) -> TypeError {
    TypeError::DoesNotFit {
        value: format_datum(datum, data_type),
        data_type: data_type.to_string(),
    }
}
