//! What is not built is refused with 64 where it is asked for, and leaves nothing behind.

use crate::call::call;

fn create(warehouse: &str, table: &str, options: &str) -> (u8, String) {
    let schema = format!(
        r#"{{"fields":[{{"name":"id","type":"INT NOT NULL"}},{{"name":"v","type":"STRING"}}],"primaryKeys":["id"],"options":{options}}}"#
    );
    let answer = call(
        &[
            "create",
            "--warehouse",
            warehouse,
            "--table",
            table,
            "--schema",
            &schema,
        ],
        "",
    );
    (answer.status, answer.errors)
}

#[test]
fn tables_of_features_that_are_not_built_cannot_be_made() {
    let folder = tempfile::tempdir().unwrap();
    let warehouse = folder.path().to_str().unwrap();
    for options in [
        "{}",
        r#"{"bucket":"-2"}"#,
        r#"{"bucket":"1","merge-engine":"first-row"}"#,
        r#"{"bucket":"1","changelog-producer":"lookup"}"#,
        r#"{"bucket":"1","changelog-producer":"full-compaction"}"#,
        r#"{"bucket":"1","deletion-vectors.enabled":"true"}"#,
        r#"{"bucket":"1","file.format":"orc"}"#,
        r#"{"bucket":"1","file-index.bloom-filter.columns":"v"}"#,
    ] {
        let (status, errors) = create(warehouse, "d.t", options);
        assert_eq!(status, 64, "{options}: {errors}");
        assert!(errors.contains("not supported yet"), "{errors}");
    }
    let tables = call(&["tables", "--warehouse", warehouse], "");
    assert_eq!((tables.status, tables.output.as_str()), (0, ""));
}

#[test]
fn a_change_that_asks_for_what_is_not_built_is_refused_and_others_go_through() {
    let folder = tempfile::tempdir().unwrap();
    let warehouse = folder.path().to_str().unwrap();
    assert_eq!(create(warehouse, "d.t", r#"{"bucket":"1"}"#).0, 0);
    let alter = |key: &str, value: &str| {
        let change = format!(r#"{{"op":"set-option","key":"{key}","value":"{value}"}}"#);
        call(
            &[
                "alter",
                "--warehouse",
                warehouse,
                "--table",
                "d.t",
                "--change",
                &change,
            ],
            "",
        )
        .status
    };
    assert_eq!(alter("changelog-producer", "lookup"), 64);
    assert_eq!(alter("deletion-vectors.enabled", "true"), 64);
    assert_eq!(alter("changelog-producer", "input"), 0);
}
