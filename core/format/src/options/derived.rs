//! Values that follow from several options, or from options and the kind of table.

use std::time::Duration;

use super::{ExternalPathStrategy, MemorySize, TableOptions};

const KEYED_TARGET_FILE_SIZE: MemorySize = MemorySize::from_mib(128);
const APPEND_TARGET_FILE_SIZE: MemorySize = MemorySize::from_mib(256);

impl TableOptions {
    /// Size from which a data file is closed; `keyed` is whether the table has a primary key.
    pub fn target_file_size_bytes(&self, keyed: bool) -> u64 {
        let default = if keyed {
            KEYED_TARGET_FILE_SIZE
        } else {
            APPEND_TARGET_FILE_SIZE
        };
        self.target_file_size.unwrap_or(default).bytes()
    }

    /// Sorted runs that start a compaction, at least 1.
    pub fn compaction_trigger(&self) -> i32 {
        self.num_sorted_run_compaction_trigger.max(1)
    }

    /// Sorted runs at which writers wait: as set or three more than the trigger, and never below it.
    pub fn stop_trigger(&self) -> i32 {
        let trigger = self.compaction_trigger();
        let stop = self
            .num_sorted_run_stop_trigger
            .unwrap_or(trigger.saturating_add(3));
        stop.max(trigger)
    }

    /// Levels of the tree, level 0 included: as set or one more than the trigger, at least 2.
    pub fn level_count(&self) -> i32 {
        let trigger = self.compaction_trigger();
        self.num_levels.unwrap_or(trigger.saturating_add(1)).max(2)
    }

    /// The highest level, where full compactions put their output.
    pub fn max_level(&self) -> i32 {
        self.level_count() - 1
    }

    /// Runs that one merge opens before the smallest are spilled.
    pub fn merge_run_limit(&self) -> i32 {
        self.sort_spill_threshold
            .unwrap_or(self.stop_trigger().saturating_add(1))
            .max(2)
    }

    /// Commits between gentle lookup compactions, never fewer than the trigger.
    pub fn lookup_compact_interval(&self) -> i32 {
        let trigger = self.compaction_trigger();
        let interval = self
            .lookup_compact_max_interval
            .unwrap_or(trigger.saturating_mul(2));
        interval.max(trigger)
    }

    /// Format of data files of a level, in lower case.
    pub fn data_file_format(&self, level: i32) -> String {
        let format = self
            .file_format_per_level
            .get(level)
            .unwrap_or(&self.file_format);
        format.to_ascii_lowercase()
    }

    /// Codec of data files of a level.
    pub fn data_file_compression(&self, level: i32) -> &str {
        self.file_compression_per_level
            .get(level)
            .unwrap_or(&self.file_compression)
    }

    /// Format of changelog files of a level, in lower case.
    pub fn changelog_format(&self, level: i32) -> String {
        match &self.changelog_file_format {
            Some(format) => format.to_ascii_lowercase(),
            None => self.data_file_format(level),
        }
    }

    /// Codec of changelog files of a level.
    pub fn changelog_compression(&self, level: i32) -> &str {
        let compression = self.changelog_file_compression.as_deref();
        compression.unwrap_or_else(|| self.data_file_compression(level))
    }

    /// Attempts of a commit after the first.
    pub fn commit_retries(&self) -> u32 {
        u32::try_from(self.commit_max_retries).unwrap_or(0)
    }

    /// Wait before a commit's next attempt, `attempt` counted from 0: doubles from the shortest to the longest wait.
    pub fn commit_retry_wait(&self, attempt: u32) -> Duration {
        let wait = self
            .commit_min_retry_wait
            .checked_mul(1_u32.checked_shl(attempt).unwrap_or(u32::MAX));
        wait.map_or(self.commit_max_retry_wait, |wait| {
            wait.min(self.commit_max_retry_wait)
        })
    }

    /// Changelogs kept at least and at most, and up to which age; as snapshots where not set.
    pub fn changelog_retention(&self) -> (i32, i32, Duration) {
        (
            self.changelog_num_retained_min
                .unwrap_or(self.snapshot_num_retained_min),
            self.changelog_num_retained_max
                .unwrap_or(self.snapshot_num_retained_max),
            self.changelog_time_retained
                .unwrap_or(self.snapshot_time_retained),
        )
    }

    /// Whether changelogs outlive their snapshots, so that they need files of their own.
    pub fn changelog_decoupled(&self) -> bool {
        let (min, max, time) = self.changelog_retention();
        min > self.snapshot_num_retained_min
            || max > self.snapshot_num_retained_max
            || time > self.snapshot_time_retained
    }

    /// Whether compaction looks up old values: lookup producer, deletion vectors, first-row, or asked for.
    pub fn needs_lookup(&self) -> bool {
        use super::{ChangelogProducer, MergeEngine};
        self.changelog_producer == ChangelogProducer::Lookup
            || self.deletion_vectors_enabled
            || self.merge_engine == MergeEngine::FirstRow
            || self.force_lookup
    }

    /// Absolute URIs that data files are written to, in order; empty if they go to the table's folder.
    ///
    /// With the strategy specific-fs only those of the scheme that is named.
    pub fn external_paths(&self) -> Vec<&str> {
        let all = self
            .data_file_external_paths
            .as_ref()
            .map_or(&[][..], super::NameList::names);
        let all = all.iter().map(|uri| uri.trim_end_matches('/'));
        match self.data_file_external_paths_strategy {
            ExternalPathStrategy::None => Vec::new(),
            ExternalPathStrategy::SpecificFs => {
                let wanted = self
                    .data_file_external_paths_specific_fs
                    .as_deref()
                    .unwrap_or_default();
                all.filter(|uri| {
                    let scheme = uri.split_once(':').map(|(scheme, _)| scheme);
                    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(wanted))
                })
                .collect()
            }
            _ => all.collect(),
        }
    }
}
