//! Streams show the snapshots and rows that Java's show.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use tidewater_files::FilesContext;
use tidewater_format::{SchemaDefinition, VALUE_KIND_COLUMN};
use tidewater_io::{CpuPool, FileIo};
use tidewater_table::{
    StreamMode, StreamOptions, StreamPosition, StreamScan, TableError, TableLog,
};
use tidewater_types::{RowKind, SnapshotId};

use crate::golden::tables;

fn stream(log: &TableLog, mode: StreamMode) -> StreamScan {
    let context = FilesContext::new(log.io().clone(), log.cpu().clone());
    let options = StreamOptions {
        mode,
        ..StreamOptions::default()
    };
    StreamScan::new(log.clone(), context, options).unwrap()
}

/// How many rows of each kind each snapshot shows.
type Counts = BTreeMap<(i64, String), usize>;

async fn counts(stream: &mut StreamScan) -> Counts {
    let mut counts = Counts::new();
    while let Some(plan) = stream.plan_next().await.unwrap() {
        let snapshot = plan.snapshot.0;
        let mut rows = stream.read(plan).await.unwrap();
        while let Some(batch) = rows.next_batch().await.unwrap() {
            let kinds = batch.column_by_name(VALUE_KIND_COLUMN).unwrap();
            for kind in kinds.as_primitive::<Int8Type>().values() {
                let kind = RowKind::from_i8(*kind).unwrap().short().to_owned();
                *counts.entry((snapshot, kind)).or_insert(0) += 1;
            }
        }
    }
    counts
}

#[tokio::test]
async fn streams_show_as_many_rows_of_each_kind_as_java_shows() {
    let (_folders, tables) = tables();
    let mut compared = 0;
    for table in &tables {
        let log = table.open().await;
        for question in table.questions.iter().filter(|q| q.command == "stream") {
            let mode = match question.arg("--from-snapshot") {
                Some(id) => StreamMode::FromSnapshot(SnapshotId(id.parse().unwrap())),
                None => StreamMode::LatestFull,
            };
            let mut want = Counts::new();
            for line in question.answer.as_ref().unwrap() {
                let place = (
                    line["snapshot"].as_i64().unwrap(),
                    line["kind"].as_str().unwrap().to_owned(),
                );
                *want.entry(place).or_insert(0) += 1;
            }
            let got = counts(&mut stream(&log, mode)).await;
            assert_eq!(got, want, "{} {} {mode:?}", table.case, table.name);
            compared += 1;
        }
    }
    assert!(compared > 40, "{compared}");
}

/// However often a stream is stopped and restored, it shows each snapshot once.
#[tokio::test]
async fn a_stream_that_is_restored_after_each_plan_shows_the_same() {
    let (_folders, tables) = tables();
    for table in tables.iter().filter(|table| table.case.starts_with("pk-")) {
        let log = table.open().await;
        for mode in [
            StreamMode::FromSnapshot(SnapshotId(1)),
            StreamMode::FromSnapshotFull(SnapshotId(2)),
        ] {
            let mut through = stream(&log, mode);
            let mut wanted = Vec::new();
            while let Some(plan) = through.plan_next().await.unwrap() {
                wanted.push(plan.snapshot);
            }
            let mut got = Vec::new();
            let mut restored = stream(&log, mode);
            while let Some(plan) = restored.plan_next().await.unwrap() {
                got.push(plan.snapshot);
                let position = restored.position();
                restored = stream(&log, StreamMode::Latest);
                restored.restore(position);
            }
            assert_eq!(got, wanted);
            assert!(!got.is_empty());
        }
    }
}

#[tokio::test]
async fn positions_that_cannot_be_followed_are_told() {
    let (_folders, tables) = tables();
    let held = tables
        .iter()
        .find(|table| table.case == "pk-dedup-compacted")
        .unwrap();
    let log = held.open().await;
    let (earliest, latest) = log.snapshots().range().await.unwrap().unwrap();
    // Nothing new is no error, however often it is asked.
    let mut at_end = stream(&log, StreamMode::Latest);
    for _ in 0..40 {
        assert!(at_end.plan_next().await.unwrap().is_none());
    }
    assert_eq!(
        at_end.position().next_snapshot,
        Some(SnapshotId(latest.0 + 1))
    );
    // Too far ahead: told at once where an earlier run stood, after some tries where somebody waits for what may come.
    let (restored, waiting) = (1, 16);
    for (expected, mode) in [
        (restored, StreamMode::Latest),
        (waiting, StreamMode::FromSnapshot(SnapshotId(latest.0 + 2))),
    ] {
        let mut ahead = stream(&log, mode);
        if expected == restored {
            ahead.restore(StreamPosition {
                next_snapshot: Some(SnapshotId(latest.0 + 2)),
            });
        }
        let mut tries = 0;
        let error = loop {
            tries += 1;
            match ahead.plan_next().await {
                Ok(None) => {}
                Ok(Some(plan)) => panic!("{plan:?}"),
                Err(e) => break e,
            }
        };
        assert!(matches!(error, TableError::PositionAhead { .. }), "{error}");
        assert_eq!(tries, expected);
    }
    // One that is missing in the middle at once.
    assert!(latest.0 - earliest.0 >= 2);
    let middle = SnapshotId(earliest.0 + 1);
    let path = log.paths().snapshot(middle);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let mut gap = stream(&log, StreamMode::Latest);
    gap.restore(StreamPosition {
        next_snapshot: Some(middle),
    });
    assert!(matches!(
        gap.plan_next().await,
        Err(TableError::SnapshotGap { missing, .. }) if missing == middle.0
    ));
    std::fs::write(&path, bytes).unwrap();
    // An expired one at once, with what is there.
    std::fs::remove_file(log.paths().snapshot(earliest)).unwrap();
    let mut expired = stream(&log, StreamMode::Latest);
    expired.restore(StreamPosition {
        next_snapshot: Some(earliest),
    });
    let error = expired.plan_next().await.unwrap_err();
    assert!(
        matches!(error, TableError::PositionExpired { next, earliest: there, .. } if next == earliest.0 && there == earliest.0 + 1),
        "{error}"
    );
    // Starting there means the earliest.
    let mut from = stream(&log, StreamMode::FromSnapshot(earliest));
    assert!(from.plan_next().await.unwrap().unwrap().snapshot > earliest);
}

#[tokio::test]
async fn a_stream_waits_for_the_first_snapshot_of_an_empty_table() {
    let definition = serde_json::json!({
        "fields": [{"name": "k", "type": "INT NOT NULL"}, {"name": "v", "type": "STRING"}],
        "primaryKeys": ["k"], "partitionKeys": [], "options": {"bucket": "1"},
    });
    let definition = SchemaDefinition::from_json(definition.to_string().as_bytes()).unwrap();
    let log = TableLog::create(FileIo::memory(), CpuPool::inline(), "/t", definition)
        .await
        .unwrap()
        .unwrap();
    for mode in [
        StreamMode::LatestFull,
        StreamMode::Latest,
        StreamMode::FromSnapshot(SnapshotId(1)),
        StreamMode::FromTimestamp(0),
    ] {
        let mut stream = stream(&log, mode);
        assert!(stream.plan_next().await.unwrap().is_none());
        assert_eq!(stream.position(), StreamPosition::default());
    }
}
