//! Whole tables hold; damaged ones are told of.

use serde_json::json;
use tidewater_files::FilesContext;
use tidewater_io::FileIo;
use tidewater_table::{TableLog, VerifyOptions, VerifyReport, verify};

use crate::golden::tables;

async fn report(log: &TableLog, orphans: bool) -> VerifyReport {
    let context = FilesContext::new(log.io().clone(), log.cpu().clone());
    verify(log, &context, VerifyOptions { orphans })
        .await
        .unwrap()
}

#[tokio::test]
async fn tables_that_java_wrote_hold_and_sum_up_as_java_says() {
    let (_folders, tables) = tables();
    let mut compared = 0;
    for table in &tables {
        let log = table.open().await;
        for question in table.questions.iter().filter(|q| q.command == "verify") {
            let report = report(&log, false).await;
            let got = json!([{"summary": {
                "snapshots": report.snapshots,
                "dataFiles": report.data_files,
                "rows": report.rows,
                "faults": report.faults.len(),
            }}]);
            let want = json!(question.answer.as_ref().unwrap());
            assert_eq!(
                got, want,
                "{} {} {:?}",
                table.case, table.name, report.faults
            );
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
}

/// Every file of a table is needed: take one away, or cut one short, and verify tells.
#[tokio::test]
async fn each_file_that_is_missing_or_torn_is_a_fault_and_never_an_error() {
    let (_folders, tables) = tables();
    let table = tables
        .iter()
        .find(|table| table.case == "pk-changelog-input")
        .unwrap();
    let log = table.open().await;
    let io = FileIo::local();
    assert_eq!(report(&log, true).await.orphans, Vec::<String>::new());
    let mut harmed = 0;
    for file in io.list_recursive(&table.root()).await.unwrap() {
        let relative = file.path.strip_prefix(&table.root()).unwrap();
        if relative.starts_with("/schema/")
            || relative.ends_with("ST")
            || relative.ends_with(".crc")
        {
            continue;
        }
        let bytes = std::fs::read(&file.path).unwrap();
        std::fs::remove_file(&file.path).unwrap();
        // Without its first or last snapshot a table is one that expired or was not written yet.
        let at_an_end = relative.ends_with("snapshot-1") || relative.ends_with("snapshot-7");
        let without = report(&table.open().await, false).await;
        assert!(
            at_an_end || !without.faults.is_empty(),
            "{relative} is missing"
        );
        if relative.ends_with(".parquet") {
            std::fs::create_dir(&file.path).unwrap();
            let folder = report(&table.open().await, false).await;
            assert!(!folder.faults.is_empty(), "{relative} is a folder");
            std::fs::remove_dir(&file.path).unwrap();
        }
        std::fs::write(&file.path, &bytes[..bytes.len() / 2]).unwrap();
        let torn = report(&table.open().await, false).await;
        assert!(!torn.faults.is_empty(), "{relative} is torn");
        std::fs::write(&file.path, &bytes).unwrap();
        harmed += 1;
    }
    assert!(harmed > 40, "{harmed}");
}

#[tokio::test]
async fn files_that_nothing_names_are_orphans() {
    let (_folders, tables) = tables();
    let table = tables
        .iter()
        .find(|table| table.case == "lsm-levels")
        .unwrap();
    let log = table.open().await;
    let strays = [
        ".hidden.tmp",
        "bucket-0/.data-x.parquet.1.tmp",
        "bucket-0/data-x.parquet",
        "manifest/manifest-x",
        "snapshot/.snapshot-9.1.tmp",
    ];
    for stray in strays {
        std::fs::write(format!("{}/{stray}", table.root()), b"x").unwrap();
    }
    let report = report(&log, true).await;
    assert_eq!(report.faults, []);
    assert_eq!(report.orphans, strays);
}

/// Files that are whole, but not those that the manifest means.
#[tokio::test]
async fn rows_that_are_not_what_the_manifest_says_are_faults() {
    let (_folders, tables) = tables();
    let table = tables
        .iter()
        .find(|table| table.case == "pk-composite-key")
        .unwrap();
    let files = FileIo::local().list_recursive(&table.root()).await.unwrap();
    let mut data = files.iter().filter(|file| file.name.starts_with("data-"));
    let (left, right) = (data.next().unwrap(), data.next_back().unwrap());
    std::fs::copy(&right.path, &left.path).unwrap();
    let report = report(&table.open().await, false).await;
    let codes: std::collections::BTreeSet<_> =
        report.faults.iter().map(|fault| fault.code).collect();
    for code in ["data-file-size", "sequence-range", "key-range"] {
        assert!(codes.contains(code), "{codes:?}");
    }
    assert!(
        report
            .faults
            .iter()
            .all(|fault| fault.place.contains(&left.name))
    );
}
