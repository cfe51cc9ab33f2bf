//! The stream itself: plans, one after the other, and their rows.
//!
//! Source: spec 03 §6.3 to §6.5; Paimon `table/source/DataTableStreamScan.java`, `table/source/snapshot/*FollowUpScanner.java`.

use std::sync::Arc;
use std::time::Duration;

use tidewater_files::FilesContext;
use tidewater_format::{
    ChangelogProducer, CommitKind, FormatError, Snapshot, TableOptions, TableSchema, Unsupported,
    ensure_readable, versioned_file_number,
};
use tidewater_types::{Predicate, SnapshotId};

use super::position::StreamPosition;
use super::rows::ChangeStream;
use super::start::{Start, StreamMode, after};
use crate::error::{Result, TableError};
use crate::scan::{DataSplit, ManifestKind, RowRequest, RowStream, ScanPlanner, SplitPurpose};
use crate::table_log::TableLog;

/// Misses in a row after which a stream asks whether the snapshot it waits for can still come.
const MISSES_PER_CHECK: u32 = 16;

/// What a stream reads.
#[derive(Debug, Clone, Default)]
pub struct StreamOptions {
    /// Where it starts; a restored position wins over it.
    pub mode: StreamMode,
    /// The columns, in this order; all if `None`.
    pub project: Option<Vec<String>>,
    /// Rows that do not match are left out, whatever their kind; bound to the table's row type.
    pub filter: Option<Predicate>,
}

/// The rows of one snapshot that a stream shows.
#[derive(Debug, Clone)]
pub struct StreamPlan {
    /// The snapshot.
    pub snapshot: SnapshotId,
    /// Files with the rows. All changes of one key are in one split.
    pub splits: Vec<DataSplit>,
    /// Files whose rows an overwrite took away.
    pub removed: Vec<DataSplit>,
    /// What the rows are.
    pub kind: StreamPlanKind,
}

/// What the rows of a plan are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamPlanKind {
    /// The state at the snapshot.
    State,
    /// What the snapshot changed, row by row.
    Changes,
    /// What the snapshot took away, and what it put there.
    Overwrite,
}

/// Follows a table from snapshot to snapshot, with the columns it had when it was opened.
#[derive(Debug)]
pub struct StreamScan {
    log: TableLog,
    context: FilesContext,
    options: StreamOptions,
    schema: Arc<TableSchema>,
    table_options: TableOptions,
    projection: Vec<usize>,
    filter: Option<Predicate>,
    planner: ScanPlanner,
    next: Option<SnapshotId>,
    /// The table had no snapshot when the stream looked.
    was_empty: bool,
    misses: u32,
    /// It stands where an earlier run stood, and has not seen a snapshot since.
    restored: bool,
}

impl StreamScan {
    /// A stream that has not started. `log` carries the schema with the options of the job.
    ///
    /// # Errors
    /// Tables and options that this build cannot follow, columns that are not there.
    pub fn new(log: TableLog, context: FilesContext, options: StreamOptions) -> Result<Self> {
        let schema = Arc::clone(log.schema());
        ensure_readable(&schema)?;
        let table_options = schema.options()?;
        ensure_followable(&schema, &table_options)?;
        let row_type = schema.row_type();
        let projection = match &options.project {
            Some(columns) => row_type.indices_of(columns)?,
            None => (0..row_type.len()).collect(),
        };
        let filter = options.filter.as_ref();
        let filter = filter.map(|filter| filter.rebind(&row_type)).transpose()?;
        Ok(Self {
            planner: ScanPlanner::new(&log, &schema, filter.as_ref())?,
            log,
            context,
            options,
            schema,
            table_options,
            projection,
            filter,
            next: None,
            was_empty: false,
            misses: 0,
            restored: false,
        })
    }

    /// Where the stream stands: behind every plan that was handed out.
    pub fn position(&self) -> StreamPosition {
        StreamPosition {
            next_snapshot: self.next,
        }
    }

    /// Goes on at a position of an earlier run; one without a snapshot starts anew.
    pub fn restore(&mut self, position: StreamPosition) {
        self.next = position.next_snapshot;
        self.was_empty = false;
        self.misses = 0;
        self.restored = position.next_snapshot.is_some();
    }

