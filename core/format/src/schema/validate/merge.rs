//! Merge engines, sequence fields, and options with a column's name in their key.

use std::collections::BTreeSet;

use super::Checked;
use crate::error::{FormatError, Result};
use crate::options::{
    AggregateFunction, ChangelogProducer, FILE_INDEX_TYPES, MergeEngine, index_column,
    split_fields_key, split_index_columns_key,
};

impl Checked<'_> {
    /// Columns named by `fields.…`, `file-index.…` and the like exist, and functions are known.
    pub(super) fn column_options(&self) -> Result<()> {
        for (key, text) in self.options.values() {
            if let Some((columns, suffix)) = split_fields_key(key) {
                if columns.is_empty() {
                    return Err(FormatError::option_conflict(
                        key,
                        "it names no column",
                        "write it as fields.<column>.<option>",
                    ));
                }
                for column in columns.names() {
                    self.option_column(key, column)?;
                }
                if suffix == "aggregate-function" {
                    known_function(key, text)?;
                }
            } else if let Some(index_type) = split_index_columns_key(key) {
                self.file_index(key, index_type, text)?;
            }
        }
        if let Some(function) = &self.options.fields_default_aggregate_function {
            known_function("fields.default-aggregate-function", function)?;
        }
        self.row_kind_field()?;
        self.upsert_key()
    }

    fn file_index(&self, key: &str, index_type: &str, columns: &str) -> Result<()> {
        if !FILE_INDEX_TYPES.contains(&index_type) {
            return Err(FormatError::option_conflict(
                key,
                format!("there is no index type {index_type:?}"),
                format!("use one of {}", FILE_INDEX_TYPES.join(", ")),
            ));
        }
        let names = crate::options::NameList::split(columns);
        for name in names.names() {
            self.option_column(key, index_column(name))?;
        }
        Ok(())
    }

    fn row_kind_field(&self) -> Result<()> {
        const KEY: &str = "rowkind.field";
        let Some(column) = &self.options.rowkind_field else {
            return Ok(());
        };
        let field = self.option_column(KEY, column)?;
        if field.data_type.kind.is_text() {
            return Ok(());
        }
        Err(FormatError::option_conflict(
            KEY,
            format!("column {column:?} is {}, not text", field.data_type),
            "use a STRING column that holds +I, -U, +U or -D",
        ))
    }

    fn upsert_key(&self) -> Result<()> {
        const KEY: &str = "upsert-key";
        let Some(columns) = &self.options.upsert_key else {
            return Ok(());
        };
        if self.schema.is_keyed() {
            return Err(FormatError::option_conflict(
                KEY,
                "the table has a primary key, which is what upserts go by",
                "remove it",
            ));
        }
        columns
            .names()
            .iter()
            .try_for_each(|column| self.option_column(KEY, column).map(drop))
    }

    pub(super) fn sequence_field(&self) -> Result<()> {
        const KEY: &str = "sequence.field";
        let Some(columns) = &self.options.sequence_field else {
            return Ok(());
        };
        let refuse =
            |problem: String, remedy: &str| Err(FormatError::option_conflict(KEY, problem, remedy));
        if columns.is_empty() {
            return refuse(
                "it names no column".to_owned(),
                "name columns, or remove it",
            );
        }
        let mut seen = BTreeSet::new();
        for column in columns.names() {
            let field = self.option_column(KEY, column)?;
            if !seen.insert(column) {
                return refuse(format!("column {column:?} occurs twice"), "name it once");
            }
            if !field.data_type.kind.is_ordered() {
                let kind = field.data_type.kind.name();
                let problem = format!("column {column:?} is {kind}, whose values have no order");
                return refuse(problem, "use columns of atomic types");
            }
            if self
                .options
                .column_option(column, "aggregate-function")
                .is_some()
            {
                let problem = format!("column {column:?} has an aggregate function");
                return refuse(problem, "remove one of the two");
            }
        }
        if self.schema.cross_partition_update() {
            let problem = "the primary key leaves out partition columns, so versions of a key lie in several partitions";
            return refuse(
                problem.to_owned(),
                "put all partition columns into the primary key",
            );
        }
        if self.schema.is_keyed() && self.options.merge_engine == MergeEngine::FirstRow {
            let problem = "the merge engine first-row keeps the row that came first".to_owned();
            return refuse(problem, "remove one of the two");
        }
        Ok(())
    }

    pub(super) fn merge_engine(&self) -> Result<()> {
        self.deletion_vectors()?;
        self.remove_record_options()?;
        match self.options.merge_engine {
            MergeEngine::FirstRow => self.first_row(),
            MergeEngine::PartialUpdate => self.partial_update(),
            MergeEngine::Aggregation => self.aggregation(),
            MergeEngine::Deduplicate => Ok(()),
        }
    }

    fn deletion_vectors(&self) -> Result<()> {
        if !self.options.deletion_vectors_enabled {
            return Ok(());
        }
        if self.options.changelog_producer == ChangelogProducer::FullCompaction {
            return Err(FormatError::option_conflict(
                "deletion-vectors.enabled",
                "changelog-producer is full-compaction",
                "use the producer none, input or lookup",
            ));
        }
        if self.options.merge_engine == MergeEngine::FirstRow {
            return Err(FormatError::option_conflict(
                "deletion-vectors.enabled",
                "with merge engine first-row old rows are never deleted",
                "remove it",
            ));
        }
        Ok(())
    }

    fn first_row(&self) -> Result<()> {
        match self.options.changelog_producer {
            ChangelogProducer::None | ChangelogProducer::Lookup => Ok(()),
            producer => Err(FormatError::option_conflict(
                "changelog-producer",
                format!("merge engine first-row does not go with {producer}"),
                "use none or lookup",
            )),
        }
    }

    fn remove_record_options(&self) -> Result<()> {
        const ON_DELETE: &str = "partial-update.remove-record-on-delete";
        const ON_GROUP: &str = "partial-update.remove-record-on-sequence-group";
        if self.options.merge_engine != MergeEngine::PartialUpdate {
            return Ok(());
        }
        let on_group = self
            .options
            .partial_update_remove_record_on_sequence_group
            .as_ref();
        let on_group = on_group.filter(|names| !names.is_empty());
        let on_delete = self.options.partial_update_remove_record_on_delete;
        let conflict = |key: &str, other: &str| {
            let problem = format!("it contradicts {other}");
            Err(FormatError::option_conflict(
                key,
                problem,
                "remove one of the two",
            ))
        };
        if self.options.ignore_delete && on_delete {
            return conflict(ON_DELETE, "ignore-delete");
        }
        if self.options.ignore_delete && on_group.is_some() {
            return conflict(ON_GROUP, "ignore-delete");
        }
        let groups = self.options.sequence_groups();
        if on_delete && !groups.is_empty() {
            return conflict(ON_DELETE, "the sequence groups");
        }
        for column in on_group.into_iter().flat_map(|names| names.names()) {
            if !groups
                .iter()
                .any(|(sequence, _)| sequence.names().contains(column))
            {
                return Err(FormatError::option_conflict(
                    ON_GROUP,
                    format!("column {column:?} is no sequence column of a group"),
                    "name sequence columns of fields.<columns>.sequence-group",
                ));
            }
        }
        Ok(())
    }
}

fn known_function(key: &str, function: &str) -> Result<()> {
    if AggregateFunction::parse(function).is_some() {
        return Ok(());
    }
    Err(FormatError::InvalidOption {
        key: key.to_owned(),
        value: function.to_owned(),
        expected: format!("one of {}", AggregateFunction::names()),
    })
}
