//! Reads the vectors of the repository's tests, and random values in the same notation.
//!
//! Notation: BIGINT as text; FLOAT and DOUBLE `{bits, text}`; bytes `{hex}`; DECIMAL as text; DATE and TIME as numbers;
//! TIMESTAMP `{ms, nanoOfMs}`; MAP and MULTISET as pairs; ROW as a list; VARIANT `{value_hex, metadata_hex}`.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, ListArray, MapArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType as ArrowType, Fields};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::arrow_types::to_arrow_type;
use crate::text::parse_datum;
use crate::{DataType, Datum, RowType, TimestampValue, TypeKind, datums_to_array};

/// The vector file with this name.
pub(crate) fn vector(name: &str) -> Value {
    let path = format!(
        "{}/../../tests/fixtures/vectors/{name}",
        env!("CARGO_MANIFEST_DIR")
    );
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_slice(&bytes).unwrap()
}

pub(crate) fn types_of(json: &Value) -> Vec<DataType> {
    json.as_array()
        .unwrap()
        .iter()
        .map(|json| DataType::from_json(json).unwrap())
        .collect()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn unhex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

/// A value of an atomic type.
pub(crate) fn datum_of(value: &Value, data_type: &DataType) -> Datum {
    if value.is_null() {
        return Datum::Null;
    }
    let bits = || value["bits"].as_str().unwrap();
    match &data_type.kind {
        TypeKind::Float => Datum::Float(f32::from_bits(u32::from_str_radix(bits(), 16).unwrap())),
        TypeKind::Double => Datum::Double(f64::from_bits(u64::from_str_radix(bits(), 16).unwrap())),
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => {
            Datum::Bytes(unhex(value["hex"].as_str().unwrap()))
        }
        TypeKind::Date => Datum::Date(value.as_i64().unwrap().try_into().unwrap()),
        TypeKind::Time(_) => Datum::Time(value.as_i64().unwrap().try_into().unwrap()),
        TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_) => Datum::Timestamp(TimestampValue {
            millis: value["ms"].as_str().unwrap().parse().unwrap(),
            nano_of_milli: value["nanoOfMs"].as_i64().unwrap().try_into().unwrap(),
        }),
        TypeKind::Char(_) | TypeKind::VarChar(_) => {
            Datum::String(value.as_str().unwrap().to_owned())
        }
        _ => {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            parse_datum(&text, data_type).unwrap()
        }
    }
}