    /// The next plan that has rows to show, `None` if there is none now. Snapshots that changed no rows are passed.
    ///
    /// # Errors
    /// [`TableError::PositionExpired`] if the next snapshot is gone; metadata that is missing or damaged. The position stays, so the call can be
    /// repeated.
    pub async fn plan_next(&mut self) -> Result<Option<StreamPlan>> {
        if self.next.is_none()
            && let Some(plan) = self.start().await?
        {
            return Ok(Some(plan));
        }
        while let Some(next) = self.next {
            let Some(snapshot) = self.log.snapshots().try_read(next).await? else {
                self.misses = self.misses.saturating_add(1);
                self.check_range(next).await?;
                return Ok(None);
            };
            if self.is_too_young(&snapshot) {
                return Ok(None);
            }
            let plan = self.plan_of(&snapshot).await?;
            self.next = Some(after(next));
            self.misses = 0;
            self.restored = false;
            if plan.is_some() {
                return Ok(plan);
            }
        }
        Ok(None)
    }

    /// The rows of a plan, with the column `_VALUE_KIND` behind the others. The rows of one key come in their order.
    ///
    /// # Errors
    /// Files that are missing or damaged.
    pub async fn read(&self, plan: StreamPlan) -> Result<ChangeStream> {
        let purpose = match plan.kind {
            StreamPlanKind::State | StreamPlanKind::Overwrite => SplitPurpose::State,
            StreamPlanKind::Changes => SplitPurpose::Changes,
        };
        let rows = |splits| {
            let request = RowRequest {
                schema: &self.schema,
                projection: self.projection.clone(),
                filter: self.filter.clone(),
                kinds: true,
                purpose,
                limit: None,
            };
            RowStream::start(&self.log, &self.context, splits, request)
        };
        let removed = if plan.removed.is_empty() {
            None
        } else {
            Some(rows(plan.removed).await?)
        };
        Ok(ChangeStream::new(removed, rows(plan.splits).await?))
    }

    /// Waits for the next plan, looking every `poll_interval`, or as the option `continuous.discovery-interval` says.
    ///
    /// # Errors
    /// As [`StreamScan::plan_next`].
    pub async fn wait_next(&mut self, poll_interval: Option<Duration>) -> Result<StreamPlan> {
        let interval = poll_interval.unwrap_or(self.table_options.continuous_discovery_interval);
        loop {
            if let Some(plan) = self.plan_next().await? {
                return Ok(plan);
            }
            self.log.env().sleep(interval).await;
        }
    }

    /// Settles where the stream starts, and answers with the state it starts with, if that has rows.
    async fn start(&mut self) -> Result<Option<StreamPlan>> {
        self.ensure_not_among_changelogs().await?;
        let found = Start::find(self.log.snapshots(), self.options.mode, self.was_empty).await?;
        let Some(start) = found else {
            self.was_empty = true;
            return Ok(None);
        };
        let plan = match &start.state {
            Some(snapshot) => Some(StreamPlan {
                snapshot: snapshot.id,
                splits: self.planner.plan_first_of_stream(snapshot).await?.splits,
                removed: Vec::new(),
                kind: StreamPlanKind::State,
            }),
            None => None,
        };
        self.next = Some(start.next);
        Ok(plan.filter(|plan| !plan.splits.is_empty()))
    }

    /// The plan of the snapshot's changes, if it has any that a stream shows.
    async fn plan_of(&self, snapshot: &Snapshot) -> Result<Option<StreamPlan>> {
        let overwrite = snapshot.commit_kind == CommitKind::Overwrite;
        let mut plan = StreamPlan {
            snapshot: snapshot.id,
            splits: Vec::new(),
            removed: Vec::new(),
            kind: StreamPlanKind::Changes,
        };
        if overwrite && self.schema.is_keyed() && self.table_options.streaming_read_overwrite {
            plan.kind = StreamPlanKind::Overwrite;
            (plan.removed, plan.splits) = self.planner.plan_overwrite(snapshot).await?;
        } else if let Some(kind) = self.changes_of(snapshot) {
            plan.splits = self.planner.plan_changes(snapshot, kind).await?;
        }
        let shows = !plan.splits.is_empty() || !plan.removed.is_empty();
        Ok(shows.then_some(plan))
    }

