//! INT96 timestamps, which the Arrow side of the `parquet` crate cannot write and reads with wrap-around.
//!
//! ```text
//!  12 bytes: i64 LE nanoseconds of the day | i32 LE Julian day (1970-01-01 = 2440588)
//! ```
//!
//! A page of INT96 values has the same bytes as a page of 12-byte fixed-length values, so both directions go through a
//! *shadow* schema in which every INT96 leaf is `fixed_len_byte_array(12)`; only the footer tells the two apart.
//! Java writes instants before 1970 with negative nanoseconds of day; reading adds day and nanoseconds exactly, writing floors.
//! Source: spec 01e §1.

use std::sync::Arc;

use arrow_array::builder::PrimitiveBuilder;
use arrow_array::types::{
    ArrowTimestampType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, PrimitiveArray};
use arrow_buffer::Buffer;
use arrow_schema::{DataType as ArrowType, TimeUnit};
use parquet::basic::Type as PhysicalType;
use parquet::errors::ParquetError;
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

/// Bytes of one value.
pub(crate) const INT96_BYTES: i32 = 12;
const JULIAN_DAY_OF_EPOCH: i64 = 2_440_588;
const NANOS_PER_DAY: i64 = 86_400_000_000_000;

/// Which leaves of a schema are INT96, by leaf index.
pub(crate) fn int96_leaves(schema: &SchemaDescriptor) -> Vec<bool> {
    schema
        .columns()
        .iter()
        .map(|column| column.physical_type() == PhysicalType::INT96)
        .collect()
}

/// The same schema with 12-byte fixed-length leaves in place of INT96.
pub(crate) fn shadow_schema(schema: &SchemaDescriptor) -> Result<SchemaDescriptor, ParquetError> {
    Ok(SchemaDescriptor::new(shadow_type(
        &schema.root_schema_ptr(),
    )?))
}

fn shadow_type(node: &TypePtr) -> Result<TypePtr, ParquetError> {
    let info = node.get_basic_info();
    match node.as_ref() {
        Type::PrimitiveType {
            physical_type: PhysicalType::INT96,
            ..
        } => {
            let leaf =
                Type::primitive_type_builder(node.name(), PhysicalType::FIXED_LEN_BYTE_ARRAY)
                    .with_length(INT96_BYTES)
                    .with_repetition(info.repetition())
                    .with_id(info.has_id().then(|| info.id()));
            leaf.build().map(Arc::new)
        }
        Type::PrimitiveType { .. } => Ok(Arc::clone(node)),
        Type::GroupType { fields, .. } => {
            let fields = fields
                .iter()
                .map(shadow_type)
                .collect::<Result<Vec<_>, _>>()?;
            let mut group = Type::group_type_builder(node.name())
                .with_logical_type(info.logical_type_ref().cloned())
                .with_converted_type(info.converted_type())
                .with_id(info.has_id().then(|| info.id()))
                .with_fields(fields);
            if info.has_repetition() {
                group = group.with_repetition(info.repetition());
            }
            group.build().map(Arc::new)
        }
    }
}

/// Nanosecond timestamps as 12-byte values.
///
/// # Errors
/// A sentence, if the array is of another type.
pub(crate) fn encode_int96(array: &dyn Array) -> Result<ArrayRef, String> {
    let Some(timestamps) = array
        .as_any()
        .downcast_ref::<PrimitiveArray<TimestampNanosecondType>>()
    else {
        return Err(format!(
            "expected a timestamp of nanoseconds, found {}",
            array.data_type()
        ));
    };
    let mut bytes = Vec::with_capacity(array.len() * 12);
    for &nanos in timestamps.values() {
        // 2^63 ns are 106752 days, so the day always fits.
        let day = nanos.div_euclid(NANOS_PER_DAY) + JULIAN_DAY_OF_EPOCH;
        bytes.extend_from_slice(&nanos.rem_euclid(NANOS_PER_DAY).to_le_bytes());
        bytes.extend_from_slice(&i32::try_from(day).unwrap_or_default().to_le_bytes());
    }
    let encoded =
        FixedSizeBinaryArray::try_new(INT96_BYTES, Buffer::from_vec(bytes), array.nulls().cloned());
    encoded
        .map(|array| Arc::new(array) as ArrayRef)
        .map_err(|error| error.to_string())
}

/// 12-byte values as timestamps of the asked unit and zone, floored to the unit.
///
/// # Errors
/// A sentence with the value, if one does not fit 64 bits of that unit, or if `target` is no timestamp.
pub(crate) fn decode_int96(
    array: &FixedSizeBinaryArray,
    target: &ArrowType,
) -> Result<ArrayRef, String> {
    match target {
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
            decode::<TimestampNanosecondType>(array, target, 1)
        }
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            decode::<TimestampMicrosecondType>(array, target, 1_000)
        }
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
            decode::<TimestampMillisecondType>(array, target, 1_000_000)
        }
        other => Err(format!("int96 cannot be read as {other}")),
    }
}

