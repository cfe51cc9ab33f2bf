//! A small table of two columns and a partition, for tests about stores and files rather than about rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use tidewater_format::{SchemaDefinition, VALUE_KIND_COLUMN};
use tidewater_io::{CpuPool, Env, FileIo, MemoryBudget};
use tidewater_table::{
    CommitOptions, Committable, ScanBuilder, StreamMode, StreamOptions, Table, TableEnv,
    TableError, TableWrite, WriteOptions,
};
use tidewater_types::arrow_types::to_arrow_schema;
use tidewater_types::{DataType, RowType, SnapshotId};

pub(crate) const ROOT: &str = "/w/db.db/t";
pub(crate) const USER: &str = "job";

/// Which kind of table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Keyed, with a changelog, compacting as it is written.
    Keyed,
    /// Rows are only added; no buckets.
    Append,
}

/// A row: key, partition, value.
pub(crate) type SmallRow = (i32, String, String);

pub(crate) fn small_row(key: i32, value: &str) -> SmallRow {
    (key, format!("p{}", key % 2), value.to_owned())
}

pub(crate) fn environment(io: &FileIo) -> TableEnv {
    TableEnv::new(
        io.env().clone(),
        CpuPool::inline(),
        MemoryBudget::new(64 << 20),
    )
}

pub(crate) fn memory() -> FileIo {
    FileIo::memory().with_env(Env::seeded(5))
}

pub(crate) async fn create(io: &FileIo, root: &str, kind: Kind) -> Table {
    let keyed = kind == Kind::Keyed;
    let options: &[(&str, &str)] = if keyed {
        &[
            ("bucket", "1"),
            ("changelog-producer", "input"),
            ("num-sorted-run.compaction-trigger", "2"),
        ]
    } else {
        &[("bucket", "-1")]
    };
    let options: BTreeMap<String, String> = options
        .iter()
        .chain(&[("manifest.merge-min-count", "3")])
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    let definition = SchemaDefinition {
        fields: RowType::of([
            ("k", DataType::int().not_null()),
            ("p", DataType::string().not_null()),
            ("v", DataType::string()),
        ])
        .fields,
        primary_keys: if keyed {
            vec!["k".to_owned(), "p".to_owned()]
        } else {
            Vec::new()
        },
        partition_keys: vec!["p".to_owned()],
        options,
        comment: None,
    };
    Table::create(environment(io), io.clone(), root, "t", definition)
        .await
        .unwrap()
        .unwrap()
}

pub(crate) async fn open(io: &FileIo, root: &str) -> Result<Table, TableError> {
    Table::open(environment(io), io.clone(), root, "t").await
}

pub(crate) fn batch(table: &Table, rows: &[SmallRow]) -> RecordBatch {
    let text = |of: fn(&SmallRow) -> &String| -> ArrayRef {
        Arc::new(
            rows.iter()
                .map(|row| Some(of(row)))
                .collect::<StringArray>(),
        )
    };
    let keys: Int32Array = rows.iter().map(|row| Some(row.0)).collect();
    RecordBatch::try_new(
        to_arrow_schema(&table.schema().row_type()),
        vec![Arc::new(keys), text(|row| &row.1), text(|row| &row.2)],
    )
    .unwrap()
}

/// Writes rows and prepares their commit. What an error leaves is removed as far as the store lets it.
pub(crate) async fn prepare(
    table: &Table,
    identifier: i64,
    rows: &[SmallRow],
) -> Result<Committable, TableError> {
    let mut write = table.new_write(WriteOptions::default()).await?;
    match messages(&mut write, rows).await {
        Ok(messages) => Ok(Committable {
            identifier,
            messages,
            ..Committable::default()
        }),
        Err(error) => {
            // Its own trouble on a faulty store says nothing new.
            let _ = write.abort().await;
            Err(error)
        }
    }
}

async fn messages(
    write: &mut TableWrite,
    rows: &[SmallRow],
) -> Result<Vec<tidewater_store::CommitMessage>, TableError> {
    let table = write.table().clone();
    write.write(batch(&table, rows)).await?;
    write.prepare_commit(true).await
}

/// Writes rows and commits them.
pub(crate) async fn commit(
    table: &Table,
    identifier: i64,
    rows: &[SmallRow],
) -> Result<(), TableError> {
    let committable = prepare(table, identifier, rows).await?;
    let options = CommitOptions {
        user: USER.to_owned(),
    };
    table.new_commit(options)?.commit(committable).await?;
    Ok(())
}

/// The rows of a scan, sorted.
pub(crate) async fn read(scan: &ScanBuilder) -> Result<Vec<SmallRow>, TableError> {
    let mut stream = scan.read().await?;
    let mut rows = Vec::new();
    while let Some(batch) = stream.next_batch().await? {
        rows.extend(rows_of(&batch));
    }
    rows.sort_unstable();
    Ok(rows)
}

fn rows_of(batch: &RecordBatch) -> Vec<SmallRow> {
    let keys = batch.column(0).as_primitive::<Int32Type>();
    let text = |column: usize, at: usize| {
        let values = batch.column(column).as_string::<i32>();
        values.value(at).to_owned()
    };
    (0..batch.num_rows())
        .map(|at| (keys.value(at), text(1, at), text(2, at)))
        .collect()
}

/// All changes from snapshot 1 on: snapshot, kind, row.
pub(crate) async fn changes(table: &Table) -> Result<Vec<(i64, i8, SmallRow)>, TableError> {
    let options = StreamOptions {
        mode: StreamMode::FromSnapshot(SnapshotId(1)),
        ..StreamOptions::default()
    };
    let mut stream = table.new_stream(options)?;
    let mut all = Vec::new();
    while let Some(plan) = stream.plan_next().await? {
        let snapshot = plan.snapshot.0;
        let mut rows = stream.read(plan).await?;
        while let Some(batch) = rows.next_batch().await? {
            let kinds = batch.column_by_name(VALUE_KIND_COLUMN).unwrap();
            let kinds = kinds.as_primitive::<Int8Type>().values().to_vec();
            let rows = kinds.into_iter().zip(rows_of(&batch));
            all.extend(rows.map(|(kind, row)| (snapshot, kind, row)));
        }
    }
    Ok(all)
}

/// An error with all its sources.
pub(crate) fn chain(error: &TableError) -> String {
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(source) = next {
        text = format!("{text}: {source}");
        next = source.source();
    }
    text
}
