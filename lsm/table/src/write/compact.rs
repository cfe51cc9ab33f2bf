//! Compactions on demand, through a writer: they are committed with its next messages.
//!
//! Source: Paimon `append/AppendCompactCoordinator.java`, `flink/compact/*`; spec 02a §5.2, §5.3, 02b §3.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use tidewater_format::DataFileMeta;
use tidewater_merge::{AppendFile, PartitionCandidates, UnawareOptions};
use tidewater_store::{CommitMessage, concat_files};

use super::TableWrite;
use super::restore::{BucketKey, RestoredBuckets, restore_buckets};
use super::scope::CompactScope;
use crate::error::{Result, TableError};

/// Plans that one minor compaction of a table without buckets makes, so that a few small files are packed in the end as a
/// coordinator that runs on would pack them.
const PLANS_MAX: usize = 16;

impl TableWrite {
    /// Compacts the buckets of `scope`. `full` merges all files of each, of tables without buckets the small ones; otherwise the rules pick.
    ///
    /// What is written so far is flushed and takes part, except in tables without buckets and write-only tables: there rows have to be
    /// committed first.
    ///
    /// # Errors
    /// [`TableError::UncommittedRows`]; a scope that does not fit the table; those of reading and writing files.
    pub async fn compact(&mut self, scope: &CompactScope, full: bool) -> Result<()> {
        let scope = scope.bind(self.table.schema())?;
        let alone = self.total_buckets()? < 0 || self.context.options().write_only;
        if alone && self.pending {
            return Err(TableError::UncommittedRows);
        }
        let mut restored = restore_buckets(self.table.log(), None).await?;
        scope.retain(&mut restored.files, self.table.env().env.now_millis());
        if self.total_buckets()? < 0 {
            return self.compact_unaware(restored, full).await;
        }
        if self.context.options().write_only {
            return self.compact_beside(restored, full).await;
        }
        let mut meant: HashSet<BucketKey> = restored.files.keys().cloned().collect();
        for (key, files) in restored.files {
            if !self.writers.contains_key(&key) {
                self.open_writer(key, files, Arc::clone(&restored.schemas))?;
            }
        }
        let new = self.writers.keys().filter(|key| scope.covers_new(key));
        meant.extend(new.cloned());
        for (key, writer) in &mut self.writers {
            if meant.contains(key) {
                writer.compact(full).await?;
            }
        }
        Ok(())
    }

    /// Compacts with a writer of its own, since this one must not.
    async fn compact_beside(&mut self, restored: RestoredBuckets, full: bool) -> Result<()> {
        let options = BTreeMap::from([("write-only".to_owned(), "false".to_owned())]);
        let table = self.table.with_options(&options)?;
        let mut other = Self::open(&table, super::WriteOptions::default())?;
        match other.compact_all(restored, full).await {
            Ok(messages) => self.compacted.extend(messages),
            Err(error) => {
                // What the compactions before it had written is named by nobody.
                if let Err(left) = other.abort().await {
                    tracing::debug!(error = %left, "files of a failed compaction stay until orphans are cleaned");
                }
                return Err(error);
            }
        }
        Ok(())
    }

    async fn compact_all(
        &mut self,
        restored: RestoredBuckets,
        full: bool,
    ) -> Result<Vec<CommitMessage>> {
        for (key, files) in restored.files {
            self.open_writer(key, files, Arc::clone(&restored.schemas))?;
        }
        for writer in self.writers.values_mut() {
            writer.compact(full).await?;
        }
        self.prepare_commit(true).await
    }

    /// Compacts the files of tables without buckets, partition by partition.
    async fn compact_unaware(&mut self, restored: RestoredBuckets, full: bool) -> Result<()> {
        let mut partitions: Vec<(BucketKey, Vec<Arc<DataFileMeta>>)> =
            restored.files.into_iter().collect();
        partitions.sort_by_cached_key(|(key, _)| (key.0.to_serialized(), key.1));
        let options = UnawareOptions::from_table(self.context.options());
        for (key, mut files) in partitions {
            // Files of one writer may begin with the same number: the name makes the order repeat.
            files.sort_by(|left, right| {
                let order =
                    |file: &DataFileMeta| (file.min_sequence_number, file.creation_time_millis);
                order(left)
                    .cmp(&order(right))
                    .then_with(|| left.file_name.cmp(&right.file_name))
            });
            for group in groups(files, full, &options) {
                let message = concat_files(
                    Arc::clone(&self.context),
                    self.place(&key.0, key.1)?,
                    Arc::clone(&restored.schemas),
                    group,
                )
                .await?;
                self.compacted.push(message);
            }
        }
        Ok(())
    }
}

/// The files that are rewritten together.
fn groups(
    files: Vec<Arc<DataFileMeta>>,
    full: bool,
    options: &UnawareOptions,
) -> Vec<Vec<Arc<DataFileMeta>>> {
    let mut candidates = PartitionCandidates::default();
    let files = files.into_iter().map(|file| AppendFile { file, dv: None });
    candidates.add(files, options);
    if full {
        // Large files would come out as they went in, again with every run.
        let small = candidates
            .files()
            .iter()
            .map(|small| Arc::clone(&small.file));
        let small: Vec<_> = small.collect();
        return if small.len() > 1 {
            vec![small]
        } else {
            Vec::new()
        };
    }
    let mut groups = Vec::new();
    for _ in 0..PLANS_MAX {
        if candidates.forgotten() {
            break;
        }
        for group in candidates.plan(false, options) {
            groups.push(group.into_iter().map(|file| file.file).collect());
        }
    }
    groups
}
