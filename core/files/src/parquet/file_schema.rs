//! The columns of one file that is written: their Parquet schema, what is encoded for it, and how arrays become encodable.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::TimestampNanosecondType;
use arrow_array::{Array, ArrayRef, ListArray, MapArray, StructArray};
use arrow_schema::{
    ArrowError, DataType as ArrowType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit,
};
use parquet::schema::types::SchemaDescPtr;
use tidewater_types::RowType;
use tidewater_types::arrow_types::to_arrow_field;

use super::int96::{INT96_BYTES, encode_int96, shadow_schema};
use super::schema::parquet_schema;
use crate::error::{FilesError, Result};

/// Schema of a file to be written; shared by all files of a rolling writer.
#[derive(Debug)]
pub(crate) struct FileSchema {
    schema: SchemaDescPtr,
    /// Columns whose values are encoded, by position in the row type; the others are written from the encoding of one of these.
    encoded: Vec<usize>,
    /// Per encoded column: whether an INT96 value is somewhere in it.
    int96: Vec<bool>,
    encode_arrow: SchemaRef,
    encode_schema: SchemaDescPtr,
    chunk_of_leaf: Vec<usize>,
}

impl FileSchema {
    /// A file with the columns of `row_type`. `copies` pairs a column with an earlier or later one that always holds the same values:
    /// the first is written from the second's encoding.
    pub(crate) fn new(row_type: &RowType, copies: &[(usize, usize)]) -> Result<Self> {
        let schema = parquet_schema(row_type)?;
        let copied = |column| {
            copies
                .iter()
                .find(|(copy, _)| *copy == column)
                .map(|(_, original)| *original)
        };
        let encoded: Vec<usize> = (0..row_type.len())
            .filter(|&column| copied(column).is_none())
            .collect();
        let encode_row = row_type.project(&encoded);
        let encode_schema =
            shadow_schema(&parquet_schema(&encode_row)?).map_err(|error| FilesError::Internal {
                what: format!("shadow schema: {error}"),
            })?;
        let canonical: Vec<Field> = encode_row.fields.iter().map(to_arrow_field).collect();
        let int96 = canonical
            .iter()
            .map(|field| has_nanoseconds(field.data_type()))
            .collect();
        let arrow: Vec<FieldRef> = canonical.iter().map(shadow_field).collect();
        let mut chunk_of_leaf = Vec::with_capacity(schema.num_columns());
        let mut leaf_in_column = 0;
        for leaf in 0..schema.num_columns() {
            let column = schema.get_column_root_idx(leaf);
            if leaf > 0 && schema.get_column_root_idx(leaf - 1) != column {
                leaf_in_column = 0;
            }
            let source = copied(column).unwrap_or(column);
            let root = encoded.iter().position(|&encoded| encoded == source);
            let first = (0..encode_schema.num_columns())
                .find(|&leaf| Some(encode_schema.get_column_root_idx(leaf)) == root);
            let first = first.ok_or_else(|| FilesError::Internal {
                what: "a copied column has no original".to_owned(),
            })?;
            chunk_of_leaf.push(first + leaf_in_column);
            leaf_in_column += 1;
        }
        Ok(Self {
            schema: Arc::new(schema),
            encoded,
            int96,
            encode_arrow: Arc::new(Schema::new(arrow)),
            encode_schema: Arc::new(encode_schema),
            chunk_of_leaf,
        })
    }

    /// The Parquet schema of the file.
    pub(crate) fn schema(&self) -> &SchemaDescPtr {
        &self.schema
    }

    /// Positions of the columns whose arrays the encoder takes, in that order.
    pub(crate) fn encoded_columns(&self) -> &[usize] {
        &self.encoded
    }

    pub(crate) fn encode_arrow(&self) -> &SchemaRef {
        &self.encode_arrow
    }

    pub(crate) fn encode_schema(&self) -> &SchemaDescPtr {
        &self.encode_schema
    }

    pub(crate) fn chunk_of_leaf(&self) -> &[usize] {
        &self.chunk_of_leaf
    }

    /// Whether arrays of this encoded column need [`encodable`].
    pub(crate) fn has_int96(&self, encoded_column: usize) -> bool {
        self.int96.get(encoded_column).copied().unwrap_or(false)
    }
}

fn has_nanoseconds(data_type: &ArrowType) -> bool {
    match data_type {
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => true,
        ArrowType::List(field) | ArrowType::Map(field, _) => has_nanoseconds(field.data_type()),
        ArrowType::Struct(fields) => fields
            .iter()
            .any(|field| has_nanoseconds(field.data_type())),
        _ => false,
    }
}

fn shadow_field(field: &Field) -> FieldRef {
    Arc::new(field.clone().with_data_type(shadow_type(field.data_type())))
}

fn shadow_type(data_type: &ArrowType) -> ArrowType {
    match data_type {
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => ArrowType::FixedSizeBinary(INT96_BYTES),
        ArrowType::List(field) => ArrowType::List(shadow_field(field)),
        ArrowType::Map(field, sorted) => ArrowType::Map(shadow_field(field), *sorted),
        ArrowType::Struct(fields) => {
            ArrowType::Struct(fields.iter().map(|field| shadow_field(field)).collect())
        }
        other => other.clone(),
    }
}

/// The same values with INT96 bytes in place of nanosecond timestamps, at every depth.
///
/// # Errors
/// Arrow's, if the array is not of a canonical type.
pub(crate) fn encodable(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match array.data_type() {
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
            encode_int96(array.as_primitive::<TimestampNanosecondType>())
                .map_err(ArrowError::InvalidArgumentError)
        }
        ArrowType::List(field) if has_nanoseconds(field.data_type()) => {
            let list = array.as_list::<i32>();
            let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
            let values = encodable(list.values())?;
            Ok(Arc::new(ListArray::try_new(
                shadow_field(field),
                offsets,
                values,
                nulls,
            )?))
        }
        ArrowType::Map(field, sorted) if has_nanoseconds(field.data_type()) => {
            let map = array.as_map();
            let entries: ArrayRef = Arc::new(map.entries().clone());
            let entries = encodable(&entries)?.as_struct().clone();
            let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
            Ok(Arc::new(MapArray::try_new(
                shadow_field(field),
                offsets,
                entries,
                nulls,
                *sorted,
            )?))
        }
        ArrowType::Struct(fields) if has_nanoseconds(array.data_type()) => {
            let fields: Fields = fields.iter().map(|field| shadow_field(field)).collect();
            let structs = array.as_struct();
            let columns = structs
                .columns()
                .iter()
                .map(encodable)
                .collect::<Result<Vec<_>, _>>()?;
            Ok(Arc::new(StructArray::try_new_with_length(
                fields,
                columns,
                structs.nulls().cloned(),
                structs.len(),
            )?))
        }
        _ => Ok(Arc::clone(array)),
    }
}
