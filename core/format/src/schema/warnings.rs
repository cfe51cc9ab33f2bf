//! What is allowed in a schema but rarely meant.

use std::fmt;

use tidewater_types::TypeKind;

use super::TableSchema;

/// Something in a schema that a user should hear about when the table is made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaWarning {
    /// A FLOAT or DOUBLE column in a key: engines do not agree on the order of −0.0 and NaN (spec 02a §1.4).
    FloatKey {
        /// The column.
        column: String,
    },
}

impl fmt::Display for SchemaWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FloatKey { column } => write!(
                f,
                "key column {column:?} is a floating point number: −0.0 comes before 0.0 and all NaN are one value here, \
                 other engines may see it differently"
            ),
        }
    }
}

impl TableSchema {
    /// What should be said when a table with this schema is made.
    pub fn warnings(&self) -> Vec<SchemaWarning> {
        let key = self.key_type().fields;
        let floats = key
            .into_iter()
            .filter(|field| matches!(field.data_type.kind, TypeKind::Float | TypeKind::Double));
        floats
            .map(|field| SchemaWarning::FloatKey { column: field.name })
            .collect()
    }
}
