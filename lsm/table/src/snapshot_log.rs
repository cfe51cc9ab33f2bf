//! The log of snapshots of one table: which there are, what each says, and which one a moment in time means.
//!
//! ```text
//!  snapshot/LATEST ──hint n──> is snapshot-(n+1) there?  no: n      yes, or no hint: list the folder
//!  snapshot/EARLIEST ─hint n─> is snapshot-n there?      yes: n     no,  or no hint: list the folder
//! ```
//!
//! Hints only save a listing; the files decide. A hint that points beyond the newest file is not believed, unlike in Java, which
//! then fails (spec 01b §3). Source: Paimon `utils/SnapshotManager.java`, `utils/HintFileUtils.java`.

use std::time::Duration;

use bytes::Bytes;
use tidewater_format::{Snapshot, TablePaths, format_hint, parse_hint, versioned_file_number};
use tidewater_io::{Env, FileIo, IoError};
use tidewater_types::{ErrorKind, SnapshotId};

use crate::error::{Result, TableError};

/// How often a snapshot file that does not parse is read again: a store may show a file before its bytes.
const PARSE_ATTEMPTS: u32 = 10;
/// The pause between two such attempts.
const PARSE_RETRY_WAIT: Duration = Duration::from_millis(200);

/// Reads and finds snapshots. Cheap to clone; holds no state, so two handles never disagree for long.
#[derive(Clone, Debug)]
pub struct SnapshotLog {
    io: FileIo,
    env: Env,
    paths: TablePaths,
}

impl SnapshotLog {
    /// The log of the table whose files lie where `paths` says.
    pub fn new(io: FileIo, env: Env, paths: TablePaths) -> Self {
        Self { io, env, paths }
    }

    /// The newest snapshot's id, `None` while the table has no snapshot.
    pub async fn latest_id(&self) -> Result<Option<SnapshotId>> {
        if let Some(hint) = self.hint(&self.paths.latest_hint()).await?
            && hint > 0
            && self.exists(SnapshotId(hint)).await?
            && !self.exists(SnapshotId(hint.saturating_add(1))).await?
        {
            return Ok(Some(SnapshotId(hint)));
        }
        Ok(self.list_ids().await?.last().copied())
    }

    /// The oldest snapshot's id, `None` while the table has no snapshot.
    pub async fn earliest_id(&self) -> Result<Option<SnapshotId>> {
        if let Some(hint) = self.hint(&self.paths.earliest_hint()).await?
            && hint > 0
            && self.exists(SnapshotId(hint)).await?
        {
            return Ok(Some(SnapshotId(hint)));
        }
        Ok(self.list_ids().await?.first().copied())
    }

    /// The newest snapshot.
    pub async fn latest(&self) -> Result<Option<Snapshot>> {
        match self.latest_id().await? {
            None => Ok(None),
            Some(id) => self.read(id).await.map(Some),
        }
    }

