//! The writer of the demo: seeded upserts and deletes, a commit at a time.

use std::sync::Arc;
use std::time::Duration;

use arrow_array::{Float64Array, Int8Array, Int32Array, Int64Array, RecordBatch, StringArray};
use tidewater_table::{CommitOptions, Committable, CompactScope, Table, WriteOptions};
use tidewater_types::RowKind;

use super::DemoArgs;
use crate::error::Result;

/// Orders that there can be, per change of a commit: small enough that most changes hit an order that is there.
const KEYS_PER_CHANGE: u64 = 4;

/// Makes the commits.
pub(super) struct Feed {
    table: Table,
    commits: u32,
    rows: u32,
    random: Random,
    pause: Duration,
}

impl Feed {
    pub(super) fn new(table: Table, args: &DemoArgs, pause_millis: u64) -> Self {
        Self {
            table,
            commits: args.commits.max(1),
            rows: args.rows.max(1),
            random: Random(args.seed),
            pause: Duration::from_millis(pause_millis),
        }
    }

    /// Writes and commits everything; answers the last snapshot.
    pub(super) async fn run(mut self) -> Result<i64> {
        let mut write = self.table.new_write(WriteOptions::default()).await?;
        let commit = self.table.new_commit(CommitOptions {
            user: "demo".to_owned(),
        })?;
        let mut last = 0;
        for identifier in 1..=self.commits {
            let (rows, kinds) = self.changes(identifier)?;
            write.write_with_kinds(rows, kinds).await?;
            let messages = write.prepare_commit(true).await?;
            let made = commit
                .commit(Committable::new(identifier.into(), messages))
                .await?;
            last = made.last().map_or(last, |snapshot| snapshot.id.0);
            if !self.pause.is_zero() {
                self.table.env().env.sleep(self.pause).await;
            }
        }
        Ok(last)
    }

    fn changes(&mut self, version: u32) -> Result<(RecordBatch, Int8Array)> {
        let rows = self.rows as usize;
        let (mut ids, mut customers) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        let (mut amounts, mut kinds) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        let keys = u64::from(self.rows) * KEYS_PER_CHANGE;
        for _ in 0..rows {
            ids.push(i64::try_from(self.random.below(keys)).unwrap_or_default());
            customers.push(format!("customer-{:03}", self.random.below(500)));
            amounts.push(f64::from(u32::try_from(self.random.below(100_000)).unwrap_or(0)) / 100.0);
            let kind = match self.random.below(10) {
                0 => RowKind::Delete,
                1..=5 => RowKind::UpdateAfter,
                _ => RowKind::Insert,
            };
            kinds.push(kind.as_i8());
        }
        let versions = vec![i32::try_from(version).unwrap_or(i32::MAX); rows];
        let batch = RecordBatch::try_from_iter([
            ("id", Arc::new(Int64Array::from(ids)) as _),
            ("customer", Arc::new(StringArray::from(customers)) as _),
            ("amount", Arc::new(Float64Array::from(amounts)) as _),
            ("version", Arc::new(Int32Array::from(versions)) as _),
        ])?;
        Ok((batch, Int8Array::from(kinds)))
    }
}

/// Compacts everything; answers the last snapshot.
pub(super) async fn compact(table: &Table) -> Result<i64> {
    let mut write = table.new_write(WriteOptions::default()).await?;
    write.compact(&CompactScope::default(), true).await?;
    let commit = table.new_commit(CommitOptions {
        user: "demo-compactor".to_owned(),
    })?;
    let messages = write.prepare_commit(true).await?;
    commit
        .ignore_empty(true)
        .commit(Committable::new(1, messages))
        .await?;
    Ok(table
        .latest_snapshot()
        .await?
        .map_or(0, |snapshot| snapshot.id.0))
}

/// Numbers that look random and repeat (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound.max(1)
    }
}