    /// Where the snapshot's changes are, if it has any that a stream shows.
    fn changes_of(&self, snapshot: &Snapshot) -> Option<ManifestKind> {
        let overwrite = snapshot.commit_kind == CommitKind::Overwrite;
        if overwrite
            && !self.schema.is_keyed()
            && self.table_options.streaming_read_append_overwrite
        {
            return Some(ManifestKind::Delta);
        }
        match self.table_options.changelog_producer {
            ChangelogProducer::None => {
                (snapshot.commit_kind == CommitKind::Append).then_some(ManifestKind::Delta)
            }
            _ => (!overwrite && snapshot.changelog_manifest_list.is_some())
                .then_some(ManifestKind::Changelog),
        }
    }

    fn is_too_young(&self, snapshot: &Snapshot) -> bool {
        self.table_options
            .streaming_read_snapshot_delay
            .is_some_and(|delay| {
                let age = self
                    .log
                    .env()
                    .now_millis()
                    .saturating_sub(snapshot.time_millis);
                u64::try_from(age).unwrap_or(0) < u64::try_from(delay.as_millis()).unwrap_or(0)
            })
    }

    /// Whether a snapshot that is not there can still come.
    async fn check_range(&self, next: SnapshotId) -> Result<()> {
        if self.misses % MISSES_PER_CHECK > 1 {
            return Ok(());
        }
        let Some((earliest, latest)) = self.log.snapshots().range().await? else {
            return Ok(());
        };
        let location = self.log.paths().root().to_owned();
        if earliest > next {
            self.ensure_not_a_changelog(next).await?;
            return Err(TableError::PositionExpired {
                location,
                next: next.0,
                earliest: earliest.0,
            });
        }
        if next <= latest && !self.log.snapshots().exists(next).await? {
            return Err(TableError::SnapshotGap {
                location,
                missing: next.0,
                earliest: earliest.0,
                latest: latest.0,
            });
        }
        if next > after(latest) && (self.restored || self.misses >= MISSES_PER_CHECK) {
            return Err(TableError::PositionAhead {
                location,
                next: next.0,
                latest: latest.0,
            });
        }
        Ok(())
    }

    /// Refuses to start where only changelogs that outlive their snapshots could tell.
    async fn ensure_not_among_changelogs(&self) -> Result<()> {
        let asked = match self.options.mode {
            StreamMode::FromSnapshot(id) => Some(id),
            StreamMode::FromTimestamp(_) => Some(SnapshotId(0)),
            _ => None,
        };
        let Some(asked) = asked.filter(|_| self.table_options.changelog_decoupled()) else {
            return Ok(());
        };
        match self.log.snapshots().earliest_id().await? {
            Some(earliest) if asked < earliest => {
                let files = self
                    .log
                    .io()
                    .list(&self.log.paths().changelog_dir())
                    .await?;
                let kept = files
                    .iter()
                    .any(|file| versioned_file_number(&file.name, "changelog-").is_some());
                if kept {
                    Err(changelogs_apart())
                } else {
                    Ok(())
                }
            }
            _ => Ok(()),
        }
    }

    async fn ensure_not_a_changelog(&self, id: SnapshotId) -> Result<()> {
        let path = self.log.paths().changelog(id);
        if self.log.io().exists(&path).await? {
            return Err(changelogs_apart());
        }
        Ok(())
    }
}

fn changelogs_apart() -> TableError {
    let what = "streams from changelogs that are kept longer than their snapshots";
    TableError::Format(Unsupported::other(what).into())
}

fn ensure_followable(schema: &TableSchema, options: &TableOptions) -> Result<()> {
    if options.streaming_read_overwrite && !schema.is_keyed() {
        return Err(FormatError::OptionConflict {
            key: "streaming-read-overwrite".to_owned(),
            problem: "the table has no primary key".to_owned(),
            remedy: "set streaming-read-append-overwrite".to_owned(),
        }
        .into());
    }
    Ok(())
}
