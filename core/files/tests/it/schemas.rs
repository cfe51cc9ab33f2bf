//! The physical schema is the one Java writes.

use std::sync::Arc;

use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{Type, TypePtr};
use serde_json::Value;
use tidewater_files::{avro_schema, parquet_schema};
use tidewater_types::{DataField, DataType, ErrorKind, RowType};

use crate::support::vector_path;

/// Java's notation has `LIST` and `MAP` in front of ids, which the parser of the library reads as they are.
#[test]
fn every_type_has_the_schema_that_java_gives_it() {
    let vectors: Value =
        serde_json::from_slice(&std::fs::read(vector_path("physical_types.json")).unwrap())
            .unwrap();
    let mut checked = 0;
    for case in vectors["cases"].as_array().unwrap() {
        let Some(expected) = case["parquet"].as_str() else {
            continue;
        };
        let data_type = DataType::from_json(&case["type"]).unwrap();
        let ours = parquet_schema(&RowType::new(vec![DataField::new(7, "f", data_type)])).unwrap();
        let java = parse_message_type(expected).unwrap();
        assert_eq!(
            described(&ours.root_schema_ptr()),
            described(&Arc::new(java)),
            "{}",
            case["type"]
        );
        checked += 1;
    }
    assert!(checked > 40, "only {checked} cases");
}

/// Java's answers are for the type alone: there, records inside carry the namespace, which they inherit below a column.
#[test]
fn every_type_has_the_avro_schema_that_java_gives_it() {
    let vectors: Value =
        serde_json::from_slice(&std::fs::read(vector_path("physical_types.json")).unwrap())
            .unwrap();
    let (mut checked, mut refused) = (0, 0);
    for case in vectors["cases"].as_array().unwrap() {
        let data_type = DataType::from_json(&case["type"]).unwrap();
        let nullable = data_type.nullable;
        let is_multiset_of_numbers =
            case["type"]["type"] == "MULTISET" && case["type"]["element"] == "INT";
        let ours = avro_schema(&RowType::new(vec![DataField::new(7, "f", data_type)]));
        if case["avro"].is_null() || is_multiset_of_numbers {
            assert_eq!(ours.unwrap_err().kind(), ErrorKind::Unsupported);
            refused += 1;
            continue;
        }
        let java = case["avro"]
            .to_string()
            .replace(r#","namespace":"org.apache.paimon.avro.generated""#, "");
        let default = if nullable { r#","default":null"# } else { "" };
        let expected = format!(
            r#"{{"type":"record","name":"record","namespace":"org.apache.paimon.avro.generated","fields":[{{"name":"f","type":{java}{default}}}]}}"#
        );
        assert_eq!(ours.unwrap(), expected, "{}", case["type"]);
        checked += 1;
    }
    assert!(
        checked > 30 && refused > 4,
        "{checked} cases, {refused} refused"
    );
}

#[test]
fn names_that_avro_does_not_take_are_refused_and_records_of_one_name_told_apart() {
    let row = |names: [&str; 2]| {
        RowType::of([
            (
                names[0],
                DataType::row(RowType::of([("x", DataType::int())])),
            ),
            (
                names[1],
                DataType::row(RowType::of([(
                    "b",
                    DataType::row(RowType::of([("y", DataType::int())])),
                )])),
            ),
        ])
    };
    for name in ["a-b", "1a", "", "é"] {
        let error = avro_schema(&row([name, "a"])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{name}");
    }
    let schema = avro_schema(&row(["a_b", "a"])).unwrap();
    assert!(
        schema.contains(r#""name":"record_a_b""#) && schema.contains(r#""name":"record_a_b_1""#)
    );
}

/// All that a footer stores of a node.
fn described(node: &TypePtr) -> Vec<String> {
    fn walk(node: &Type, depth: usize, out: &mut Vec<String>) {
        let info = node.get_basic_info();
        let repetition = info.has_repetition().then(|| info.repetition());
        let id = info.has_id().then(|| info.id());
        let mut line = format!(
            "{depth} {} {repetition:?} {:?} {:?} {id:?}",
            node.name(),
            info.logical_type_ref(),
            info.converted_type()
        );
        if let Type::PrimitiveType {
            physical_type,
            type_length,
            scale,
            precision,
            ..
        } = node
        {
            line.push_str(&format!(
                " {physical_type} {} {scale} {precision}",
                (*type_length).max(0)
            ));
        }
        out.push(line);
        if node.is_group() {
            for child in node.get_fields() {
                walk(child, depth + 1, out);
            }
        }
    }
    let mut out = Vec::new();
    walk(node, 0, &mut out);
    out
}
