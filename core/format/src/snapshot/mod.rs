//! Snapshots: one immutable JSON file per commit, and the small files around them.
//!
//! ```text
//!  snapshot-N (JSON) --wire--> Snapshot       base list + delta list = all files; delta list = changes of this commit
//!  tag-NAME          --tag---> Tag            a snapshot with a time and a retention
//!  consumer-ID       --------> Consumer       the next snapshot a reader will read
//!  LATEST, EARLIEST  --hint--> a number       optimisations only
//! ```
//!
//! Source: spec 01b §1 to §3, Paimon `Snapshot.java`.

mod consumer;
mod hint;
mod tag;
mod wire;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tidewater_types::{SchemaId, SnapshotId};

pub use consumer::Consumer;
pub use hint::{format_hint, parse_hint};
pub use tag::{Tag, TagTime};

use crate::error::FormatError;

/// Version of the snapshot files that this build writes, and the newest that it reads.
pub const SNAPSHOT_VERSION: i32 = 3;

/// Identifier of commits that belong to no stream: batch writes, truncation, manifest compaction.
pub const BATCH_COMMIT_IDENTIFIER: i64 = i64::MAX;

/// What a commit did to the table (spec 01b §1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CommitKind {
    /// Added rows.
    Append,
    /// Rewrote files without changing rows.
    Compact,
    /// Replaced or deleted rows.
    Overwrite,
    /// Added statistics.
    Analyze,
}

impl CommitKind {
    /// The word in the snapshot file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Append => "APPEND",
            Self::Compact => "COMPACT",
            Self::Overwrite => "OVERWRITE",
            Self::Analyze => "ANALYZE",
        }
    }
}

impl std::fmt::Display for CommitKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for CommitKind {
    type Err = FormatError;

    fn from_str(word: &str) -> Result<Self, FormatError> {
        let kinds = [Self::Append, Self::Compact, Self::Overwrite, Self::Analyze];
        let kind = kinds.into_iter().find(|kind| kind.as_str() == word);
        kind.ok_or_else(|| {
            FormatError::corrupt("snapshot", format!("there is no commit kind {word:?}"))
        })
    }
}

/// One commit.
///
/// Names of lists and manifests are file names in the table's `manifest/` folder. Make one with [`Snapshot::new`] and fill
/// in what the commit has.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Version of the file's layout, 1 to 3.
    pub version: i32,
    /// Id, equal to the number in the file's name.
    pub id: SnapshotId,
    /// The table's latest schema at the time of the commit, not that of the files.
    pub schema_id: SchemaId,
    /// List of the manifests that describe the table before this commit.
    pub base_manifest_list: String,
    /// Its size in bytes.
    pub base_manifest_list_size: Option<i64>,
    /// List of the manifests with the changes of this commit.
    pub delta_manifest_list: String,
    /// Its size in bytes.
    pub delta_manifest_list_size: Option<i64>,
    /// List of the manifests with the changelog files of this commit.
    pub changelog_manifest_list: Option<String>,
    /// Its size in bytes.
    pub changelog_manifest_list_size: Option<i64>,
    /// All index files of the table after this commit.
    pub index_manifest: Option<String>,
    /// Who committed; a stream keeps its name over restarts.
    pub commit_user: String,
    /// Number of the commit in its stream, [`BATCH_COMMIT_IDENTIFIER`] outside streams.
    pub commit_identifier: i64,
    /// What the commit did.
    pub commit_kind: CommitKind,
    /// Wall clock of the commit, epoch milliseconds.
    pub time_millis: i64,
    /// Offsets of an outside log by bucket, from versions before 1.4; handed on from snapshot to snapshot.
    pub log_offsets: Option<BTreeMap<i32, i64>>,
    /// Rows in all files; versions of a key and deletes count each.
    pub total_record_count: Option<i64>,
    /// Rows added less rows removed by this commit.
    pub delta_record_count: Option<i64>,
    /// Rows in the changelog files of this commit.
    pub changelog_record_count: Option<i64>,
    /// Event time up to which rows are complete; `i64::MIN` means none.
    pub watermark: Option<i64>,
    /// Statistics file, in `statistics/`.
    pub statistics: Option<String>,
    /// What the user stored with this commit; not handed on.
    pub properties: Option<BTreeMap<String, String>>,
    /// Next free row id of tables with row tracking.
    pub next_row_id: Option<i64>,
    /// Members of newer versions (`uuid`, `operation`, …), written back as they came; not handed on.
    pub extra: Map<String, Value>,
    /// Order of the properties in the file this came from; empty if it is that of the map.
    property_order: Vec<String>,
}

impl Snapshot {
    /// A snapshot of the version that this build writes, with nothing in it yet: the caller fills in the manifest lists, the
    /// user and the identifier, the time, and the record counts before it is written.
    ///
    /// `logOffsets`, `changelogRecordCount` and `nextRowId` are what 1.3 writes when there is nothing to say.
    pub fn new(id: SnapshotId, schema_id: SchemaId, commit_kind: CommitKind) -> Self {
        Self {
            version: SNAPSHOT_VERSION,
            id,
            schema_id,
            base_manifest_list: String::new(),
            base_manifest_list_size: None,
            delta_manifest_list: String::new(),
            delta_manifest_list_size: None,
            changelog_manifest_list: None,
            changelog_manifest_list_size: None,
            index_manifest: None,
            commit_user: String::new(),
            commit_identifier: BATCH_COMMIT_IDENTIFIER,
            commit_kind,
            time_millis: 0,
            log_offsets: Some(BTreeMap::new()),
            total_record_count: Some(0),
            delta_record_count: Some(0),
            changelog_record_count: Some(0),
            watermark: None,
            statistics: None,
            properties: None,
            next_row_id: Some(0),
            extra: Map::new(),
            property_order: Vec::new(),
        }
    }

    /// The watermark, if there is one.
    pub fn effective_watermark(&self) -> Option<i64> {
        self.watermark.filter(|watermark| *watermark != i64::MIN)
    }
}
