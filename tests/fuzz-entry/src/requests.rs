//! Texts that users give: definitions, changes, options, types, conditions, values, paths, positions.

use std::collections::BTreeMap;

use tidewater_format::{SchemaChange, SchemaDefinition, TableOptions, TableSchema};
use tidewater_table::StreamPosition;
use tidewater_types::partition::{escape_path_name, split_partition_path, unescape_path_name};
use tidewater_types::text::{format_datum, parse_datum};
use tidewater_types::{DataField, DataType, Predicate, RowType, TypeKind};

/// Columns of every type, named by their place.
pub(crate) fn all_types() -> RowType {
    let kinds = [
        DataType::int().not_null(),
        DataType::string(),
        DataType::boolean(),
        DataType::tiny_int(),
        DataType::small_int(),
        DataType::big_int(),
        DataType::float(),
        DataType::double(),
        DataType::decimal(10, 2),
        DataType::decimal(38, 18),
        DataType::date(),
        DataType::time(3),
        DataType::timestamp(3),
        DataType::timestamp(9),
        DataType::timestamp_ltz(6),
        DataType::bytes(),
        DataType::new(TypeKind::Char(3)),
        DataType::new(TypeKind::Binary(4)),
        DataType::array(DataType::string()),
        DataType::map(DataType::string().not_null(), DataType::int()),
        DataType::row(RowType::of([
            ("a", DataType::int()),
            ("b", DataType::string()),
        ])),
        DataType::new(TypeKind::Variant),
        DataType::multiset(DataType::string().not_null()),
    ];
    RowType::of(
        kinds
            .into_iter()
            .enumerate()
            .map(|(at, data_type)| (format!("c{at}"), data_type)),
    )
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// A definition, then changes of the table that it makes.
pub(crate) fn schema(bytes: &[u8]) {
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let definition = SchemaDefinition::from_json(parts.next().unwrap_or_default());
    let changes = SchemaChange::list_from_json(parts.next().unwrap_or(bytes));
    let table = definition.and_then(|definition| TableSchema::create(definition, 0));
    let Ok(table) = table else {
        return;
    };
    let again = TableSchema::from_json(&table.to_json()).expect("its own json");
    assert_eq!(again.to_json(), table.to_json());
    if let Ok(changes) = changes {
        for has_snapshots in [false, true] {
            if let Ok(next) = table.apply(&changes, has_snapshots, 1) {
                assert!(next.highest_field_id >= table.highest_field_id);
                TableSchema::from_json(&next.to_json()).expect("its own json");
            }
        }
    }
}

/// Lines of `key=value`.
pub(crate) fn options(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let map: BTreeMap<String, String> = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    if let Ok(options) = TableOptions::from_map(&map) {
        let _ = options.level_count();
        let _ = options.stop_trigger();
        let _ = options.commit_retry_wait(7);
        let _ = options.startup_mode();
    }
}

/// A type as text, or as JSON.
pub(crate) fn data_type(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    if let Ok(data_type) = DataType::parse_atomic(text) {
        let again = DataType::parse_atomic(&data_type.to_string()).expect("its own text");
        assert_eq!(again, data_type);
    }
    let Ok(json) = serde_json::from_str(text) else {
        return;
    };
    if let Ok(data_type) = DataType::from_json(&json) {
        let again = DataType::from_json(&data_type.to_json()).expect("its own json");
        assert_eq!(again, data_type);
        let _ = data_type.validate();
    }
    if let Ok(field) = DataField::from_json(&json) {
        let again = DataField::from_json(&field.to_json()).expect("its own json");
        assert_eq!(again, field);
    }
}

pub(crate) fn predicate_json(bytes: &[u8]) {
    let row = all_types();
    if let Ok(json) = serde_json::from_slice(bytes)
        && let Ok(predicate) = Predicate::from_json(&json, &row)
    {
        check_predicate(&predicate, &row);
    }
}

pub(crate) fn predicate_text(bytes: &[u8]) {
    let row = all_types();
    if let Some(text) = text(bytes)
        && let Ok(predicate) = Predicate::parse_text(text, &row)
    {
        check_predicate(&predicate, &row);
    }
}

fn check_predicate(predicate: &Predicate, row: &RowType) {
    let schema = tidewater_types::arrow_types::to_arrow_schema(row);
    let nothing = arrow_array::RecordBatch::new_empty(schema);
    predicate
        .eval(&nothing)
        .expect("a bound condition can be asked");
    let _ = predicate.negate().eval(&nothing);
    let _ = predicate.to_string();
    assert_eq!(&predicate.rebind(row).expect("the same columns"), predicate);
    let _ = predicate.project_to(|name| name.len() < 3);
    let _ = predicate.equality_values(&["c0", "c1"]);
}

/// A value of each type, as text, and back.
pub(crate) fn values(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    for field in all_types().fields {
        if let Ok(value) = parse_datum(text, &field.data_type) {
            let shown = format_datum(&value, &field.data_type);
            let again = parse_datum(&shown, &field.data_type);
            assert_eq!(
                again.expect("its own text"),
                value,
                "{} as {}",
                shown,
                field.data_type
            );
        }
    }
}

pub(crate) fn partition_path(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    assert_eq!(unescape_path_name(&escape_path_name(text)), text);
    let _ = unescape_path_name(text);
    let _ = split_partition_path(text);
    let _ = tidewater_format::versioned_file_number(text, "snapshot-");
    let _ = tidewater_format::data_file_format(text);
}

pub(crate) fn stream_position(bytes: &[u8]) {
    if let Some(text) = text(bytes)
        && let Ok(position) = StreamPosition::from_json(text)
    {
        let again = StreamPosition::from_json(&position.to_json()).expect("its own text");
        assert_eq!(again, position);
    }
}
