//! Table definitions and changes, against the answers of Java 1.3.1.
//!
//! Each difference is listed with its reason: most are things that Java lets pass and then fails on or ignores.

use serde_json::Value;

use super::*;
use crate::test_vectors::java_answers;

/// Cases that Java accepts and this build refuses: Java fails on them later, or ignores what was asked for.
const STRICTER: &[(&str, &[&str])] = &[
    (
        "text that is no value of the option is stored by Java and fails whoever reads it",
        &[
            "bad duration",
            "bad memory size",
            "bad boolean",
            "bad integer",
            "bucket function foo",
            "sequence sort order bad",
            "file format per level bad",
            "file format per level not a level",
            "file format per level unknown",
            "manifest format foo",
            "stats mode foo",
            "tag period bad",
            "metadata.iceberg storage bad",
            "set write-buffer-size=foo",
            "with snapshot set write-buffer-size=foo",
            "set metadata.stats-mode=foo",
            "with snapshot set metadata.stats-mode=foo",
        ],
    ),
    ("Java stores it and cannot read it", &["iso duration"]),
    (
        "a function that cannot fold its column: Java fails at the first write",
        &["aggregation on string sum"],
    ),
    (
        "a number that no table works with",
        &[
            "num levels 1",
            "trigger 0",
            "negative retries",
            "target file size zero",
            "snapshot expire limit 0",
        ],
    ),
    (
        "the default value is no value of its column, or not built yet",
        &[
            "default of a decimal too wide",
            "default of an array",
            "type with default that fails",
        ],
    ),
    (
        "values without an order cannot be keys (spec 02a §1.4), nor say which row is newer",
        &[
            "primary key of type VARIANT",
            "partition key of type VARIANT",
            "bucket key of type VARIANT",
            "sequence field of type array",
            "sequence field of type map",
            "sequence field of type row",
            "sequence field of type multiset",
        ],
    ),
    (
        "its directories would be named by object addresses (spec 01 §1.3)",
        &["partition key of type BYTES"],
    ),
    (
        "mod takes one INT or BIGINT column (spec 01c §6)",
        &[
            "bucket function mod on two keys",
            "bucket function mod on string",
        ],
    ),
    (
        "the option names a column, an index or a path that is not there",
        &[
            "row deduplicate ignore unknown field",
            "clustering columns missing",
            "incremental clustering without columns",
            "record level expire without field",
            "file index columns missing",
            "file index type unknown",
            "external strategy without paths",
            "external specific fs without fs",
        ],
    ),
    (
        "rows carry their kind as text",
        &["rowkind field not a string"],
    ),
    (
        "files would lie where nobody looks for them",
        &["external relative path", "path directory absolute"],
    ),
    (
        "Java takes the last names of such paths for something else, or changes nothing",
        &[
            "add into map key",
            "add under scalar",
            "add under array of int",
            "drop element",
            "drop map value",
            "rename element",
            "type map key",
            "comment array element",
        ],
    ),
    (
        "the table would not be one of this format",
        &[
            "set type=format-table",
            "with snapshot set type=format-table",
        ],
    ),
    (
        "the catalog decides where a table lies",
        &["set path=/x", "with snapshot set path=/x"],
    ),
    (
        "buckets change only between positive numbers (spec 01a §5)",
        &[
            "with snapshot set bucket=-2",
            "with snapshot fixed to postpone",
        ],
    ),
    (
        "a former key of an option that is fixed",
        &["with snapshot set first-row.ignore-delete=true"],
    ),
];

/// Cases that Java refuses and this build accepts.
const MORE: &[(&str, &[&str])] = &[
    (
        "blanks around names do not count and are not stored",
        &[
            "bucket key with blanks",
            "sequence fields with blanks",
            "rename one of bucket keys",
            "rename sequence fields",
        ],
    ),
    (
        "every option that names a column follows it to its new name",
        &[
            "rename with stats mode",
            "rename with nested-key",
            "rename rowkind field",
            "rename record-level field",
        ],
    ),
];

/// Cases that both accept with another result.
const OTHER_RESULT: &[(&str, &[&str])] = &[(
    "Java leaves the old name in the option",
    &["rename with file index", "rename clustering column"],
)];

fn is_listed(name: &str, list: &[(&str, &[&str])]) -> bool {
    list.iter().any(|(_, names)| names.contains(&name))
}

fn create(case: &Value) -> Result<TableSchema> {
    TableSchema::create(
        SchemaDefinition::from_json(case["schema"].to_string().as_bytes())?,
        0,
    )
}

fn apply(case: &Value, mut schema: TableSchema) -> Result<TableSchema> {
    for step in case["changes"].as_array().unwrap() {
        let changes = SchemaChange::list_from_json(step.to_string().as_bytes())?;
        schema = schema.apply(&changes, case.get("snapshot").is_some(), 0)?;
    }
    Ok(schema)
}

fn json(schema: &TableSchema) -> Value {
    let mut json = schema.to_json_value();
    json.as_object_mut().unwrap().remove("timeMillis");
    json
}

fn compare(file: &str, run: impl Fn(&Value) -> Result<TableSchema>) {
    let mut unexpected = Vec::new();
    for case in java_answers(file)["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let ours = run(case);
        let (difference, list) = match (case["ok"].as_bool().unwrap(), &ours) {
            (true, Ok(schema)) if json(schema) != case["result"] => (
                format!("{} instead of {}", json(schema), case["result"]),
                OTHER_RESULT,
            ),
            (true, Err(error)) => (format!("refused: {error}"), STRICTER),
            (false, Ok(_)) => (format!("accepted, in Java {}", case["error"]), MORE),
            _ => {
                let listed = [STRICTER, MORE, OTHER_RESULT]
                    .iter()
                    .any(|list| is_listed(name, list));
                assert!(!listed, "{name} is listed as different and is not");
                continue;
            }
        };
        if !is_listed(name, list) {
            unexpected.push(format!("{name}: {difference}"));
        }
    }
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));
}

#[test]
fn definitions_are_accepted_and_refused_as_in_java() {
    compare("creating_tables.json", create);
}

#[test]
fn changes_are_accepted_and_refused_as_in_java() {
    compare("altering_tables.json", |case| apply(case, create(case)?));
}