fn decode<T: ArrowTimestampType>(
    array: &FixedSizeBinaryArray,
    target: &ArrowType,
    nanos_per_unit: i128,
) -> Result<ArrayRef, String> {
    if array.value_length() != INT96_BYTES {
        return Err(format!("int96 values of {} bytes", array.value_length()));
    }
    let mut timestamps =
        PrimitiveBuilder::<T>::with_capacity(array.len()).with_data_type(target.clone());
    for row in 0..array.len() {
        if array.is_null(row) {
            timestamps.append_null();
            continue;
        }
        let (nanos_of_day, day) = parts(array.value(row));
        let days = i128::from(day) - i128::from(JULIAN_DAY_OF_EPOCH);
        let nanos = days * i128::from(NANOS_PER_DAY) + i128::from(nanos_of_day);
        let value = i64::try_from(nanos.div_euclid(nanos_per_unit)).map_err(|_| {
            format!("row {row}: Julian day {day} with {nanos_of_day} ns of day is outside the range of {target}")
        })?;
        timestamps.append_value(value);
    }
    Ok(Arc::new(timestamps.finish()))
}

fn parts(value: &[u8]) -> (i64, i32) {
    let (nanos, day) = value.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
    (
        i64::from_le_bytes(*nanos),
        day.first_chunk::<4>()
            .map_or(0, |day| i32::from_le_bytes(*day)),
    )
}

#[cfg(test)]
mod tests {
    use arrow_array::{TimestampMicrosecondArray, TimestampNanosecondArray};
    use proptest::prelude::*;

    use super::*;

    fn raw(nanos_of_day: i64, day: i32) -> FixedSizeBinaryArray {
        let mut bytes = nanos_of_day.to_le_bytes().to_vec();
        bytes.extend_from_slice(&day.to_le_bytes());
        FixedSizeBinaryArray::try_new(12, Buffer::from_vec(bytes), None).unwrap()
    }

    fn nanosecond() -> ArrowType {
        ArrowType::Timestamp(TimeUnit::Nanosecond, None)
    }

    #[test]
    fn java_writes_instants_before_1970_with_negative_nanos_of_day() {
        let decoded = decode_int96(&raw(-1_000_000, 2_440_588), &nanosecond()).unwrap();
        assert_eq!(
            decoded.as_ref(),
            &TimestampNanosecondArray::from(vec![-1_000_000]) as &dyn Array
        );
    }

    #[test]
    fn we_write_instants_before_1970_floored() {
        let encoded = encode_int96(&TimestampNanosecondArray::from(vec![-1_000_000])).unwrap();
        assert_eq!(
            encoded.as_ref(),
            &raw(NANOS_PER_DAY - 1_000_000, 2_440_587) as &dyn Array
        );
    }

    #[test]
    fn the_range_of_64_bit_nanoseconds_is_a_sharp_edge() {
        let last = i64::MAX.div_euclid(NANOS_PER_DAY);
        let day = i32::try_from(last + JULIAN_DAY_OF_EPOCH).unwrap();
        let nanos_of_day = i64::MAX.rem_euclid(NANOS_PER_DAY);
        let decoded = decode_int96(&raw(nanos_of_day, day), &nanosecond()).unwrap();
        assert_eq!(
            decoded.as_ref(),
            &TimestampNanosecondArray::from(vec![i64::MAX]) as &dyn Array
        );
        let error = decode_int96(&raw(nanos_of_day + 1, day), &nanosecond()).unwrap_err();
        assert!(error.contains("outside the range"), "{error}");
    }

    #[test]
    fn a_coarser_unit_is_floored_and_reaches_further() {
        let microsecond = ArrowType::Timestamp(TimeUnit::Microsecond, None);
        let decoded = decode_int96(&raw(-1, 2_440_588), &microsecond).unwrap();
        assert_eq!(
            decoded.as_ref(),
            &TimestampMicrosecondArray::from(vec![-1]) as &dyn Array
        );
        assert!(decode_int96(&raw(0, 5_000_000), &microsecond).is_ok());
    }

    proptest! {
        /// Encoding and decoding give back every nanosecond and every null.
        #[test]
        fn nanoseconds_survive(values in prop::collection::vec(any::<Option<i64>>(), 0..50)) {
            let array = TimestampNanosecondArray::from(values);
            let encoded = encode_int96(&array).unwrap();
            let encoded = encoded.as_any().downcast_ref::<FixedSizeBinaryArray>().unwrap();
            let decoded = decode_int96(encoded, &nanosecond()).unwrap();
            prop_assert_eq!(decoded.as_ref(), &array as &dyn Array);
        }
    }
}