/// An array of the canonical type.
pub(crate) fn array_of(values: &[Value], data_type: &DataType) -> ArrayRef {
    let nulls = || {
        let nulls: NullBuffer = values.iter().map(|value| !value.is_null()).collect();
        (nulls.null_count() > 0).then_some(nulls)
    };
    let lists = || {
        values
            .iter()
            .map(|value| value.as_array().cloned().unwrap_or_default())
    };
    let offsets = || OffsetBuffer::from_lengths(lists().map(|list| list.len()));
    let part = |index: usize| {
        lists()
            .flatten()
            .map(|pair| pair[index].clone())
            .collect::<Vec<_>>()
    };
    let structure = |fields: Fields, columns, nulls, len| {
        StructArray::try_new_with_length(fields, columns, nulls, len).unwrap()
    };
    match (&data_type.kind, to_arrow_type(data_type)) {
        (TypeKind::Array(element), ArrowType::List(field)) => {
            let elements = array_of(&lists().flatten().collect::<Vec<_>>(), element);
            Arc::new(ListArray::try_new(field, offsets(), elements, nulls()).unwrap())
        }
        (TypeKind::Map(..) | TypeKind::Multiset(_), ArrowType::Map(field, sorted)) => {
            let counts = DataType::int().not_null();
            let (key, value) = match &data_type.kind {
                TypeKind::Map(key, value) => (key, &**value),
                TypeKind::Multiset(element) => (element, &counts),
                _ => unreachable!(),
            };
            let ArrowType::Struct(fields) = field.data_type().clone() else {
                unreachable!()
            };
            let columns = vec![array_of(&part(0), key), array_of(&part(1), value)];
            let entries = structure(fields, columns, None, part(0).len());
            Arc::new(MapArray::try_new(field, offsets(), entries, nulls(), sorted).unwrap())
        }
        (TypeKind::Row(row), ArrowType::Struct(fields)) => {
            let member = |index: usize| {
                values
                    .iter()
                    .map(move |value| value.get(index).cloned().unwrap_or_default())
            };
            let columns = row.fields.iter().enumerate();
            let columns = columns.map(|(index, field)| {
                array_of(&member(index).collect::<Vec<_>>(), &field.data_type)
            });
            Arc::new(structure(fields, columns.collect(), nulls(), values.len()))
        }
        (TypeKind::Variant, ArrowType::Struct(fields)) => {
            let part = |name: &str| -> ArrayRef {
                let bytes = values
                    .iter()
                    .map(|value| unhex(value[name].as_str().unwrap_or_default()));
                Arc::new(bytes.map(Some).collect::<BinaryArray>())
            };
            Arc::new(structure(
                fields,
                vec![part("value_hex"), part("metadata_hex")],
                nulls(),
                values.len(),
            ))
        }
        _ => datums_to_array(
            data_type,
            &values
                .iter()
                .map(|value| datum_of(value, data_type))
                .collect::<Vec<_>>(),
        )
        .unwrap(),
    }
}

/// Any nullable type whose values have a BinaryRow slot word.
pub(crate) fn fixed_types() -> impl Strategy<Value = DataType> {
    prop_oneof![
        Just(DataType::boolean()),
        Just(DataType::tiny_int()),
        Just(DataType::small_int()),
        Just(DataType::int()),
        Just(DataType::big_int()),
        Just(DataType::float()),
        Just(DataType::double()),
        Just(DataType::date()),
        Just(DataType::time(3)),
        (0_u8..=18).prop_map(|scale| DataType::decimal(18, scale)),
        (0_u8..=3).prop_map(DataType::timestamp),
        (0_u8..=3).prop_map(DataType::timestamp_ltz),
    ]
}

/// Any nullable atomic type.
pub(crate) fn atomic_types() -> impl Strategy<Value = DataType> {
    prop_oneof![
        fixed_types(),
        Just(DataType::string()),
        Just(DataType::bytes()),
        (0_u8..=38).prop_map(|scale| DataType::decimal(38, scale)),
        (4_u8..=9).prop_map(DataType::timestamp),
        (4_u8..=9).prop_map(DataType::timestamp_ltz),
    ]
}

/// Any nullable type, nested up to three levels.
pub(crate) fn any_types() -> impl Strategy<Value = DataType> {
    let leaves = prop_oneof![9 => atomic_types(), 1 => Just(DataType::new(TypeKind::Variant))];
    leaves.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(DataType::array),
            (atomic_types(), inner.clone())
                .prop_map(|(key, value)| DataType::map(key.not_null(), value)),
            atomic_types().prop_map(|element| DataType::multiset(element.not_null())),
            prop::collection::vec(inner, 0..3).prop_map(|types| DataType::row(RowType::of(
                types
                    .into_iter()
                    .zip(0..)
                    .map(|(t, i)| (format!("f{i}"), t))
            ))),
        ]
    })
}

