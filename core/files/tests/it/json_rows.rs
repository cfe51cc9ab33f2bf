//! Rows between Arrow and the JSON of the command-line contract.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, MapArray, RecordBatch, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::DataType as ArrowType;
use serde_json::{Map, Value, json};
use tidewater_types::arrow_types::to_arrow_type;
use tidewater_types::text::{iso_date, iso_time, iso_timestamp, parse_datum};
use tidewater_types::{DataField, DataType, Datum, TypeKind, datums_to_array};

/// Each row as `{"row": {…}}`.
pub(crate) fn rows(batch: &RecordBatch, fields: &[DataField]) -> Vec<Value> {
    let row = |index: usize| {
        let members = fields.iter().zip(batch.columns());
        let members: Map<String, Value> = members
            .map(|(field, column)| (field.name.clone(), cell(column, index, &field.data_type)))
            .collect();
        json!({ "row": members })
    };
    (0..batch.num_rows()).map(row).collect()
}

/// One value.
pub(crate) fn cell(array: &ArrayRef, row: usize, data_type: &DataType) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    let list = |array: &ArrayRef, data_type: &DataType| -> Vec<Value> {
        (0..array.len())
            .map(|row| cell(array, row, data_type))
            .collect()
    };
    let pairs = |key: &DataType, value: &DataType| {
        let entries = array.as_map().value(row);
        let (keys, values) = (list(entries.column(0), key), list(entries.column(1), value));
        let mut pairs: Vec<_> = keys
            .into_iter()
            .zip(values)
            .map(|(key, value)| json!([key, value]))
            .collect();
        pairs.sort_by_key(|pair| pair[0].to_string());
        Value::Array(pairs)
    };
    match &data_type.kind {
        TypeKind::Array(element) => Value::Array(list(&array.as_list::<i32>().value(row), element)),
        TypeKind::Map(key, value) => pairs(key, value),
        TypeKind::Multiset(element) => pairs(element, &DataType::int()),
        TypeKind::Row(fields) => {
            let members = fields.fields.iter().zip(array.as_struct().columns());
            let members = members
                .map(|(field, column)| (field.name.clone(), cell(column, row, &field.data_type)));
            Value::Object(members.collect())
        }
        TypeKind::Variant => {
            let part = |index| {
                array
                    .as_struct()
                    .column(index)
                    .as_binary::<i32>()
                    .value(row)
                    .to_vec()
            };
            Value::String(tidewater_types::variant::variant_to_json(&part(0), &part(1)).unwrap())
        }
        _ => atomic(
            &Datum::from_array(array.as_ref(), row, data_type).unwrap(),
            data_type,
        ),
    }
}

fn atomic(datum: &Datum, data_type: &DataType) -> Value {
    let float = |value: f64| match value {
        value if value.is_nan() => json!("NaN"),
        value if value.is_infinite() => json!(if value > 0.0 { "Infinity" } else { "-Infinity" }),
        value => json!(value),
    };
    match (datum, &data_type.kind) {
        (Datum::Boolean(value), _) => json!(value),
        (Datum::TinyInt(value), _) => json!(value),
        (Datum::SmallInt(value), _) => json!(value),
        (Datum::Int(value), _) => json!(value),
        (Datum::BigInt(value), _) => json!(value),
        (Datum::Float(value), _) => float((*value).into()),
        (Datum::Double(value), _) => float(*value),
        (Datum::String(value), _) => json!(value),
        (Datum::Bytes(value), _) => json!(base64(value)),
        (Datum::Date(value), _) => json!(iso_date(*value)),
        (Datum::Time(value), _) => json!(iso_time(*value)),
        (Datum::Timestamp(value), TypeKind::TimestampLtz(precision)) => {
            json!(iso_timestamp(*value, *precision, true))
        }
        (Datum::Timestamp(value), TypeKind::Timestamp(precision)) => {
            json!(iso_timestamp(*value, *precision, false))
        }
        (Datum::Decimal { .. }, _) => json!(tidewater_types::text::format_datum(datum, data_type)),
        other => panic!("no JSON for {other:?}"),
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk
            .iter()
            .fold(0_u32, |word, &byte| (word << 8) | u32::from(byte))
            << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            let index = (word >> (18 - 6 * digit)) & 63;
            let pad = digit > chunk.len();
            text.push(if pad {
                '='
            } else {
                char::from(DIGITS[index as usize])
            });
        }
    }
    text
}

/// Values of the evolution vectors: rows are arrays of values in column order, text where JSON has no number.
pub(crate) fn array_of(values: &[Value], data_type: &DataType) -> ArrayRef {
    let arrow = to_arrow_type(data_type);
    let valid: NullBuffer = values
        .iter()
        .map(|value| !value.is_null())
        .collect::<Vec<_>>()
        .into();
    let empty = Vec::new();
    let items = |value: &Value| value.as_array().unwrap_or(&empty).clone();
    match &data_type.kind {
        TypeKind::Array(element) => {
            let lists: Vec<Vec<Value>> = values.iter().map(items).collect();
            let ArrowType::List(field) = arrow else {
                unreachable!()
            };
            let offsets = OffsetBuffer::from_lengths(lists.iter().map(Vec::len));
            let values = array_of(&lists.concat(), element);
            Arc::new(ListArray::new(field, offsets, values, Some(valid)))
        }
        TypeKind::Map(key, value) => {
            // Either pairs or an object.
            let maps: Vec<Vec<(Value, Value)>> = values
                .iter()
                .map(|map| match map {
                    Value::Object(members) => members
                        .iter()
                        .map(|(key, value)| (json!(key), value.clone()))
                        .collect(),
                    other => items(other)
                        .iter()
                        .map(|pair| (pair[0].clone(), pair[1].clone()))
                        .collect(),
                })
                .collect();
            let offsets = OffsetBuffer::from_lengths(maps.iter().map(Vec::len));
            let (keys, maps): (Vec<Value>, Vec<Value>) = maps.concat().into_iter().unzip();
            let columns = vec![array_of(&keys, key), array_of(&maps, value)];
            let ArrowType::Map(entries, _) = arrow else {
                unreachable!()
            };
            let ArrowType::Struct(fields) = entries.data_type() else {
                unreachable!()
            };
            let structs = StructArray::new(fields.clone(), columns, None);
            Arc::new(MapArray::new(entries, offsets, structs, Some(valid), false))
        }
        TypeKind::Row(row) => {
            let ArrowType::Struct(fields) = arrow else {
                unreachable!()
            };
            let columns = row.fields.iter().enumerate().map(|(index, field)| {
                let members: Vec<Value> = values
                    .iter()
                    .map(|value| value.get(index).cloned().unwrap_or_default())
                    .collect();
                array_of(&members, &field.data_type)
            });
            Arc::new(StructArray::new(fields, columns.collect(), Some(valid)))
        }
        _ => {
            let datums: Vec<Datum> = values.iter().map(|value| datum(value, data_type)).collect();
            datums_to_array(data_type, &datums).unwrap()
        }
    }
}

fn datum(value: &Value, data_type: &DataType) -> Datum {
    match value {
        Value::Null => Datum::Null,
        Value::String(text) => parse_datum(text, data_type).unwrap(),
        other => parse_datum(&other.to_string(), data_type).unwrap(),
    }
}
