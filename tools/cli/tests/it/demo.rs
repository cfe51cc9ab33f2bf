//! The demo proves what it says, on any seed, and leaves a table that others can look into.

use crate::call::call;

#[test]
fn the_demo_ends_with_its_proof() {
    for seed in ["1", "2"] {
        let answer = call(
            &["demo", "--commits", "12", "--rows", "300", "--seed", seed],
            "",
        );
        assert_eq!(answer.status, 0, "{}", answer.errors);
        let lines = answer.lines();
        let proof = lines.last().unwrap();
        assert_eq!(proof["proof"], "holds", "{proof}");
        assert_eq!(proof["changes"], 12 * 300);
        assert!(proof["snapshots"].as_u64().unwrap() > 12, "{proof}");
        assert!(lines.iter().filter(|line| line["equal"] == true).count() == 12);
        // The full compaction leaves the top level only.
        let levels: Vec<i64> = lines
            .iter()
            .filter_map(|line| line["level"].as_i64())
            .collect();
        assert_eq!(levels.last(), Some(&5));
    }
}

#[test]
fn the_demo_does_not_touch_a_table_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let warehouse = folder.path().to_str().unwrap();
    let demo = |commits| {
        call(
            &[
                "demo",
                "--warehouse",
                warehouse,
                "--commits",
                commits,
                "--rows",
                "10",
            ],
            "",
        )
    };
    assert_eq!(demo("2").status, 0);
    let again = demo("1");
    assert_eq!(again.status, 1);
    assert!(
        again.errors.contains("demo.orders exists already"),
        "{}",
        again.errors
    );
    let inspect = |what| {
        call(
            &[
                "inspect",
                what,
                "--warehouse",
                warehouse,
                "--table",
                "demo.orders",
            ],
            "",
        )
    };
    for what in [
        "snapshots",
        "schemas",
        "files",
        "manifests",
        "levels",
        "options",
    ] {
        let answer = inspect(what);
        assert_eq!(answer.status, 0, "{what}: {}", answer.errors);
        assert!(!answer.lines().is_empty(), "{what}");
    }
}
