//! Changelog, streaming reads of overwrites, and how long history is kept.

use super::Checked;
use crate::error::{FormatError, Result};
use crate::options::ChangelogProducer;

impl Checked<'_> {
    pub(super) fn changelog(&self) -> Result<()> {
        let producer = self.options.changelog_producer;
        if producer != ChangelogProducer::None && !self.schema.is_keyed() {
            return Err(FormatError::option_conflict(
                "changelog-producer",
                "a table without primary key has no changes to its rows",
                "define a primary key, or remove the option",
            ));
        }
        if self.options.streaming_read_overwrite {
            if !self.schema.is_keyed() {
                return Err(FormatError::option_conflict(
                    "streaming-read-overwrite",
                    "the table has no primary key",
                    "use streaming-read-append-overwrite",
                ));
            }
            if matches!(
                producer,
                ChangelogProducer::FullCompaction | ChangelogProducer::Lookup
            ) {
                return Err(FormatError::option_conflict(
                    "streaming-read-overwrite",
                    format!("with changelog-producer {producer} the changes would be read twice"),
                    "remove one of the two",
                ));
            }
        }
        if let Some(ignored) = &self
            .options
            .changelog_producer_row_deduplicate_ignore_fields
        {
            let key = "changelog-producer.row-deduplicate-ignore-fields";
            for column in ignored.names() {
                self.option_column(key, column)?;
            }
        }
        Ok(())
    }

    pub(super) fn retention(&self) -> Result<()> {
        let (min, max) = (
            self.options.snapshot_num_retained_min,
            self.options.snapshot_num_retained_max,
        );
        if min < 1 {
            return Err(FormatError::InvalidOption {
                key: "snapshot.num-retained.min".to_owned(),
                value: min.to_string(),
                expected: "at least 1: the latest snapshot is the table".to_owned(),
            });
        }
        if min > max {
            return Err(FormatError::option_conflict(
                "snapshot.num-retained.min",
                format!("{min} is more than snapshot.num-retained.max, which is {max}"),
                "lower it, or raise the maximum",
            ));
        }
        let (min, max, _) = self.options.changelog_retention();
        if self.options.changelog_num_retained_max.is_some() && min > max {
            return Err(FormatError::option_conflict(
                "changelog.num-retained.max",
                format!("{max} is less than the {min} kept at least"),
                "raise it, or set changelog.num-retained.min",
            ));
        }
        if self.options.partition_expiration_time.is_some() && self.schema.partition_keys.is_empty()
        {
            return Err(FormatError::option_conflict(
                "partition.expiration-time",
                "the table is not partitioned",
                "remove it",
            ));
        }
        Ok(())
    }
}
