//! Histories of tables: written by many, on stores that fail, and by Java.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use futures::future::join_all;
use tidewater_format::{
    CommitKind, DataFileMeta, FileSource, SchemaChange, SchemaDefinition, SimpleStats, Snapshot,
};
use tidewater_io::{CpuPool, Env, Fault, FaultRates, FaultRule, FaultyStore, FileIo, IoOperation};
use tidewater_store::{CommitMessage, CompactIncrement, DataIncrement};
use tidewater_types::{BinaryRow, DataType, Datum, ErrorKind, RowType, SchemaId, SnapshotId};

use crate::commit::{CommitContext, CommitOutcome, SnapshotCommit, count_rows, live_of};
use crate::{Committable, TableError, TableLog};

pub(crate) const ROOT: &str = "/w/db.db/t";

fn definition(keyed: bool, options: &[(&str, &str)]) -> SchemaDefinition {
    let columns = RowType::of([("k", DataType::int().not_null()), ("v", DataType::string())]);
    let bucket = if keyed {
        ("bucket", "1")
    } else {
        ("bucket", "-1")
    };
    SchemaDefinition {
        fields: columns.fields,
        primary_keys: if keyed {
            vec!["k".to_owned()]
        } else {
            Vec::new()
        },
        partition_keys: Vec::new(),
        options: options
            .iter()
            .chain([&bucket])
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
        comment: None,
    }
}

pub(crate) async fn table(
    io: &FileIo,
    root: &str,
    keyed: bool,
    options: &[(&str, &str)],
) -> TableLog {
    TableLog::create(
        io.clone(),
        CpuPool::inline(),
        root,
        definition(keyed, options),
    )
    .await
    .unwrap()
    .unwrap()
}

pub(crate) fn memory() -> FileIo {
    FileIo::memory().with_env(Env::seeded(5))
}

fn key(value: i32) -> BinaryRow {
    BinaryRow::from_datums(&[Datum::Int(value)], &[DataType::int()]).unwrap()
}

pub(crate) fn file(name: &str, level: i32, keys: (i32, i32)) -> Arc<DataFileMeta> {
    Arc::new(DataFileMeta {
        file_name: name.to_owned(),
        file_size: 10,
        row_count: 1,
        min_key: key(keys.0),
        max_key: key(keys.1),
        key_stats: SimpleStats::empty(),
        value_stats: SimpleStats::empty(),
        min_sequence_number: 0,
        max_sequence_number: 0,
        schema_id: SchemaId(0),
        level,
        extra_files: Vec::new(),
        creation_time_millis: Some(0),
        delete_row_count: Some(0),
        embedded_file_index: None,
        file_source: Some(FileSource::Append),
        value_stats_cols: None,
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    })
}

fn message(data: DataIncrement, compact: CompactIncrement) -> CommitMessage {
    CommitMessage {
        partition: BinaryRow::empty(),
        bucket: 0,
        total_buckets: 1,
        data,
        compact,
    }
}

pub(crate) fn adding(identifier: i64, name: &str) -> Committable {
    let data = DataIncrement {
        new_files: vec![file(name, 0, (1, 9))],
        ..DataIncrement::default()
    };
    Committable {
        identifier,
        messages: vec![message(data, CompactIncrement::default())],
        ..Committable::default()
    }
}

pub(crate) fn compacting(
    identifier: i64,
    before: &[Arc<DataFileMeta>],
    after: &[Arc<DataFileMeta>],
) -> Committable {
    let compact = CompactIncrement {
        before: before.to_vec(),
        after: after.to_vec(),
        changelog_files: Vec::new(),
    };
    Committable {
        identifier,
        messages: vec![message(DataIncrement::default(), compact)],
        ..Committable::default()
    }
}

/// Names of the live files of each snapshot, after checking that snapshots follow one another without a gap and that counts add up.
async fn histories(table: &TableLog, context: &CommitContext) -> Vec<Vec<String>> {
    let ids = table.snapshots().list_ids().await.unwrap();
    let mut all = Vec::new();
    for (expected, id) in (1_i64..).zip(&ids) {
        assert_eq!(id.0, expected);
        let snapshot = table.snapshots().read(*id).await.unwrap();
        let names: Vec<String> = live_of(context, &snapshot).await.unwrap();
        assert_eq!(snapshot.total_record_count, i64::try_from(names.len()).ok());
        all.push(names);
    }
    all
}

