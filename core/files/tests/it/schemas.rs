//! The physical schema is the one Java writes.

use std::sync::Arc;

use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{Type, TypePtr};
use serde_json::Value;
use tidewater_files::parquet_schema;
use tidewater_types::{DataField, DataType, RowType};

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
