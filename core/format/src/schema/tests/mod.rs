//! Schemas against what Java reads, writes and refuses.

mod folding;
mod java_cases;
mod properties;
mod rules;
mod vectors;

use std::collections::BTreeMap;

use super::*;

/// A definition from its JSON, or a panic.
fn definition(json: &str) -> SchemaDefinition {
    SchemaDefinition::from_json(json.as_bytes()).unwrap()
}

/// A keyed table with two columns and these options.
fn keyed(options: &[(&str, &str)]) -> Result<TableSchema> {
    let mut keyed = definition(
        r#"{"fields":[{"name":"pt","type":"STRING"},{"name":"k","type":"INT"},{"name":"v","type":"STRING"},{"name":"n","type":"BIGINT"}],"primaryKeys":["k"],"options":{"bucket":"2"}}"#,
    );
    keyed.options.extend(text_map(options));
    TableSchema::create(keyed, 7)
}

/// An append table with the same columns and these options.
fn append(options: &[(&str, &str)]) -> Result<TableSchema> {
    let mut append = definition(
        r#"{"fields":[{"name":"pt","type":"STRING"},{"name":"k","type":"INT"},{"name":"v","type":"STRING"},{"name":"n","type":"BIGINT"}]}"#,
    );
    append.options.extend(text_map(options));
    TableSchema::create(append, 7)
}

fn text_map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

fn change(json: &str) -> SchemaChange {
    SchemaChange::from_json(json.as_bytes()).unwrap()
}
