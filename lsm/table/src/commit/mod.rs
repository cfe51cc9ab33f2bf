//! Messages become snapshots: the commit of one table.
//!
//! ```text
//!                 +--> Committed(N+1)  --> hint LATEST, done
//!  attempt(N+1) --+--> Lost(N+1)       --> is the winner ours (an earlier attempt)?  yes: done   no: rebase, attempt again
//!                 +--> Unknown(N+1)    --> nothing is deleted; look for ours, attempt again
//!  the files conflict -----------------> Error(Conflict): the caller starts over from the latest snapshot
//! ```
//!
//! *Ours* is a snapshot that names the delta manifest list which this very commit wrote. User, identifier and kind are no proof: batch
//! commits share one identifier, and two processes may share a user.
//!
//! Source: spec 01d; Paimon `operation/FileStoreCommitImpl.java`.

mod attempt;
mod changes;
mod conflict;
mod manifests;
mod publish;

use std::collections::BTreeMap;
use std::sync::Arc;

use tidewater_format::{CommitKind, Snapshot, TableOptions};
use tidewater_merge::KeyComparator;
use tidewater_store::{CommitMessage, DataIncrement};
use tidewater_types::{DataType, RowType, SnapshotId};

pub use self::changes::Committable;
#[cfg(test)]
pub(crate) use self::manifests::{count_rows, live_of};
pub use self::publish::{CommitOutcome, FileSnapshotCommit, SnapshotCommit};
use crate::error::{Result, TableError};
use crate::table_log::TableLog;

/// What a commit knows of its table.
#[derive(Debug, Clone)]
pub(crate) struct CommitContext {
    pub(crate) log: TableLog,
    pub(crate) options: Arc<TableOptions>,
    pub(crate) partition_type: RowType,
    pub(crate) partition_types: Arc<[DataType]>,
    /// `None` for append tables.
    pub(crate) keys: Option<KeyComparator>,
    pub(crate) publisher: Arc<dyn SnapshotCommit>,
}

/// A snapshot that a commit made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommittedSnapshot {
    /// Its id.
    pub id: SnapshotId,
    /// Its kind.
    pub kind: CommitKind,
}

/// Commits under one user. Any number of commits of any number of processes may run at once.
#[derive(Debug, Clone)]
pub struct TableCommit {
    context: CommitContext,
    user: String,
    ignore_empty: bool,
}

impl TableCommit {
    pub(crate) fn new(context: CommitContext, user: String) -> Self {
        let ignore_empty = context
            .options
            .snapshot_ignore_empty_commit
            .unwrap_or(false);
        Self {
            context,
            user,
            ignore_empty,
        }
    }

    /// Whether a commit without changes makes no snapshot. By default it makes one, as a streaming writer expects, unless
    /// `snapshot.ignore-empty-commit` says otherwise.
    #[must_use]
    pub fn ignore_empty(mut self, ignore: bool) -> Self {
        self.ignore_empty = ignore;
        self
    }

    /// The same commit with another way to publish: a catalog that has a lock, or a call for it.
    #[must_use]
    pub fn with_publisher(mut self, publisher: Arc<dyn SnapshotCommit>) -> Self {
        self.context.publisher = publisher;
        self
    }

    #[cfg(test)]
    pub(crate) fn context(&self) -> &CommitContext {
        &self.context
    }

    /// The user that snapshots of this commit carry.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// Commits: an APPEND snapshot for what was written, then a COMPACT snapshot for what was compacted.
    ///
    /// When this answers, the snapshots are there, each exactly once. A commit of the same identifier is not looked for: that is
    /// [`filter_and_commit`](Self::filter_and_commit).
    ///
    /// If somebody else compacted the same files meanwhile, the rows are committed and the compaction is dropped: no COMPACT snapshot is
    /// among the answers, and the writer that made it should be opened anew, since it knows its buckets otherwise.
    ///
    /// # Errors
    /// [`TableError::FileConflict`] if the changes do not fit any more, [`TableError::RetriesExhausted`],
    /// [`TableError::CommitTimeout`]; those of the store. After an error the first of two snapshots may exist.
    pub async fn commit(&self, committable: Committable) -> Result<Vec<CommittedSnapshot>> {
        self.commit_checked(committable, false).await
    }

