//! A writer of one table under one user, from its first row to its last commit.

use std::collections::BTreeMap;
use std::time::Duration;

use arrow_array::{Array, Int8Array, RecordBatch};
use serde_json::{Value, json};
use tidewater_table::{
    CommitOptions, Committable, CompactScope, Table, TableCommit, TableWrite, WriteOptions,
};
use tidewater_types::{BinaryRow, Bucket, Datum, Predicate};

use crate::error::{CliError, Result};
use crate::json::{DecodedRows, RowDecoder, datum_from_json};
use crate::output::Output;

/// What a commit line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommitRequest {
    /// The identifier.
    pub(crate) identifier: i64,
    /// Event time up to which all rows have arrived.
    pub(crate) watermark: Option<i64>,
    /// Kept in the snapshot.
    pub(crate) properties: BTreeMap<String, String>,
    /// Make a snapshot though there is nothing.
    pub(crate) empty: bool,
    /// Skip if this user has committed this identifier before.
    pub(crate) filter: bool,
    /// Wait for compactions under way.
    pub(crate) wait: bool,
}

impl CommitRequest {
    /// A plain commit under this identifier.
    pub(crate) fn of(identifier: i64) -> Self {
        Self {
            identifier,
            watermark: None,
            properties: BTreeMap::new(),
            empty: false,
            filter: false,
            wait: true,
        }
    }
}

/// What a compact line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CompactRequest {
    /// Everything, or what the rules pick.
    pub(crate) full: bool,
    /// Only this partition, as an object.
    pub(crate) partition: Option<Value>,
    /// Only partitions for which this holds, as text.
    pub(crate) condition: Option<String>,
    /// Only this bucket.
    pub(crate) bucket: Option<i32>,
    /// Only partitions that got no new file for so long.
    pub(crate) idle_for: Option<Duration>,
}

/// Writer, committer and decoder of one table.
pub(crate) struct WriteSession {
    table: Table,
    user: String,
    write: TableWrite,
    commit: TableCommit,
    decoder: RowDecoder,
    last_identifier: i64,
    pending: bool,
    rows: u64,
}

impl WriteSession {
    /// Opens a writer that goes on behind what `user` has committed.
    pub(crate) async fn open(table: Table, user: String) -> Result<Self> {
        let write = table.new_write(WriteOptions::default()).await?;
        let commit = table.new_commit(CommitOptions { user: user.clone() })?;
        let decoder = RowDecoder::new(&table.schema().row_type())?;
        let last = commit.last_identifier().await?.unwrap_or(0);
        let last_identifier = if last == i64::MAX { 0 } else { last };
        Ok(Self {
            table,
            user,
            write,
            commit,
            decoder,
            last_identifier,
            pending: false,
            rows: 0,
        })
    }

    /// Closes the writer and opens a new one; rows that were not committed are lost.
    pub(crate) async fn reopen(&mut self, user: Option<String>) -> Result<()> {
        let user = user.unwrap_or_else(|| self.user.clone());
        let table = self.table.reload().await?;
        let rows = self.rows;
        *self = Self::open(table, user).await?;
        self.rows = rows;
        Ok(())
    }

    /// Where lines go before they are rows of the table.
    pub(crate) fn decoder(&mut self) -> &mut RowDecoder {
        &mut self.decoder
    }

    /// Gives the decoded rows to the table; the answer is how many they were.
    pub(crate) async fn hand_over(&mut self) -> Result<u64> {
        let Some(rows) = self.decoder.take()? else {
            return Ok(0);
        };
        let count = u64::try_from(rows.batch.num_rows()).unwrap_or(u64::MAX);
        self.pending = true;
        self.rows += count;
        self.write_rows(rows).await?;
        Ok(count)
    }

