//! The vectors of the format, and the schema files of real tables.

use serde_json::{Value, json};
use tidewater_types::{DataType, RowType};

use super::*;
use crate::test_vectors::{java_metadata_files, python_metadata_files, vector};

/// A schema as the vectors have it: without its time.
fn without_time(schema: &TableSchema) -> Value {
    let mut json = schema.to_json_value();
    json.as_object_mut().unwrap().remove("timeMillis");
    json
}

/// The one step whose type is written as SQL.
fn data_type(text: &str) -> DataType {
    if text == "ROW<g INT, h ARRAY<ROW<i INT>>>" {
        let inner = DataType::row(RowType::of([("i", DataType::int())]));
        return DataType::row(RowType::of([
            ("g", DataType::int()),
            ("h", DataType::array(inner)),
        ]));
    }
    DataType::parse_atomic(text).unwrap()
}

/// A step in the notation of the vector.
fn vector_change(step: &Value) -> SchemaChange {
    let text = |name: &str| step[name].as_str().unwrap().to_owned();
    let path = || {
        let names = step
            .get("path")
            .or_else(|| step.get("name"))
            .unwrap()
            .as_str()
            .unwrap();
        names.split('.').map(str::to_owned).collect::<Vec<_>>()
    };
    let position = |words: &[&str]| match words {
        ["FIRST"] => ColumnPosition::First,
        ["LAST"] => ColumnPosition::Last,
        ["AFTER", other] => ColumnPosition::After((*other).to_owned()),
        ["BEFORE", other] => ColumnPosition::Before((*other).to_owned()),
        other => panic!("{other:?}"),
    };
    let words: Vec<_> = step
        .get("move")
        .map_or(vec![], |words| words.as_str().unwrap().split(' ').collect());
    match step["op"].as_str().unwrap() {
        "addColumn" => SchemaChange::AddColumn {
            path: path(),
            data_type: data_type(&text("type")),
            // The vector's program gives this one column a comment without saying so in the step.
            description: (step["name"] == "d" && step["type"] == "INT").then(|| "doc d".to_owned()),
            position: (!words.is_empty()).then(|| position(&words)),
        },
        "renameColumn" => SchemaChange::RenameColumn {
            path: path(),
            to: text("new"),
        },
        "dropColumn" => SchemaChange::DropColumn { path: path() },
        "updateColumnType" => SchemaChange::ChangeType {
            path: path(),
            data_type: data_type(&text("type")),
            keep_nullability: false,
        },
        "updateColumnNullability" => SchemaChange::ChangeNullability {
            path: path(),
            nullable: text("nullable") == "true",
        },
        "updateColumnComment" => SchemaChange::ChangeColumnComment {
            path: path(),
            comment: Some(text("comment")),
        },
        "updateColumnPosition" => SchemaChange::MoveColumn {
            column: words[0].to_owned(),
            position: position(&words[1..]),
        },
        "updateColumnDefaultValue" => SchemaChange::ChangeDefaultValue {
            path: path(),
            value: Some(text("value")),
        },
        "setOption" => SchemaChange::SetOption {
            key: text("key"),
            value: text("value"),
        },
        "removeOption" => SchemaChange::RemoveOption { key: text("key") },
        "updateComment" => SchemaChange::SetComment(Some(text("comment"))),
        other => panic!("{other}"),
    }
}

