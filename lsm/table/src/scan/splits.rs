//! Packs the files of each bucket into splits: what one reader takes at once.
//!
//! ```text
//!  append          files by smallest sequence number -> pack
//!  keyed, state    no two files share a live row's key -> pack files, raw
//!                  else sections of overlapping keys -> pack sections
//!  keyed, changes  all files of the bucket
//!
//!  pack: in order; a bin is closed when the next item would take it over the target; an item weighs its bytes, at least the cost of opening it
//! ```
//!
//! Source: spec 03 §5.5, §5.6; Paimon `table/source/MergeTreeSplitGenerator.java`, `AppendOnlySplitGenerator.java`, `utils/BinPacking.java`.

use std::sync::Arc;

use tidewater_format::{BucketMode, DataFileMeta, MergeEngine, TableOptions, TableSchema};
use tidewater_index::{DeletionFile, DeletionFiles};
use tidewater_merge::{KeyComparator, interval_partition};
use tidewater_types::{BinaryRow, Bucket, SnapshotId};

use crate::error::Result;

/// Files of one bucket that one reader takes.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSplit {
    /// The snapshot that was planned.
    pub snapshot: SnapshotId,
    /// Values of the partition columns.
    pub partition: BinaryRow,
    /// The bucket.
    pub bucket: Bucket,
    /// The number of buckets when the files were written; -1 for tables without fixed buckets.
    pub total_buckets: i32,
    /// Folder of the bucket; files with an external path lie elsewhere.
    pub bucket_path: Arc<str>,
    /// The files: in order of age for append tables; of a keyed table's state, section by section.
    pub files: Vec<Arc<DataFileMeta>>,
    /// Whether the files can be read one after the other, without merging.
    pub raw_convertible: bool,
    /// Where the deletion vectors of the bucket's files are, of which the split has some.
    pub deletions: Arc<DeletionFiles>,
}

impl DataSplit {
    /// Where the deletion vector of one of its files is, if it has one.
    pub fn deletion(&self, file: &DataFileMeta) -> Option<&DeletionFile> {
        self.deletions.get(&file.file_name)
    }

    /// Rows that reading the split gives, if its files and deletion vectors tell.
    pub fn exact_row_count(&self) -> Option<u64> {
        if !self.raw_convertible {
            return None;
        }
        self.files.iter().try_fold(0_u64, |sum, file| {
            let keyed = file.min_key.arity() > 0;
            match file.delete_row_count {
                Some(0) => {}
                None if !keyed => {}
                _ => return None,
            }
            let deleted = match self.deletion(file) {
                Some(deletion) => deletion.cardinality?,
                None => 0,
            };
            let rows = u64::try_from(file.row_count).ok()?.checked_sub(deleted)?;
            sum.checked_add(rows)
        })
    }
}

/// Files of one bucket, in manifest order.
#[derive(Debug)]
pub(crate) struct BucketFiles {
    pub(crate) partition: BinaryRow,
    pub(crate) bucket: Bucket,
    pub(crate) total_buckets: i32,
    pub(crate) files: Vec<Arc<DataFileMeta>>,
}

/// What files are planned for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SplitPurpose {
    /// The state of a snapshot.
    State,
    /// The changes of a snapshot: each file row by row.
    Changes,
}

/// Packs files into splits as the table's options say.
#[derive(Debug, Clone)]
pub(crate) struct SplitPacker {
    target_bytes: u64,
    open_file_cost: u64,
    bucketed: bool,
    versions_above_zero: Versions,
    keys: Option<KeyComparator>,
}

impl SplitPacker {
    /// For a table with this schema and these options.
    pub(crate) fn new(schema: &TableSchema, options: &TableOptions) -> Result<Self> {
        Ok(Self {
            target_bytes: options.source_split_target_size.bytes(),
            open_file_cost: options.source_split_open_file_cost.bytes(),
            bucketed: schema.bucket_mode()? != BucketMode::Unaware,
            versions_above_zero: Versions::above_zero(options),
            keys: schema
                .is_keyed()
                .then(|| KeyComparator::new(schema.key_type().types())),
        })
    }

