//! A load that goes on behind any row reads exactly the rows that are left.

use std::sync::Arc;

use arrow_array::{Int64Array, StringArray};
use tidewater_types::{DataType, RowType};

use super::super::{BadRowPolicy, Input, Position, SourceOptions};
use super::columnar::{batch, write_ipc, write_parquet};
use super::{Folder, batches_from, lines, plain};

const ROWS: u64 = 57;

fn row_type() -> RowType {
    RowType::of([("id", DataType::big_int()), ("name", DataType::string())])
}

/// The same rows in every format.
fn files(folder: &Folder) -> [&'static str; 6] {
    let ids: Vec<i64> = (0..57).collect();
    let names: Vec<String> = ids.iter().map(|id| format!("n\n\"{id}")).collect();
    let mut csv = String::from("id,name\n");
    let mut json = String::new();
    for id in &ids {
        csv.push_str(&format!("{id},\"n\n\"\"{id}\"\n"));
        json.push_str(&format!("{{\"id\":{id},\"name\":\"n\\n\\\"{id}\"}}\n\n"));
    }
    let rows = batch(vec![
        ("id", Arc::new(Int64Array::from(ids))),
        ("name", Arc::new(StringArray::from(names))),
    ]);
    write_parquet(folder, "a.parquet", &rows);
    write_ipc(folder, "a.arrow", &rows, false);
    write_ipc(folder, "a.arrows", &rows, true);
    folder.source("a.csv", &csv);
    folder.source("a.csv.zst", zstd::encode_all(csv.as_bytes(), 1).unwrap());
    folder.source("a.json", &json);
    [
        "a.csv",
        "a.csv.zst",
        "a.json",
        "a.parquet",
        "a.arrow",
        "a.arrows",
    ]
}

fn expected(from: u64) -> Vec<String> {
    (from..ROWS)
        .map(|id| format!(r#"{{"id":{id},"name":"n\n\"{id}"}}"#))
        .collect()
}

#[test]
fn every_format_goes_on_behind_any_row() {
    let folder = Folder::new();
    for name in files(&folder) {
        for row in [0, 1, 9, 10, 11, 30, 56, 57] {
            let mut options = folder.named(name);
            options.batch_rows = 7;
            let position = Position { file: 0, row };
            let found = batches_from(options, &row_type(), position).unwrap();
            assert_eq!(
                lines(&found, &row_type()),
                expected(row),
                "{name} from {row}"
            );
            if let Some(last) = found.last() {
                assert_eq!(last.end, Position { file: 0, row: ROWS });
            }
        }
        let position = Position { file: 0, row: 58 };
        let told = batches_from(folder.named(name), &row_type(), position).unwrap_err();
        assert_eq!(
            plain(&told.to_string(), &folder),
            format!("{name} has 57 rows, but 58 of it are loaded already")
        );
    }
}

#[test]
fn files_that_are_done_are_not_opened_again() {
    let folder = Folder::new();
    let names = files(&folder);
    let open = || {
        let inputs = names.iter().map(|name| Input::Path(folder.path(name)));
        SourceOptions::new(inputs.collect())
    };
    let all = batches_from(open(), &row_type(), Position::default()).unwrap();
    assert_eq!(lines(&all, &row_type()).len(), 57 * 6);
    let position = Position { file: 4, row: 50 };
    let found = batches_from(open(), &row_type(), position).unwrap();
    let mut left = expected(50);
    left.extend(expected(0));
    assert_eq!(lines(&found, &row_type()), left);
}

#[test]
fn bad_rows_count_in_positions() {
    let folder = Folder::new();
    let texts = [
        ("a.csv", "id,name\n0,a\nx,b\n2\n3,c\ny,d\n5,e\n"),
        (
            "a.json",
            "{\"id\":0,\"name\":\"a\"}\nx\n{}}\n{\"id\":3,\"name\":\"c\"}\ny\n{\"id\":5,\"name\":\"e\"}\n",
        ),
    ];
    for (name, text) in texts {
        for batch_rows in [1, 2, 100] {
            let open = || {
                let mut options = folder.source(name, text);
                options.bad_rows = BadRowPolicy::HandOver { max: None };
                options.batch_rows = batch_rows;
                options
            };
            let all = batches_from(open(), &row_type(), Position::default()).unwrap();
            for done in 0..=all.len() {
                let position = match done {
                    0 => Position::default(),
                    done => all[done - 1].end,
                };
                let rest = batches_from(open(), &row_type(), position).unwrap();
                assert_eq!(lines(&rest, &row_type()), lines(&all[done..], &row_type()));
                let bad = |found: &[super::SourceBatch]| -> Vec<_> {
                    found
                        .iter()
                        .flat_map(|batch| batch.bad_rows.clone())
                        .collect()
                };
                assert_eq!(bad(&rest), bad(&all[done..]));
            }
        }
    }
}

#[test]
fn a_source_that_is_dropped_early_stops() {
    let folder = Folder::new();
    let names = files(&folder);
    let mut options = folder.named(names[0]);
    options.batch_rows = 1;
    let mut source = super::Source::open(options, &row_type()).unwrap();
    assert_eq!(source.next_batch_blocking().unwrap().unwrap().end.row, 1);
    assert!(source.skip_to(Position::default(), 0).is_err());
}

#[test]
fn batches_can_be_awaited() {
    let folder = Folder::new();
    let names = files(&folder);
    let mut options = folder.named(names[0]);
    options.batch_rows = 10;
    let mut source = super::Source::open(options, &row_type()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let found = runtime.block_on(async {
        let mut found = Vec::new();
        while let Some(batch) = source.next_batch().await.unwrap() {
            found.push(batch);
        }
        assert!(source.next_batch().await.unwrap().is_none());
        found
    });
    assert_eq!(lines(&found, &row_type()), expected(0));
}
