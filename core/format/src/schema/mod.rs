//! One version of a table's schema: columns with ids, keys, options.
//!
//! ```text
//!  schema-N (JSON) <--wire--> TableSchema --apply(changes)--> TableSchema N+1
//!  SchemaDefinition --create--> TableSchema 0
//! ```
//!
//! A schema is a value: to change a table, derive the next schema and write it as the next file.
//! Source: spec 01a, Paimon `schema/TableSchema.java`.

mod bucket_mode;
mod change;
mod create;
mod definition;
mod evolve;
mod field_ids;
mod system_columns;
mod validate;
mod warnings;
mod wire;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use tidewater_types::{DataField, RowType, SchemaId};

pub use bucket_mode::BucketMode;
pub use change::{ColumnPosition, SchemaChange};
pub use definition::SchemaDefinition;
pub use system_columns::{
    KEY_FIELD_PREFIX, LEVEL_COLUMN, ROW_ID_COLUMN, ROW_KIND_COLUMN, SEQUENCE_NUMBER_COLUMN,
    SYSTEM_FIELD_ID_START, VALUE_KIND_COLUMN, is_system_column, key_column_id, key_column_name,
    level_field, row_id_field, sequence_number_field, value_kind_field,
};
pub use validate::default_value;
pub use warnings::SchemaWarning;

use crate::error::{FormatError, Result};
use crate::options::{NameList, TableOptions};
use wire::Layout;

/// Version of the schema files that this build writes, and the newest that it reads.
pub const SCHEMA_VERSION: i32 = 3;

/// One version of a table's schema.
///
/// `options` holds what the user set, and for files of version 1 and 2 also what those versions implied
/// (`bucket` 1, `file.format` orc).
#[derive(Debug, Clone, PartialEq)]
pub struct TableSchema {
    /// Version of the file's layout, 1 to 3.
    pub version: i32,
    /// Id, equal to the number in the file's name.
    pub id: SchemaId,
    /// Columns in table order.
    pub fields: Vec<DataField>,
    /// The largest field id ever given, at any depth, dropped fields included.
    pub highest_field_id: i32,
    /// Partition columns, in directory order.
    pub partition_keys: Vec<String>,
    /// Primary key columns; empty for append tables.
    pub primary_keys: Vec<String>,
    /// Options as text.
    pub options: BTreeMap<String, String>,
    /// Comment of the table.
    pub comment: Option<String>,
    /// When this version was made, epoch milliseconds.
    pub time_millis: i64,
    layout: Layout,
}

impl TableSchema {
    /// The columns as a row.
    pub fn row_type(&self) -> RowType {
        RowType::new(self.fields.clone())
    }

    /// The column with this name.
    pub fn field(&self, name: &str) -> Option<&DataField> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Whether the table has a primary key.
    pub fn is_keyed(&self) -> bool {
        !self.primary_keys.is_empty()
    }

    /// The primary key without partition columns, in primary-key order: the key that files are sorted by.
    pub fn trimmed_primary_keys(&self) -> Vec<String> {
        let outside = |key: &&String| !self.partition_keys.contains(key);
        self.primary_keys.iter().filter(outside).cloned().collect()
    }

    /// Columns that are hashed to a bucket: the option `bucket-key`, or else the trimmed primary key.
    pub fn bucket_keys(&self) -> Vec<String> {
        let set = self
            .options
            .get("bucket-key")
            .map(|text| NameList::split(text));
        match set {
            Some(keys) if !keys.is_empty() => keys.names().to_vec(),
            _ => self.trimmed_primary_keys(),
        }
    }

    /// Whether rows of one key may move between partitions: the primary key leaves out a partition column.
    pub fn cross_partition_update(&self) -> bool {
        self.is_keyed()
            && !self
                .partition_keys
                .iter()
                .all(|key| self.primary_keys.contains(key))
    }

    /// How rows find their buckets.
    ///
    /// # Errors
    /// [`FormatError::InvalidOption`] if `bucket` is no number that means something.
    pub fn bucket_mode(&self) -> Result<BucketMode> {
        BucketMode::of(self)
    }

    /// The options as typed values. Parses them; keep the answer.
    ///
    /// # Errors
    /// As [`TableOptions::from_map`].
    pub fn options(&self) -> Result<TableOptions> {
        TableOptions::from_map(&self.options)
    }

    /// The partition columns, in directory order.
    pub fn partition_type(&self) -> RowType {
        self.row_of(&self.partition_keys)
    }

    /// The trimmed primary key, in key order, under the columns' own names and ids.
    pub fn key_type(&self) -> RowType {
        self.row_of(&self.trimmed_primary_keys())
    }

    /// The bucket key columns, in the order in which they are hashed.
    pub fn bucket_key_type(&self) -> RowType {
        self.row_of(&self.bucket_keys())
    }

    /// The columns with these names, in the order of the names; names that are not there are left out.
    fn row_of(&self, names: &[String]) -> RowType {
        let fields = names.iter().filter_map(|name| self.field(name)).cloned();
        RowType::new(fields.collect())
    }

    /// The columns of keyed data and changelog files: copies of the key (unless `thin`), sequence number, kind, and all
    /// columns of the table. Source: spec 02a §1.1.
    pub fn key_value_type(&self, thin: bool) -> RowType {
        let key = self.key_type().fields;
        let mut fields = Vec::with_capacity(key.len() + 2 + self.fields.len());
        if !thin {
            fields.extend(key.iter().map(system_columns::key_copy));
        }
        fields.push(sequence_number_field());
        fields.push(value_kind_field());
        fields.extend(self.fields.iter().cloned());
        RowType::new(fields)
    }

    /// The same schema with options of one job on top. Nothing is stored; the id stays.
    ///
    /// # Errors
    /// [`FormatError::OptionConflict`] for an option that no job may change: an immutable one, `bucket`, `path`;
    /// [`FormatError::InvalidOption`] for a value that is none.
    pub fn with_job_options(&self, job_options: &BTreeMap<String, String>) -> Result<Self> {
        let mut schema = self.clone();
        for (key, value) in job_options {
            TableOptions::check(key, value)?;
            let doc = TableOptions::doc(key);
            let fixed =
                doc.is_some_and(|doc| doc.immutable) || matches!(key.as_str(), "bucket" | "path");
            if fixed && self.options.get(key) != Some(value) {
                return Err(FormatError::option_conflict(
                    key,
                    "a single job cannot change it",
                    "alter the table, or leave the option out",
                ));
            }
            // A former key that is stored must not win over the key given now, and the other way round.
            if let Some(doc) = doc {
                for same in std::iter::once(&doc.key).chain(doc.aliases) {
                    schema.options.remove(*same);
                }
            }
            schema.options.insert(key.clone(), value.clone());
        }
        Ok(schema)
    }

    /// A short list of the columns for messages.
    pub(crate) fn column_names(&self) -> String {
        names_for_message(&self.fields)
    }
}

/// The names of some columns, cut after a few so that a message stays one line.
pub(crate) fn names_for_message(fields: &[DataField]) -> String {
    const SHOWN: usize = 20;
    let shown: Vec<_> = fields
        .iter()
        .take(SHOWN)
        .map(|field| field.name.as_str())
        .collect();
    match fields.len().checked_sub(SHOWN) {
        Some(more) if more > 0 => format!("{} and {more} more", shown.join(", ")),
        _ => shown.join(", "),
    }
}
