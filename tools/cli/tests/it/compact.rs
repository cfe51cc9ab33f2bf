//! `compact`: which partitions, and when there is nothing left to do.

use serde_json::{Value, json};

use crate::place::Place;

/// A table of partitions a, b and c, each of three commits; keyed or not.
fn partitioned(keyed: bool) -> Place {
    let place = Place::new();
    let key = if keyed { json!(["p", "id"]) } else { json!([]) };
    let bucket = if keyed { "1" } else { "-1" };
    let schema = json!({
        "fields": [{"name": "p", "type": "STRING NOT NULL"}, {"name": "id", "type": "INT NOT NULL"}],
        "partitionKeys": ["p"],
        "primaryKeys": key,
        "options": {"bucket": bucket},
    });
    let file = place.write("schema.json", &schema.to_string());
    place.answer("create", "db.t", &["--schema", &file]);
    for commit in 0..3 {
        let rows = ["a", "b", "c"].map(|p| json!({"row": {"p": p, "id": commit}}).to_string());
        let written = place.ask("write", "db.t", &[], &rows.join("\n"));
        assert_eq!(written.status, 0, "{}", written.errors);
    }
    place
}

/// Files of each partition.
fn files(place: &Place) -> [usize; 3] {
    let splits = place.answer("plan", "db.t", &[]);
    ["a", "b", "c"].map(|p| {
        let of_partition = splits.iter().filter(|split| split["partition"]["p"] == p);
        of_partition
            .map(|split| split["files"].as_array().map_or(0, Vec::len))
            .sum()
    })
}

fn snapshots(lines: &[Value]) -> Vec<&str> {
    let all = lines.iter().filter_map(|line| line["snapshots"].as_array());
    all.flatten()
        .filter_map(|snapshot| snapshot["kind"].as_str())
        .collect()
}

#[test]
fn partitions_are_chosen_by_a_condition_on_their_columns() {
    for keyed in [true, false] {
        let place = partitioned(keyed);
        assert_eq!(files(&place), [3, 3, 3]);
        let lines = place.answer(
            "compact",
            "db.t",
            &["--where", "p > 'a' and p not like '%c'"],
        );
        assert_eq!(snapshots(&lines), ["COMPACT"]);
        assert_eq!(files(&place), [3, 1, 3], "keyed: {keyed}");
        let refused = place.ask("compact", "db.t", &["--where", "id = 1"], "");
        assert_eq!(
            (refused.status, &refused.error()["error"]),
            (1, &json!("Invalid"))
        );
        assert!(
            refused
                .errors
                .contains("\\\"id\\\" is not a partition column"),
            "{}",
            refused.errors
        );
        assert_eq!(files(&place), [3, 1, 3]);
    }
}

#[test]
fn partitions_that_were_written_lately_can_be_left_alone() {
    for keyed in [true, false] {
        let place = partitioned(keyed);
        let lines = place.answer("compact", "db.t", &["--idle-for", "1 d"]);
        assert_eq!(snapshots(&lines), [""; 0]);
        assert_eq!(files(&place), [3, 3, 3]);
        place.answer("compact", "db.t", &["--idle-for", "0 ms"]);
        assert_eq!(files(&place), [1, 1, 1], "keyed: {keyed}");
        let refused = place.ask("compact", "db.t", &["--idle-for", "soon"], "");
        assert_eq!(refused.status, 2);
    }
}

#[test]
fn a_second_full_compaction_finds_nothing_to_do() {
    for keyed in [true, false] {
        let place = partitioned(keyed);
        place.answer("compact", "db.t", &[]);
        assert_eq!(files(&place), [1, 1, 1], "keyed: {keyed}");
        let again = place.answer("compact", "db.t", &[]);
        assert_eq!(snapshots(&again), [""; 0]);
    }
}

/// Rows that fill several files: what is as large as it will get is not rewritten with every run.
#[test]
fn full_files_of_a_table_without_buckets_are_left_alone() {
    let place = Place::new();
    let rows: String = (0..20_000)
        .map(|id| format!("{id},{}\n", id * 7919 % 10_007))
        .collect();
    let file = place.write("rows.csv", &format!("id,v\n{rows}"));
    let load = ["--create", "--again", "--option", "target-file-size=20 kb"];
    for _ in 0..3 {
        place.answer("load", "db.t", &[&[file.as_str()], &load[..]].concat());
    }
    let small = ["--option", "target-file-size=20 kb"];
    place.answer("compact", "db.t", &small);
    let before = place.answer("plan", "db.t", &[]);
    let again = place.answer("compact", "db.t", &small);
    assert_eq!(snapshots(&again), [""; 0]);
    assert_eq!(place.answer("plan", "db.t", &[]), before);
    assert_eq!(place.rows("db.t", &["--project", "id"]).len(), 60_000);
}
