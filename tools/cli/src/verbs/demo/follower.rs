//! The reader of the demo: replays changes, and holds the result against a batch read at every snapshot.

use std::collections::HashMap;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch};
use serde_json::json;
use tidewater_table::{StreamMode, StreamOptions, StreamScan, Table};
use tidewater_types::{RowKind, RowType, SnapshotId, TypeError};
use tokio::sync::watch;

use crate::error::Result;
use crate::json::RowEncoder;
use crate::output::{Output, OutputMode, grouped};
use crate::verbs::query::KindColumn;

/// Time between two looks for a snapshot.
const POLL: Duration = Duration::from_millis(20);

/// Rows by key, each as its JSON text.
type State = HashMap<i64, Vec<u8>>;

/// Follows the table of the demo.
pub(super) struct Follower {
    table: Table,
    stream: StreamScan,
    encoder: RowEncoder,
    replayed: State,
    /// The last snapshot that was checked.
    checked: i64,
}

/// What has been compared so far.
#[derive(Debug, Default)]
pub(super) struct Proof {
    /// Snapshots compared.
    pub(super) snapshots: u64,
    /// Changes replayed.
    pub(super) changes: u64,
    /// Rows at the last snapshot.
    pub(super) rows: u64,
    /// Snapshots where the two differ.
    pub(super) different: Vec<i64>,
}

impl Proof {
    /// Adds what came later.
    pub(super) fn add(&mut self, later: Self) {
        self.snapshots += later.snapshots;
        self.changes += later.changes;
        self.rows = later.rows;
        self.different.extend(later.different);
    }

    /// Whether something was compared, and all of it was equal.
    pub(super) fn holds(&self) -> bool {
        self.snapshots > 0 && self.different.is_empty()
    }
}

/// Changes of one snapshot by kind.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    written: u64,
    deleted: u64,
}

impl Follower {
    pub(super) fn new(table: Table) -> Result<Self> {
        let row_type: RowType = table.schema().row_type();
        Ok(Self {
            stream: table.new_stream(StreamOptions {
                mode: StreamMode::FromSnapshot(SnapshotId::FIRST),
                ..StreamOptions::default()
            })?,
            encoder: RowEncoder::new(&row_type),
            table,
            replayed: State::new(),
            checked: 0,
        })
    }

    /// Follows until the snapshot that `is_done` tells in the end.
    pub(super) async fn run(
        &mut self,
        mut is_done: watch::Receiver<Option<i64>>,
        output: &mut Output,
    ) -> Result<Proof> {
        let mut proof = Proof::default();
        loop {
            let plan = tokio::select! {
                plan = self.stream.wait_next(Some(POLL)) => plan?,
                _ = is_done.wait_for(Option::is_some) => {
                    match self.stream.plan_next().await? {
                        Some(plan) => plan,
                        None => break,
                    }
                }
            };
            let snapshot = plan.snapshot;
            // Snapshots in between changed no row: the state before must be theirs.
            proof.add(self.check(snapshot.0 - 1).await?);
            let mut changes = self.stream.read(plan).await?;
            let mut counts = Counts::default();
            while let Some(batch) = changes.next_batch().await? {
                self.replay(&batch, &mut counts)?;
            }
            let mut compared = self.check(snapshot.0).await?;
            compared.changes = counts.written + counts.deleted;
            print(snapshot.0, counts, &compared, output)?;
            proof.add(compared);
        }
        let last = (*is_done.borrow()).unwrap_or(0);
        proof.add(self.check(last).await?);
        Ok(proof)
    }

    fn replay(&mut self, batch: &RecordBatch, counts: &mut Counts) -> Result<()> {
        let kinds = KindColumn::of(batch)?;
        let ids = ids_of(batch)?;
        let mut rows = self.encoder.bind(batch)?;
        for row in 0..batch.num_rows() {
            let kind: RowKind = kinds.kind(row)?;
            let id = ids.value(row);
            if kind.is_retract() {
                counts.deleted += 1;
                self.replayed.remove(&id);
            } else {
                counts.written += 1;
                let mut text = Vec::new();
                rows.write_row(row, &mut text)?;
                self.replayed.insert(id, text);
            }
        }
        Ok(())
    }

    /// Compares with the batch read at each snapshot up to `last` that was not compared yet.
    pub(super) async fn check(&mut self, last: i64) -> Result<Proof> {
        let mut proof = Proof {
            rows: self.replayed.len() as u64,
            ..Proof::default()
        };
        while self.checked < last {
            self.checked += 1;
            let read = self.read_at(SnapshotId(self.checked)).await?;
            proof.snapshots += 1;
            if read != self.replayed {
                proof.different.push(self.checked);
            }
        }
        Ok(proof)
    }

    async fn read_at(&self, snapshot: SnapshotId) -> Result<State> {
        let mut read = State::with_capacity(self.replayed.len());
        let mut rows = self.table.new_scan().snapshot(snapshot).read().await?;
        while let Some(batch) = rows.next_batch().await? {
            let ids = ids_of(&batch)?;
            let mut bound = self.encoder.bind(&batch)?;
            for row in 0..batch.num_rows() {
                let mut text = Vec::new();
                bound.write_row(row, &mut text)?;
                read.insert(ids.value(row), text);
            }
        }
        Ok(read)
    }
}

fn ids_of(batch: &RecordBatch) -> Result<&arrow_array::Int64Array> {
    let ids = batch
        .columns()
        .first()
        .and_then(|column| column.as_primitive_opt::<Int64Type>())
        .filter(|ids| ids.null_count() == 0);
    Ok(ids.ok_or_else(|| TypeError::internal("a batch without keys"))?)
}

fn print(snapshot: i64, counts: Counts, compared: &Proof, output: &mut Output) -> Result<()> {
    let equal = compared.different.is_empty();
    match output.mode() {
        OutputMode::Lines => output.record(&json!({
            "snapshot": snapshot,
            "written": counts.written,
            "deleted": counts.deleted,
            "replayed": compared.rows,
            "equal": equal,
        })),
        OutputMode::Table { .. } => {
            output.text(&format!(
                "snapshot {snapshot:>3}   {:>7} written {:>6} deleted   replayed {:>7} rows   {}\n",
                grouped(counts.written),
                grouped(counts.deleted),
                grouped(compared.rows),
                if equal {
                    "= batch read"
                } else {
                    "DIFFERS from the batch read"
                },
            ))?;
            output.flush()
        }
    }
}
