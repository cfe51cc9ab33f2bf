//! Append tables with buckets: a window over the files in write order.
//!
//! Source: spec 02a §5.2; Paimon `append/BucketedAppendCompactManager.java`.

use std::collections::VecDeque;
use std::sync::Arc;

use tidewater_format::{DataFileMeta, TableOptions};

use crate::sorted_run::file_size;

/// Options of bucketed append compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BucketedAppendOptions {
    /// `target-file-size`.
    pub target_file_size: u64,
    /// `compaction.min.file-num`.
    pub min_file_num: usize,
    /// `compaction.force-rewrite-all-files`.
    pub force_rewrite_all_files: bool,
}

impl BucketedAppendOptions {
    /// What the table asks for.
    pub fn from_table(options: &TableOptions) -> Self {
        Self {
            target_file_size: options.target_file_size_bytes(false),
            min_file_num: usize::try_from(options.compaction_min_file_num)
                .unwrap_or_default()
                .max(1),
            force_rewrite_all_files: options.compaction_force_rewrite_all_files,
        }
    }
}

/// Files a full compaction needs before it does anything, unless it must.
const FULL_FILES_MIN: usize = 3;

/// The files of one bucket that may still be compacted, as one writer sees them.
#[derive(Debug)]
pub struct BucketedAppendCompaction {
    options: BucketedAppendOptions,
    /// Ascending by smallest sequence number: write order.
    candidates: VecDeque<Arc<DataFileMeta>>,
}

impl BucketedAppendCompaction {
    /// Starts with the live files of the bucket, in any order.
    pub fn new(mut files: Vec<Arc<DataFileMeta>>, options: BucketedAppendOptions) -> Self {
        files.sort_by_key(|file| file.min_sequence_number);
        Self {
            options,
            candidates: files.into(),
        }
    }

    /// Takes note of a file that was just written: the newest of the bucket.
    pub fn add(&mut self, file: Arc<DataFileMeta>) {
        let place = self
            .candidates
            .partition_point(|held| held.min_sequence_number <= file.min_sequence_number);
        self.candidates.insert(place, file);
    }

    /// The files that may be picked, in write order.
    pub fn candidates(&self) -> impl Iterator<Item = &Arc<DataFileMeta>> {
        self.candidates.iter()
    }

    /// The next automatic compaction, after a flush and while no task runs: neighbours to concatenate, in order.
    ///
    /// Files are taken out of the candidates. Those that a window of enough bytes leaves behind are gone too: they
    /// are not looked at again until the writer restarts.
    pub fn auto_pick(&mut self) -> Option<Vec<Arc<DataFileMeta>>> {
        let mut window: VecDeque<Arc<DataFileMeta>> = VecDeque::new();
        let mut bytes = 0u64;
        while let Some(file) = self.candidates.pop_front() {
            bytes = bytes.saturating_add(file_size(&file));
            window.push_back(file);
            if window.len() >= self.options.min_file_num {
                return Some(window.into());
            }
            if bytes >= self.options.target_file_size
                && let Some(left_behind) = window.pop_front()
            {
                bytes = bytes.saturating_sub(file_size(&left_behind));
            }
        }
        self.candidates = window;
        None
    }

    /// Takes note of a finished compaction: its last file goes on growing if it is below the target.
    pub fn compacted(&mut self, after: &[Arc<DataFileMeta>]) {
        if let Some(last) = after.last()
            && file_size(last) < self.options.target_file_size
        {
            self.add(Arc::clone(last));
        }
    }

    /// A full compaction on demand, while no task runs. `has_dv` tells which files have a deletion vector.
    ///
    /// Takes the files it answers out of the candidates.
    pub fn full_pick(
        &mut self,
        deletion_vectors: bool,
        has_dv: &dyn Fn(&DataFileMeta) -> bool,
    ) -> Option<Vec<Arc<DataFileMeta>>> {
        let forced = self.options.force_rewrite_all_files;
        if self.candidates.len() < FULL_FILES_MIN && !deletion_vectors && !forced {
            return None;
        }
        let big = |file: &DataFileMeta| file_size(file) >= self.options.target_file_size;
        let done = |file: &&Arc<DataFileMeta>| !forced && big(file) && !has_dv(file);
        let skipped = self.candidates.iter().take_while(done).count();
        let rest = self.candidates.len() - skipped;
        let small = self
            .candidates
            .iter()
            .skip(skipped)
            .filter(|file| !big(file))
            .count();
        let worth_it =
            forced || deletion_vectors || (small > rest - small && rest >= FULL_FILES_MIN);
        if rest == 0 || !worth_it {
            return None;
        }
        self.candidates.drain(..skipped);
        Some(self.candidates.drain(..).collect())
    }
}
