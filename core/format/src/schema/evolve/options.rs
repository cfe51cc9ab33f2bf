//! Changes of options: what is fixed once there are rows.

use super::Evolution;
use crate::error::{FormatError, Result};
use crate::options::{MergeEngine, TableKind, TableOptions};
use crate::unsupported::Unsupported;

impl Evolution<'_> {
    pub(super) fn set_option(&mut self, key: &str, value: &str) -> Result<()> {
        TableOptions::check(key, value)?;
        if key == "path" {
            return Err(FormatError::option_conflict(
                key,
                "the catalog decides where a table lies",
                "leave it out",
            ));
        }
        if key == "type" && !value.eq_ignore_ascii_case(TableKind::Table.as_str()) {
            return Err(Unsupported::other(format!("tables of type {value}")).into());
        }
        self.refuse_immutable(key)?;
        if key == "bucket" && self.has_snapshots {
            self.check_bucket_change(value)?;
        }
        // One option under one key: a former key that is set already gives way.
        if let Some(doc) = TableOptions::doc(key) {
            for same in std::iter::once(&doc.key).chain(doc.aliases) {
                if *same != key {
                    self.schema.options.remove(*same);
                }
            }
        }
        self.schema.options.insert(key.to_owned(), value.to_owned());
        Ok(())
    }

    pub(super) fn remove_option(&mut self, key: &str) -> Result<()> {
        self.refuse_immutable(key)?;
        if key == "bucket" && self.has_snapshots {
            return Err(immutable(
                key,
                "without it rows would find other buckets",
                "set it to another positive number if you mean that",
            ));
        }
        self.schema.options.remove(key);
        Ok(())
    }

    fn refuse_immutable(&self, key: &str) -> Result<()> {
        let fixed = TableOptions::doc(key).is_some_and(|doc| doc.immutable);
        if fixed && self.has_snapshots {
            return Err(immutable(
                key,
                "files were written by it",
                "make a new table with the other value",
            ));
        }
        Ok(())
    }

    /// From one positive number to another: existing partitions keep theirs until they are overwritten (01d §3.2).
    fn check_bucket_change(&self, value: &str) -> Result<()> {
        let before = self.before_options.bucket;
        let after: i32 = value.parse().unwrap_or(0);
        if before > 0 && after > 0 {
            return Ok(());
        }
        Err(immutable(
            "bucket",
            &format!("it changes only between positive numbers, not from {before} to {value}"),
            "make a new table",
        ))
    }

    /// Tables that look old values up hold complete rows above level 0, others hold parts of them: files written under
    /// one rule are misread under the other (spec 02b §4.4).
    pub(super) fn check_read_rules(&self) -> Result<()> {
        let after = self.schema.options()?;
        let folds = matches!(
            after.merge_engine,
            MergeEngine::PartialUpdate | MergeEngine::Aggregation
        );
        let changed = self.before_options.needs_lookup() != after.needs_lookup();
        if !(self.has_snapshots && self.before.is_keyed() && folds && changed) {
            return Ok(());
        }
        let key = if self.before_options.deletion_vectors_enabled == after.deletion_vectors_enabled
        {
            "changelog-producer"
        } else {
            "deletion-vectors.enabled"
        };
        Err(immutable(
            key,
            &format!(
                "with merge engine {} files written before would be read differently after",
                after.merge_engine
            ),
            "make a new table",
        ))
    }
}

fn immutable(key: &str, problem: &str, remedy: &str) -> FormatError {
    FormatError::ImmutableOption {
        key: key.to_owned(),
        problem: problem.to_owned(),
        remedy: remedy.to_owned(),
    }
}
