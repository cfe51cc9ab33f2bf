//! The vectors of SimpleStats, and the collector against a model.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, Float32Array, Float64Array, Int32Array, ListArray, MapArray, StringArray,
    StructArray, new_empty_array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::DataType as ArrowType;
use proptest::prelude::*;
use serde_json::Value;
use tidewater_types::{
    DataField, DataType, Datum, MAX_LENGTH, TimestampValue, TypeKind, arrow_types::to_arrow_type,
    datums_to_array, text::parse_datum,
};

use super::*;
use crate::options::{OptionValue, StatsMode};
use crate::test_vectors::{hex, vector};

fn mode(value: &Value) -> StatsMode {
    StatsMode::parse(value.as_str().unwrap()).unwrap()
}

fn types(case: &Value) -> Vec<DataType> {
    case["types"]
        .as_array()
        .unwrap()
        .iter()
        .map(|json| DataType::from_json(json).unwrap())
        .collect()
}

/// The notation of the vectors' README.
fn datum(value: &Value, data_type: &DataType) -> Datum {
    if value.is_null() {
        return Datum::Null;
    }
    match &data_type.kind {
        TypeKind::Float => Datum::Float(f32::from_bits(
            u32::from_str_radix(value["bits"].as_str().unwrap(), 16).unwrap(),
        )),
        TypeKind::Double => Datum::Double(f64::from_bits(
            u64::from_str_radix(value["bits"].as_str().unwrap(), 16).unwrap(),
        )),
        TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_) => Datum::Timestamp(TimestampValue {
            millis: value["ms"].as_str().unwrap().parse().unwrap(),
            nano_of_milli: i32::try_from(value["nanoOfMs"].as_i64().unwrap()).unwrap(),
        }),
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => {
            Datum::Bytes(hex(value["hex"].as_str().unwrap()))
        }
        TypeKind::Char(_) | TypeKind::VarChar(_) => {
            Datum::String(value.as_str().unwrap().to_owned())
        }
        TypeKind::Boolean => Datum::Boolean(value.as_bool().unwrap()),
        TypeKind::Date => Datum::Date(i32::try_from(value.as_i64().unwrap()).unwrap()),
        TypeKind::Time(_) => Datum::Time(i32::try_from(value.as_i64().unwrap()).unwrap()),
        _ => {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            parse_datum(&text, data_type).unwrap()
        }
    }
}

/// Only nulls matter for nested types, so their values are empty.
fn nested(data_type: &DataType, values: &[&Value]) -> ArrayRef {
    let nulls = NullBuffer::from(
        values
            .iter()
            .map(|value| !value.is_null())
            .collect::<Vec<_>>(),
    );
    let offsets = OffsetBuffer::from_lengths(values.iter().map(|_| 0));
    match to_arrow_type(data_type) {
        ArrowType::List(field) => {
            let items = new_empty_array(field.data_type());
            Arc::new(ListArray::new(field, offsets, items, Some(nulls)))
        }
        ArrowType::Map(field, sorted) => {
            let entries = new_empty_array(field.data_type());
            let entries = entries
                .as_any()
                .downcast_ref::<StructArray>()
                .unwrap()
                .clone();
            Arc::new(MapArray::new(field, offsets, entries, Some(nulls), sorted))
        }
        ArrowType::Struct(fields) => {
            let children = fields
                .iter()
                .map(|field| arrow_array::new_null_array(field.data_type(), values.len()))
                .collect();
            Arc::new(StructArray::new(fields, children, Some(nulls)))
        }
        other => panic!("{other}"),
    }
}

fn column(data_type: &DataType, values: &[&Value]) -> ArrayRef {
    match data_type.kind {
        TypeKind::Array(_) | TypeKind::Map(..) | TypeKind::Row(_) | TypeKind::Multiset(_) => {
            nested(data_type, values)
        }
        _ => {
            let datums: Vec<Datum> = values.iter().map(|value| datum(value, data_type)).collect();
            datums_to_array(data_type, &datums).unwrap()
        }
    }
}

