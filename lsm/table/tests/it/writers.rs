//! Many writers of one table at once: each acknowledged row is there once, as tasks and as processes, with the default options.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Int32Array, RecordBatch, StringArray};
use async_trait::async_trait;
use tidewater_format::{CommitKind, SchemaDefinition, Snapshot};
use tidewater_io::{CpuPool, Env, FileIo, MemoryBudget};
use tidewater_table::{
    CommitOptions, CommitOutcome, Committable, SnapshotCommit, Table, TableEnv, TableError,
    VerifyOptions, WriteOptions,
};
use tidewater_types::{DataType, ErrorKind, RowType};

const WRITERS: i32 = 4;
const COMMITS: i32 = 60;
/// Names the table and number of a process that writes; see [`four_processes_lose_and_double_nothing`].
const CHILD_ROOT: &str = "TIDEWATER_TEST_WRITER_ROOT";
const CHILD_NUMBER: &str = "TIDEWATER_TEST_WRITER_NUMBER";

fn environment() -> TableEnv {
    TableEnv::new(Env::system(), CpuPool::new(1), MemoryBudget::new(64 << 20))
}

fn definition(keyed: bool) -> SchemaDefinition {
    let option = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let (primary_keys, options) = if keyed {
        (
            vec!["k".to_owned()],
            BTreeMap::from([option("bucket", "2"), option("write-only", "true")]),
        )
    } else {
        (Vec::new(), BTreeMap::from([option("bucket", "-1")]))
    };
    SchemaDefinition {
        fields: RowType::of([("k", DataType::int().not_null()), ("v", DataType::string())]).fields,
        primary_keys,
        partition_keys: Vec::new(),
        options,
        comment: None,
    }
}

async fn create(root: &str, keyed: bool) -> Table {
    Table::create(environment(), FileIo::local(), root, "t", definition(keyed))
        .await
        .unwrap()
        .unwrap()
}

fn row(table: &Table, key: i32) -> RecordBatch {
    let schema = tidewater_types::arrow_types::to_arrow_schema(&table.schema().row_type());
    let values = StringArray::from(vec![format!("row {key}")]);
    RecordBatch::try_new(
        schema,
        vec![Arc::new(Int32Array::from(vec![key])), Arc::new(values)],
    )
    .unwrap()
}

/// One writer: a commit for each of its rows.
async fn write_all(root: &str, number: i32) {
    let table = Table::open(environment(), FileIo::local(), root, "t")
        .await
        .unwrap();
    let commit = table.new_commit(CommitOptions::default()).unwrap();
    let mut write = table.new_write(WriteOptions::default()).await.unwrap();
    for at in 0..COMMITS {
        write
            .write(row(&table, number * COMMITS + at))
            .await
            .unwrap();
        let committable = Committable {
            identifier: at.into(),
            messages: write.prepare_commit(true).await.unwrap(),
            ..Committable::default()
        };
        let made = commit.commit(committable).await.unwrap();
        assert_eq!(made.len(), 1);
    }
}

async fn check(root: &str) {
    let table = Table::open(environment(), FileIo::local(), root, "t")
        .await
        .unwrap();
    let all = WRITERS * COMMITS;
    let ids = table.log().snapshots().list_ids().await.unwrap();
    assert_eq!(
        ids.iter().map(|id| id.0).collect::<Vec<_>>(),
        (1..=i64::from(all)).collect::<Vec<_>>()
    );
    for id in ids {
        let snapshot = table.log().snapshots().read(id).await.unwrap();
        assert_eq!(snapshot.commit_kind, CommitKind::Append);
        assert_eq!(snapshot.total_record_count, Some(id.0));
    }
    let mut keys = Vec::new();
    let mut rows = table.new_scan().read().await.unwrap();
    while let Some(batch) = rows.next_batch().await.unwrap() {
        keys.extend_from_slice(batch.column(0).as_primitive::<Int32Type>().values());
    }
    keys.sort_unstable();
    assert_eq!(keys, (0..all).collect::<Vec<_>>());
    let report = table.verify(VerifyOptions { orphans: true }).await.unwrap();
    assert_eq!((report.faults, report.orphans), (vec![], vec![]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn four_tasks_lose_and_double_nothing() {
    for keyed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("t").to_str().unwrap().to_owned();
        create(&root, keyed).await;
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..WRITERS {
            let root = root.clone();
            tasks.spawn(async move { write_all(&root, number).await });
        }
        while let Some(ended) = tasks.join_next().await {
            ended.unwrap();
        }
        check(&root).await;
    }
}

/// The processes are this program again, told by their environment to be one of the writers.
#[tokio::test]
async fn four_processes_lose_and_double_nothing() {
    if let Ok(root) = std::env::var(CHILD_ROOT) {
        let number = std::env::var(CHILD_NUMBER).unwrap().parse().unwrap();
        write_all(&root, number).await;
        return;
    }
    for keyed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("t").to_str().unwrap().to_owned();
        create(&root, keyed).await;
        let children: Vec<_> = (0..WRITERS)
            .map(|number| {
                Command::new(std::env::current_exe().unwrap())
                    .args([
                        "--exact",
                        "writers::four_processes_lose_and_double_nothing",
                        "--nocapture",
                    ])
                    .env(CHILD_ROOT, &root)
                    .env(CHILD_NUMBER, number.to_string())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .unwrap()
            })
            .collect();
        for child in children {
            let ended = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&ended.stdout);
            assert!(ended.status.success(), "{said}");
            assert!(said.contains("1 passed"), "{said}");
        }
        check(&root).await;
    }
}

/// Somebody else is always faster.
#[derive(Debug)]
struct AlwaysLate;

#[async_trait]
impl SnapshotCommit for AlwaysLate {
    async fn publish(&self, snapshot: &Snapshot) -> tidewater_table::Result<CommitOutcome> {
        Ok(CommitOutcome::Lost {
            attempted: snapshot.id,
        })
    }
}

#[tokio::test]
async fn a_commit_that_runs_out_of_retries_says_so_and_counts_for_nothing() {
    let io = FileIo::memory().with_env(Env::seeded(1));
    let table = Table::create(environment(), io, "/t", "t", definition(true))
        .await
        .unwrap()
        .unwrap();
    let mut write = table.new_write(WriteOptions::default()).await.unwrap();
    write.write(row(&table, 1)).await.unwrap();
    let committable = Committable {
        identifier: 1,
        messages: write.prepare_commit(true).await.unwrap(),
        ..Committable::default()
    };
    let late = table
        .new_commit(CommitOptions::default())
        .unwrap()
        .with_publisher(Arc::new(AlwaysLate));
    let error = late.commit(committable.clone()).await.unwrap_err();
    assert!(
        matches!(error, TableError::RetriesExhausted { attempts: 11, .. }),
        "{error}"
    );
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(table.latest_snapshot().await.unwrap().is_none());
    assert_eq!(table.new_scan().count().await.unwrap(), 0);
    // The rows are still there to be committed.
    let commit = table.new_commit(CommitOptions::default()).unwrap();
    commit.commit(committable).await.unwrap();
    assert_eq!(table.new_scan().count().await.unwrap(), 1);
}
