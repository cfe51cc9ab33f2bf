//! Collects statistics of Arrow columns while they are written.
//!
//! Each batch yields one minimum and one maximum per column by a loop over its native values; only those two become datums.
//! Bounds stay exact until [`StatsCollector::finish`] cuts them once. Java cuts value by value, which ends at the same bounds.
//! Source: Paimon `format/SimpleStatsCollector.java`; spec 01c §5.2.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray, StringArray};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use tidewater_types::{DataType, Datum, TypeError};

use super::column::{ColumnStats, has_bounds};
use crate::error::Result;
use crate::options::StatsMode;

/// Statistics of the columns of one file in the making.
#[derive(Debug, Clone)]
pub struct StatsCollector {
    columns: Vec<CollectedColumn>,
    row_count: i64,
}

#[derive(Debug, Clone)]
struct CollectedColumn {
    data_type: DataType,
    mode: StatsMode,
    exact: ColumnStats,
}

impl StatsCollector {
    /// A collector of columns of these types, each with its mode. A mode that is missing counts as `none`.
    pub fn new(types: &[DataType], modes: &[StatsMode]) -> Self {
        let modes = modes
            .iter()
            .copied()
            .chain(std::iter::repeat(StatsMode::None));
        Self {
            columns: types
                .iter()
                .zip(modes)
                .map(|(data_type, mode)| CollectedColumn {
                    data_type: data_type.clone(),
                    mode,
                    exact: ColumnStats::of_no_rows(),
                })
                .collect(),
            row_count: 0,
        }
    }

    /// Rows taken in so far.
    pub fn row_count(&self) -> i64 {
        self.row_count
    }

    /// Takes rows in: one array per column, in the canonical Arrow types.
    ///
    /// # Errors
    /// The number of columns, a length or an Arrow type differs from what was announced.
    pub fn update(&mut self, columns: &[ArrayRef]) -> Result<()> {
        if columns.len() != self.columns.len() {
            return Err(TypeError::invalid(format!(
                "statistics of {} columns cannot take {} columns in",
                self.columns.len(),
                columns.len()
            ))
            .into());
        }
        let rows = columns.first().map_or(0, |column| column.len());
        if columns.iter().any(|column| column.len() != rows) {
            return Err(TypeError::invalid("columns of different lengths").into());
        }
        for (column, array) in self.columns.iter_mut().zip(columns) {
            column.update(array.as_ref())?;
        }
        self.row_count = self.row_count.saturating_add(count(rows));
        Ok(())
    }

    /// The statistics of all rows, cut by each column's mode.
    pub fn finish(self) -> Vec<ColumnStats> {
        self.columns
            .into_iter()
            .map(|column| column.mode.apply(column.exact, &column.data_type))
            .collect()
    }
}

impl CollectedColumn {
    fn update(&mut self, array: &dyn Array) -> Result<()> {
        if self.mode == StatsMode::None {
            return Ok(());
        }
        let nulls = count(array.logical_null_count());
        self.exact.null_count = self.exact.null_count.map(|sum| sum.saturating_add(nulls));
        if self.mode != StatsMode::Counts
            && has_bounds(&self.data_type)
            && let Some(bounds) = bounds(array)
        {
            let min = Datum::from_array(bounds.as_ref(), 0, &self.data_type)?;
            let max = Datum::from_array(bounds.as_ref(), 1, &self.data_type)?;
            self.exact.widen_bounds(&min, &max);
        }
        Ok(())
    }
}

fn count(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// An array of the least and the greatest non-null value; `None` if there is no value, or no kernel for the type.
///
/// An array of a type that is not canonical comes back whole, so that the conversion to a datum refuses it by name.
fn bounds(array: &dyn Array) -> Option<ArrayRef> {
    if array.is_empty() || array.logical_null_count() == array.len() {
        return None;
    }
    match array.data_type() {
        ArrowType::Boolean => {
            let array = array.as_boolean();
            let (trues, valid) = (array.true_count(), array.len() - array.null_count());
            Some(Arc::new(arrow_array::BooleanArray::from(vec![
                trues == valid,
                trues > 0,
            ])))
        }
        ArrowType::Int8 => primitive::<Int8Type>(array),
        ArrowType::Int16 => primitive::<Int16Type>(array),
        ArrowType::Int32 => primitive::<Int32Type>(array),
        ArrowType::Int64 => primitive::<Int64Type>(array),
        ArrowType::Date32 => primitive::<Date32Type>(array),
        ArrowType::Time32(TimeUnit::Millisecond) => primitive::<Time32MillisecondType>(array),
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
            primitive::<TimestampMillisecondType>(array)
        }
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            primitive::<TimestampMicrosecondType>(array)
        }
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
            primitive::<TimestampNanosecondType>(array)
        }
        ArrowType::Decimal128(_, _) => primitive::<Decimal128Type>(array),
        ArrowType::Float32 => floats::<Float32Type, i32>(array, f32_key, f32_of_key),
        ArrowType::Float64 => floats::<Float64Type, i64>(array, f64_key, f64_of_key),
        ArrowType::Utf8 => strings(array),
        _ => Some(array.slice(0, 1)),
    }
}

