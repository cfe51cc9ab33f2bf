//! The fold by column equals the fold row by row, for random tables and versions.

use proptest::prelude::*;
use proptest::strategy::ValueTree;

use super::*;
use crate::model::{FoldModel, FoldRow};

/// Functions by the type of the column they get.
fn choices() -> Vec<(Value, Vec<&'static str>)> {
    let any = [
        "last_value",
        "last_non_null_value",
        "first_value",
        "first_non_null_value",
    ];
    let with = |more: &[&'static str]| {
        let mut all = any.to_vec();
        all.extend(more);
        all
    };
    let nested = json!({"type": "ARRAY", "element": {"type": "ROW", "fields": [
        {"id": 100, "name": "a", "type": "INT"}, {"id": 101, "name": "b", "type": "STRING"}]}});
    vec![
        (json!("TINYINT"), with(&["sum", "product", "max", "min"])),
        (json!("BIGINT"), with(&["sum", "product", "max", "min"])),
        (json!("DOUBLE"), with(&["sum", "product", "max", "min"])),
        (
            json!("DECIMAL(5, 2)"),
            with(&["sum", "product", "max", "min"]),
        ),
        (
            json!("DECIMAL(20, 3)"),
            with(&["sum", "product", "max", "min"]),
        ),
        (json!("STRING"), with(&["listagg", "max", "min"])),
        (json!("BOOLEAN"), with(&["bool_and", "bool_or"])),
        (json!("BYTES"), with(&["max", "min"])),
        (
            json!({"type": "ARRAY", "element": "STRING"}),
            with(&["collect"]),
        ),
        (
            json!({"type": "ARRAY", "element": "BYTES"}),
            with(&["collect"]),
        ),
        (
            json!({"type": "MAP", "key": "INT NOT NULL", "value": "STRING"}),
            with(&["merge_map"]),
        ),
        (nested, with(&["nested_update", "collect"])),
    ]
}

/// What a column is: type, function, NOT NULL, its group (0 is none), options, as numbers that are taken modulo.
type RawColumn = (usize, usize, bool, usize, (bool, bool, bool, usize));

#[derive(Debug, Clone)]
struct RawTable {
    partial: bool,
    columns: Vec<RawColumn>,
    /// Number of groups and of their sequence columns.
    groups: Vec<bool>,
    flags: (bool, bool, bool, bool),
}

fn raw_table() -> impl Strategy<Value = RawTable> {
    let options = (any::<bool>(), any::<bool>(), any::<bool>(), 0usize..4);
    let column = (
        0usize..99,
        0usize..99,
        prop::bool::weighted(0.2),
        0usize..3,
        options,
    );
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (
        any::<bool>(),
        prop::collection::vec(column, 1..6),
        prop::collection::vec(any::<bool>(), 0..3),
        flags,
    )
        .prop_map(|(partial, columns, groups, flags)| RawTable {
            partial,
            columns,
            groups,
            flags,
        })
}

