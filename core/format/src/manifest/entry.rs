//! One line of a manifest: a file that came or went.
//!
//! Source: Paimon `manifest/ManifestEntry.java`, `manifest/FileEntry.java`; spec 01b §4.4.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use tidewater_types::BinaryRow;

use crate::data_file_meta::DataFileMeta;

/// Whether an entry brings a file in or takes it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileKind {
    /// The file is part of the table from here on.
    Add,
    /// The file is no longer part of the table.
    Delete,
}

impl FileKind {
    /// The number stored in `_KIND`.
    pub fn as_i32(self) -> i32 {
        match self {
            Self::Add => 0,
            Self::Delete => 1,
        }
    }

    /// The kind with this number; `None` for a number no version of the format uses.
    pub fn from_i32(value: i32) -> Option<Self> {
        match value {
            0 => Some(Self::Add),
            1 => Some(Self::Delete),
            _ => None,
        }
    }
}

/// A change to the file set of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct ManifestEntry {
    /// Came or went.
    pub kind: FileKind,
    /// Values of the partition columns; a row of no fields for an unpartitioned table.
    pub partition: BinaryRow,
    /// Bucket number; -2 for postponed buckets.
    pub bucket: i32,
    /// The `bucket` option when the file was written: n, -1 (dynamic, unaware) or -2 (postpone).
    pub total_buckets: i32,
    /// The file. A DELETE repeats what the ADD said.
    pub file: Arc<DataFileMeta>,
}

impl ManifestEntry {
    /// An entry that brings `file` in.
    pub fn add(
        partition: BinaryRow,
        bucket: i32,
        total_buckets: i32,
        file: Arc<DataFileMeta>,
    ) -> Self {
        Self {
            kind: FileKind::Add,
            partition,
            bucket,
            total_buckets,
            file,
        }
    }

    /// The entry that takes the file of `self` out again.
    #[must_use]
    pub fn to_delete(&self) -> Self {
        Self {
            kind: FileKind::Delete,
            ..self.clone()
        }
    }

    /// What makes this entry cancel, or clash with, another one.
    pub fn identity(&self) -> FileIdentity {
        FileIdentity {
            partition: self.partition.clone(),
            bucket: self.bucket,
            file: Arc::clone(&self.file),
        }
    }
}

/// What an ADD and its DELETE have in common: partition, bucket, level, name, extra files, embedded index and external path.
///
/// Cheap to make: it shares the entry's file. The same file on two levels has two identities.
/// Source: Paimon `FileEntry.Identifier`.
#[derive(Clone)]
pub struct FileIdentity {
    partition: BinaryRow,
    bucket: i32,
    file: Arc<DataFileMeta>,
}

impl FileIdentity {
    /// Values of the partition columns.
    pub fn partition(&self) -> &BinaryRow {
        &self.partition
    }

    /// Bucket number.
    pub fn bucket(&self) -> i32 {
        self.bucket
    }

    /// LSM level.
    pub fn level(&self) -> i32 {
        self.file.level
    }

    /// Name without a directory.
    pub fn file_name(&self) -> &str {
        &self.file.file_name
    }
}

impl PartialEq for FileIdentity {
    fn eq(&self, other: &Self) -> bool {
        same_identity(
            (&self.partition, self.bucket, &self.file),
            (&other.partition, other.bucket, &other.file),
        )
    }
}

impl Eq for FileIdentity {}

impl Hash for FileIdentity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_identity(&self.file, state);
    }
}

/// The identity of an entry that is only looked at: the same `==` and `Hash` as [`FileIdentity`] at no cost.
#[derive(Clone, Copy)]
pub(super) struct IdentityOf<'a>(pub(super) &'a ManifestEntry);

impl PartialEq for IdentityOf<'_> {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (self.0, other.0);
        same_identity(
            (&a.partition, a.bucket, &a.file),
            (&b.partition, b.bucket, &b.file),
        )
    }
}

impl Eq for IdentityOf<'_> {}

impl Hash for IdentityOf<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_identity(&self.0.file, state);
    }
}

fn same_identity(a: (&BinaryRow, i32, &DataFileMeta), b: (&BinaryRow, i32, &DataFileMeta)) -> bool {
    let ((a_partition, a_bucket, a), (b_partition, b_bucket, b)) = (a, b);
    a.file_name == b.file_name
        && a.level == b.level
        && a_bucket == b_bucket
        && a_partition == b_partition
        && a.extra_files == b.extra_files
        && a.embedded_file_index == b.embedded_file_index
        && a.external_path == b.external_path
}

/// Names are unique but for upgrades, so name and level spread well enough.
fn hash_identity<H: Hasher>(file: &DataFileMeta, state: &mut H) {
    state.write(file.file_name.as_bytes());
    state.write_i32(file.level);
}

impl fmt::Debug for FileIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileIdentity")
            .field("file_name", &self.file.file_name)
            .field("level", &self.file.level)
            .field("bucket", &self.bucket)
            .field("partition", &self.partition)
            .finish_non_exhaustive()
    }
}
