//! Types against the vectors of Java 1.3.1.

use serde_json::Value;

use super::*;
use crate::test_vectors::vector;

#[test]
fn every_type_of_java_reads_and_writes_the_same_json_and_sql() {
    let cases = vector("data_types.json");
    for case in cases["round_trip"].as_array().unwrap() {
        let data_type = DataType::from_json(&case["json"]).unwrap();
        assert_eq!(data_type.to_json().to_string(), case["json"].to_string());
        assert_eq!(data_type.to_string(), case["sql"].as_str().unwrap());
        assert_eq!(data_type.nullable, case["nullable"].as_bool().unwrap());
    }
}

fn check(input: &Value, case: &Value) {
    let parsed = DataType::from_json(input);
    match (case["ok"].as_bool().unwrap(), parsed) {
        (true, Ok(data_type)) => assert_eq!(data_type.to_json(), case["parsed_json"], "{input}"),
        (false, Err(_)) => {}
        (expected, found) => panic!("{input}: expected ok = {expected}, found {found:?}"),
    }
}

#[test]
fn text_and_objects_are_read_as_java_reads_them() {
    let cases = vector("data_types.json");
    for list in ["atomic_parse", "object_parse"] {
        for case in cases[list].as_array().unwrap() {
            check(&case["input"], case);
        }
    }
}

#[test]
fn types_of_newer_versions_are_named_as_unsupported() {
    for text in ["BLOB", "GEOMETRY(OGC:CRS84)", "VECTOR<FLOAT, 3>"] {
        let error = DataType::parse_atomic(text).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Unsupported, "{text}");
    }
    let vector: Value = serde_json::json!({"type": "VECTOR", "element": "FLOAT", "length": 3});
    assert_eq!(
        DataType::from_json(&vector).unwrap_err().kind(),
        crate::ErrorKind::Unsupported
    );
}

#[test]
fn fields_with_and_without_ids_do_not_mix() {
    let mixed =
        serde_json::json!([{"id": 0, "name": "a", "type": "INT"}, {"name": "b", "type": "INT"}]);
    assert!(RowType::from_fields_json(&mixed).is_err());
    let nested = serde_json::json!([
        {"name": "a", "type": {"type": "ROW", "fields": [{"name": "x", "type": "INT"}]}},
        {"name": "b", "type": "INT"}
    ]);
    let row = RowType::from_fields_json(&nested).unwrap();
    assert_eq!(
        row.fields.iter().map(|field| field.id).collect::<Vec<_>>(),
        [0, 2]
    );
    assert_eq!(row.highest_field_id(), 2);
}

#[test]
fn parameters_out_of_range_are_refused_at_any_depth() {
    assert!(DataType::decimal(39, 0).validate().is_err());
    assert!(DataType::array(DataType::decimal(4, 5)).validate().is_err());
    assert!(DataType::new(TypeKind::Char(0)).validate().is_err());
    assert!(
        DataType::map(DataType::int(), DataType::timestamp(10))
            .validate()
            .is_err()
    );
    assert!(DataType::parse_atomic("VARCHAR(2147483648)").is_err());
}
