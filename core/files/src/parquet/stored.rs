//! The columns a Parquet file has, as a tree in the order of its leaves.

use std::ops::Range;
use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, Field, FieldRef, Fields, Schema};
use parquet::arrow::parquet_to_arrow_schema;
use parquet::errors::ParquetError;
use parquet::schema::types::SchemaDescriptor;
use tidewater_types::arrow_types::FIELD_ID_KEY;

/// A column of a file, or a part of one.
#[derive(Debug, Clone)]
pub(crate) struct StoredNode {
    /// Name, nullability and the type in which the node is decoded; INT96 shows as 12-byte values.
    pub(crate) field: FieldRef,
    /// Field id, if the file has one here.
    pub(crate) id: Option<i32>,
    /// Whether the node is an INT96 leaf.
    pub(crate) int96: bool,
    /// Leaves of the file below this node.
    pub(crate) leaves: Range<usize>,
    /// Parts: members of a struct, the element of a list, key and value of a map.
    pub(crate) children: Vec<StoredNode>,
}

/// All columns of a file.
#[derive(Debug, Clone)]
pub(crate) struct StoredSchema {
    pub(crate) columns: Vec<StoredNode>,
}

impl StoredSchema {
    /// Reads the tree off a shadow schema; `int96` tells which leaves are INT96 in truth.
    pub(crate) fn new(shadow: &SchemaDescriptor, int96: &[bool]) -> Result<Self, ParquetError> {
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
        Ok(Self { columns })
    }
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

impl StoredNode {
    /// Whether the node has no parts.
    pub(crate) fn is_leaf(&self) -> bool {
        self.children.is_empty() && self.leaves.len() == 1
    }

    /// The type in which the node is decoded when only `leaves` (sorted) are read; none if none of them is below it.
    pub(crate) fn decoded_type(&self, leaves: &[usize]) -> Option<ArrowType> {
        if !leaves.iter().any(|leaf| self.leaves.contains(leaf)) {
            return None;
        }
        let part = |node: &Self| {
            let decoded = node.decoded_type(leaves)?;
            Some(Arc::new(Field::clone(&node.field).with_data_type(decoded)))
        };
        match (self.field.data_type(), self.children.as_slice()) {
            (ArrowType::Struct(_), children) => Some(ArrowType::Struct(
                children.iter().filter_map(part).collect(),
            )),
            (ArrowType::List(_), [element]) => Some(ArrowType::List(part(element)?)),
            (ArrowType::Map(entries, sorted), children) => {
                let fields: Fields = children.iter().filter_map(part).collect();
                let entries = Field::clone(entries).with_data_type(ArrowType::Struct(fields));
                Some(ArrowType::Map(Arc::new(entries), *sorted))
            }
            (leaf, _) => Some(leaf.clone()),
        }
    }
}
