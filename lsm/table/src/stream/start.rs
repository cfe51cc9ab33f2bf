//! Where a stream starts.
//!
//! Source: spec 03 §2.4; Paimon `table/source/snapshot/Continuous…StartingScanner.java`.

use tidewater_format::{Snapshot, StartupMode, TableOptions, Unsupported};
use tidewater_types::SnapshotId;

use crate::error::{Result, TableError};
use crate::snapshot_log::SnapshotLog;

/// Where a stream starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StreamMode {
    /// With the state of the newest snapshot, then what follows.
    #[default]
    LatestFull,
    /// With what follows the newest snapshot; with the first one if there is none yet.
    Latest,
    /// With the changes of this snapshot, or of the earliest there is.
    FromSnapshot(SnapshotId),
    /// With the state at this snapshot, or at the earliest there is, then what follows.
    FromSnapshotFull(SnapshotId),
    /// With the changes of the first snapshot that was committed at this time or later.
    FromTimestamp(i64),
}

impl StreamMode {
    /// What the options of the table, or of the job, ask for.
    ///
    /// # Errors
    /// Starting points that this build does not know.
    pub fn from_options(options: &TableOptions) -> Result<Self> {
        let unsupported = |what: String| TableError::Format(Unsupported::other(what).into());
        let snapshot = |mode: StartupMode| {
            let id = options.scan_snapshot_id.map(SnapshotId);
            id.ok_or_else(|| unsupported(format!("scan.mode {mode} without scan.snapshot-id")))
        };
        match options.startup_mode() {
            StartupMode::Default | StartupMode::Full | StartupMode::LatestFull => {
                Ok(Self::LatestFull)
            }
            StartupMode::Latest => Ok(Self::Latest),
            mode @ StartupMode::FromSnapshot => snapshot(mode).map(Self::FromSnapshot),
            mode @ StartupMode::FromSnapshotFull => snapshot(mode).map(Self::FromSnapshotFull),
            StartupMode::FromTimestamp => options
                .scan_timestamp_millis
                .map(Self::FromTimestamp)
                .ok_or_else(|| unsupported("scan.timestamp; set scan.timestamp-millis".to_owned())),
            mode => Err(unsupported(format!("scan.mode {mode} of a stream"))),
        }
    }
}

/// The start of a stream, settled.
#[derive(Debug)]
pub(super) struct Start {
    /// Whose state is read first.
    pub(super) state: Option<Snapshot>,
    /// The snapshot whose changes come next.
    pub(super) next: SnapshotId,
}

impl Start {
    /// Settles the start; nothing while the table has no snapshot. `was_empty`: the table had none when the stream looked before.
    pub(super) async fn find(
        log: &SnapshotLog,
        mode: StreamMode,
        was_empty: bool,
    ) -> Result<Option<Self>> {
        let Some((earliest, latest)) = log.range().await? else {
            return Ok(None);
        };
        let changes = |next| Self { state: None, next };
        Ok(Some(match mode {
            StreamMode::LatestFull => Self::state(log, latest).await?,
            StreamMode::FromSnapshotFull(id) => Self::state(log, id.max(earliest)).await?,
            StreamMode::Latest if was_empty => changes(earliest),
            StreamMode::Latest => changes(after(latest)),
            StreamMode::FromSnapshot(id) => changes(id.max(earliest)),
            StreamMode::FromTimestamp(millis) => {
                let before = match millis.checked_sub(1) {
                    Some(before) => log.at_or_before_millis(before).await?,
                    None => None,
                };
                changes(before.map_or(earliest, |snapshot| after(snapshot.id)))
            }
        }))
    }

    async fn state(log: &SnapshotLog, id: SnapshotId) -> Result<Self> {
        Ok(Self {
            state: Some(log.read(id).await?),
            next: after(id),
        })
    }
}

/// The id after this one.
pub(super) fn after(id: SnapshotId) -> SnapshotId {
    SnapshotId(id.0.saturating_add(1))
}