    async fn write_rows(&mut self, rows: DecodedRows) -> Result<()> {
        let DecodedRows {
            batch,
            kinds,
            buckets,
        } = rows;
        let Some(buckets) = buckets else {
            return Ok(self.write.write_with_kinds(batch, kinds).await?);
        };
        // Runs of rows that go to one bucket, or to the one their key gives.
        let mut start = 0;
        for end in 1..=buckets.len() {
            let same = end < buckets.len()
                && buckets.is_null(end) == buckets.is_null(start)
                && buckets.value(end) == buckets.value(start);
            if same {
                continue;
            }
            let (batch, kinds) = slice(&batch, &kinds, start, end);
            if buckets.is_null(start) {
                self.write.write_with_kinds(batch, kinds).await?;
            } else {
                self.write
                    .write_to_bucket(batch, kinds, Bucket(buckets.value(start)))
                    .await?;
            }
            start = end;
        }
        Ok(())
    }

    /// Asks for a compaction with the next commit.
    pub(crate) async fn compact(&mut self, request: CompactRequest) -> Result<()> {
        let partition = request
            .partition
            .as_ref()
            .map(|json| self.partition(json))
            .transpose()?;
        let row_type = self.table.schema().row_type();
        let condition = request.condition.as_deref();
        let scope = CompactScope {
            partition,
            partitions: condition
                .map(|text| Predicate::parse_text(text, &row_type))
                .transpose()?,
            bucket: request.bucket.map(Bucket),
            idle_for: request.idle_for,
        };
        self.write.compact(&scope, request.full).await?;
        self.pending = true;
        Ok(())
    }

    fn partition(&self, json: &Value) -> Result<BinaryRow> {
        let Value::Object(members) = json else {
            return Err(CliError::usage(format!(
                "a partition is an object, not {json}"
            )));
        };
        let row_type = self.table.schema().partition_type();
        if let Some(name) = members
            .keys()
            .find(|name| row_type.index_of(name).is_none())
        {
            return Err(CliError::usage(format!(
                "{name:?} is not a partition column"
            )));
        }
        let values = row_type
            .fields
            .iter()
            .map(|field| {
                datum_from_json(
                    members.get(&field.name).unwrap_or(&Value::Null),
                    &field.data_type,
                    &field.name,
                )
            })
            .collect::<Result<Vec<Datum>, _>>()?;
        Ok(BinaryRow::from_datums(&values, &row_type.types())?)
    }

    /// Commits what came since the last commit, and says which snapshots that made.
    pub(crate) async fn commit(
        &mut self,
        request: CommitRequest,
        output: &mut Output,
    ) -> Result<()> {
        let messages = self.write.prepare_commit(request.wait).await?;
        let committable = Committable {
            identifier: request.identifier,
            watermark: request.watermark,
            properties: request.properties,
            messages,
        };
        let compacts = committable.compacts();
        let commit = self.commit.clone().ignore_empty(!request.empty);
        let made = if request.filter {
            commit.filter_and_commit(vec![committable]).await?
        } else {
            commit.commit(committable).await?
        };
        if Committable::lost_compaction(compacts, &made) {
            self.write = self.table.new_write(WriteOptions::default()).await?;
        }
        self.last_identifier = request.identifier;
        self.pending = false;
        let snapshots: Vec<Value> = made
            .iter()
            .map(|snapshot| json!({"id": snapshot.id.0, "kind": snapshot.kind.to_string()}))
            .collect();
        output.record(&json!({"commit": request.identifier, "snapshots": snapshots}))
    }

    /// Commits what is left at the end of input, under the last identifier plus one.
    pub(crate) async fn commit_rest(&mut self, output: &mut Output) -> Result<()> {
        if !self.pending {
            return Ok(());
        }
        self.commit(
            CommitRequest::of(self.last_identifier.saturating_add(1)),
            output,
        )
        .await
    }

    /// Says how many rows came and what the latest snapshot is.
    pub(crate) async fn summary(&self, output: &mut Output) -> Result<()> {
        let latest = self
            .table
            .latest_snapshot()
            .await?
            .map(|snapshot| snapshot.id.0);
        output.record(&json!({"rows": self.rows, "latest": latest}))
    }
}

fn slice(
    batch: &RecordBatch,
    kinds: &Int8Array,
    start: usize,
    end: usize,
) -> (RecordBatch, Int8Array) {
    (
        batch.slice(start, end - start),
        kinds.slice(start, end - start),
    )
}