async fn in_manifest_folder(io: &FileIo) -> usize {
    io.list(&format!("{ROOT}/manifest")).await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn commits_of_many_writers_are_all_there_and_once() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("t").to_str().unwrap().to_owned();
    let options = [
        ("commit.max-retries", "500"),
        ("commit.max-retry-wait", "5 ms"),
    ];
    table(&FileIo::local(), &root, false, &options).await;
    let writers = (0..4).map(|writer| {
        let root = root.clone();
        tokio::spawn(async move {
            let table = TableLog::open(FileIo::local(), CpuPool::new(1), &root)
                .await
                .unwrap();
            let commit = table.new_commit(&format!("w{writer}")).unwrap();
            let mut ids = Vec::new();
            for number in 0..15 {
                let made = commit
                    .commit(adding(number, &format!("data-{writer}-{number}.parquet")))
                    .await
                    .unwrap();
                assert_eq!(made.len(), 1);
                ids.push((made[0].id, format!("data-{writer}-{number}.parquet")));
            }
            ids
        })
    });
    let made: Vec<(SnapshotId, String)> = join_all(writers)
        .await
        .into_iter()
        .flat_map(Result::unwrap)
        .collect();
    let ids: BTreeSet<SnapshotId> = made.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, (1..=60).map(SnapshotId).collect());
    let table = TableLog::open(FileIo::local(), CpuPool::inline(), &root)
        .await
        .unwrap();
    let context = table.new_commit("reader").unwrap().context().clone();
    let histories = histories(&table, &context).await;
    for (id, name) in made {
        let at = usize::try_from(id.0).unwrap() - 1;
        assert!(histories[at].contains(&name) && (at == 0 || !histories[at - 1].contains(&name)));
    }
    assert_eq!(histories[59].len(), 60);
    assert_eq!(
        table.snapshots().latest_id().await.unwrap(),
        Some(SnapshotId(60))
    );
}

#[tokio::test]
async fn an_answer_or_a_request_that_is_lost_makes_no_second_snapshot() {
    for fault in [Fault::LoseAnswer, Fault::LoseRequest] {
        let (io, faults) = FaultyStore::wrap(&memory(), FaultRates::default());
        let table = table(&io, ROOT, false, &[]).await;
        let commit = table.new_commit("u").unwrap();
        commit.commit(adding(1, "a")).await.unwrap();
        let rule = FaultRule {
            operation: None,
            path_contains: "snapshot-2".to_owned(),
            skip: 0,
            times: 1,
            fault,
        };
        faults.add(FaultRule {
            operation: Some(IoOperation::PutIfAbsent),
            ..rule
        });
        let made = commit.commit(adding(2, "b")).await.unwrap();
        assert!(!faults.has_open_rules(), "the fault was met");
        assert_eq!(made[0].id, SnapshotId(2), "{fault:?}");
        let histories = histories(&table, commit.context()).await;
        assert_eq!(
            histories,
            [vec!["a".to_owned()], vec!["a".to_owned(), "b".to_owned()]],
            "{fault:?}"
        );
    }
}

#[tokio::test]
async fn what_was_acknowledged_is_there_once_on_a_store_that_hides_outcomes() {
    let rates = FaultRates {
        lose_answer: 80,
        lose_request: 80,
        refuse: 80,
        ..FaultRates::default()
    };
    let inner = memory();
    let quiet = table(&inner, ROOT, false, &[]).await;
    let (io, faults) = FaultyStore::wrap(&inner, FaultRates::default());
    let (mut acknowledged, mut tried) = (Vec::new(), BTreeSet::new());
    for number in 0..60 {
        faults.set_rates(FaultRates::default());
        let table = TableLog::open(io.clone(), CpuPool::inline(), ROOT)
            .await
            .unwrap();
        let commit = table.new_commit("u").unwrap();
        faults.set_rates(rates);
        let name = format!("f{number}");
        if commit.commit(adding(number, &name)).await.is_ok() {
            acknowledged.push(name.clone());
        }
        tried.insert(name);
    }
    assert!(
        faults.met() > 20 && acknowledged.len() > 20,
        "{} {}",
        faults.met(),
        acknowledged.len()
    );
    let commit = quiet.new_commit("reader").unwrap();
    let histories = histories(&quiet, commit.context()).await;
    let live = histories.last().unwrap();
    let distinct: BTreeSet<&String> = live.iter().collect();
    assert_eq!(distinct.len(), live.len(), "nothing twice");
    assert!(
        acknowledged.iter().all(|name| distinct.contains(name)),
        "nothing acknowledged is missing"
    );
    assert!(distinct.iter().all(|name| tried.contains(*name)));
}

