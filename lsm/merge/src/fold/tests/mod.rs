//! Folds against the model, against Java's scenarios, and by hand at the edges.

mod bucket;
mod edges;
mod properties;
mod scenarios;
mod unions;

use serde_json::{Value, json};
use tidewater_format::{SchemaDefinition, TableSchema};
use tidewater_types::{DataType, Datum, RowKind, TimestampValue, TypeKind, text};

use super::*;
use crate::model::ModelValue;

/// A table with these columns (name, type as in schema files), key and options.
fn table(fields: &[(&str, Value)], key: &[&str], options: &[(&str, &str)]) -> TableSchema {
    create(fields, key, options).unwrap()
}

fn create(
    fields: &[(&str, Value)],
    key: &[&str],
    options: &[(&str, &str)],
) -> tidewater_format::Result<TableSchema> {
    let fields: Vec<Value> = fields
        .iter()
        .map(|(name, data_type)| json!({"name": name, "type": data_type}))
        .collect();
    let mut all = serde_json::Map::new();
    all.insert("bucket".to_owned(), json!("1"));
    for (key, value) in options {
        all.insert((*key).to_owned(), json!(value));
    }
    let definition = json!({"fields": fields, "primaryKeys": key, "options": all});
    TableSchema::create(
        SchemaDefinition::from_json(definition.to_string().as_bytes()).unwrap(),
        0,
    )
}

/// A value as the scenario file writes it.
fn value(json: &Value, data_type: &DataType) -> ModelValue {
    if json.is_null() {
        return ModelValue::Null;
    }
    let all = |values: &Value, data_type: &DataType| -> Vec<ModelValue> {
        let values = values.as_array().unwrap().iter();
        values.map(|json| value(json, data_type)).collect()
    };
    let number = || json.as_i64().unwrap();
    let small = || i32::try_from(number()).unwrap();
    ModelValue::Atom(match &data_type.kind {
        TypeKind::Array(element) => return ModelValue::List(all(json, element)),
        TypeKind::Map(key, item) => {
            let entries = json.as_array().unwrap().iter();
            return ModelValue::Map(
                entries
                    .map(|entry| (value(&entry[0], key), value(&entry[1], item)))
                    .collect(),
            );
        }
        TypeKind::Row(row) => {
            let values = json.as_array().unwrap().iter().zip(&row.fields);
            return ModelValue::Row(
                values
                    .map(|(json, field)| value(json, &field.data_type))
                    .collect(),
            );
        }
        TypeKind::Boolean => Datum::Boolean(json.as_bool().unwrap()),
        TypeKind::TinyInt => Datum::TinyInt(i8::try_from(number()).unwrap()),
        TypeKind::SmallInt => Datum::SmallInt(i16::try_from(number()).unwrap()),
        TypeKind::Int => Datum::Int(small()),
        TypeKind::BigInt => Datum::BigInt(number()),
        TypeKind::Double => Datum::Double(json.as_f64().unwrap()),
        TypeKind::Date => Datum::Date(small()),
        TypeKind::Timestamp(_) => Datum::Timestamp(TimestampValue::from_micros(number())),
        TypeKind::VarBinary(_) => Datum::Bytes(from_hex(json.as_str().unwrap())),
        TypeKind::Decimal { precision, scale } => {
            decimal(json.as_str().unwrap(), *precision, *scale)
        }
        _ => text::parse_datum(json.as_str().unwrap(), data_type).unwrap(),
    })
}

/// Digits beyond the precision are taken as they are: Java 1.3 stores such sums.
fn decimal(text: &str, precision: u8, scale: u8) -> Datum {
    let digits: String = text.chars().filter(|c| *c != '.').collect();
    let fraction = text
        .split_once('.')
        .map_or(0, |(_, fraction)| fraction.len());
    assert_eq!(fraction, usize::from(scale), "{text}");
    Datum::Decimal {
        unscaled: digits.parse().unwrap(),
        precision,
        scale,
    }
}

fn from_hex(text: &str) -> Vec<u8> {
    let digit = |byte: u8| u8::try_from((byte as char).to_digit(16).unwrap()).unwrap();
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}

/// A column of a table out of rows.
fn column(schema: &TableSchema, at: usize, rows: &[Vec<ModelValue>]) -> ArrayRef {
    let values: Vec<ModelValue> = rows.iter().map(|row| row[at].clone()).collect();
    ModelValue::to_array(&schema.fields[at].data_type, &values).unwrap()
}

/// All columns of a table out of rows.
fn columns(schema: &TableSchema, rows: &[Vec<ModelValue>]) -> Vec<ArrayRef> {
    (0..schema.fields.len())
        .map(|at| column(schema, at, rows))
        .collect()
}

/// Rows out of columns.
fn rows(schema: &TableSchema, columns: &[ArrayRef]) -> Vec<Vec<ModelValue>> {
    let count = columns.first().map_or(0, |column| column.len());
    let row = |row: usize| {
        let values = columns.iter().zip(&schema.fields);
        values
            .map(|(column, field)| ModelValue::from_array(column, row, &field.data_type).unwrap())
            .collect()
    };
    (0..count).map(row).collect()
}

/// Folds versions of one key, given as JSON rows behind their kinds.
fn fold_key(schema: &TableSchema, versions: &[(RowKind, Value)]) -> Result<(Vec<ModelValue>, u64)> {
    let values: Vec<Vec<ModelValue>> = versions
        .iter()
        .map(|(_, row)| model_row(schema, row))
        .collect();
    let kinds = Int8Array::from_iter_values(versions.iter().map(|(kind, _)| kind.as_i8()));
    let ends = BooleanBuffer::from_iter((1..=versions.len()).map(|at| at == versions.len()));
    let folded = FoldEngine::new(schema)?.fold(GroupedRows {
        group_ends: &ends,
        kinds: Some(&kinds),
        columns: &columns(schema, &values),
        always_call: false,
    })?;
    Ok((rows(schema, &folded.columns).remove(0), folded.wraps))
}

fn model_row(schema: &TableSchema, row: &Value) -> Vec<ModelValue> {
    let values = row.as_array().unwrap().iter().zip(&schema.fields);
    values
        .map(|(json, field)| value(json, &field.data_type))
        .collect()
}

/// A table `k, v` where `v` has this type and function.
fn aggregation(data_type: Value, function: &str, more: &[(&str, &str)]) -> TableSchema {
    let mut options = vec![
        ("merge-engine", "aggregation"),
        ("fields.v.aggregate-function", function),
    ];
    options.extend(more);
    table(
        &[("k", json!("INT NOT NULL")), ("v", data_type)],
        &["k"],
        &options,
    )
}

fn folded_value(schema: &TableSchema, versions: &[(RowKind, Value)]) -> ModelValue {
    let versions: Vec<(RowKind, Value)> = versions
        .iter()
        .map(|(kind, value)| (*kind, json!([1, value])))
        .collect();
    fold_key(schema, &versions).unwrap().0.remove(1)
}

fn expected(schema: &TableSchema, json: Value) -> ModelValue {
    value(&json, &schema.fields[1].data_type)
}
