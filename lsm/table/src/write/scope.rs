//! Which buckets of a table a compaction is about.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tidewater_format::{DataFileMeta, TableSchema};
use tidewater_types::{BinaryRow, Bucket, Predicate};

use super::restore::BucketKey;
use crate::error::{Result, TableError};
use crate::scan::PartitionTest;

/// The buckets that a compaction is about: those for which all parts hold, so by default all of the table.
#[derive(Debug, Clone, Default)]
pub struct CompactScope {
    /// Only this partition.
    pub partition: Option<BinaryRow>,
    /// Only partitions for whose columns this holds.
    pub partitions: Option<Predicate>,
    /// Only this bucket of each partition.
    pub bucket: Option<Bucket>,
    /// Only partitions that got no new file for so long. Files tell the wall clock of their writer, which is UTC for ours: those that Java
    /// wrote in another zone count as older or younger by its hours (spec 01b §4.4).
    pub idle_for: Option<Duration>,
}

impl CompactScope {
    /// Looks the columns up.
    ///
    /// # Errors
    /// [`TableError::NotAPartitionColumn`] if [`CompactScope::partitions`] asks for something else.
    pub(super) fn bind(&self, schema: &TableSchema) -> Result<BoundScope<'_>> {
        let partitions = match &self.partitions {
            None => None,
            Some(predicate) => {
                let is_key = |name: &str| schema.partition_keys.iter().any(|key| key == name);
                let mut columns = predicate.columns().into_iter();
                if let Some(other) = columns.find(|name| !is_key(name)) {
                    return Err(TableError::NotAPartitionColumn {
                        column: other.to_owned(),
                    });
                }
                Some(PartitionTest::new(predicate, schema.partition_type())?)
            }
        };
        Ok(BoundScope {
            scope: self,
            partitions,
        })
    }
}

/// A scope that can be asked.
pub(super) struct BoundScope<'a> {
    scope: &'a CompactScope,
    partitions: Option<PartitionTest>,
}

impl BoundScope<'_> {
    /// Leaves the buckets that are meant, of all buckets of the table.
    pub(super) fn retain(
        &self,
        files: &mut HashMap<BucketKey, Vec<Arc<DataFileMeta>>>,
        now_millis: i64,
    ) {
        if let Some(idle_for) = self.scope.idle_for {
            let idle_for = i64::try_from(idle_for.as_millis()).unwrap_or(i64::MAX);
            let busy_since = now_millis.saturating_sub(idle_for);
            // A partition is idle as a whole or not at all.
            let busy: HashSet<BinaryRow> = files
                .iter()
                .filter(|(_, files)| {
                    let mut created = files.iter().filter_map(|file| file.creation_time_millis);
                    created.any(|created| created > busy_since)
                })
                .map(|(key, _)| key.0.clone())
                .collect();
            files.retain(|key, _| !busy.contains(&key.0));
        }
        files.retain(|key, _| self.covers(key));
    }

    /// Whether the bucket is meant, as far as its names tell.
    pub(super) fn covers(&self, key: &BucketKey) -> bool {
        let partition = self.scope.partition.as_ref();
        partition.is_none_or(|partition| *partition == key.0)
            && self.scope.bucket.is_none_or(|bucket| bucket.0 == key.1)
            && self
                .partitions
                .as_ref()
                .is_none_or(|test| test.keeps(&key.0))
    }

    /// Whether a bucket with rows that are not committed yet is meant: its partition is not idle.
    pub(super) fn covers_new(&self, key: &BucketKey) -> bool {
        self.scope.idle_for.is_none() && self.covers(key)
    }
}
