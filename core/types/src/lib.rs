//! Data types, values and rows of the table format, free of IO.
//!
//! Paths through the crate:
//!
//! - A column is a [`DataField`] in a [`RowType`]; its type is a [`DataType`] (`data_type/`), read from and written to the
//!   JSON of schema files.
//! - In memory rows are Arrow batches in the canonical types of [`arrow_types`].
//! - In metadata rows are [`BinaryRow`]s (`binary_row/`); their hash decides the bucket ([`BucketFunction`]), their values
//!   name the partition's directory ([`partition`]).
//! - Single values (bounds, literals, partition values) are [`Datum`]s (`datum/`); [`text`] writes and reads them.

mod binary_row;
mod bucket;
mod data_type;
mod datum;
mod error;
mod ids;
mod key;
mod predicate;
mod row_kind;
mod row_type;

pub mod arrow_types;
pub mod cast;
pub mod murmur;
pub mod partition;
pub mod text;
pub mod variant;

#[cfg(test)]
mod test_vectors;

pub use binary_row::{
    ArrayView, BinaryRow, BinaryRowWriter, BinaryRows, MapView, RowView, Slot, decode_rows,
    encode_rows, hash_rows,
};
pub use bucket::{BucketFunction, dynamic_bucket_assigner};
pub use cast::{can_cast, cast_array, java_double_to_string, java_float_to_string};
pub use data_type::{DataType, MAX_DECIMAL_PRECISION, MAX_LENGTH, MAX_TIME_PRECISION, TypeKind};
pub use datum::{Datum, TimestampValue, datums_to_array};
pub use error::{ErrorKind, Result, TypeError};
pub use ids::{Bucket, SchemaId, SnapshotId};
pub use key::{KeyEncoder, Keys, SequenceOrder, sort_indices, sort_indices_with_sequence};
pub use predicate::{ColumnStat, MAX_PREDICATE_DEPTH, Predicate, PredicateOp, StatsSource};
pub use row_kind::RowKind;
pub use row_type::{DataField, RowType};
