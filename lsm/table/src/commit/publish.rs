//! The one atomic step of a commit: make snapshot N exist, or learn that somebody else did.

use async_trait::async_trait;
use bytes::Bytes;
use tidewater_format::{Snapshot, TablePaths};
use tidewater_io::{FileIo, PutOutcome};
use tidewater_types::SnapshotId;

use crate::error::Result;

/// How a race for a snapshot id ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum CommitOutcome {
    /// The file at this id is ours.
    Committed(SnapshotId),
    /// The id is taken: look who owns it, then rebase and try the next one.
    Lost {
        /// The id that was asked for.
        attempted: SnapshotId,
    },
    /// The store did not say: read the id back before retrying or deleting a file.
    Unknown {
        /// The id that was asked for.
        attempted: SnapshotId,
    },
}

/// Publishes snapshots. Each catalog brings its own way; a table knows no catalog.
#[async_trait]
pub trait SnapshotCommit: std::fmt::Debug + Send + Sync {
    /// Makes `snapshot` the table's snapshot with its id, if that id is free.
    ///
    /// # Errors
    /// Only if the file certainly does not exist and cannot: a full disk, no permission. What is unclear is an outcome.
    async fn publish(&self, snapshot: &Snapshot) -> Result<CommitOutcome>;
}

/// Publishes by creating the snapshot's file, which the store does for one writer only (spec 01d §4).
#[derive(Debug, Clone)]
pub struct FileSnapshotCommit {
    io: FileIo,
    paths: TablePaths,
}

impl FileSnapshotCommit {
    /// Publishes into the folder that `paths` names.
    pub fn new(io: FileIo, paths: TablePaths) -> Self {
        Self { io, paths }
    }
}

#[async_trait]
impl SnapshotCommit for FileSnapshotCommit {
    async fn publish(&self, snapshot: &Snapshot) -> Result<CommitOutcome> {
        let attempted = snapshot.id;
        let bytes = Bytes::from(snapshot.to_json());
        Ok(
            match self
                .io
                .put_if_absent(&self.paths.snapshot(attempted), bytes)
                .await?
            {
                PutOutcome::Created => CommitOutcome::Committed(attempted),
                PutOutcome::Exists => CommitOutcome::Lost { attempted },
                PutOutcome::Unknown => CommitOutcome::Unknown { attempted },
            },
        )
    }
}