/// The table: `k`, the sequence columns of the groups, then the columns.
fn build_table(raw: &RawTable) -> Option<TableSchema> {
    let mut fields = vec![("k".to_owned(), json!("INT NOT NULL"))];
    let mut options: Vec<(String, String)> = Vec::new();
    let mut option = |key: String, value: &str| options.push((key, value.to_owned()));
    let (ignore_delete, remove, default, other) = raw.flags;
    let groups: &[bool] = if raw.partial { &raw.groups } else { &[] };
    let leaders: Vec<Vec<String>> = groups
        .iter()
        .enumerate()
        .map(|(at, two)| {
            let names = [format!("g{at}"), format!("h{at}")];
            names[..1 + usize::from(*two)].to_vec()
        })
        .collect();
    let mut members: Vec<Vec<String>> = vec![Vec::new(); groups.len()];
    for (at, leaders) in leaders.iter().enumerate() {
        for (place, leader) in leaders.iter().enumerate() {
            // NOT NULL and nullable sequence columns, also in one group.
            let not_null = remove && (at + place) % 2 == 0;
            let data_type = if not_null { "INT NOT NULL" } else { "INT" };
            fields.push((leader.clone(), json!(data_type)));
        }
    }
    let choices = choices();
    for (at, (kind, function, not_null, group, flags)) in raw.columns.iter().enumerate() {
        let name = format!("c{at}");
        let (data_type, functions) = &choices[kind % choices.len()];
        let mut data_type = data_type.clone();
        if *not_null {
            match &mut data_type {
                Value::String(text) => text.push_str(" NOT NULL"),
                nested => {
                    let text = nested["type"].as_str().unwrap().to_owned();
                    nested["type"] = json!(format!("{text} NOT NULL"));
                }
            }
        }
        fields.push((name.clone(), data_type));
        let group = group.checked_sub(1).filter(|group| *group < groups.len());
        if let Some(group) = group {
            members[group].push(name.clone());
        }
        let function = functions[function % functions.len()];
        let (ignore_retract, distinct, wraps, limit) = *flags;
        if !raw.partial || (group.is_some() && limit != 3) {
            option(format!("fields.{name}.aggregate-function"), function);
        }
        if ignore_retract && (raw.partial || !remove) {
            option(format!("fields.{name}.ignore-retract"), "true");
        }
        match function {
            "collect" if distinct => option(format!("fields.{name}.distinct"), "true"),
            "listagg" if distinct => option(format!("fields.{name}.listagg.distinct"), "true"),
            "nested_update" if distinct => option(format!("fields.{name}.nested-key"), "a"),
            "sum" | "product" if wraps => {
                option(
                    format!("fields.{name}.{function}.fail-on-overflow"),
                    "false",
                );
            }
            _ => {}
        }
        if function == "listagg" && limit > 0 {
            option(
                format!("fields.{name}.list-agg-delimiter"),
                [";", "--", ","][limit % 3],
            );
        }
        if function == "nested_update" && limit > 0 {
            option(format!("fields.{name}.count-limit"), &limit.to_string());
        }
    }
    let grouped = !groups.is_empty();
    for (leaders, members) in leaders.iter().zip(&members) {
        option(
            format!("fields.{}.sequence-group", leaders.join(",")),
            &members.join(","),
        );
    }
    let mut set = |key: &str, value: &str| options.push((key.to_owned(), value.to_owned()));
    if raw.partial {
        set("merge-engine", "partial-update");
        if ignore_delete {
            set("ignore-delete", "true");
        } else if grouped && other {
            set(
                "partial-update.remove-record-on-sequence-group",
                &leaders[0][0],
            );
        } else if !grouped && other {
            set("partial-update.remove-record-on-delete", "true");
        }
        if default && !grouped {
            set("fields.default-aggregate-function", "last_non_null_value");
        }
    } else {
        set("merge-engine", "aggregation");
        if remove {
            set("aggregation.remove-record-on-delete", "true");
        }
    }
    let fields: Vec<(&str, Value)> = fields
        .iter()
        .map(|(name, data_type)| (name.as_str(), data_type.clone()))
        .collect();
    let options: Vec<(&str, &str)> = options
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect();
    create(&fields, &["k"], &options).ok()
}