/// Every id is taken already.
#[derive(Debug)]
struct AlwaysLate;

#[async_trait::async_trait]
impl SnapshotCommit for AlwaysLate {
    async fn publish(&self, snapshot: &Snapshot) -> crate::Result<CommitOutcome> {
        Ok(CommitOutcome::Lost {
            attempted: snapshot.id,
        })
    }
}

#[tokio::test]
async fn running_out_of_retries_is_an_error_and_leaves_nothing() {
    let io = memory();
    let table = table(&io, ROOT, false, &[("commit.max-retries", "3")]).await;
    let commit = table
        .new_commit("u")
        .unwrap()
        .with_publisher(Arc::new(AlwaysLate));
    let error = commit.commit(adding(1, "a")).await.unwrap_err();
    assert!(
        matches!(error, TableError::RetriesExhausted { attempts: 4, .. }),
        "{error}"
    );
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(in_manifest_folder(&io).await, 0);
}

#[tokio::test]
async fn a_file_that_is_gone_and_levels_that_overlap_are_conflicts_and_leave_nothing() {
    let io = memory();
    let table = table(&io, ROOT, true, &[]).await;
    let commit = table.new_commit("u").unwrap();
    commit.commit(adding(1, "a")).await.unwrap();
    let a = file("a", 0, (1, 9));
    let commit = commit.ignore_empty(true);
    let made = commit
        .commit(compacting(2, &[Arc::clone(&a)], &[file("b", 5, (1, 9))]))
        .await
        .unwrap();
    assert_eq!(
        made.iter().map(|made| made.kind).collect::<Vec<_>>(),
        [CommitKind::Compact]
    );
    let before = in_manifest_folder(&io).await;
    for (late, reason) in [
        (
            compacting(3, &[a], &[file("c", 5, (20, 30))]),
            "removed by another commit",
        ),
        (
            compacting(3, &[], &[file("c", 5, (9, 30))]),
            "overlap on level 5",
        ),
        (compacting(3, &[], &[file("b", 5, (1, 9))]), "b"),
    ] {
        let error = commit.commit(late).await.unwrap_err();
        assert!(
            matches!(&error, TableError::FileConflict { snapshot: 2, .. }),
            "{error}"
        );
        assert!(error.to_string().contains(reason), "{error}");
    }
    assert_eq!(in_manifest_folder(&io).await, before);
    assert_eq!(table.snapshots().list_ids().await.unwrap().len(), 2);
}

#[tokio::test]
async fn one_commit_is_an_append_and_then_a_compaction() {
    let io = memory();
    let table = table(&io, ROOT, true, &[]).await;
    let commit = table.new_commit("u").unwrap();
    let (new, whole) = (file("n", 0, (1, 9)), file("w", 5, (1, 9)));
    let both = Committable {
        identifier: 7,
        watermark: Some(100),
        properties: BTreeMap::from([("tidewater.offset".to_owned(), "12".to_owned())]),
        messages: vec![message(
            DataIncrement {
                new_files: vec![Arc::clone(&new)],
                ..DataIncrement::default()
            },
            CompactIncrement {
                before: vec![new],
                after: vec![whole],
                changelog_files: Vec::new(),
            },
        )],
    };
    let made = commit.commit(both).await.unwrap();
    assert_eq!(
        made.iter()
            .map(|made| (made.id.0, made.kind))
            .collect::<Vec<_>>(),
        [(1, CommitKind::Append), (2, CommitKind::Compact)]
    );
    assert_eq!(histories(&table, commit.context()).await, [["n"], ["w"]]);
    // A watermark never goes back, and an empty commit is one all the same unless that is not wanted.
    let empty = |identifier, watermark| Committable {
        identifier,
        watermark: Some(watermark),
        ..Committable::default()
    };
    commit.commit(empty(8, 50)).await.unwrap();
    commit.commit(empty(9, i64::MIN)).await.unwrap();
    assert_eq!(
        commit
            .clone()
            .ignore_empty(true)
            .commit(empty(10, 500))
            .await
            .unwrap(),
        []
    );
    let latest = table.snapshots().latest().await.unwrap().unwrap();
    assert_eq!(
        (
            latest.id.0,
            latest.watermark,
            latest.commit_identifier,
            &latest.properties
        ),
        (4, Some(100), 9, &None)
    );
    let first = table.snapshots().read(SnapshotId(1)).await.unwrap();
    assert_eq!(first.properties.unwrap()["tidewater.offset"], "12");
}