#[test]
fn a_chain_of_changes_gives_the_schemas_and_refusals_of_java() {
    let vector = vector("schema_evolution.json");
    let steps = vector["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 35);
    let mut schema = TableSchema::from_json(vector["initial"].to_string().as_bytes()).unwrap();
    for (number, step) in steps.iter().enumerate() {
        let change = &step["change"];
        let next = schema.apply(&[vector_change(change)], false, 0);
        assert_eq!(
            next.is_ok(),
            step["ok"].as_bool().unwrap(),
            "step {number} {change}: {next:?}"
        );
        if let Ok(next) = next {
            assert_eq!(
                without_time(&next),
                step["schema"],
                "step {number} {change}"
            );
            schema = next;
        }
    }
}

#[test]
fn the_first_schema_of_the_chain_is_what_creation_gives() {
    let initial = &vector("schema_evolution.json")["initial"];
    let mut definition = initial.clone();
    // Ids in a definition mean nothing, and nullability of key columns neither.
    definition["fields"][0]["type"] = json!("STRING");
    definition["fields"][0]["id"] = json!(77);
    let definition = SchemaDefinition::from_json(definition.to_string().as_bytes()).unwrap();
    let schema = TableSchema::create(definition, 5).unwrap();
    assert_eq!(&without_time(&schema), initial);
    assert_eq!(schema.time_millis, 5);
}

#[test]
fn old_versions_imply_their_defaults() {
    for case in vector("schema_evolution.json")["legacy_version_defaults"]
        .as_array()
        .unwrap()
    {
        let input = case["input"].to_string();
        let schema = TableSchema::from_json(input.as_bytes()).unwrap();
        assert_eq!(i64::from(schema.version), case["version"].as_i64().unwrap());
        assert_eq!(
            serde_json::to_value(&schema.options).unwrap(),
            case["effective_options"],
            "{input}"
        );
        assert_eq!(schema.time_millis, case["timeMillis"].as_i64().unwrap());
        // The file's own options come back, not the implied ones …
        assert_eq!(
            without_time(&schema)["options"],
            case["input"]["options"],
            "{input}"
        );
        // … until a next version is derived, which says them.
        let next = schema.apply(&[SchemaChange::SetComment(None)], true, 1);
        if schema.options.get("bucket").is_none_or(|text| text == "-1") {
            let next = next.unwrap();
            assert_eq!(next.version, 3);
            assert_eq!(
                without_time(&next)["options"],
                case["effective_options"],
                "{input}"
            );
        } else {
            // An append table in fixed buckets needs a bucket key today; it can be read, and changed once it has one.
            assert!(
                next.unwrap_err().to_string().contains("bucket-key"),
                "{input}"
            );
        }
    }
}

#[test]
fn schema_files_of_java_come_back_byte_for_byte() {
    let mut count = 0;
    for (path, text) in java_metadata_files() {
        if !path.contains("/schema/schema-") {
            continue;
        }
        count += 1;
        let schema = TableSchema::from_json(text.as_bytes())
            .unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(String::from_utf8(schema.to_json()).unwrap(), text, "{path}");
        schema.options().unwrap();
        schema.bucket_mode().unwrap();
    }
    assert!(count > 150, "{count}");
}

#[test]
fn schema_files_of_python_come_back_with_equal_content() {
    let mut count = 0;
    for (path, text) in python_metadata_files() {
        if !path.contains("/schema/schema-") {
            continue;
        }
        count += 1;
        let schema = TableSchema::from_json(text.as_bytes()).unwrap();
        let mut expected: Value = serde_json::from_str(&text).unwrap();
        // Java reads a null comment as the word "null", so it is left out.
        assert_eq!(
            expected.as_object_mut().unwrap().remove("comment"),
            Some(Value::Null)
        );
        assert_eq!(schema.to_json_value(), expected, "{path}");
    }
    assert_eq!(count, 2);
}

/// Tables that Java made are tables that we would make: creation and every later version pass our own checks.
#[test]
fn schemas_of_java_tables_pass_validation() {
    for (path, text) in java_metadata_files() {
        if path.contains("/schema/schema-") {
            let schema = TableSchema::from_json(text.as_bytes()).unwrap();
            super::super::validate::validate(&schema)
                .unwrap_or_else(|error| panic!("{path}: {error}"));
        }
    }
}

#[test]
fn type_changes_follow_the_cast_matrix() {
    let vector = vector("type_casts.json");
    let mut allowed = 0;
    for pair in vector["pairs"].as_array().unwrap() {
        let of = |name: &Value| match name.as_str().unwrap() {
            "ARRAY" => Some(DataType::array(DataType::int())),
            "MAP" => Some(DataType::map(DataType::int(), DataType::int())),
            "MULTISET" => Some(DataType::multiset(DataType::int())),
            "ROW" => Some(DataType::row(RowType::of([("x", DataType::int())]))),
            "TIME_WITHOUT_TIME_ZONE" => Some(DataType::time(3)),
            "TIMESTAMP_WITHOUT_TIME_ZONE" => Some(DataType::timestamp(6)),
            "TIMESTAMP_WITH_LOCAL_TIME_ZONE" => Some(DataType::timestamp_ltz(6)),
            other => DataType::parse_atomic(other).ok(),
        };
        let (Some(from), Some(to)) = (of(&pair["from"]), of(&pair["to"])) else {
            panic!("{pair}");
        };
        for (guard, expected) in [
            ("false", &pair["alter_allowed_default"]),
            ("true", &pair["alter_allowed_when_explicit_disabled"]),
        ] {
            let fields = json!([{"name":"k","type":"INT"},{"name":"c","type":from.to_json()}]);
            let options = json!({"bucket":"1","disable-explicit-type-casting":guard});
            let definition =
                json!({"fields":fields,"primaryKeys":["k"],"options":options}).to_string();
            let schema = TableSchema::create(super::definition(&definition), 0).unwrap();
            let change = SchemaChange::ChangeType {
                path: vec!["c".to_owned()],
                data_type: to.clone(),
                keep_nullability: false,
            };
            let changed = schema.apply(&[change], true, 0);
            assert_eq!(
                changed.is_ok(),
                expected.as_bool().unwrap(),
                "{from} to {to}, explicit disabled {guard}"
            );
            allowed += usize::from(changed.is_ok());
        }
    }
    assert!(allowed > 100);
}