/// One of a few values of the type, null for 0 where it may be.
fn some_value(data_type: &DataType, n: u32) -> ModelValue {
    if n.is_multiple_of(5) && data_type.nullable {
        return ModelValue::Null;
    }
    let n = n / 5;
    let small = i32::try_from(n % 9).unwrap() - 4;
    ModelValue::Atom(match &data_type.kind {
        TypeKind::TinyInt => Datum::TinyInt(i8::try_from(small * 30).unwrap()),
        TypeKind::Int => Datum::Int(small),
        TypeKind::BigInt => Datum::BigInt(match n % 11 {
            9 => i64::MAX,
            10 => i64::MIN,
            _ => i64::from(small),
        }),
        TypeKind::Double => Datum::Double(match n % 13 {
            9 => f64::NAN,
            10 => -0.0,
            11 => f64::INFINITY,
            _ => f64::from(small) / 4.0,
        }),
        TypeKind::Decimal { precision, scale } => Datum::Decimal {
            unscaled: match n % 10 {
                9 => 10_i128.pow(u32::from(*precision).min(17)) - 1,
                _ => i128::from(small) * 125,
            },
            precision: *precision,
            scale: *scale,
        },
        TypeKind::Boolean => Datum::Boolean(n.is_multiple_of(2)),
        TypeKind::VarChar(_) => {
            let texts = ["a", "b", "a,b", "", " ", "b;c", "c--a", "ab,xy,,"];
            Datum::String(texts[n as usize % texts.len()].to_owned())
        }
        TypeKind::VarBinary(_) => Datum::Bytes(vec![7; n as usize % 3]),
        TypeKind::Array(element) => {
            let count = n % 4;
            let elements = (0..count).map(|at| some_value(element, n / 4 + at * 7));
            return ModelValue::List(elements.collect());
        }
        TypeKind::Map(_, item) => {
            let entries = (0..n % 3).map(|at| {
                let key = Datum::Int(i32::try_from((n / 3 + at) % 4).unwrap());
                (ModelValue::Atom(key), some_value(item, n / 2 + at))
            });
            return ModelValue::Map(entries.collect());
        }
        TypeKind::Row(row) => {
            let values = row.fields.iter().zip(0..);
            return ModelValue::Row(
                values
                    .map(|(field, at)| some_value(&field.data_type, n * 5 / (1 + at) + at))
                    .collect(),
            );
        }
        other => unreachable!("{other:?}"),
    })
}

/// Versions of keys: how many, and for each its kind and a number for each column.
fn raw_groups() -> impl Strategy<Value = Vec<Vec<(u8, Vec<u32>)>>> {
    let kind = prop_oneof![6 => Just(0u8), 2 => Just(2u8), 2 => Just(3u8), 1 => Just(1u8)];
    let version = (kind, prop::collection::vec(0u32..10_000, 12));
    prop::collection::vec(prop::collection::vec(version, 1..6), 1..8)
}

/// The versions as rows of the table.
fn build_groups(schema: &TableSchema, raw_groups: &[Vec<(u8, Vec<u32>)>]) -> Vec<Vec<FoldRow>> {
    let mut sequence = 0;
    raw_groups
        .iter()
        .enumerate()
        .map(|(key, versions)| {
            versions
                .iter()
                .map(|(kind, numbers)| {
                    sequence += 1;
                    let fields = schema.fields.iter().enumerate();
                    let values = fields.map(|(at, field)| match at {
                        0 => ModelValue::Atom(Datum::Int(i32::try_from(key).unwrap())),
                        _ => some_value(&field.data_type, numbers[at % numbers.len()]),
                    });
                    FoldRow {
                        kind: RowKind::from_i8(i8::try_from(*kind).unwrap()).unwrap(),
                        sequence,
                        values: values.collect(),
                    }
                })
                .collect()
        })
        .collect()
}

/// What came out: rows with kinds and sequence numbers, or that it was refused.
type Outcome = std::result::Result<Vec<(RowKind, i64, Vec<ModelValue>)>, ()>;

fn fold_fast(schema: &TableSchema, groups: &[Vec<FoldRow>], always_call: bool) -> Outcome {
    let all: Vec<&FoldRow> = groups.iter().flatten().collect();
    let values: Vec<Vec<ModelValue>> = all.iter().map(|row| row.values.clone()).collect();
    let ends = groups
        .iter()
        .flat_map(|group| (1..=group.len()).map(|at| at == group.len()));
    let ends = BooleanBuffer::from_iter(ends);
    let kinds = Int8Array::from_iter_values(all.iter().map(|row| row.kind.as_i8()));
    let arrays = columns(schema, &values);
    let engine = FoldEngine::new(schema).unwrap();
    let folded = engine
        .fold(GroupedRows {
            group_ends: &ends,
            kinds: Some(&kinds),
            columns: &arrays,
            always_call,
        })
        .map_err(|_| ())?;
    let kind = |at: usize| folded.kinds.as_ref().map_or(0, |kinds| kinds.value(at));
    Ok(rows(schema, &folded.columns)
        .into_iter()
        .enumerate()
        .map(|(at, row)| {
            let sequence = all[folded.sequence_rows.value(at) as usize].sequence;
            (RowKind::from_i8(kind(at)).unwrap(), sequence, row)
        })
        .collect())
}

