//! What one bucket wants committed.

use std::sync::Arc;

use tidewater_format::DataFileMeta;
use tidewater_types::BinaryRow;

/// The changes of one bucket since its last message, for the commit of its table.
///
/// Its data files exist already; nobody sees them before the commit. Source: Paimon `table/sink/CommitMessageImpl.java`.
#[derive(Debug, Clone, PartialEq)]
pub struct CommitMessage {
    /// The partition columns; arity 0 without partitions.
    pub partition: BinaryRow,
    /// The bucket.
    pub bucket: i32,
    /// The table's `bucket` option as the writer knew it: n, or -1 for tables without buckets.
    pub total_buckets: i32,
    /// What was written: becomes an APPEND snapshot.
    pub data: DataIncrement,
    /// What was compacted: becomes a COMPACT snapshot after it.
    pub compact: CompactIncrement,
}

impl CommitMessage {
    /// Whether there is nothing to commit.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty() && self.compact.is_empty()
    }

    /// Every file that this message brings into being and that an abort has to delete.
    pub fn created_files(&self) -> impl Iterator<Item = &Arc<DataFileMeta>> {
        let compacted = self.compact.after.iter().filter(|file| {
            // an upgraded file keeps its name and bytes: it was there before
            !self
                .compact
                .before
                .iter()
                .any(|before| before.file_name == file.file_name)
        });
        self.data
            .new_files
            .iter()
            .chain(&self.data.changelog_files)
            .chain(compacted)
            .chain(&self.compact.changelog_files)
    }
}

/// Files that writing added.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DataIncrement {
    /// Level-0 files, or files of an append table.
    pub new_files: Vec<Arc<DataFileMeta>>,
    /// Files that this write takes away.
    pub deleted_files: Vec<Arc<DataFileMeta>>,
    /// Changelog of `changelog-producer=input`.
    pub changelog_files: Vec<Arc<DataFileMeta>>,
}

impl DataIncrement {
    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.new_files.is_empty()
            && self.deleted_files.is_empty()
            && self.changelog_files.is_empty()
    }
}

/// Files that compaction replaced.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CompactIncrement {
    /// Files that go, as the tree knew them.
    pub before: Vec<Arc<DataFileMeta>>,
    /// Files that come. A file that only changed its level is in both lists.
    pub after: Vec<Arc<DataFileMeta>>,
    /// Changelog that the compaction produced.
    pub changelog_files: Vec<Arc<DataFileMeta>>,
}

impl CompactIncrement {
    /// Whether nothing was compacted.
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty() && self.changelog_files.is_empty()
    }
}