    /// Every snapshot id that has a file, ascending. Other names in the folder are passed over.
    pub async fn list_ids(&self) -> Result<Vec<SnapshotId>> {
        let files = self.io.list(&self.paths.snapshot_dir()).await?;
        let mut ids: Vec<SnapshotId> = files
            .iter()
            .filter(|file| !file.is_dir)
            .filter_map(|file| versioned_file_number(&file.name, "snapshot-").map(SnapshotId))
            .collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// Whether the snapshot has a file.
    pub async fn exists(&self, id: SnapshotId) -> Result<bool> {
        Ok(self.io.exists(&self.paths.snapshot(id)).await?)
    }

    /// One snapshot.
    ///
    /// # Errors
    /// [`TableError::SnapshotNotFound`] with the range that exists; [`TableError::Damaged`] if the file stays unreadable.
    pub async fn read(&self, id: SnapshotId) -> Result<Snapshot> {
        match self.try_read(id).await? {
            Some(snapshot) => Ok(snapshot),
            None => Err(self.not_found(id).await),
        }
    }

    /// One snapshot, `None` if it has no file.
    pub async fn try_read(&self, id: SnapshotId) -> Result<Option<Snapshot>> {
        let path = self.paths.snapshot(id);
        let mut attempt = 1;
        loop {
            let bytes = match self.io.read(&path).await {
                Ok(bytes) => bytes,
                Err(IoError::NotFound { .. }) => return Ok(None),
                Err(e) => return Err(e.into()),
            };
            match Snapshot::from_json(&bytes) {
                Ok(snapshot) if snapshot.id != id => {
                    let found = snapshot.id.0;
                    return Err(TableError::WrongNumber { path, found });
                }
                Ok(snapshot) => return Ok(Some(snapshot)),
                // Local files appear whole, so waiting would only delay the answer.
                Err(source) if attempt >= PARSE_ATTEMPTS || self.io.is_local() => {
                    return Err(TableError::damaged(path, source));
                }
                Err(_) => {
                    attempt += 1;
                    self.env.sleep(PARSE_RETRY_WAIT).await;
                }
            }
        }
    }

    /// The newest snapshot committed at or before `millis`; `None` if all are younger or there is none.
    pub async fn at_or_before_millis(&self, millis: i64) -> Result<Option<Snapshot>> {
        let Some((earliest, latest)) = self.range().await? else {
            return Ok(None);
        };
        let (mut low, mut high) = (earliest.0, latest.0);
        let mut best = None;
        while low <= high {
            let middle = low + (high - low) / 2;
            match self.try_read(SnapshotId(middle)).await? {
                // Expired while we searched: what is left lies above.
                None => low = middle + 1,
                Some(snapshot) if snapshot.time_millis <= millis => {
                    best = Some(snapshot);
                    low = middle + 1;
                }
                Some(_) => high = middle - 1,
            }
        }
        Ok(best)
    }

    /// The snapshot that a read at `millis` means.
    ///
    /// # Errors
    /// [`TableError::NoSnapshotAtTime`] if all snapshots are younger, [`TableError::NoSnapshot`] if there is none.
    pub async fn travel_to_millis(&self, millis: i64) -> Result<Snapshot> {
        if let Some(snapshot) = self.at_or_before_millis(millis).await? {
            return Ok(snapshot);
        }
        match self.earliest_id().await? {
            None => Err(TableError::NoSnapshot {
                location: self.paths.root().to_owned(),
            }),
            Some(id) => {
                let earliest = self.read(id).await?;
                Err(TableError::NoSnapshotAtTime {
                    asked_millis: millis,
                    earliest_millis: earliest.time_millis,
                })
            }
        }
    }

    /// Earliest and latest id.
    pub async fn range(&self) -> Result<Option<(SnapshotId, SnapshotId)>> {
        let Some(latest) = self.latest_id().await? else {
            return Ok(None);
        };
        let earliest = self.earliest_id().await?.unwrap_or(latest);
        Ok(Some((earliest, latest)))
    }

    /// The newest snapshot of `user`, walking down from the latest and stopping where snapshots have expired.
    pub async fn latest_of_user(&self, user: &str) -> Result<Option<Snapshot>> {
        self.latest_where(|snapshot| snapshot.commit_user == user)
            .await
    }

    /// The newest snapshot that `wanted` says yes to, walking down from the latest and stopping where snapshots have expired.
    pub async fn latest_where(
        &self,
        wanted: impl Fn(&Snapshot) -> bool,
    ) -> Result<Option<Snapshot>> {
        let Some((earliest, latest)) = self.range().await? else {
            return Ok(None);
        };
        let mut id = latest;
        while id >= earliest {
            match self.try_read(id).await? {
                None => return Ok(None),
                Some(snapshot) if wanted(&snapshot) => return Ok(Some(snapshot)),
                Some(_) => id = SnapshotId(id.0 - 1),
            }
        }
        Ok(None)
    }

    /// Writes the LATEST hint; called only after the snapshot's file exists.
    pub(crate) async fn write_latest_hint(&self, id: SnapshotId) -> Result<()> {
        self.io
            .overwrite(&self.paths.latest_hint(), Bytes::from(format_hint(id.0)))
            .await?;
        Ok(())
    }

    /// The error for a snapshot without a file, with what is there instead.
    pub(crate) async fn not_found(&self, id: SnapshotId) -> TableError {
        let location = self.paths.root().to_owned();
        match self.range().await {
            Ok(Some((earliest, latest))) => TableError::SnapshotNotFound {
                location,
                id: id.0,
                earliest: earliest.0,
                latest: latest.0,
            },
            Ok(None) => TableError::NoSnapshot { location },
            Err(e) => e,
        }
    }

    async fn hint(&self, path: &str) -> Result<Option<i64>> {
        match self.io.read(path).await {
            Ok(bytes) => Ok(parse_hint(&bytes)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e.into()),
        }
    }
}