/// The wanted columns, read without the ones that are not needed.
fn fold_projected(
    schema: &TableSchema,
    groups: &[Vec<FoldRow>],
    always_call: bool,
    wanted: &[usize],
) -> Vec<Vec<ModelValue>> {
    let all: Vec<Vec<ModelValue>> = groups
        .iter()
        .flatten()
        .map(|row| row.values.clone())
        .collect();
    let kinds = groups.iter().flatten().map(|row| row.kind.as_i8());
    let kinds = Int8Array::from_iter_values(kinds);
    let ends = groups
        .iter()
        .flat_map(|group| (1..=group.len()).map(|at| at == group.len()));
    let ends = BooleanBuffer::from_iter(ends);
    let engine = FoldEngine::for_columns(schema, wanted).unwrap();
    let arrays: Vec<ArrayRef> = engine
        .columns()
        .iter()
        .map(|at| column(schema, *at, &all))
        .collect();
    let folded = engine
        .fold(GroupedRows {
            group_ends: &ends,
            kinds: Some(&kinds),
            columns: &arrays,
            always_call,
        })
        .unwrap();
    (0..groups.len())
        .map(|row| {
            let columns = wanted.iter().zip(&folded.columns);
            columns
                .map(|(at, column)| {
                    ModelValue::from_array(column, row, &schema.fields[*at].data_type).unwrap()
                })
                .collect()
        })
        .collect()
}

fn fold_slow(schema: &TableSchema, groups: &[Vec<FoldRow>], always_call: bool) -> Outcome {
    let model = FoldModel::new(schema);
    groups
        .iter()
        .map(|versions| {
            let row = model.fold(versions, always_call).map_err(|_| ())?;
            Ok((row.kind, row.sequence, row.values))
        })
        .collect()
}

/// As text: NaN equals NaN, and the signs of zeros are told apart.
fn shown(outcome: &Outcome) -> String {
    format!("{outcome:?}")
}

#[test]
fn random_tables_are_mostly_tables_and_versions_mostly_fold() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut tables, mut folds) = (0, 0);
    for _ in 0..200 {
        let raw = raw_table().new_tree(&mut runner).unwrap().current();
        let versions = raw_groups().new_tree(&mut runner).unwrap().current();
        let Some(schema) = build_table(&raw) else {
            continue;
        };
        tables += 1;
        for group in build_groups(&schema, &versions) {
            folds += usize::from(fold_slow(&schema, &[group], false).is_ok());
        }
    }
    assert!(tables > 150, "{tables} of 200 tables");
    assert!(folds > tables * 2, "{folds} keys of {tables} tables");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Whatever the table and the versions, folding by column gives what folding row by row gives.
    #[test]
    fn folding_by_column_equals_folding_by_row(raw in raw_table(), raw_groups in raw_groups(), always_call in any::<bool>(), wanted in 1usize..255) {
        let Some(schema) = build_table(&raw) else { return Ok(()) };
        let groups = build_groups(&schema, &raw_groups);
        // Each key on its own: an error in one would hide the others.
        for group in &groups {
            let one = std::slice::from_ref(group);
            prop_assert_eq!(shown(&fold_fast(&schema, one, always_call)), shown(&fold_slow(&schema, one, always_call)), "{:?}", schema.options);
        }
        let slow = fold_slow(&schema, &groups, always_call);
        prop_assert_eq!(shown(&fold_fast(&schema, &groups, always_call)), shown(&slow));
        // Some columns only: the same values.
        let wanted: Vec<usize> = (0..schema.fields.len()).filter(|at| wanted >> at & 1 == 1).collect();
        if let Ok(slow) = slow {
            let projected = fold_projected(&schema, &groups, always_call, &wanted);
            let expected: Vec<Vec<ModelValue>> = slow
                .iter()
                .map(|(_, _, row)| wanted.iter().map(|at| row[*at].clone()).collect())
                .collect();
            prop_assert_eq!(format!("{projected:?}"), format!("{expected:?}"));
        }
    }
}
