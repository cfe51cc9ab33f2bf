//! Which bucket a row belongs to.
//!
//! | function | bucket |
//! |---|---|
//! | default | abs(hash of the bucket key's BinaryRow % buckets) |
//! | mod | the one INT or BIGINT key modulo buckets, never negative; null is 0 |
//! | hive | Hive's row hash, without its sign, modulo buckets (2.x) |
//!
//! Source: spec 01c §4.2, §4.3; Paimon `bucket/DefaultBucketFunction.java`, `ModBucketFunction.java`, `HiveBucketFunction.java`.

mod hive;

#[cfg(test)]
mod tests;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef};

use crate::binary_row::hash_rows;
use crate::data_type::{DataType, TypeKind};
use crate::datum::{Datum, datums_to_array};
use crate::error::{Result, TypeError};

/// How the bucket key of a row becomes its bucket (option `bucket-function.type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BucketFunction {
    /// By the hash of the binary row.
    #[default]
    Default,
    /// By the remainder of one integer key.
    Mod,
    /// As Hive hashes. Paimon 1.3.1 does not know it.
    Hive,
}

impl BucketFunction {
    /// The function with this name in table options.
    ///
    /// # Errors
    /// [`TypeError::Invalid`] for other names.
    pub fn parse(name: &str) -> Result<Self> {
        match name.to_ascii_lowercase().as_str() {
            "default" => Ok(Self::Default),
            "mod" => Ok(Self::Mod),
            "hive" => Ok(Self::Hive),
            _ => Err(TypeError::invalid(format!(
                "{name:?} is not a bucket function (default, mod or hive)"
            ))),
        }
    }

    /// The name in table options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Mod => "mod",
            Self::Hive => "hive",
        }
    }

    /// Assigns a bucket to each row.
    ///
    /// `columns` are the bucket key columns in bucket-key order, in the canonical Arrow types of `types`. The answer has one
    /// entry per row, in row order, each in `0..num_buckets`. Equal keys give equal buckets in Java and here.
    ///
    /// # Errors
    /// [`TypeError::Invalid`] if `num_buckets` is not positive or there is no key column, [`TypeError::Unsupported`] for key
    /// types the function does not take, [`TypeError::TypeMismatch`] for columns of other types.
    pub fn assign(
        &self,
        columns: &[ArrayRef],
        types: &[DataType],
        num_buckets: i32,
    ) -> Result<Vec<i32>> {
        if num_buckets < 1 {
            return Err(TypeError::invalid(format!(
                "{num_buckets} buckets to assign rows to"
            )));
        }
        if columns.is_empty() {
            return Err(TypeError::invalid("a bucket key without columns"));
        }
        match self {
            Self::Default if num_buckets == 1 => {
                Ok(vec![0; columns.first().map_or(0, |column| column.len())])
            }
            Self::Default => {
                let mut buckets = hash_rows(columns, types)?;
                if num_buckets.cast_unsigned().is_power_of_two() {
                    // The remainder's size is the low bits of the hash's size; what a division would answer.
                    let mask = num_buckets - 1;
                    for bucket in &mut buckets {
                        *bucket = bucket.wrapping_abs() & mask;
                    }
                } else {
                    for bucket in &mut buckets {
                        *bucket = (*bucket % num_buckets).abs();
                    }
                }
                Ok(buckets)
            }
            Self::Mod => assign_by_remainder(columns, types, num_buckets),
            Self::Hive => {
                let mut buckets = hive::hash_rows(columns, types)?;
                for bucket in &mut buckets {
                    *bucket = (*bucket & i32::MAX) % num_buckets;
                }
                Ok(buckets)
            }
        }
    }

    /// The bucket of one row with these key values.
    ///
    /// # Errors
    /// As [`BucketFunction::assign`].
    pub fn assign_datums(
        &self,
        key: &[Datum],
        types: &[DataType],
        num_buckets: i32,
    ) -> Result<i32> {
        if key.len() != types.len() {
            return Err(TypeError::invalid(format!(
                "{} values for {} types",
                key.len(),
                types.len()
            )));
        }
        let columns = key
            .iter()
            .zip(types)
            .map(|(datum, data_type)| datums_to_array(data_type, std::slice::from_ref(datum)));
        let buckets = self.assign(&columns.collect::<Result<Vec<_>>>()?, types, num_buckets)?;
        buckets
            .first()
            .copied()
            .ok_or_else(|| TypeError::internal("a row without a bucket"))
    }
}

fn assign_by_remainder(
    columns: &[ArrayRef],
    types: &[DataType],
    num_buckets: i32,
) -> Result<Vec<i32>> {
    let ([column], [data_type]) = (columns, types) else {
        return Err(TypeError::invalid(format!(
            "the bucket function mod takes one key column, not {}",
            columns.len()
        )));
    };
    let mismatch = || TypeError::mismatch(format!("an array of {data_type}"), column.data_type());
    let null = |row: usize| column.nulls().is_some_and(|nulls| nulls.is_null(row));
    match data_type.kind {
        TypeKind::Int => {
            let values = column
                .as_primitive_opt::<Int32Type>()
                .ok_or_else(mismatch)?
                .values();
            let rows = values.iter().enumerate();
            Ok(rows
                .map(|(row, value)| {
                    if null(row) {
                        0
                    } else {
                        value.rem_euclid(num_buckets)
                    }
                })
                .collect())
        }
        TypeKind::BigInt => {
            let values = column
                .as_primitive_opt::<Int64Type>()
                .ok_or_else(mismatch)?
                .values();
            let bucket = |value: i64| {
                i32::try_from(value.rem_euclid(i64::from(num_buckets))).unwrap_or_default()
            };
            Ok(values
                .iter()
                .enumerate()
                .map(|(row, value)| if null(row) { 0 } else { bucket(*value) })
                .collect())
        }
        _ => Err(TypeError::unsupported(format!(
            "the bucket function mod on a key of type {data_type}"
        ))),
    }
}

/// Which of several parallel assigners of a dynamic-bucket table a key belongs to (spec 01c §4.4).
///
/// # Errors
/// [`TypeError::Invalid`] if either number is not positive.
pub fn dynamic_bucket_assigner(
    partition_hash: i32,
    key_hash: i32,
    num_channels: i32,
    num_assigners: i32,
) -> Result<i32> {
    if num_channels < 1 || num_assigners < 1 {
        return Err(TypeError::invalid(format!(
            "{num_channels} channels and {num_assigners} assigners"
        )));
    }
    let start = (partition_hash % num_channels).abs();
    let offset = (key_hash % num_assigners).abs();
    Ok(start.wrapping_add(offset) % num_channels)
}
