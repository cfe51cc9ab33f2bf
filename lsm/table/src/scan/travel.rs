//! Which snapshot a batch read means, and the schema it is read with.
//!
//! A snapshot that was asked for is read with the columns of its own schema and the options of today; the latest one with the schema the
//! table was opened with. Source: spec 03 §2.4, §3; Paimon `table/AbstractFileStoreTable.java` (`tryTimeTravel`).

use std::sync::Arc;

use tidewater_format::{Snapshot, StartupMode, TableSchema, Unsupported, ensure_readable};
use tidewater_types::SnapshotId;

use crate::error::{Result, TableError};
use crate::table_log::TableLog;

/// Where a batch read goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadAt {
    /// The newest snapshot.
    Latest,
    /// This snapshot.
    Snapshot(SnapshotId),
    /// The newest snapshot that is not younger than this.
    TimestampMillis(i64),
}

impl ReadAt {
    /// What the options of the table, or of the job, ask for.
    ///
    /// # Errors
    /// Starting points that this build does not know.
    pub(crate) fn of_options(schema: &TableSchema) -> Result<Self> {
        let options = schema.options()?;
        let unsupported = |what: String| TableError::Format(Unsupported::other(what).into());
        match options.startup_mode() {
            StartupMode::Default
            | StartupMode::Full
            | StartupMode::LatestFull
            | StartupMode::Latest => Ok(Self::Latest),
            mode @ (StartupMode::FromSnapshot | StartupMode::FromSnapshotFull) => options
                .scan_snapshot_id
                .map(|id| Self::Snapshot(SnapshotId(id)))
                .ok_or_else(|| unsupported(format!("scan.mode {mode} without scan.snapshot-id"))),
            StartupMode::FromTimestamp => options
                .scan_timestamp_millis
                .map(Self::TimestampMillis)
                .ok_or_else(|| unsupported("scan.timestamp; set scan.timestamp-millis".to_owned())),
            mode => Err(unsupported(format!("scan.mode {mode}"))),
        }
    }
}

/// A snapshot with the schema it is read with.
#[derive(Debug, Clone)]
pub(crate) struct ReadPoint {
    /// `None` while the table has no snapshot.
    pub(crate) snapshot: Option<Snapshot>,
    pub(crate) schema: Arc<TableSchema>,
}

impl ReadPoint {
    /// Finds it.
    ///
    /// # Errors
    /// A snapshot that does not exist; a schema that this build cannot read.
    pub(crate) async fn find(log: &TableLog, at: ReadAt) -> Result<Self> {
        let point = match at {
            ReadAt::Latest => Self {
                snapshot: log.snapshots().latest().await?,
                schema: Arc::clone(log.schema()),
            },
            ReadAt::Snapshot(id) => Self::travelled(log, log.snapshots().read(id).await?).await?,
            ReadAt::TimestampMillis(millis) => {
                Self::travelled(log, log.snapshots().travel_to_millis(millis).await?).await?
            }
        };
        ensure_readable(&point.schema)?;
        Ok(point)
    }

    async fn travelled(log: &TableLog, snapshot: Snapshot) -> Result<Self> {
        let now = log.schema();
        let schema = if snapshot.schema_id == now.id {
            Arc::clone(now)
        } else {
            let mut then = TableSchema::clone(&*log.schemas().read(snapshot.schema_id).await?);
            then.options.clone_from(&now.options);
            Arc::new(then)
        };
        Ok(Self {
            snapshot: Some(snapshot),
            schema,
        })
    }
}