#[tokio::test]
async fn a_restarted_job_commits_what_it_had_not_and_only_that() {
    let io = memory();
    let table = table(&io, ROOT, false, &[]).await;
    let commit = table.new_commit("job").unwrap();
    for (number, name) in [(1, "a"), (2, "b"), (3, "c")] {
        io.write(&format!("{ROOT}/bucket-0/{name}"), Bytes::from_static(b"x"))
            .await
            .unwrap();
        if number < 3 {
            commit.commit(adding(number, name)).await.unwrap();
        }
    }
    table
        .new_commit("other")
        .unwrap()
        .commit(adding(99, "o"))
        .await
        .unwrap();
    let pending = vec![adding(3, "c"), adding(1, "a"), adding(2, "b")];
    let made = commit.filter_and_commit(pending.clone()).await.unwrap();
    assert_eq!(made.len(), 1);
    assert_eq!(commit.filter_and_commit(pending).await.unwrap(), []);
    assert_eq!(commit.last_identifier().await.unwrap(), Some(3));
    let error = commit
        .filter_and_commit(vec![adding(4, "gone")])
        .await
        .unwrap_err();
    assert!(
        matches!(&error, TableError::CommittedFileMissing { identifier: 4, file } if file.ends_with("bucket-0/gone")),
        "{error}"
    );
    let live = histories(&table, commit.context()).await.pop().unwrap();
    assert_eq!(live, ["a", "b", "o", "c"]);
}

#[tokio::test]
async fn hints_are_believed_only_as_far_as_files_say() {
    let io = memory();
    let table = table(&io, ROOT, false, &[]).await;
    let commit = table.new_commit("u").unwrap();
    let snapshots = table.snapshots();
    assert_eq!(
        (
            snapshots.latest_id().await.unwrap(),
            snapshots.range().await.unwrap()
        ),
        (None, None)
    );
    for number in 1..=3 {
        commit
            .commit(adding(number, &format!("f{number}")))
            .await
            .unwrap();
    }
    io.write(
        &format!("{ROOT}/snapshot/.snapshot-9.abc.tmp"),
        Bytes::from_static(b"{"),
    )
    .await
    .unwrap();
    for hint in ["1", "9", "x", "", "-1", "9223372036854775807"] {
        io.overwrite(&format!("{ROOT}/snapshot/LATEST"), Bytes::from(hint))
            .await
            .unwrap();
        assert_eq!(
            snapshots.latest_id().await.unwrap(),
            Some(SnapshotId(3)),
            "{hint:?}"
        );
    }
    io.delete(&format!("{ROOT}/snapshot/snapshot-1"))
        .await
        .unwrap();
    assert_eq!(
        snapshots.range().await.unwrap(),
        Some((SnapshotId(2), SnapshotId(3)))
    );
    let error = snapshots.read(SnapshotId(1)).await.unwrap_err();
    assert!(
        matches!(
            error,
            TableError::SnapshotNotFound {
                id: 1,
                earliest: 2,
                latest: 3,
                ..
            }
        ),
        "{error}"
    );
    io.overwrite(
        &format!("{ROOT}/snapshot/snapshot-3"),
        Bytes::from_static(b"{\"version\" : 3,"),
    )
    .await
    .unwrap();
    let error = snapshots.latest().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("snapshot-3"), "{error}");
}

#[tokio::test]
async fn a_moment_means_the_newest_snapshot_that_is_not_younger() {
    let io = memory();
    let table = table(&io, ROOT, false, &[]).await;
    let snapshots = table.snapshots();
    assert!(matches!(
        snapshots.travel_to_millis(5).await.unwrap_err(),
        TableError::NoSnapshot { .. }
    ));
    for (id, millis) in [(2, 100), (3, 100), (4, 250)] {
        let mut snapshot = Snapshot::new(SnapshotId(id), SchemaId(0), CommitKind::Append);
        snapshot.time_millis = millis;
        io.write(
            &table.paths().snapshot(SnapshotId(id)),
            Bytes::from(snapshot.to_json()),
        )
        .await
        .unwrap();
    }
    for (asked, id) in [(100, 3), (249, 3), (250, 4), (i64::MAX, 4)] {
        assert_eq!(
            snapshots.travel_to_millis(asked).await.unwrap().id.0,
            id,
            "{asked}"
        );
    }
    let error = snapshots.travel_to_millis(99).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is currently no snapshot earlier than or equal to timestamp [99], the earliest snapshot's timestamp is [100]"
    );
}

