//! Status, standard output and standard error.

use serde_json::json;

use crate::call::{call, call_at};

#[test]
fn version_is_a_line_for_scripts_and_a_table_for_people() {
    let answer = call(&["version"], "");
    assert_eq!((answer.status, answer.errors.as_str()), (0, ""));
    assert_eq!(
        answer.lines(),
        [json!({"engine": "tidewater", "version": env!("CARGO_PKG_VERSION")})]
    );
    let table = call_at(&["version"], "", Some(80)).output;
    assert!(
        table.starts_with("engine     version\n---------  -------\ntidewater  "),
        "{table}"
    );
    assert_eq!(
        call_at(&["version", "--json"], "", Some(80)).lines(),
        answer.lines()
    );
}

#[test]
fn verbs_of_later_issues_answer_64_and_say_so() {
    let later = [
        "overwrite",
        "tag",
        "branch",
        "rollback",
        "expire",
        "orphan-clean",
        "delete-partition",
        "truncate",
        "expire-partitions",
        "compact-manifests",
        "analyze",
        "consumer",
        "system",
    ];
    for verb in later {
        let answer = call(
            &[
                verb,
                "--warehouse",
                "w",
                "--table",
                "db.t",
                "--partition={}",
                "--dry-run",
                "x",
            ],
            "",
        );
        assert_eq!((answer.status, answer.output.as_str()), (64, ""), "{verb}");
        assert_eq!(
            answer.error(),
            json!({"error": "Unsupported", "message": format!("the verb {verb} is not built yet")})
        );
    }
}

#[test]
fn wrong_usage_answers_2_with_a_json_line_at_the_end() {
    for arguments in [
        vec![],
        vec!["fly"],
        vec!["version", "--memory", "lots"],
        vec!["version", "--no-such-option"],
    ] {
        let answer = call(&arguments, "");
        assert_eq!(
            (answer.status, answer.output.as_str()),
            (2, ""),
            "{arguments:?}"
        );
        assert_eq!(answer.error()["error"], "Usage", "{arguments:?}");
    }
}

#[test]
fn help_names_the_options_of_every_verb_and_ends_well() {
    let answer = call(&["--help"], "");
    assert_eq!((answer.status, answer.errors.as_str()), (0, ""));
    for option in ["--memory", "--threads", "--json"] {
        assert!(answer.output.contains(option), "{option} is missing");
    }
}