    /// The splits of one bucket: their files, and whether they can be read without merging.
    pub(crate) fn pack(
        &self,
        mut files: Vec<Arc<DataFileMeta>>,
        purpose: SplitPurpose,
    ) -> Result<Vec<(Vec<Arc<DataFileMeta>>, bool)>> {
        match (&self.keys, purpose) {
            (Some(_), SplitPurpose::Changes) => Ok(vec![(files, true)]),
            (None, SplitPurpose::Changes) if self.bucketed => Ok(vec![(files, true)]),
            (None, _) => {
                files.sort_by_key(|file| file.min_sequence_number);
                Ok(self.pack_files(files))
            }
            (Some(_), SplitPurpose::State)
                if self.versions_above_zero.are_single(&files)
                    && files.iter().all(|file| without_deletes(file)) =>
            {
                Ok(self.pack_files(files))
            }
            (Some(keys), SplitPurpose::State) => self.pack_sections(&files, keys),
        }
    }

    /// Packs files that need no merge.
    fn pack_files(&self, files: Vec<Arc<DataFileMeta>>) -> Vec<(Vec<Arc<DataFileMeta>>, bool)> {
        let items = files.into_iter().map(|file| {
            let bytes = size(&file);
            (vec![file], bytes)
        });
        let bins = self.pack_items(items);
        bins.into_iter().map(|bin| (bin, true)).collect()
    }

    fn pack_sections(
        &self,
        files: &[Arc<DataFileMeta>],
        keys: &KeyComparator,
    ) -> Result<Vec<(Vec<Arc<DataFileMeta>>, bool)>> {
        let sections = interval_partition(files, keys)?;
        let items = sections.iter().map(|section| {
            let files = section.files().cloned().collect();
            (files, section.total_size())
        });
        let bins = self.pack_items(items);
        let with_raw = |bin: Vec<Arc<DataFileMeta>>| {
            let raw = matches!(bin.as_slice(), [file] if without_deletes(file));
            (bin, raw)
        };
        Ok(bins.into_iter().map(with_raw).collect())
    }

    fn pack_items(
        &self,
        items: impl Iterator<Item = (Vec<Arc<DataFileMeta>>, u64)>,
    ) -> Vec<Vec<Arc<DataFileMeta>>> {
        let mut bins = Vec::new();
        let mut bin: Vec<Arc<DataFileMeta>> = Vec::new();
        let mut bin_weight = 0_u64;
        for (files, bytes) in items {
            let weight = bytes.max(self.open_file_cost);
            if !bin.is_empty() && bin_weight.saturating_add(weight) > self.target_bytes {
                bins.push(std::mem::take(&mut bin));
                bin_weight = 0;
            }
            bin_weight = bin_weight.saturating_add(weight);
            bin.extend(files);
        }
        if !bin.is_empty() {
            bins.push(bin);
        }
        bins
    }
}

/// How many live versions of a key the levels above 0 hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Versions {
    /// One in each level.
    OnePerLevel,
    /// One in all of them: others were marked deleted, or never let in.
    One,
}

impl Versions {
    /// For a keyed table with these options.
    pub(crate) fn above_zero(options: &TableOptions) -> Self {
        if options.deletion_vectors_enabled || options.merge_engine == MergeEngine::FirstRow {
            Self::One
        } else {
            Self::OnePerLevel
        }
    }

    /// Whether no two of these files, of one bucket, hold live versions of one key. Of a single file of level 0 this says nothing.
    pub(crate) fn are_single(self, files: &[Arc<DataFileMeta>]) -> bool {
        let Some(first) = files.first() else {
            return true;
        };
        files
            .iter()
            .all(|file| file.level != 0 && (self == Self::One || file.level == first.level))
    }
}

fn without_deletes(file: &DataFileMeta) -> bool {
    file.delete_row_count.unwrap_or(0) == 0
}

fn size(file: &DataFileMeta) -> u64 {
    u64::try_from(file.file_size).unwrap_or(0)
}

#[cfg(test)]
mod tests;
