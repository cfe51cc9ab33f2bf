//! Deletion vectors that Java wrote: what they take away, what is told of them, and what happens when they are damaged.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter_record_batch;
use tidewater_files::FilesContext;
use tidewater_table::{ScanBuilder, TableLog, VerifyOptions, VerifyReport, verify};
use tidewater_types::{ErrorKind, Predicate, SnapshotId};

use crate::golden::{GoldenTable, tables};
use crate::small::chain;

fn context(log: &TableLog) -> FilesContext {
    FilesContext::new(log.io().clone(), log.cpu().clone())
}

fn scan(log: &TableLog) -> ScanBuilder {
    ScanBuilder::new(log.clone(), context(log))
}

async fn rows(scan: &ScanBuilder) -> RecordBatch {
    let mut stream = scan.read().await.unwrap();
    let (schema, mut batches) = (Arc::clone(stream.schema()), Vec::new());
    while let Some(batch) = stream.next_batch().await.unwrap() {
        batches.push(batch);
    }
    concat_batches(&schema, &batches).unwrap()
}

/// Rows in an order of their own: those of splits come in none.
fn lines(batch: &RecordBatch) -> Vec<String> {
    let lines = (0..batch.num_rows()).map(|row| format!("{:?}", batch.slice(row, 1).columns()));
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines
}

async fn report(log: &TableLog) -> VerifyReport {
    verify(log, &context(log), VerifyOptions { orphans: false })
        .await
        .unwrap()
}

fn with_vectors(tables: &[GoldenTable]) -> impl Iterator<Item = &GoldenTable> {
    tables
        .iter()
        .filter(|table| table.case.starts_with("dv-") || table.case == "layout-options")
}

/// The snapshots of a table that have deletion vectors, with the number of rows that they take away.
async fn snapshots(log: &TableLog) -> Vec<(SnapshotId, u64)> {
    let mut found = Vec::new();
    for id in log.snapshots().list_ids().await.unwrap() {
        let plan = scan(log).snapshot(id).plan().await.unwrap();
        let files = plan
            .splits
            .iter()
            .flat_map(|split| split.files.iter().map(move |file| (split, file)));
        let deleted = files.filter_map(|(split, file)| split.deletion(file)?.cardinality);
        let deleted: u64 = deleted.sum();
        if deleted > 0 {
            found.push((id, deleted));
        }
    }
    found
}

#[tokio::test]
async fn counting_reads_no_data_file_and_reading_finds_as_many_rows() {
    let (_folders, tables) = tables();
    let mut compared = 0;
    for table in with_vectors(&tables) {
        let log = table.open().await;
        for (id, deleted) in snapshots(&log).await {
            let scan = scan(&log).snapshot(id);
            let plan = scan.plan().await.unwrap();
            let stored = plan.splits.iter().flat_map(|split| &split.files);
            let stored: i64 = stored.map(|file| file.row_count).sum();
            let left = u64::try_from(stored).unwrap() - deleted;
            assert_eq!(plan.exact_row_count(), Some(left), "{} {id}", table.case);
            let before = log.io().metrics();
            assert_eq!(scan.count().await.unwrap(), left);
            let since = log.io().metrics().since(&before);
            assert_eq!(since.ranges_asked, 0, "metadata is read whole");
            assert_eq!(rows(&scan).await.num_rows() as u64, left);
            compared += 1;
        }
    }
    assert!(compared >= 8, "{compared}");
}

/// Rows that are left out by statistics are counted when positions are.
#[tokio::test]
async fn filters_find_among_the_live_rows_what_they_find_in_all_of_them() {
    let (_folders, tables) = tables();
    let mut compared = 0;
    for table in with_vectors(&tables) {
        let log = table.open().await;
        let row_type = log.schema().row_type();
        for (id, _) in snapshots(&log).await {
            let all = rows(&scan(&log).snapshot(id)).await;
            for text in [
                "id > 25",
                "id between 18 and 42",
                "id in (20, 41, 60)",
                "id < 3 or id > 55",
            ] {
                let filter = Predicate::parse_text(text, &row_type).unwrap();
                let want = filter_record_batch(&all, &filter.eval(&all).unwrap()).unwrap();
                let scan = scan(&log).snapshot(id).filter(filter).unwrap();
                assert_eq!(
                    lines(&rows(&scan).await),
                    lines(&want),
                    "{} {text}",
                    table.case
                );
                assert_eq!(scan.count().await.unwrap(), want.num_rows() as u64);
                compared += 1;
            }
        }
    }
    assert!(compared >= 32, "{compared}");
}

#[tokio::test]
async fn a_damaged_vector_is_an_error_that_names_the_file_and_a_fault_that_verify_tells() {
    let (_folders, tables) = tables();
    let mut harmed = 0;
    for table in with_vectors(&tables) {
        let log = table.open().await;
        assert_eq!(report(&log).await.faults, Vec::new());
        let mut files = BTreeSet::new();
        for (id, _) in snapshots(&log).await {
            let plan = scan(&log).snapshot(id).plan().await.unwrap();
            for split in &plan.splits {
                let used = split.files.iter().filter_map(|file| split.deletion(file));
                files.extend(used.map(|place| (place.path.to_string(), place.offset, id)));
            }
        }
        for (path, offset, id) in files.iter().take(6) {
            let whole = std::fs::read(path).unwrap();
            let offset = usize::try_from(*offset).unwrap();
            let mut flipped = whole.clone();
            flipped[offset + 9] ^= 0x40;
            let name = path.rsplit('/').next().unwrap();
            for (bytes, codes) in [
                (flipped, vec!["dv-unreadable"]),
                (whole[..offset + 3].to_vec(), vec!["index-file-size"]),
            ] {
                std::fs::write(path, &bytes).unwrap();
                let mut stream = scan(&log).snapshot(*id).read().await.unwrap();
                let error = loop {
                    match stream.next_batch().await {
                        Err(error) => break error,
                        Ok(batch) => assert!(batch.is_some(), "{} {id}: {path}", table.case),
                    }
                };
                let text = chain(&error);
                assert!(text.contains(name), "{text}");
                assert!(
                    matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Unavailable),
                    "{:?} {text}",
                    error.kind()
                );
                let told = report(&log).await.faults;
                let told: BTreeSet<_> = told.iter().map(|fault| fault.code).collect();
                assert_eq!(told, codes.into_iter().collect(), "{text}");
            }
            std::fs::write(path, &whole).unwrap();
            harmed += 1;
        }
    }
    assert!(harmed >= 4, "{harmed}");
}
