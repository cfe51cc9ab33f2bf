//! What is done to a decoded array so that it becomes the asked column.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType,
};
use arrow_array::{
    Array, ArrayRef, ListArray, MapArray, PrimitiveArray, StructArray, make_array, new_null_array,
};
use arrow_buffer::NullBuffer;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType as ArrowType, FieldRef, Fields, TimeUnit};
use tidewater_types::cast::cast_array;
use tidewater_types::{DataType, TypeError};

use crate::parquet::decode_int96;

/// The steps for one column or a part of one; applied to what the decoder gives.
#[derive(Debug, Clone)]
pub(crate) enum Convert {
    /// Nothing: the type is the asked one.
    Keep,
    /// All values are null whatever is stored.
    Null(ArrowType),
    /// 12-byte values to timestamps.
    Int96(ArrowType),
    /// A conversion of Arrow that loses nothing; a value that does not fit is an error.
    Arrow(ArrowType),
    /// Times and timestamps of another unit or zone, floored.
    Rescale(ArrowType),
    /// Members by position in the decoded struct; none is a member that is not stored.
    Struct {
        fields: Fields,
        children: Vec<Option<(usize, Convert)>>,
    },
    /// Elements of a list.
    List { field: FieldRef, item: Box<Convert> },
    /// Keys and values of a map.
    Map {
        entries: FieldRef,
        key: Box<Convert>,
        value: Box<Convert>,
    },
    /// First to the type that the column had when the file was written, then as a type change casts.
    Cast {
        stored: Box<Convert>,
        from: DataType,
        to: DataType,
    },
}

/// Why a conversion stopped.
#[derive(Debug)]
pub(crate) enum ConvertError {
    /// A stored value has no place in the target.
    OutOfRange(String),
    /// The bytes cannot be what the column's type says.
    Damaged(String),
    /// A type change does not take a value.
    Cast(TypeError),
}

impl From<ArrowError> for ConvertError {
    fn from(error: ArrowError) -> Self {
        Self::Damaged(error.to_string())
    }
}

impl Convert {
    /// Whether stored values are the asked ones, so that statistics of the file speak of them.
    pub(crate) fn keeps_values(&self) -> bool {
        matches!(self, Self::Keep)
    }

    /// Applies the steps.
    pub(crate) fn apply(&self, array: &ArrayRef) -> Result<ArrayRef, ConvertError> {
        match self {
            Self::Keep => Ok(Arc::clone(array)),
            Self::Null(target) => Ok(new_null_array(target, array.len())),
            Self::Int96(target) => {
                decode_int96(array.as_fixed_size_binary(), target).map_err(ConvertError::OutOfRange)
            }
            Self::Arrow(target) => {
                let strict = CastOptions {
                    safe: false,
                    ..CastOptions::default()
                };
                Ok(cast_with_options(array, target, &strict)?)
            }
            Self::Rescale(target) => rescale(array, target),
            Self::Struct { fields, children } => {
                let structs = array.as_struct();
                let mut columns = Vec::with_capacity(children.len());
                for (field, child) in fields.iter().zip(children) {
                    let column = match child {
                        None => new_null_array(field.data_type(), structs.len()),
                        Some((position, convert)) => {
                            let stored = structs.columns().get(*position);
                            let stored = stored.ok_or_else(|| {
                                ConvertError::Damaged("a member is missing".to_owned())
                            })?;
                            convert.apply(&below(stored, structs.nulls())?)?
                        }
                    };
                    columns.push(column);
                }
                let nulls = structs.nulls().cloned();
                Ok(Arc::new(StructArray::try_new_with_length(
                    fields.clone(),
                    columns,
                    nulls,
                    structs.len(),
                )?))
            }
            Self::List { field, item } => {
                let list = array.as_list::<i32>();
                let values = item.apply(list.values())?;
                let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
                Ok(Arc::new(ListArray::try_new(
                    Arc::clone(field),
                    offsets,
                    values,
                    nulls,
                )?))
            }
            Self::Map {
                entries,
                key,
                value,
            } => {
                let map = array.as_map();
                let columns = vec![key.apply(map.keys())?, value.apply(map.values())?];
                let ArrowType::Struct(fields) = entries.data_type() else {
                    return Err(ConvertError::Damaged("a map without entries".to_owned()));
                };
                let structs = StructArray::try_new(fields.clone(), columns, None)?;
                let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
                Ok(Arc::new(MapArray::try_new(
                    Arc::clone(entries),
                    offsets,
                    structs,
                    nulls,
                    false,
                )?))
            }
            Self::Cast { stored, from, to } => {
                let stored = stored.apply(array)?;
                cast_array(&stored, from, to).map_err(ConvertError::Cast)
            }
        }
    }
}

/// A member of a struct, null wherever the struct is: what a decoder leaves below a null is no value and must not be judged as one.
fn below(member: &ArrayRef, parent: Option<&NullBuffer>) -> Result<ArrayRef, ConvertError> {
    let Some(parent) = parent.filter(|parent| parent.null_count() > 0) else {
        return Ok(Arc::clone(member));
    };
    let nulls = NullBuffer::union(Some(parent), member.nulls());
    let data = member.to_data().into_builder().nulls(nulls).build()?;
    Ok(make_array(data))
}

