//! The columns a Parquet file has, as a tree in the order of its leaves.

use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, FieldRef, Schema};
use parquet::arrow::parquet_to_arrow_schema;
use parquet::errors::ParquetError;
use parquet::schema::types::SchemaDescriptor;
use tidewater_types::arrow_types::FIELD_ID_KEY;

use crate::mapping::{StoredNode, StoredSchema};

/// Reads the tree off a shadow schema; `int96` tells which leaves are INT96 in truth.
pub(crate) fn stored_schema(
    shadow: &SchemaDescriptor,
    int96: &[bool],
) -> Result<StoredSchema, ParquetError> {
    let arrow: Schema = parquet_to_arrow_schema(shadow, None)?;
    let mut next_leaf = 0;
    let columns: Vec<_> = arrow
        .fields()
        .iter()
        .map(|field| node(field, int96, &mut next_leaf))
        .collect();
    if next_leaf != shadow.num_columns() {
        return Err(ParquetError::General(format!(
            "{next_leaf} leaves in a schema of {}",
            shadow.num_columns()
        )));
    }
    Ok(StoredSchema { columns })
}

fn node(field: &FieldRef, int96: &[bool], next_leaf: &mut usize) -> StoredNode {
    let first_leaf = *next_leaf;
    let mut inside = |fields: &[FieldRef]| -> Vec<StoredNode> {
        fields
            .iter()
            .map(|field| node(field, int96, next_leaf))
            .collect()
    };
    let children = match field.data_type() {
        ArrowType::Struct(fields) => inside(fields),
        ArrowType::List(element) => inside(std::slice::from_ref(element)),
        ArrowType::Map(entries, _) => match entries.data_type() {
            ArrowType::Struct(fields) => inside(fields),
            _ => Vec::new(),
        },
        _ => {
            *next_leaf += 1;
            Vec::new()
        }
    };
    StoredNode {
        field: Arc::clone(field),
        id: field
            .metadata()
            .get(FIELD_ID_KEY)
            .and_then(|id| id.parse().ok()),
        int96: children.is_empty() && int96.get(first_leaf).copied().unwrap_or(false),
        leaves: first_leaf..*next_leaf,
        children,
    }
}
