//! Files into tables and back: `load`, `create --like`, `read --format`, filters as text.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::place::Place;

fn summary(rows: u64, bad: u64, commits: u64, latest: i64) -> Value {
    json!({"rows": rows, "badRows": bad, "commits": commits, "latest": latest})
}

const CITIES: &str = "id,city,amount,at\n1,Dresden,3.5,2024-01-02\n2,Bonn,4.25,2024-02-03\n3,Deventer,10,\n4,,0.5,2024-04-05\n";

#[test]
fn a_file_is_loaded_once_and_again_only_when_told() {
    let place = Place::new();
    let file = place.write("cities.csv", CITIES);
    let load = |more: &[&str]| {
        let mut arguments = vec![file.as_str(), "--create", "--primary-key", "id"];
        arguments.extend(more);
        place.answer("load", "db.t", &arguments)
    };
    assert_eq!(
        load(&["--commit-rows", "2"]),
        [
            json!({"commit": 1, "rows": 2, "badRows": 0, "snapshots": [{"id": 1, "kind": "APPEND"}]}),
            json!({"commit": 2, "rows": 4, "badRows": 0, "snapshots": [{"id": 2, "kind": "APPEND"}]}),
            summary(4, 0, 2, 2),
        ]
    );
    assert_eq!(load(&[]), [summary(4, 0, 0, 2)]);
    assert_eq!(load(&["--again"]).pop(), Some(summary(4, 0, 1, 3)));
    assert_eq!(
        place.rows("db.t", &["--where", "amount > 3 and city like 'D%'"]),
        [
            json!({"id": 1, "city": "Dresden", "amount": 3.5, "at": "2024-01-02"}),
            json!({"id": 3, "city": "Deventer", "amount": 10.0, "at": null}),
        ]
    );
}

#[test]
fn a_load_that_failed_at_a_bad_row_goes_on_behind_its_last_commit() {
    let place = Place::new();
    let file = place.write("n.csv", "id,v\n1,1\n2,2\n3,3\n4,x\n5,5\n");
    let schema = r#"{"fields":[{"id":0,"name":"id","type":"INT"},{"id":1,"name":"v","type":"INT"}],"partitionKeys":[],"primaryKeys":[],"options":{"bucket":"-1"}}"#;
    place.answer("create", "db.t", &["--schema", schema]);
    let failed = place.ask("load", "db.t", &[&file, "--commit-rows", "1"], "");
    assert_eq!(failed.status, 1);
    let told = failed.error();
    assert_eq!(told["error"], "Invalid");
    let message = told["message"].as_str().unwrap();
    assert!(
        message.contains("line 5") && message.contains("column v"),
        "{message}"
    );
    // How many commits came before the error depends on how far reading was ahead, what they hold does not.
    let summary_line = failed.lines().pop().unwrap();
    let done = summary_line["rows"].as_u64().unwrap();
    assert_eq!(place.rows("db.t", &[]).len() as u64, done);
    let bad = place.file("bad.jsonl");
    let more = [&file, "--commit-rows", "1", "--bad-rows", &bad];
    let last = place.answer("load", "db.t", &more).pop().unwrap();
    assert_eq!((&last["rows"], &last["badRows"]), (&json!(4), &json!(1)));
    let ids: Vec<Value> = place
        .rows("db.t", &[])
        .iter()
        .map(|row| row["id"].clone())
        .collect();
    assert_eq!(ids, [1, 2, 3, 5]);
    let letters = std::fs::read_to_string(&bad).unwrap();
    assert_eq!(letters.lines().count(), 1);
    assert!(letters.contains("\"line\":5"), "{letters}");
}

#[test]
fn a_kind_column_deletes_and_standard_input_is_a_file_too() {
    let place = Place::new();
    let file = place.write(
        "first.jsonl",
        "{\"op\":\"+I\",\"k\":1,\"v\":\"a\"}\n{\"op\":\"+I\",\"k\":2,\"v\":\"b\"}\n",
    );
    let keyed = ["--create", "--primary-key", "k", "--kind-column", "op"];
    let mut arguments = vec![file.as_str()];
    arguments.extend(keyed);
    place.answer("load", "db.t", &arguments);
    let stdin =
        "{\"op\":\"delete\",\"k\":1,\"v\":\"a\"}\n{\"op\":\"upsert\",\"k\":3,\"v\":\"c\"}\n";
    let more = ["-", "--format", "json", "--kind-column", "op"];
    let answer = place.ask("load", "db.t", &more, stdin);
    assert_eq!(answer.status, 0, "{}", answer.errors);
    assert_eq!(
        place.rows("db.t", &[]),
        [json!({"k": 2, "v": "b"}), json!({"k": 3, "v": "c"})]
    );
    let refused = place.ask(
        "load",
        "db.new",
        &["-", "--format", "json", "--create"],
        stdin,
    );
    assert_eq!(
        (refused.status, refused.error()["error"].clone()),
        (2, json!("Usage"))
    );
}

#[test]
fn a_table_without_the_load_s_columns_and_a_missing_table_are_refused_by_name() {
    let place = Place::new();
    let file = place.write("cities.csv", CITIES);
    let missing = place.ask("load", "db.t", &[&file], "");
    assert_eq!(
        (missing.status, missing.error()["error"].clone()),
        (1, json!("NotFound"))
    );
    place.answer("load", "db.t", &[&file, "--create"]);
    let other = place.write("other.csv", "id,town\n1,a\n");
    let refused = place.ask("load", "db.t", &[&other], "");
    assert_eq!(refused.status, 1);
    let message = refused.error()["message"].to_string();
    assert!(message.contains("town"), "{message}");
    let gone = place.ask("load", "db.t", &["no-such.csv"], "");
    assert_eq!(
        (gone.status, gone.error()["error"].clone()),
        (1, json!("NotFound"))
    );
}