#[test]
fn simple_stats_vectors_are_reproduced_byte_for_byte() {
    let vectors = vector("simple_stats.json");
    let cases = vectors["cases"].as_array().unwrap();
    // 24 collections and the constant for no columns.
    assert_eq!(cases.len(), 25);
    let mut differing = vec![];
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let types = types(case);
        let modes: Vec<StatsMode> = case["modes"]
            .as_array()
            .map_or(vec![], |modes| modes.iter().map(mode).collect());
        let names: Vec<String> = (0..types.len()).map(|index| format!("f{index}")).collect();
        let rows: Vec<&Vec<Value>> = case["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row.as_array().unwrap())
            .collect();

        let mut collector = StatsCollector::new(&types, &modes);
        // Cut in two, so that batches have to be put together.
        for part in rows.chunks(rows.len().div_ceil(2).max(1)) {
            let columns: Vec<ArrayRef> = types
                .iter()
                .enumerate()
                .map(|(index, data_type)| {
                    column(
                        data_type,
                        &part.iter().map(|row| &row[index]).collect::<Vec<_>>(),
                    )
                })
                .collect();
            collector.update(&columns).unwrap();
        }
        assert_eq!(
            collector.row_count(),
            i64::try_from(rows.len()).unwrap(),
            "{name}"
        );
        let dense = case["dense_store"].as_bool().unwrap_or(true);
        let (stats, cols) = stats_from_columns(
            &collector.finish(),
            &types,
            dense.then_some(names.as_slice()),
        )
        .unwrap();

        let expected_cols: Option<Vec<&str>> = case["value_stats_cols"]
            .as_array()
            .map(|cols| cols.iter().map(|col| col.as_str().unwrap()).collect());
        assert_eq!(
            cols.as_deref()
                .map(|cols| cols.iter().map(String::as_str).collect()),
            expected_cols,
            "{name}"
        );
        let null_counts: Vec<Option<i64>> = case["null_counts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|count| count.as_str().map(|count| count.parse().unwrap()))
            .collect();
        assert_eq!(*stats.null_counts, null_counts, "{name}");
        assert_eq!(
            stats.min_values.to_serialized(),
            hex(case["min_values_hex"].as_str().unwrap()),
            "{name}"
        );
        if stats.max_values.to_serialized() != hex(case["max_values_hex"].as_str().unwrap()) {
            differing.push((name, stats.max_values.get(0, &types[0]).unwrap()));
        }
    }
    // The one place where Java's bound is wrong (spec 01c §5.3).
    assert_eq!(
        differing,
        vec![(
            "increment into surrogate range U+D7FF",
            Datum::String("\u{E000}".into())
        )]
    );
}

#[test]
fn footer_statistics_are_converted_as_the_vectors_say() {
    let vectors = vector("simple_stats.json");
    let cases = vectors["footer_convert_cases"].as_array().unwrap();
    assert_eq!(cases.len(), 15);
    let text = |value: &Value| {
        value
            .as_str()
            .map_or(Datum::Null, |text| Datum::String(text.to_owned()))
    };
    for case in cases {
        let exact = ColumnStats {
            min: text(&case["footer_min"]),
            max: text(&case["footer_max"]),
            null_count: case["null_count"].as_i64(),
        };
        let stored =
            mode(&case["mode"]).apply(exact, &DataType::new(TypeKind::VarChar(MAX_LENGTH)));
        let expected = ColumnStats {
            min: text(&case["out_min"]),
            max: text(&case["out_max"]),
            null_count: case["out_null_count"].as_i64(),
        };
        assert_eq!(stored, expected, "{case}");
        assert_eq!(
            stored.is_unknown(),
            case["is_none"].as_bool().unwrap(),
            "{case}"
        );
    }
}

#[test]
fn a_footer_that_knows_one_bound_only_gives_none() {
    let exact = ColumnStats {
        min: Datum::Int(1),
        max: Datum::Null,
        null_count: Some(2),
    };
    for mode in [StatsMode::Full, StatsMode::Truncate(16)] {
        let stored = mode.apply(exact.clone(), &DataType::new(TypeKind::Int));
        assert_eq!(
            stored,
            ColumnStats {
                min: Datum::Null,
                max: Datum::Null,
                null_count: Some(2)
            }
        );
    }
}

#[test]
fn floats_are_ordered_as_in_java_in_every_batch_cut() {
    let values = [
        f32::NAN,
        -0.0,
        0.0,
        f32::NEG_INFINITY,
        f32::from_bits(0xffc0_0001),
        f32::INFINITY,
        1.0,
        -1.0,
    ];
    for length in 1..=values.len() {
        let float = DataType::new(TypeKind::Float);
        let double = DataType::new(TypeKind::Double);
        let mut collector = StatsCollector::new(
            &[float.clone(), double],
            &[StatsMode::Full, StatsMode::Full],
        );
        let mut datums: Vec<Datum> = vec![];
        for part in values[..length].chunks(3) {
            let doubles: Vec<f64> = part.iter().map(|value| f64::from(*value)).collect();
            collector
                .update(&[
                    Arc::new(Float32Array::from(part.to_vec())),
                    Arc::new(Float64Array::from(doubles)),
                ])
                .unwrap();
            datums.extend(part.iter().map(|value| Datum::Float(*value)));
        }
        datums.sort_by(|a, b| a.compare(b).unwrap());
        let stats = collector.finish();
        assert_eq!(
            (&stats[0].min, &stats[0].max),
            (datums.first().unwrap(), datums.last().unwrap())
        );
        if let Datum::Float(max) = stats[0].max
            && max.is_nan()
        {
            assert_eq!(max.to_bits(), 0x7fc0_0000, "NaN is stored in one form");
        }
    }
}

#[test]
fn a_collector_refuses_columns_that_are_not_the_announced_ones() {
    let mut collector = StatsCollector::new(&[DataType::new(TypeKind::Int)], &[StatsMode::Full]);
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
    let number: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    assert!(collector.update(&[]).is_err());
    assert!(collector.update(&[text]).is_err());
    assert!(
        collector
            .update(&[Arc::new(arrow_array::Int64Array::from(vec![1])) as ArrayRef])
            .is_err()
    );
    collector.update(&[number]).unwrap();
    assert_eq!(collector.finish()[0].max, Datum::Int(1));
}

#[test]
fn bounds_exclude_what_cannot_be_there() {
    let types = [
        DataType::new(TypeKind::Int),
        DataType::new(TypeKind::VarChar(MAX_LENGTH)),
    ];
    let columns = [
        ColumnStats {
            min: Datum::Int(2),
            max: Datum::Int(5),
            null_count: Some(0),
        },
        ColumnStats {
            min: Datum::Null,
            max: Datum::Null,
            null_count: None,
        },
    ];
    let (stats, _) = stats_from_columns(&columns, &types, None).unwrap();
    let bounds = StatsBounds::of(&stats, &types).unwrap();
    assert_eq!(bounds.columns(), columns);
    let text = || Datum::String("x".into());
    assert!(bounds.may_contain(&[Datum::Int(2), text()]));
    assert!(bounds.may_contain(&[Datum::Int(5), Datum::Null]));
    assert!(!bounds.may_contain(&[Datum::Int(1), text()]));
    assert!(!bounds.may_contain(&[Datum::Int(6), text()]));
    assert!(!bounds.may_contain(&[Datum::Null, text()]));
    // Statistics of no columns exclude nothing.
    let none = StatsBounds::of(&SimpleStats::empty(), &types).unwrap();
    assert!(none.may_contain(&[Datum::Int(1), Datum::Null]));
}

#[test]
fn dense_statistics_name_the_columns_that_are_left() {
    let field = |id: i32, name: &str| {
        DataField::from_json(&serde_json::json!({"id": id, "name": name, "type": "INT"})).unwrap()
    };
    let names: Vec<String> = [field(0, "a"), field(1, "b")]
        .into_iter()
        .map(|field| field.name)
        .collect();
    let types = [DataType::new(TypeKind::Int), DataType::new(TypeKind::Int)];
    let known = ColumnStats {
        min: Datum::Int(1),
        max: Datum::Int(2),
        null_count: Some(0),
    };
    let (stats, cols) =
        stats_from_columns(&[ColumnStats::unknown(), known], &types, Some(&names)).unwrap();
    assert_eq!(cols.as_deref(), Some(["b".to_owned()].as_slice()));
    assert_eq!(stats.min_values.get(0, &types[1]).unwrap(), Datum::Int(1));
    assert_eq!(*stats.null_counts, [Some(0)]);
}

proptest! {
    /// Collecting in batches gives what sorting all values gives, and then one cut.
    #[test]
    fn collecting_equals_sorting(
        values in prop::collection::vec(prop::option::weighted(0.8, "[a-c\u{D7FF}\u{10FFFF}]{0,5}"), 1..40),
        batch in 1usize..10,
        length in 1usize..4,
    ) {
        let data_type = DataType::new(TypeKind::VarChar(MAX_LENGTH));
        let mode = StatsMode::Truncate(length);
        let mut collector = StatsCollector::new(std::slice::from_ref(&data_type), &[mode]);
        for part in values.chunks(batch) {
            collector.update(&[Arc::new(StringArray::from(part.to_vec())) as ArrayRef]).unwrap();
        }
        let mut sorted: Vec<&String> = values.iter().flatten().collect();
        sorted.sort();
        let bound = |value: Option<&&String>| value.map_or(Datum::Null, |text| Datum::String((*text).clone()));
        let exact = ColumnStats {
            min: bound(sorted.first()),
            max: bound(sorted.last()),
            null_count: Some(i64::try_from(values.len() - sorted.len()).unwrap()),
        };
        prop_assert_eq!(collector.finish(), vec![mode.apply(exact, &data_type)]);
    }

    /// Integers with and without nulls.
    #[test]
    fn integer_bounds_are_the_extremes(values in prop::collection::vec(prop::option::weighted(0.7, any::<i32>()), 0..50)) {
        let mut collector = StatsCollector::new(&[DataType::new(TypeKind::Int)], &[StatsMode::Full]);
        collector.update(&[Arc::new(Int32Array::from(values.clone())) as ArrayRef]).unwrap();
        let bound = |value: Option<i32>| value.map_or(Datum::Null, Datum::Int);
        prop_assert_eq!(collector.finish(), vec![ColumnStats {
            min: bound(values.iter().flatten().min().copied()),
            max: bound(values.iter().flatten().max().copied()),
            null_count: Some(i64::try_from(values.iter().filter(|v| v.is_none()).count()).unwrap()),
        }]);
    }
}