#[tokio::test]
async fn schemas_are_added_one_by_one_and_never_replaced() {
    let io = memory();
    let first = table(&io, ROOT, true, &[]).await;
    let again = TableLog::create(io.clone(), CpuPool::inline(), ROOT, definition(false, &[]))
        .await
        .unwrap();
    assert!(again.is_none(), "the table that was there stays");
    let comments = (0..6).map(|number| {
        let schemas = first.schemas().clone();
        async move {
            let change = serde_json::json!({"op": "comment", "value": format!("c{number}")});
            schemas
                .alter(
                    &[SchemaChange::from_json(change.to_string().as_bytes()).unwrap()],
                    true,
                )
                .await
                .unwrap()
        }
    });
    let made: BTreeSet<i64> = join_all(comments)
        .await
        .iter()
        .map(|schema| schema.id.0)
        .collect();
    assert_eq!(made, (1..=6).collect());
    let ids: Vec<i64> = first
        .schemas()
        .list_ids()
        .await
        .unwrap()
        .iter()
        .map(|id| id.0)
        .collect();
    assert_eq!(ids, [0, 1, 2, 3, 4, 5, 6]);
    let error = first.schemas().read(SchemaId(9)).await.unwrap_err();
    assert!(matches!(error, TableError::SchemaNotFound { id: 9, .. }));
    let error = TableLog::open(io, CpuPool::inline(), "/w/db.db/none")
        .await
        .unwrap_err();
    assert!(matches!(error, TableError::NotATable { .. }));
}

#[tokio::test]
async fn rows_are_counted_on_top_of_a_snapshot_that_does_not_say() {
    let io = memory();
    let table = table(&io, ROOT, false, &[]).await;
    let commit = table.new_commit("u").unwrap();
    commit.commit(adding(1, "a")).await.unwrap();
    // As versions 1 and 2 wrote it.
    let mut old = table.snapshots().latest().await.unwrap().unwrap();
    old.total_record_count = None;
    io.overwrite(&table.paths().snapshot(old.id), Bytes::from(old.to_json()))
        .await
        .unwrap();
    commit.commit(adding(2, "b")).await.unwrap();
    let latest = table.snapshots().latest().await.unwrap().unwrap();
    assert_eq!(latest.total_record_count, Some(2));
}

/// Tables of Java Paimon 1.3.1: their snapshots add up, and ours go on top.
#[tokio::test]
async fn the_histories_of_java_tables_add_up_and_go_on() {
    for (name, keyed) in [("append_part", false), ("pk_part", true)] {
        let path = format!(
            "{}/../../tests/fixtures/vectors/tables/{name}.json",
            env!("CARGO_MANIFEST_DIR")
        );
        let vector: serde_json::Value =
            serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let io = memory();
        for file in vector["files"].as_array().unwrap() {
            let bytes = match file["text"].as_str() {
                Some(text) => text.as_bytes().to_vec(),
                None => unbase64(file["base64"].as_str().unwrap()),
            };
            io.write(
                &format!("{ROOT}/{}", file["path"].as_str().unwrap()),
                Bytes::from(bytes),
            )
            .await
            .unwrap();
        }
        let table = TableLog::open(io, CpuPool::inline(), ROOT).await.unwrap();
        assert_eq!(table.schema().is_keyed(), keyed);
        let commit = table.new_commit("tidewater").unwrap();
        let ids = table.snapshots().list_ids().await.unwrap();
        assert!(!ids.is_empty());
        for id in &ids {
            let snapshot = table.snapshots().read(*id).await.unwrap();
            assert_eq!(
                count_rows(commit.context(), &snapshot).await.ok(),
                snapshot.total_record_count,
                "{name} {id}"
            );
        }
        let before = table.snapshots().latest().await.unwrap().unwrap();
        let made = commit
            .commit(Committable {
                identifier: 1,
                ..Committable::default()
            })
            .await
            .unwrap();
        assert_eq!(made[0].id.0, before.id.0 + 1);
        let after = table.snapshots().latest().await.unwrap().unwrap();
        assert_eq!(
            live_of(commit.context(), &after).await.unwrap(),
            live_of(commit.context(), &before).await.unwrap()
        );
        assert_eq!(
            (after.total_record_count, after.watermark),
            (before.total_record_count, before.watermark)
        );
    }
}

fn unbase64(text: &str) -> Vec<u8> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD
        .decode(text)
        .unwrap()
}
