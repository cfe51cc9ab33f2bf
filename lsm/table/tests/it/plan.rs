//! Plans equal Java's.

use serde_json::{Value, json};
use tidewater_files::FilesContext;
use tidewater_table::{DataSplit, ScanBuilder, TableLog};
use tidewater_types::text::format_datum;
use tidewater_types::{Datum, Predicate, RowType, SnapshotId};

use crate::golden::{Question, tables};

fn scan(log: &TableLog) -> ScanBuilder {
    ScanBuilder::new(
        log.clone(),
        FilesContext::new(log.io().clone(), log.cpu().clone()),
    )
}

/// A split as the command line shows it.
fn shown(split: &DataSplit, partition: &RowType) -> Value {
    let files: Vec<Value> = split
        .files
        .iter()
        .map(|file| {
            let deleted = split.deletion(file).map(|deletion| deletion.cardinality);
            json!({"name": file.file_name, "level": file.level, "rows": file.row_count, "schema": file.schema_id.0, "deleted": deleted})
        })
        .collect();
    let values: serde_json::Map<String, Value> = partition
        .fields
        .iter()
        .enumerate()
        .map(|(at, field)| {
            let value = match split.partition.get(at, &field.data_type).unwrap() {
                Datum::Null => Value::Null,
                Datum::String(text) => Value::from(text),
                Datum::Int(number) => Value::from(number),
                date @ Datum::Date(_) => Value::from(format_datum(&date, &field.data_type)),
                other => panic!("{other:?}"),
            };
            (field.name.clone(), value)
        })
        .collect();
    json!({
        "snapshot": split.snapshot.0,
        "partition": values,
        "bucket": split.bucket.0,
        "totalBuckets": split.total_buckets,
        "rawConvertible": split.raw_convertible,
        "streaming": false,
        "files": files,
    })
}

async fn asked(log: &TableLog, question: &Question) -> ScanBuilder {
    let mut scan = scan(log);
    if let Some(id) = question.arg("--snapshot") {
        scan = scan.snapshot(SnapshotId(id.parse().unwrap()));
    }
    if let Some(millis) = question.arg("--timestamp-millis") {
        scan = scan.timestamp_millis(millis.parse().unwrap());
    }
    if let Some(filter) = question.arg("--filter") {
        let filter: Value = serde_json::from_str(filter).unwrap();
        let row_type = scan.row_type().await.unwrap();
        scan = scan
            .filter(Predicate::from_json(&filter, &row_type).unwrap())
            .unwrap();
    }
    scan
}

fn sorted(mut lines: Vec<Value>) -> Vec<Value> {
    lines.sort_by_cached_key(Value::to_string);
    lines
}

#[tokio::test]
async fn plans_have_the_splits_that_java_plans() {
    let (_folders, tables) = tables();
    let mut compared = 0;
    for table in &tables {
        let log = table.open().await;
        let partition = log.schema().partition_type();
        for question in table.questions.iter().filter(|q| q.command == "plan") {
            let plan = asked(&log, question).await.plan().await.unwrap();
            let got = plan.splits.iter().map(|split| shown(split, &partition));
            let want = question.answer.clone().unwrap();
            assert_eq!(
                sorted(got.collect()),
                sorted(want),
                "{} {} {:?}",
                table.case,
                table.name,
                question.args
            );
            compared += 1;
        }
    }
    assert!(compared >= 11, "{compared}");
}

/// The files of the newest state are those that Java's `$files` lists, but for level 0 where reads do not see it.
#[tokio::test]
async fn plans_hold_the_files_that_java_lists() {
    let (_folders, tables) = tables();
    let mut compared = 0;
    for table in &tables {
        let log = table.open().await;
        let options = log.schema().options().unwrap();
        let hidden = log.schema().is_keyed() && options.deletion_vectors_enabled;
        for question in table.questions.iter().filter(|q| q.command == "$files") {
            if !question.args.is_empty() {
                continue;
            }
            let plan = scan(&log).plan().await.unwrap();
            let got = plan.splits.iter().flat_map(|split| &split.files);
            let got = got.map(|file| json!([file.file_name, file.level, file.row_count]));
            let rows = question.answer.as_ref().unwrap().iter();
            let rows = rows.map(|line| &line["row"]);
            let rows = rows.filter(|row| !hidden || row["level"] != json!(0));
            let want = rows.map(|row| {
                let name = row["file_path"].as_str().unwrap().rsplit('/').next();
                json!([name, row["level"], row["record_count"]])
            });
            assert_eq!(
                sorted(got.collect()),
                sorted(want.collect()),
                "{} {}",
                table.case,
                table.name
            );
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared}");
}

async fn rows(scan: &ScanBuilder) -> usize {
    let (mut stream, mut rows) = (scan.read().await.unwrap(), 0);
    while let Some(batch) = stream.next_batch().await.unwrap() {
        rows += batch.num_rows();
    }
    rows
}

/// Where manifests tell how many rows there are, reading finds as many.
#[tokio::test]
async fn counts_are_those_of_the_rows_java_reads() {
    let (_folders, tables) = tables();
    let (mut told, mut asked_for) = (0, 0);
    for table in &tables {
        // Java read it with the order of another table: it keeps comparators without their order (spec 02b §4.2).
        if (table.case.as_str(), table.name.as_str()) == ("pk-sequence-fields", "db.desc") {
            continue;
        }
        let log = table.open().await;
        for question in table.questions.iter().filter(|q| q.command == "read") {
            let Some(want) = &question.answer else {
                continue;
            };
            let extra = ["--tag", "--option", "--limit"];
            if extra.iter().any(|extra| question.arg(extra).is_some()) {
                continue;
            }
            let scan = asked(&log, question).await;
            let plan = scan.plan().await.unwrap();
            assert_eq!(
                scan.count().await.unwrap(),
                want.len() as u64,
                "{} {} {:?}",
                table.case,
                table.name,
                question.args
            );
            assert_eq!(
                rows(&scan.clone().limit(3)).await,
                want.len().min(3),
                "{} {} {:?}",
                table.case,
                table.name,
                question.args
            );
            asked_for += 1;
            if let Some(count) = plan.exact_row_count() {
                told += 1;
                assert_eq!(
                    count,
                    want.len() as u64,
                    "{} {} {:?}",
                    table.case,
                    table.name,
                    question.args
                );
            }
        }
    }
    assert!(told > 50 && told < asked_for, "{told} of {asked_for}");
}