    /// Commits those of `pending` that this user has not committed yet, in order of their identifiers: what a restarted job does with
    /// the commits of which it does not know the end.
    ///
    /// # Errors
    /// [`TableError::CommittedFileMissing`] if a file of a pending commit is gone; those of [`commit`](Self::commit).
    pub async fn filter_and_commit(
        &self,
        mut pending: Vec<Committable>,
    ) -> Result<Vec<CommittedSnapshot>> {
        pending.sort_by_key(|committable| committable.identifier);
        if let Some(latest) = self
            .context
            .log
            .snapshots()
            .latest_of_user(&self.user)
            .await?
        {
            pending.retain(|committable| committable.identifier > latest.commit_identifier);
        }
        for committable in &pending {
            for message in &committable.messages {
                for file in message.created_files() {
                    let path = self.data_path(message, file)?;
                    if !self.context.log.io().exists(&path).await? {
                        return Err(TableError::CommittedFileMissing {
                            identifier: committable.identifier,
                            file: path,
                        });
                    }
                }
            }
        }
        let mut made = Vec::new();
        for committable in pending {
            made.extend(self.commit_checked(committable, true).await?);
        }
        Ok(made)
    }

    /// The newest identifier that this user has committed.
    pub async fn last_identifier(&self) -> Result<Option<i64>> {
        Ok(self
            .context
            .log
            .snapshots()
            .latest_of_user(&self.user)
            .await?
            .map(|snapshot| snapshot.commit_identifier))
    }

    /// Deletes the files of messages that will not be committed.
    ///
    /// # Errors
    /// Of the store. Files that are left behind are orphans, which no reader sees.
    pub async fn abort(&self, messages: &[CommitMessage]) -> Result<()> {
        let mut failed = None;
        for message in messages {
            for file in message.created_files() {
                let path = self.data_path(message, file)?;
                if let Err(e) = self.context.log.io().delete(&path).await {
                    failed = Some(e);
                }
            }
        }
        failed.map_or(Ok(()), |e| Err(e.into()))
    }

    async fn commit_checked(
        &self,
        committable: Committable,
        check: bool,
    ) -> Result<Vec<CommittedSnapshot>> {
        let (append, compact) = changes::split(&committable.messages);
        let shared = attempt::Shared {
            user: &self.user,
            identifier: committable.identifier,
            watermark: committable.watermark,
            properties: &committable.properties,
        };
        let mut made = Vec::with_capacity(2);
        let has_rows = !append.is_empty();
        if has_rows || !self.ignore_empty {
            made.push(attempt::commit(&self.context, &shared, append, check).await?);
        }
        if !compact.is_empty() {
            match attempt::commit(&self.context, &shared, compact, true).await {
                Ok(snapshot) => made.push(snapshot),
                // The rows are there and must be acknowledged; what compaction would have changed is how they lie, not what they are.
                Err(
                    error @ (TableError::FileConflict { .. } | TableError::RetriesExhausted { .. }),
                ) if has_rows => self.drop_compaction(&committable.messages, error).await?,
                Err(error) => return Err(error),
            }
        }
        Ok(made)
    }

    /// Removes what a compaction made that lost against another commit.
    async fn drop_compaction(&self, messages: &[CommitMessage], lost: TableError) -> Result<()> {
        tracing::warn!(user = %self.user, error = %lost, "a compaction was dropped; the rows of its commit are in the table");
        let only_compaction: Vec<CommitMessage> = messages
            .iter()
            .map(|message| CommitMessage {
                data: DataIncrement::default(),
                ..message.clone()
            })
            .collect();
        // A file that stays is an orphan.
        if let Err(error) = self.abort(&only_compaction).await {
            tracing::warn!(%error, "files of a dropped compaction are left behind");
        }
        Ok(())
    }

    fn data_path(
        &self,
        message: &CommitMessage,
        file: &tidewater_format::DataFileMeta,
    ) -> Result<String> {
        let dir = self.context.log.paths().bucket_dir(
            &message.partition,
            message.bucket,
            &self.context.partition_type,
        )?;
        Ok(self.context.log.paths().data_file(&dir, file))
    }
}

/// The watermark of a snapshot on top of `latest`: it never goes back (spec 03 §1.6).
pub(crate) fn watermark_after(latest: Option<&Snapshot>, committed: Option<i64>) -> Option<i64> {
    let before = latest.and_then(Snapshot::effective_watermark);
    match (before, committed.filter(|watermark| *watermark != i64::MIN)) {
        (Some(before), Some(committed)) => Some(before.max(committed)),
        (before, committed) => before.or(committed),
    }
}

/// Properties as a snapshot holds them: none rather than an empty map.
pub(crate) fn properties_of(
    properties: &BTreeMap<String, String>,
) -> Option<BTreeMap<String, String>> {
    (!properties.is_empty()).then(|| properties.clone())
}
