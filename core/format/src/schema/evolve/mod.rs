//! The next version of a schema.
//!
//! Changes apply in order to a copy; names inside options follow renamed columns at the end, then the whole is checked as
//! a new table would be. Nothing is written here: the caller publishes the result as the next schema file, or starts
//! again from a newer schema if somebody else was faster.
//! Source: spec 01a §5, Paimon `schema/SchemaManager.java`.

mod columns;
mod options;
mod path;
mod renames;

use super::field_ids::FieldIdCounter;
use super::{SCHEMA_VERSION, SchemaChange, TableSchema, validate};
use crate::error::Result;
use crate::options::TableOptions;

/// A schema while changes are applied to it.
struct Evolution<'a> {
    /// The schema before the changes: its options rule what the changes may do.
    before: &'a TableSchema,
    before_options: TableOptions,
    schema: TableSchema,
    ids: FieldIdCounter,
    has_snapshots: bool,
    /// Top-level renames in order.
    renames: Vec<(String, String)>,
}

impl TableSchema {
    /// The schema after these changes: the next id, and `time_millis` as its time.
    ///
    /// `has_snapshots` says whether the table has any snapshot: many options are fixed from then on.
    ///
    /// # Errors
    /// What a change gets wrong, naming column or option: see the variants of [`FormatError`](crate::FormatError). Then
    /// no change applies.
    pub fn apply(
        &self,
        changes: &[SchemaChange],
        has_snapshots: bool,
        time_millis: i64,
    ) -> Result<Self> {
        let mut schema = self.clone();
        schema.version = SCHEMA_VERSION;
        schema.id = self.id.next();
        schema.time_millis = time_millis;
        schema.layout = self.layout.derived();
        let mut evolution = Evolution {
            before: self,
            before_options: self.options()?,
            schema,
            ids: FieldIdCounter::after(self.highest_field_id),
            has_snapshots,
            renames: Vec::new(),
        };
        for change in changes {
            evolution.apply(change)?;
        }
        evolution.finish()
    }
}

impl Evolution<'_> {
    fn apply(&mut self, change: &SchemaChange) -> Result<()> {
        match change {
            SchemaChange::SetOption { key, value } => self.set_option(key, value),
            SchemaChange::RemoveOption { key } => self.remove_option(key),
            SchemaChange::SetComment(comment) => {
                self.schema.comment.clone_from(comment);
                Ok(())
            }
            SchemaChange::AddColumn {
                path,
                data_type,
                description,
                position,
            } => self.add_column(path, data_type, description.as_deref(), position.as_ref()),
            SchemaChange::RenameColumn { path, to } => self.rename_column(path, to),
            SchemaChange::DropColumn { path } => self.drop_column(path),
            SchemaChange::ChangeType {
                path,
                data_type,
                keep_nullability,
            } => self.change_type(path, data_type, *keep_nullability),
            SchemaChange::ChangeNullability { path, nullable } => {
                self.change_nullability(path, *nullable)
            }
            SchemaChange::ChangeColumnComment { path, comment } => {
                self.change_comment(path, comment.as_deref())
            }
            SchemaChange::ChangeDefaultValue { path, value } => {
                self.change_default(path, value.as_deref())
            }
            SchemaChange::MoveColumn { column, position } => self.move_column(column, position),
        }
    }

    fn finish(mut self) -> Result<TableSchema> {
        self.schema.highest_field_id = self.ids.highest();
        renames::rename_in_options(&mut self.schema.options, &self.renames);
        self.schema.normalize()?;
        validate::validate(&self.schema)?;
        self.check_read_rules()?;
        Ok(self.schema)
    }
}
