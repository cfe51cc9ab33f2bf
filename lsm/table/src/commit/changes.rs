//! What a commit changes, sorted into the one or two snapshots that it becomes.
//!
//! ```text
//!  messages --> append part   new, deleted, changelog files     -> APPEND, or OVERWRITE if it deletes
//!           '-> compact part  before, after, changelog files    -> COMPACT
//! ```
//!
//! Source: spec 01d §1; Paimon `operation/FileStoreCommitImpl.java`.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use tidewater_format::{CommitKind, DataFileMeta, FileKind, ManifestEntry};
use tidewater_store::CommitMessage;
use tidewater_types::BinaryRow;

use super::CommittedSnapshot;

/// What is committed at once, under one identifier.
#[derive(Debug, Clone, Default)]
pub struct Committable {
    /// Rises from commit to commit of one user; [`BATCH_COMMIT_IDENTIFIER`](tidewater_format::BATCH_COMMIT_IDENTIFIER) for a
    /// commit that nobody repeats.
    pub identifier: i64,
    /// Event time in milliseconds since 1970 UTC up to which all rows have arrived.
    pub watermark: Option<i64>,
    /// Kept in the snapshot: offsets of the source, for example.
    pub properties: BTreeMap<String, String>,
    /// What the buckets' writers prepared.
    pub messages: Vec<CommitMessage>,
}

impl Committable {
    /// These messages under this identifier, without watermark and properties.
    pub fn new(identifier: i64, messages: Vec<CommitMessage>) -> Self {
        Self {
            identifier,
            watermark: None,
            properties: BTreeMap::new(),
            messages,
        }
    }

    /// Whether a commit that [`compacts`](Self::compacts) made these snapshots without its compaction: that was dropped, and the writer
    /// behind it should be opened anew.
    pub fn lost_compaction(compacts: bool, made: &[CommittedSnapshot]) -> bool {
        compacts
            && !made.is_empty()
            && made
                .iter()
                .all(|snapshot| snapshot.kind != CommitKind::Compact)
    }

    /// Whether a compaction is part of it.
    pub fn compacts(&self) -> bool {
        self.messages
            .iter()
            .any(|message| !message.compact.is_empty())
    }
}

/// The entries of one snapshot.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Changes {
    pub(crate) kind: CommitKind,
    /// DELETE entries first.
    pub(crate) delta: Vec<ManifestEntry>,
    pub(crate) changelog: Vec<ManifestEntry>,
}

impl Changes {
    /// Whether the snapshot would say nothing new.
    pub(crate) fn is_empty(&self) -> bool {
        self.delta.is_empty() && self.changelog.is_empty()
    }

    /// Whether the latest snapshot has to be looked at before this may be added to it (spec 01d §3.1).
    pub(crate) fn needs_check(&self) -> bool {
        self.kind != CommitKind::Append
    }

    /// The partitions that the delta touches.
    pub(crate) fn partitions(&self) -> HashSet<BinaryRow> {
        self.delta
            .iter()
            .map(|entry| entry.partition.clone())
            .collect()
    }

    /// Rows that come less rows that go.
    pub(crate) fn delta_rows(&self) -> i64 {
        self.delta.iter().fold(0, |rows, entry| match entry.kind {
            FileKind::Add => rows + entry.file.row_count,
            FileKind::Delete => rows - entry.file.row_count,
        })
    }

    /// Rows in changelog files.
    pub(crate) fn changelog_rows(&self) -> i64 {
        self.changelog
            .iter()
            .map(|entry| entry.file.row_count)
            .sum()
    }
}

/// The append part and the compact part of these messages.
pub(crate) fn split(messages: &[CommitMessage]) -> (Changes, Changes) {
    let mut append = Changes {
        kind: CommitKind::Append,
        delta: Vec::new(),
        changelog: Vec::new(),
    };
    let mut compact = Changes {
        kind: CommitKind::Compact,
        delta: Vec::new(),
        changelog: Vec::new(),
    };
    for message in messages {
        push(
            &mut append.delta,
            FileKind::Delete,
            message,
            &message.data.deleted_files,
        );
        push(
            &mut compact.delta,
            FileKind::Delete,
            message,
            &message.compact.before,
        );
    }
    if !append.delta.is_empty() {
        append.kind = CommitKind::Overwrite;
    }
    for message in messages {
        push(
            &mut append.delta,
            FileKind::Add,
            message,
            &message.data.new_files,
        );
        push(
            &mut append.changelog,
            FileKind::Add,
            message,
            &message.data.changelog_files,
        );
        push(
            &mut compact.delta,
            FileKind::Add,
            message,
            &message.compact.after,
        );
        push(
            &mut compact.changelog,
            FileKind::Add,
            message,
            &message.compact.changelog_files,
        );
    }
    (append, compact)
}

fn push(
    into: &mut Vec<ManifestEntry>,
    kind: FileKind,
    message: &CommitMessage,
    files: &[Arc<DataFileMeta>],
) {
    into.extend(files.iter().map(|file| ManifestEntry {
        kind,
        partition: message.partition.clone(),
        bucket: message.bucket,
        total_buckets: message.total_buckets,
        file: Arc::clone(file),
    }));
}