fn primitive<T: ArrowPrimitiveType>(array: &dyn Array) -> Option<ArrayRef>
where
    T::Native: Ord,
{
    let array = array.as_primitive::<T>();
    let (min, max) = min_max(array, |value| value)?;
    Some(pair(array, min, max))
}

/// Floats are compared by integers of the same order: -0.0 below 0.0, all NaNs one value above infinity.
fn floats<T: ArrowPrimitiveType, K: Ord + Copy>(
    array: &dyn Array,
    key: impl Fn(T::Native) -> K,
    of_key: impl Fn(K) -> T::Native,
) -> Option<ArrayRef> {
    let array = array.as_primitive::<T>();
    let (min, max) = min_max(array, key)?;
    Some(pair(array, of_key(min), of_key(max)))
}

fn pair<T: ArrowPrimitiveType>(
    like: &PrimitiveArray<T>,
    min: T::Native,
    max: T::Native,
) -> ArrayRef {
    let values = PrimitiveArray::<T>::from_iter_values([min, max]);
    Arc::new(values.with_data_type(like.data_type().clone()))
}

fn min_max<T: ArrowPrimitiveType, K: Ord + Copy>(
    array: &PrimitiveArray<T>,
    key: impl Fn(T::Native) -> K,
) -> Option<(K, K)> {
    fn fold<K: Ord + Copy>(mut keys: impl Iterator<Item = K>) -> Option<(K, K)> {
        let first = keys.next()?;
        Some(keys.fold((first, first), |(min, max), key| {
            (min.min(key), max.max(key))
        }))
    }
    if array.null_count() == 0 {
        fold(array.values().iter().map(|value| key(*value)))
    } else {
        fold(array.iter().flatten().map(key))
    }
}

const CANONICAL_NAN_F32: i32 = 0x7fc0_0000;
const CANONICAL_NAN_F64: i64 = 0x7ff8_0000_0000_0000;

/// Flips the magnitude bits of negative numbers, so that integers order as the floats do; its own inverse.
fn flip_f32(bits: i32) -> i32 {
    bits ^ ((bits >> 31) & i32::MAX)
}

fn f32_key(value: f32) -> i32 {
    flip_f32(if value.is_nan() {
        CANONICAL_NAN_F32
    } else {
        value.to_bits().cast_signed()
    })
}

fn f32_of_key(key: i32) -> f32 {
    f32::from_bits(flip_f32(key).cast_unsigned())
}

fn flip_f64(bits: i64) -> i64 {
    bits ^ ((bits >> 63) & i64::MAX)
}

fn f64_key(value: f64) -> i64 {
    flip_f64(if value.is_nan() {
        CANONICAL_NAN_F64
    } else {
        value.to_bits().cast_signed()
    })
}

fn f64_of_key(key: i64) -> f64 {
    f64::from_bits(flip_f64(key).cast_unsigned())
}

fn strings(array: &dyn Array) -> Option<ArrayRef> {
    let array = array.as_string::<i32>();
    let mut values = array.iter().flatten();
    let first = values.next()?;
    let (mut min, mut max) = (first, first);
    for value in values {
        // One comparison decides for most values: they lie between the bounds or above the minimum.
        if value.as_bytes().cmp(max.as_bytes()) == Ordering::Greater {
            max = value;
        } else if value.as_bytes().cmp(min.as_bytes()) == Ordering::Less {
            min = value;
        }
    }
    Some(Arc::new(StringArray::from(vec![min, max])))
}
