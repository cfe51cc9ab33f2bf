//! The columns a file has, as a tree: what a mapping chooses from, whatever the format.
//!
//! Leaves are numbered in the order of the file; a reader decodes those that the mapping picks, and the nodes above them.

use std::ops::Range;
use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, Field, FieldRef, Fields};

/// A column of a file, or a part of one.
#[derive(Debug, Clone)]
pub(crate) struct StoredNode {
    /// Name, nullability and the type in which the node is decoded; INT96 shows as 12-byte values.
    pub(crate) field: FieldRef,
    /// Field id, if the file has one here; Avro files have none.
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
