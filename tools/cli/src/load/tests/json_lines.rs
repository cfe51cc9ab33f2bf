//! JSON lines as they come.

use tidewater_types::{DataType, RowType};

use super::super::{BadRowPolicy, Place};
use super::{Folder, batches, error, kinds, lines, plain, rows};

fn id_name() -> RowType {
    RowType::of([
        ("id", DataType::big_int().not_null()),
        ("name", DataType::string()),
    ])
}

#[test]
fn members_go_by_name_and_missing_ones_are_null() {
    let folder = Folder::new();
    let text = "\u{feff}{\"name\":\"a\",\"id\":9007199254740993}\r\n\n  \n{\"id\":2}";
    assert_eq!(
        rows(folder.source("a.jsonl", text), &id_name()),
        [
            r#"{"id":9007199254740993,"name":"a"}"#,
            r#"{"id":2,"name":null}"#
        ]
    );
}

#[test]
fn bad_lines_are_told_or_put_aside() {
    let folder = Folder::new();
    let text = concat!(
        "{\"id\":1,\"name\":\"a\"}\n",
        "{\"id\":2,\"id\":3}\n",
        "{\"id\":4,\"other\":5}\n",
        "{\"id\":\"x\"}\n",
        "{\"name\":\"no id\"}\n",
        "{\"id\":6,\n",
        "[7]\n",
        "{\"id\":8}\n",
    );
    let told = error(folder.source("a.json", text), &id_name());
    assert_eq!(
        plain(&told, &folder),
        "a.json, line 2, column given twice: \"id\""
    );
    let mut options = folder.source("a.json", text);
    options.bad_rows = BadRowPolicy::HandOver { max: None };
    let found = batches(options, &id_name()).unwrap();
    assert_eq!(
        lines(&found, &id_name()),
        [r#"{"id":1,"name":"a"}"#, r#"{"id":8,"name":null}"#]
    );
    let bad: Vec<(Place, String)> = found
        .iter()
        .flat_map(|batch| &batch.bad_rows)
        .map(|bad| (bad.place, bad.fault.to_string()))
        .collect();
    let expected = [
        (2, "column given twice: \"id\""),
        (3, "no such column: \"other\""),
        (4, "column id: \"\\\"x\\\"\" is not BIGINT NOT NULL"),
        (5, "column id: null, but the column is NOT NULL"),
        (6, "character 9: expected a string"),
        (7, "character 1: expected {"),
    ];
    assert_eq!(bad.len(), expected.len());
    for ((place, fault), (line, what)) in bad.iter().zip(expected) {
        assert_eq!(*place, Place::Line(line));
        assert!(
            fault == what || (line >= 6 && fault.starts_with("character ")),
            "{fault}"
        );
    }
}

#[test]
fn unknown_members_are_left_out_when_asked() {
    let folder = Folder::new();
    let text = "{\"x\":{\"y\":[1,2]},\"id\":1,\"z\":null}\n";
    let mut options = folder.source("a.ndjson", text);
    options.ignore_extra_columns = true;
    assert_eq!(rows(options, &id_name()), [r#"{"id":1,"name":null}"#]);
}

#[test]
fn kinds_come_from_a_member() {
    let folder = Folder::new();
    let text = "{\"op\":\"delete\",\"id\":1}\n{\"id\":2,\"op\":\"+U\"}\n{\"id\":3}\n";
    let mut options = folder.source("a.json", text);
    options.kind_column = Some("op".to_owned());
    options.bad_rows = BadRowPolicy::HandOver { max: None };
    let found = batches(options, &id_name()).unwrap();
    assert_eq!(kinds(&found), ["-D", "+U"]);
    assert_eq!(found[0].batch.num_columns(), 2);
    assert_eq!(found[0].bad_rows[0].place, Place::Line(3));
}

#[test]
fn a_piece_of_bad_lines_only_gives_an_empty_batch() {
    let folder = Folder::new();
    let mut options = folder.source("a.json", "x\ny\n");
    options.bad_rows = BadRowPolicy::HandOver { max: None };
    let found = batches(options, &id_name()).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(
        (
            found[0].batch.num_rows(),
            found[0].end.row,
            found[0].bad_rows.len()
        ),
        (0, 2, 2)
    );
}
