//! Files of which no two overlap, in key order: the unit that a merge reads one after the other.

use std::sync::Arc;

use tidewater_format::DataFileMeta;

use crate::error::{MergeError, Result};
use crate::key_comparator::KeyComparator;

/// Files with disjoint key ranges, ascending.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SortedRun {
    files: Vec<Arc<DataFileMeta>>,
}

impl SortedRun {
    /// A run of one file.
    pub fn single(file: Arc<DataFileMeta>) -> Self {
        Self { files: vec![file] }
    }

    /// A run of files that are known to ascend without overlap.
    pub fn from_sorted(files: Vec<Arc<DataFileMeta>>) -> Self {
        Self { files }
    }

    /// Sorts the files of one level and checks that none overlap.
    ///
    /// With keys whose ranges cannot be believed ([`KeyComparator::trusts_ranges`]) the check is left out.
    ///
    /// # Errors
    /// [`MergeError::OverlappingRun`], or keys that do not decode.
    pub fn from_level(
        files: Vec<Arc<DataFileMeta>>,
        level: usize,
        keys: &KeyComparator,
    ) -> Result<Self> {
        if files.len() < 2 {
            return Ok(Self { files });
        }
        if !keys.trusts_ranges() {
            return Ok(Self { files });
        }
        let ranges = keys.key_ranges(files.iter().map(Arc::as_ref))?;
        let order = ranges.sorted()?;
        let mut sorted: Vec<Arc<DataFileMeta>> = Vec::with_capacity(files.len());
        let mut previous: Option<usize> = None;
        for number in order {
            let Some(file) = files.get(number) else {
                continue;
            };
            if let (Some(before), Some(left)) = (previous, sorted.last())
                && ranges
                    .compare(ranges.max(before), ranges.min(number))?
                    .is_ge()
            {
                return Err(MergeError::OverlappingRun {
                    level,
                    left: left.file_name.clone(),
                    right: file.file_name.clone(),
                });
            }
            sorted.push(Arc::clone(file));
            previous = Some(number);
        }
        Ok(Self { files: sorted })
    }

    /// The files in key order.
    pub fn files(&self) -> &[Arc<DataFileMeta>] {
        &self.files
    }

    /// The files in key order.
    pub fn into_files(self) -> Vec<Arc<DataFileMeta>> {
        self.files
    }

    pub(crate) fn push(&mut self, file: Arc<DataFileMeta>) {
        self.files.push(file);
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Bytes of all files; negative sizes count as nothing, and a sum beyond 63 bits stays at the largest value.
    pub fn total_size(&self) -> u64 {
        total_size(&self.files)
    }

    /// Rows of all files, retractions included; about as many as a merge will see.
    pub fn row_count(&self) -> u64 {
        let rows = |file: &Arc<DataFileMeta>| u64::try_from(file.row_count).unwrap_or_default();
        self.files.iter().map(rows).fold(0, u64::saturating_add)
    }
}

/// Bytes of files, as [`SortedRun::total_size`] counts them.
pub(crate) fn total_size(files: &[Arc<DataFileMeta>]) -> u64 {
    files
        .iter()
        .map(|file| file_size(file))
        .fold(0, u64::saturating_add)
}

/// Bytes of a file; a negative size, which only a corrupt manifest has, counts as nothing.
pub(crate) fn file_size(file: &DataFileMeta) -> u64 {
    u64::try_from(file.file_size).unwrap_or_default()
}