/// A value of the type; null now and then where it may be.
pub(crate) fn values_of(data_type: &DataType) -> BoxedStrategy<Value> {
    let hex_text = |range: std::ops::Range<usize>| {
        prop::collection::vec(any::<u8>(), range).prop_map(|bytes| hex(&bytes))
    };
    let timestamp =
        |ms: i64, nano_of_milli: i32| json!({"ms": ms.to_string(), "nanoOfMs": nano_of_milli});
    let value = match &data_type.kind {
        TypeKind::Boolean => any::<bool>().prop_map(|v| json!(v)).boxed(),
        TypeKind::TinyInt => any::<i8>().prop_map(|v| json!(v)).boxed(),
        TypeKind::SmallInt => any::<i16>().prop_map(|v| json!(v)).boxed(),
        TypeKind::Int | TypeKind::Date => any::<i32>().prop_map(|v| json!(v)).boxed(),
        TypeKind::Time(_) => (0..86_400_000).prop_map(|v| json!(v)).boxed(),
        TypeKind::BigInt => any::<i64>().prop_map(|v| json!(v.to_string())).boxed(),
        TypeKind::Float => any::<u32>()
            .prop_map(|v| json!({"bits": format!("{v:08x}")}))
            .boxed(),
        TypeKind::Double => any::<u64>()
            .prop_map(|v| json!({"bits": format!("{v:016x}")}))
            .boxed(),
        TypeKind::Char(_) | TypeKind::VarChar(_) => ".{0,12}".prop_map(|v| json!(v)).boxed(),
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => {
            hex_text(0..12).prop_map(|v| json!({"hex": v})).boxed()
        }
        TypeKind::Decimal { precision, scale } => {
            let scale = *scale;
            let limit = 10_i128.pow(u32::from(*precision));
            // Small numbers too, so that all lengths of the minimal form occur.
            (1 - limit..limit, 0_u32..127)
                .prop_map(move |(v, shift)| json!(crate::text::format_decimal(v >> shift, scale)))
                .boxed()
        }
        TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p) => match p {
            0..=3 => any::<i64>().prop_map(move |v| timestamp(v, 0)).boxed(),
            4..=6 => (any::<i32>(), 0..1000)
                .prop_map(move |(v, n)| timestamp(v.into(), n * 1000))
                .boxed(),
            _ => (any::<i32>(), 0..1_000_000)
                .prop_map(move |(v, n)| timestamp(v.into(), n))
                .boxed(),
        },
        TypeKind::Variant => (hex_text(0..9), hex_text(0..9))
            .prop_map(|(v, m)| json!({"value_hex": v, "metadata_hex": m}))
            .boxed(),
        TypeKind::Array(element) => prop::collection::vec(values_of(element), 0..4)
            .prop_map(Value::Array)
            .boxed(),
        TypeKind::Map(key, value) => {
            let pair = (values_of(key), values_of(value)).prop_map(|(k, v)| json!([k, v]));
            prop::collection::vec(pair, 0..3)
                .prop_map(Value::Array)
                .boxed()
        }
        TypeKind::Multiset(element) => {
            let pair = (values_of(element), 1..9).prop_map(|(k, v)| json!([k, v]));
            prop::collection::vec(pair, 0..3)
                .prop_map(Value::Array)
                .boxed()
        }
        TypeKind::Row(row) => {
            let members: Vec<_> = row
                .fields
                .iter()
                .map(|field| values_of(&field.data_type))
                .collect();
            members.prop_map(Value::Array).boxed()
        }
    };
    if data_type.nullable {
        prop_oneof![4 => value, 1 => Just(Value::Null)].boxed()
    } else {
        value
    }
}

/// Types and, per type, a column of `rows` values.
pub(crate) fn columns_of(
    data_type: impl Strategy<Value = DataType>,
    columns: std::ops::Range<usize>,
    rows: std::ops::Range<usize>,
) -> impl Strategy<Value = (Vec<DataType>, Vec<ArrayRef>)> {
    (prop::collection::vec(data_type, columns), rows).prop_flat_map(|(types, rows)| {
        let values: Vec<_> = types
            .iter()
            .map(|t| prop::collection::vec(values_of(t), rows))
            .collect();
        (Just(types), values).prop_map(|(types, values)| {
            let arrays = types
                .iter()
                .zip(&values)
                .map(|(data_type, values)| array_of(values, data_type))
                .collect();
            (types, arrays)
        })
    })
}