#[test]
fn create_like_takes_columns_and_a_table_that_is_exported_loads_back() {
    let place = Place::new();
    let file = place.write("cities.csv", CITIES);
    let schema = place.answer(
        "create",
        "db.t",
        &[
            "--like",
            &file,
            "--primary-key",
            "id",
            "--option",
            "bucket=2",
        ],
    );
    let types: Vec<&str> = schema[0]["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|field| field["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["INT NOT NULL", "STRING", "DOUBLE", "DATE"]);
    assert_eq!(schema[0]["options"]["bucket"], "2");
    place.answer("load", "db.t", &[&file]);
    let rows = place.rows("db.t", &[]);
    assert_eq!(rows.len(), 4);
    for name in ["out.csv", "out.jsonl", "out.parquet", "out.arrow"] {
        let out = place.file(name);
        let told = place.answer("read", "db.t", &["--output", &out]);
        assert_eq!(told, [json!({"rows": 4, "file": out})]);
        let table = format!("db.{}", name.replace('.', "_"));
        place.answer("create", &table, &["--like", &out, "--primary-key", "id"]);
        place.answer("load", &table, &[&out]);
        assert_eq!(place.rows(&table, &[]), rows, "{name}");
    }
    let csv = place.ask(
        "read",
        "db.t",
        &[
            "--format",
            "csv",
            "--project",
            "city,id",
            "--where",
            "id = 2",
        ],
        "",
    );
    assert_eq!(csv.output, "city,id\nBonn,2\n");
    let unnamed = place.ask("read", "db.t", &["--output", &place.file("out")], "");
    assert_eq!(unnamed.status, 2);
}

#[test]
fn special_files_are_written_to_and_not_replaced() {
    let place = Place::new();
    let file = place.write("cities.csv", CITIES);
    place.answer("load", "db.t", &[&file, "--create"]);
    place.answer(
        "read",
        "db.t",
        &["--format", "parquet", "--output", "/dev/null"],
    );
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn conditions_as_text_and_as_json_hold_together_in_read_plan_and_stream() {
    let place = Place::new();
    let file = place.write("cities.csv", CITIES);
    place.answer("load", "db.t", &[&file, "--create", "--primary-key", "id"]);
    let both = [
        "--where",
        "amount < 10",
        "--filter",
        r#"{"op":">","field":"id","value":1}"#,
    ];
    let ids = |verb: &str| -> Vec<Value> {
        let lines = place.answer(verb, "db.t", &both);
        lines.iter().map(|line| line["row"]["id"].clone()).collect()
    };
    assert_eq!(ids("read"), [2, 4]);
    assert_eq!(ids("stream"), [2, 4]);
    assert_eq!(
        place.answer("plan", "db.t", &["--where", "id > 100"]),
        [] as [Value; 0]
    );
    let wrong = place.ask("read", "db.t", &["--where", "town = 'x'"], "");
    assert_eq!(
        (wrong.status, wrong.error()["error"].clone()),
        (1, json!("Invalid"))
    );
}

/// Ctrl-C while the load waits for more lines.
#[test]
fn an_interrupted_load_leaves_what_it_committed_and_goes_on_later() {
    a_signal_stops_a_load_after_a_commit("-INT");
}

/// What a supervisor sends before it kills.
#[test]
fn a_terminated_load_leaves_what_it_committed_and_goes_on_later() {
    a_signal_stops_a_load_after_a_commit("-TERM");
}

fn a_signal_stops_a_load_after_a_commit(signal: &str) {
    let place = Place::new();
    let head = place.write("head.csv", "id,v\n0,0\n");
    place.answer("create", "db.t", &["--like", &head]);
    let arguments = [
        "-",
        "--format",
        "csv",
        "--job",
        "night",
        "--commit-rows",
        "100",
    ];
    let mut child = Command::new(env!("CARGO_BIN_EXE_tidewater"))
        .args([
            "load",
            "--warehouse",
            &place.file("warehouse"),
            "--table",
            "db.t",
        ])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let all: String = (1..=350).fold("id,v\n".to_owned(), |all, id| format!("{all}{id},{id}\n"));
    let mut stdin = child.stdin.take().unwrap();
    let first: String = all
        .lines()
        .take(331)
        .map(|line| format!("{line}\n"))
        .collect();
    stdin.write_all(first.as_bytes()).unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    // The last 30 rows are not enough for a commit, and wait.
    for rows in [100, 200, 300] {
        let line = output.next().unwrap().unwrap();
        assert!(line.contains(&format!("\"rows\":{rows},")), "{line}");
    }
    let interrupted = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status()
        .unwrap();
    assert!(interrupted.success());
    let ended = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(ended.status.code(), Some(1));
    let told = String::from_utf8(ended.stderr).unwrap();
    assert!(told.contains("stopped: 300 rows are committed"), "{told}");
    assert_eq!(place.rows("db.t", &[]).len(), 300);
    let again = place.ask("load", "db.t", &arguments, &all);
    assert_eq!(again.status, 0, "{}", again.errors);
    assert_eq!(again.lines().pop().unwrap()["rows"], 350);
    assert_eq!(place.rows("db.t", &[]).len(), 350);
}
