//! Streams show the snapshots and rows that Java's show.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use tidewater_files::FilesContext;
use tidewater_format::VALUE_KIND_COLUMN;
use tidewater_table::{StreamMode, StreamOptions, StreamScan, TableLog};
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