fn rescale(array: &ArrayRef, target: &ArrowType) -> Result<ArrayRef, ConvertError> {
    let (stored, nanos_stored) = match array.data_type() {
        ArrowType::Timestamp(unit, _) => (ArrowType::Timestamp(*unit, None), nanos(*unit)),
        ArrowType::Time64(unit) => (ArrowType::Time64(*unit), nanos(*unit)),
        other => return Err(ConvertError::Damaged(format!("{other} is no time"))),
    };
    // Zones do not change stored numbers, so all can be taken as plain 64-bit ones.
    let without_zone = array.to_data().into_builder().data_type(stored).build()?;
    let numbers = make_array(
        without_zone
            .into_builder()
            .data_type(ArrowType::Int64)
            .build()?,
    );
    let numbers = numbers.as_primitive::<arrow_array::types::Int64Type>();
    match target {
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
            scaled::<TimestampNanosecondType>(numbers, nanos_stored, 1, target)
        }
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            scaled::<TimestampMicrosecondType>(numbers, nanos_stored, 1_000, target)
        }
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
            scaled::<TimestampMillisecondType>(numbers, nanos_stored, 1_000_000, target)
        }
        ArrowType::Time32(TimeUnit::Millisecond) => {
            scaled::<Time32MillisecondType>(numbers, nanos_stored, 1_000_000, target)
        }
        other => Err(ConvertError::Damaged(format!("{other} is no time"))),
    }
}

fn nanos(unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}

fn scaled<T: ArrowPrimitiveType>(
    numbers: &PrimitiveArray<arrow_array::types::Int64Type>,
    nanos_stored: i128,
    nanos_target: i128,
    target: &ArrowType,
) -> Result<ArrayRef, ConvertError>
where
    T::Native: TryFrom<i128>,
{
    let scaled = numbers.try_unary::<_, T, ConvertError>(|number| {
        let floored = (i128::from(number) * nanos_stored).div_euclid(nanos_target);
        T::Native::try_from(floored).map_err(|_| {
            ConvertError::OutOfRange(format!("{number} is outside the range of {target}"))
        })
    })?;
    Ok(Arc::new(scaled.with_data_type(target.clone())))
}

#[cfg(test)]
mod tests {
    use arrow_array::{
        Int32Array, Int64Array, StringArray, Time32MillisecondArray, Time64MicrosecondArray,
        TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray,
    };
    use arrow_schema::Field;

    use super::*;

    fn apply(convert: &Convert, array: impl Array + 'static) -> Result<ArrayRef, ConvertError> {
        convert.apply(&(Arc::new(array) as ArrayRef))
    }

    #[test]
    fn timestamps_are_floored_to_coarser_units_and_keep_nulls() {
        let target = ArrowType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
        let stored = TimestampNanosecondArray::from(vec![Some(-1), None, Some(1_999_999)]);
        let made = apply(&Convert::Rescale(target), stored).unwrap();
        let expected =
            TimestampMillisecondArray::from(vec![Some(-1), None, Some(1)]).with_timezone("UTC");
        assert_eq!(made.as_ref(), &expected as &dyn Array);
    }

    #[test]
    fn a_timestamp_that_does_not_fit_the_finer_unit_is_an_error_and_garbage_below_nulls_is_not() {
        let target = ArrowType::Timestamp(TimeUnit::Nanosecond, None);
        let far = TimestampMicrosecondArray::from(vec![i64::MAX]);
        let error = apply(&Convert::Rescale(target.clone()), far).unwrap_err();
        assert!(matches!(error, ConvertError::OutOfRange(_)));
        let nulls = arrow_buffer::NullBuffer::from(vec![false]);
        let hidden = TimestampMicrosecondArray::new(vec![i64::MAX].into(), Some(nulls));
        assert_eq!(
            apply(&Convert::Rescale(target), hidden)
                .unwrap()
                .null_count(),
            1
        );
    }

    #[test]
    fn microseconds_of_day_become_milliseconds() {
        let target = ArrowType::Time32(TimeUnit::Millisecond);
        let made = apply(
            &Convert::Rescale(target),
            Time64MicrosecondArray::from(vec![1_999]),
        )
        .unwrap();
        assert_eq!(
            made.as_ref(),
            &Time32MillisecondArray::from(vec![1]) as &dyn Array
        );
    }

    #[test]
    fn an_integer_that_does_not_fit_is_damage() {
        let error = apply(
            &Convert::Arrow(ArrowType::Int32),
            Int64Array::from(vec![1 << 40]),
        )
        .unwrap_err();
        assert!(matches!(error, ConvertError::Damaged(_)));
    }

    #[test]
    fn a_struct_takes_members_by_position_and_nulls_for_missing_ones() {
        let stored = StructArray::from(vec![
            (
                Arc::new(Field::new("a", ArrowType::Int32, true)),
                Arc::new(Int32Array::from(vec![1, 2])) as ArrayRef,
            ),
            (
                Arc::new(Field::new("b", ArrowType::Utf8, true)),
                Arc::new(StringArray::from(vec!["x", "y"])) as ArrayRef,
            ),
        ]);
        let fields = Fields::from(vec![
            Field::new("renamed", ArrowType::Utf8, true),
            Field::new("new", ArrowType::Int64, true),
        ]);
        let children = vec![Some((1, Convert::Keep)), None];
        let made = apply(&Convert::Struct { fields, children }, stored).unwrap();
        let made = made.as_struct();
        assert_eq!(
            made.column(0).as_ref(),
            &StringArray::from(vec!["x", "y"]) as &dyn Array
        );
        assert_eq!(made.column(1).null_count(), 2);
    }
}
