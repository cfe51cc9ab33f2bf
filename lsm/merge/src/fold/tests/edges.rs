//! Cases by hand, named by their behaviour.

use tidewater_types::ErrorKind;

use super::bucket::{Bucket, Row, gather_rows};
use super::*;
use RowKind::{Delete, Insert, UpdateBefore};

/// M05.
#[test]
fn a_total_beyond_the_type_is_an_error_that_names_column_and_key_or_wraps_and_is_counted() {
    for (data_type, max, min) in [
        ("TINYINT", i64::from(i8::MAX), i64::from(i8::MIN)),
        ("SMALLINT", i64::from(i16::MAX), i64::from(i16::MIN)),
        ("INT", i64::from(i32::MAX), i64::from(i32::MIN)),
        ("BIGINT", i64::MAX, i64::MIN),
    ] {
        let strict = aggregation(json!(data_type), "sum", &[]);
        let wrapping = ("fields.v.sum.fail-on-overflow", "false");
        let lenient = aggregation(json!(data_type), "sum", &[wrapping]);
        for (versions, wrapped) in [
            ([(Insert, json!([1, max])), (Insert, json!([1, 1]))], min),
            ([(Insert, json!([1, min])), (Insert, json!([1, -1]))], max),
            (
                [(Insert, json!([1, max])), (UpdateBefore, json!([1, -1]))],
                min,
            ),
            ([(Insert, json!([1, min])), (Delete, json!([1, 1]))], max),
        ] {
            let error = fold_key(&strict, &versions).unwrap_err();
            assert_eq!(
                error.to_string(),
                "sum of column \"v\" leaves the range of its type at key k=1; fields.v.sum.fail-on-overflow=false lets it wrap"
            );
            assert_eq!(error.kind(), ErrorKind::Invalid);
            let (row, wraps) = fold_key(&lenient, &versions).unwrap();
            assert_eq!((row, wraps), (model_row(&lenient, &json!([1, wrapped])), 1));
        }
        let versions = [(Insert, json!([1, max])), (Insert, json!([1, 2]))];
        let strict = aggregation(json!(data_type), "product", &[]);
        assert!(matches!(
            fold_key(&strict, &versions),
            Err(MergeError::Overflow {
                function: "product",
                ..
            })
        ));
        let wrapping = ("fields.v.product.fail-on-overflow", "false");
        let lenient = aggregation(json!(data_type), "product", &[wrapping]);
        let (row, wraps) = fold_key(&lenient, &versions).unwrap();
        assert_eq!((row, wraps), (model_row(&lenient, &json!([1, -2])), 1));
        // Taking back the only number that has no negative.
        let versions = [(Delete, json!([1, min])), (Insert, json!([1, null]))];
        let strict = aggregation(json!(data_type), "sum", &[]);
        assert!(matches!(
            fold_key(&strict, &versions),
            Err(MergeError::Overflow { .. })
        ));
    }
    let wide = aggregation(
        json!("DECIMAL(20, 0)"),
        "sum",
        &[("fields.v.sum.fail-on-overflow", "false")],
    );
    let nines = "9".repeat(20);
    let versions = [(Insert, json!([1, nines])), (Insert, json!([1, "1"]))];
    assert_eq!(
        fold_key(&wide, &versions).unwrap(),
        (model_row(&wide, &json!([1, null])), 1)
    );
}

/// M04.
#[test]
fn listagg_with_distinct_compares_whole_tokens() {
    for delimiter in [",", ";", "--"] {
        let text = |text: &str| json!(text.replace(',', delimiter));
        let schema = aggregation(
            json!("STRING"),
            "listagg",
            &[
                ("fields.v.listagg.distinct", "true"),
                ("fields.v.list-agg-delimiter", delimiter),
            ],
        );
        let versions = [
            (Insert, text("abc,def,asd")),
            (Insert, text("ab,xy")),
            (Insert, text(",def,,")),
            (Insert, text(" ")),
            (Insert, text("xy,ab,new")),
        ];
        assert_eq!(
            folded_value(&schema, &versions[..2]),
            expected(&schema, text("abc,def,asd,ab,xy"))
        );
        assert_eq!(
            folded_value(&schema, &versions),
            expected(&schema, text("abc,def,asd,ab,xy,new"))
        );
    }
}

/// M10.
#[test]
fn taking_back_from_nothing_leaves_nothing() {
    let list = json!({"type": "ARRAY", "element": "INT"});
    let map = json!({"type": "MAP", "key": "STRING NOT NULL", "value": "INT"});
    for (data_type, function, value) in [
        (json!("INT"), "product", json!(5)),
        (list, "collect", json!([1, 2])),
        (map, "merge_map", json!([["a", 1]])),
    ] {
        let schema = aggregation(data_type, function, &[]);
        let null = || (Insert, json!(null));
        let gone = || (Delete, value.clone());
        for versions in [
            vec![null(), gone()],
            vec![gone(), gone()],
            vec![gone(), (Delete, json!(null))],
        ] {
            assert_eq!(
                folded_value(&schema, &versions),
                ModelValue::Null,
                "{function}"
            );
        }
        let kept = [(Insert, value.clone()), (Delete, json!(null))];
        assert_eq!(
            folded_value(&schema, &kept),
            expected(&schema, value),
            "{function}"
        );
    }
}

/// M08.
#[test]
fn sequence_fields_of_an_aggregation_carry_their_last_value_null_included() {
    let schema = table(
        &[
            ("k", json!("INT NOT NULL")),
            ("v", json!("STRING")),
            ("s0", json!("INT")),
            ("s1", json!("INT")),
        ],
        &["k"],
        &[
            ("merge-engine", "aggregation"),
            ("sequence.field", " s0 , s1 "),
        ],
    );
    let mut bucket = Bucket::new(schema).unwrap();
    let flush = |bucket: &mut Bucket, written: &[Value]| {
        let row = |json| (Insert, model_row(&bucket.schema, json));
        let written: Vec<Row> = written.iter().map(row).collect();
        bucket.flush(&written).unwrap();
        bucket.visible().unwrap()
    };
    let first = flush(
        &mut bucket,
        &[json!([1, "A1", null, 1]), json!([1, "A2", 1, null])],
    );
    assert_eq!(
        first,
        [model_row(&bucket.schema, &json!([1, "A2", 1, null]))]
    );
    let second = flush(&mut bucket, &[json!([1, "A3", 1, 0])]);
    assert_eq!(second, [model_row(&bucket.schema, &json!([1, "A3", 1, 0]))]);
}

/// What Java 1.3.1 answers after each of these commits.
#[test]
fn older_versions_and_removals_in_sequence_groups_give_the_rows_of_java() {
    let play = |columns: &[&str], options: &[(&str, &str)], commits: &[(RowKind, Value, Value)]| {
        let not_null = |name: &&str| if *name == "k" { "INT NOT NULL" } else { "INT" };
        let fields: Vec<(&str, Value)> = columns
            .iter()
            .map(|name| (*name, json!(not_null(name))))
            .collect();
        let mut bucket = Bucket::new(table(&fields, &["k"], options)).unwrap();
        for (kind, written, visible) in commits {
            let row = model_row(&bucket.schema, written);
            bucket.flush(&[(*kind, row)]).unwrap();
            let wanted: Vec<Vec<ModelValue>> = (!visible.is_null())
                .then(|| model_row(&bucket.schema, visible))
                .into_iter()
                .collect();
            assert_eq!(bucket.visible().unwrap(), wanted, "{written}");
        }
    };
    play(
        &["k", "a", "b", "g"],
        &[
            ("merge-engine", "partial-update"),
            ("fields.g.sequence-group", "a,b"),
            ("fields.a.aggregate-function", "sum"),
            ("fields.b.aggregate-function", "first_value"),
        ],
        &[
            (Insert, json!([1, 1, 1, 5]), json!([1, 1, 1, 5])),
            (Insert, json!([1, 2, 2, 1]), json!([1, 3, 2, 5])),
            (Insert, json!([1, 4, 3, 3]), json!([1, 7, 3, 5])),
        ],
    );
    play(
        &["k", "a", "b", "g", "h", "o"],
        &[
            ("merge-engine", "partial-update"),
            ("fields.g.sequence-group", "a"),
            ("fields.h.sequence-group", "b"),
            ("partial-update.remove-record-on-sequence-group", "g"),
        ],
        &[
            (Insert, json!([1, 1, 1, 5, 5, 5]), json!([1, 1, 1, 5, 5, 5])),
            (
                Delete,
                json!([1, 2, 2, 4, 6, 6]),
                json!([1, 1, null, 5, 6, 5]),
            ),
            (Delete, json!([1, 4, 3, 5, 7, 7]), json!(null)),
            (
                Insert,
                json!([1, null, 3, null, 1, null]),
                json!([1, null, 3, null, 1, null]),
            ),
        ],
    );
}

/// The −D leaves its values in NOT NULL columns, and a sum goes on from there: 5 + 7, as in Java 1.3.1.
#[test]
fn a_removed_row_begins_anew_with_the_values_that_must_not_be_null() {
    let schema = table(
        &[
            ("k", json!("INT NOT NULL")),
            ("s", json!("INT NOT NULL")),
            ("t", json!("INT")),
            ("f", json!("INT")),
        ],
        &["k"],
        &[
            ("merge-engine", "aggregation"),
            ("aggregation.remove-record-on-delete", "true"),
            ("fields.s.aggregate-function", "sum"),
            ("fields.t.aggregate-function", "sum"),
            ("fields.f.aggregate-function", "first_value"),
        ],
    );
    let versions = [
        (Insert, json!([1, 5, 5, 5])),
        (Delete, json!([1, 5, 6, 6])),
        (Insert, json!([1, 7, 7, 7])),
    ];
    let (row, _) = fold_key(&schema, &versions).unwrap();
    assert_eq!(row, model_row(&schema, &json!([1, 12, 7, 7])));
}

/// Spec 02b §4.4: a version above level 0 holds what deeper levels hold.
#[test]
fn of_the_levels_above_0_only_the_newest_version_counts() {
    let schema = aggregation(json!("INT"), "sum", &[]);
    let mut bucket = Bucket::new(schema).unwrap();
    for (key, value) in [(1, 111), (1, 1111), (1, 5), (1, 6)] {
        let row = model_row(&bucket.schema, &json!([key, value]));
        bucket.flush(&[(Insert, row)]).unwrap();
    }
    for (run, level) in [(2, 4), (3, 5)] {
        bucket.level0[run].level = level;
    }
    let visible = bucket.visible().unwrap();
    assert_eq!(visible, [model_row(&bucket.schema, &json!([1, 1122]))]);
    // Without levels every version counts.
    bucket.level0.iter_mut().for_each(|run| run.level = 0);
    let visible = bucket.visible().unwrap();
    assert_eq!(visible, [model_row(&bucket.schema, &json!([1, 1233]))]);
}

/// M11: deletes that are in files already are ignored when they meet other versions.
#[test]
fn first_row_keeps_the_oldest_version_and_takes_no_retractions() {
    let fields = [("k", json!("INT NOT NULL")), ("v", json!("INT"))];
    let options = [("merge-engine", "first-row"), ("ignore-delete", "true")];
    let mut ignoring = Bucket::new(table(&fields, &["k"], &options)).unwrap();
    let row = |json: Value| model_row(&ignoring.schema, &json);
    let (one, two, three) = (row(json!([1, 1])), row(json!([1, 2])), row(json!([2, 3])));
    for written in [&one, &two, &three] {
        ignoring.flush(&[(Insert, written.clone())]).unwrap();
    }
    assert_eq!(ignoring.visible().unwrap(), [one.clone(), three.clone()]);
    // As a writer without the option left it.
    ignoring.level0[0].kinds = Int8Array::from(vec![Delete.as_i8()]);
    ignoring.level0[2].kinds = Int8Array::from(vec![Delete.as_i8()]);
    assert_eq!(ignoring.visible().unwrap(), [two]);

    let mut strict = Bucket::new(table(&fields, &["k"], &options[..1])).unwrap();
    let error = strict.flush(&[(Delete, one.clone())]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "merge engine first-row takes no -U and -D: set ignore-delete, or write none (key of a buffered row)"
    );
    strict.flush(&[(Insert, one)]).unwrap();
    strict.level0[0].kinds = Int8Array::from(vec![Delete.as_i8()]);
    assert!(matches!(
        strict.visible(),
        Err(MergeError::RetractRefused { .. })
    ));
}

#[test]
fn refusals_name_column_and_key() {
    let message = |schema: &TableSchema, versions: &[(RowKind, Value)]| {
        fold_key(schema, versions).unwrap_err().to_string()
    };
    let versions = |value: Value| [(Insert, json!([7, value])), (Delete, json!([7, value]))];
    assert_eq!(
        message(&aggregation(json!("INT"), "max", &[]), &versions(json!(1))),
        "function max of column \"v\" takes nothing back: set fields.v.ignore-retract, or write no -U and -D (key k=7)"
    );
    assert_eq!(
        message(
            &aggregation(json!("INT"), "product", &[]),
            &versions(json!(0))
        ),
        "the product of column \"v\" is divided by zero at key k=7"
    );
    let thirds = [(Insert, json!([7, "1.0"])), (Delete, json!([7, "3.0"]))];
    assert_eq!(
        message(
            &aggregation(json!("DECIMAL(5, 1)"), "product", &[]),
            &thirds
        ),
        "the product of column \"v\" divided at key k=7 is no finite decimal number"
    );
    let bytes = [(Insert, json!([7, "00ff"])), (Insert, json!([7, "01"]))];
    assert_eq!(
        message(&aggregation(json!("BYTES"), "rbm32", &[]), &bytes),
        "column \"v\" holds no roaring bitmap at key k=7: cookie needs 4 bytes at offset 0, but 2 are left"
    );
    for function in ["rbm64", "hll_sketch", "theta_sketch"] {
        let error = fold_key(&aggregation(json!("BYTES"), function, &[]), &bytes).unwrap_err();
        assert!(matches!(error, MergeError::BadValue { .. }), "{error}");
    }
    let partial = table(
        &[("k", json!("INT NOT NULL")), ("v", json!("INT"))],
        &["k"],
        &[("merge-engine", "partial-update")],
    );
    assert!(
        message(&partial, &versions(json!(1)))
            .starts_with("merge engine partial-update takes no -U and -D: set ignore-delete, ")
    );
    let not_null = aggregation(json!("INT NOT NULL"), "last_value", &[]);
    assert_eq!(
        message(&not_null, &versions(json!(1))),
        "column \"v\" is NOT NULL and gets a null at key k=7"
    );
}

#[test]
fn single_versions_are_results_and_are_not_looked_at_unless_asked() {
    let schema = aggregation(
        json!({"type": "ARRAY", "element": "INT"}),
        "collect",
        &[("fields.v.distinct", "true")],
    );
    let engine = FoldEngine::new(&schema).unwrap();
    let values: Vec<Vec<ModelValue>> = [
        json!([1, [1, 2, 2]]),
        json!([2, [3]]),
        json!([2, [3, 4]]),
        json!([3, null]),
    ]
    .iter()
    .map(|row| model_row(&schema, row))
    .collect();
    let arrays = columns(&schema, &values);
    let kinds = Int8Array::from(vec![3, 0, 0, 2]);
    let ends = BooleanBuffer::from(vec![true, false, true, true]);
    let fold = |always_call| {
        let rows = GroupedRows {
            group_ends: &ends,
            kinds: Some(&kinds),
            columns: &arrays,
            always_call,
        };
        engine.fold(rows).unwrap()
    };
    let folded = fold(false);
    let expected: Vec<Vec<ModelValue>> =
        [json!([1, [1, 2, 2]]), json!([2, [3, 4]]), json!([3, null])]
            .iter()
            .map(|row| model_row(&schema, row))
            .collect();
    assert_eq!(rows(&schema, &folded.columns), expected);
    assert_eq!(folded.kinds, Some(Int8Array::from(vec![3, 0, 2])));
    assert_eq!(folded.sequence_rows, UInt32Array::from(vec![0, 2, 3]));
    let called = fold(true);
    assert_eq!(
        rows(&schema, &called.columns)[0],
        model_row(&schema, &json!([1, null]))
    );
    assert_eq!(called.kinds, None);
}

#[test]
fn reading_a_grouped_column_reads_its_sequence_columns() {
    let fields = ["k", "a", "b", "g1", "c", "g2", "h2"];
    let fields: Vec<(&str, Value)> = fields
        .iter()
        .map(|name| {
            (
                *name,
                json!(if *name == "k" { "INT NOT NULL" } else { "INT" }),
            )
        })
        .collect();
    let options = [
        ("merge-engine", "partial-update"),
        ("fields.g1.sequence-group", "a"),
        ("fields.h2,g2.sequence-group", "c"),
        ("partial-update.remove-record-on-sequence-group", "g2"),
    ];
    let read = |options: &[(&str, &str)], wanted: &[usize]| {
        let schema = table(&fields, &["k"], options);
        FoldEngine::for_columns(&schema, wanted)
            .unwrap()
            .columns()
            .to_vec()
    };
    assert_eq!(read(&options[..3], &[2, 0]), [2, 0]);
    assert_eq!(read(&options[..3], &[1]), [1, 3]);
    assert_eq!(read(&options[..3], &[4, 6]), [4, 6, 5]);
    // A group that can remove the row decides over every column.
    assert_eq!(read(&options, &[2]), [2, 5, 6]);
    let schema = table(&fields, &["k"], &options);
    assert!(matches!(
        FoldEngine::for_columns(&schema, &[9]),
        Err(MergeError::BadOption { .. })
    ));
}

#[test]
fn tables_that_pick_and_options_of_later_versions_are_refused() {
    let fields = [("k", json!("INT NOT NULL")), ("v", json!("INT"))];
    let error = FoldEngine::new(&table(&fields, &["k"], &[])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "unsupported: folding with merge-engine=deduplicate"
    );
    let nested = json!({"type": "ARRAY", "element": {"type": "ROW", "fields": [{"id": 9, "name": "a", "type": "INT"}]}});
    let schema = aggregation(
        nested,
        "nested_update",
        &[
            ("fields.v.nested-key", "a"),
            ("fields.v.nested-sequence-field", "a"),
        ],
    );
    let error = FoldEngine::new(&schema).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[test]
fn parts_of_different_length_are_refused() {
    let schema = aggregation(json!("INT"), "sum", &[]);
    let engine = FoldEngine::new(&schema).unwrap();
    let arrays = columns(&schema, &[model_row(&schema, &json!([1, 2]))]);
    let short = Int8Array::from(vec![0, 0]);
    let ends = |bits: Vec<bool>| BooleanBuffer::from(bits);
    let kind = |group_ends: &BooleanBuffer, kinds, columns: &[ArrayRef]| {
        let rows = GroupedRows {
            group_ends,
            kinds,
            columns,
            always_call: false,
        };
        engine.fold(rows).unwrap_err().kind()
    };
    assert_eq!(
        kind(&ends(vec![true]), None, &arrays[..1]),
        ErrorKind::Invalid
    );
    assert_eq!(
        kind(&ends(vec![true, true]), None, &arrays),
        ErrorKind::Invalid
    );
    assert_eq!(
        kind(&ends(vec![true]), Some(&short), &arrays),
        ErrorKind::Invalid
    );
    assert_eq!(kind(&ends(vec![false]), None, &arrays), ErrorKind::Invalid);
    let bad = Int8Array::from(vec![9]);
    assert_eq!(
        kind(&ends(vec![true]), Some(&bad), &arrays),
        ErrorKind::Corrupt
    );
    let nothing = ends(Vec::new());
    let empty: Vec<ArrayRef> = arrays.iter().map(|array| array.slice(0, 0)).collect();
    let rows = GroupedRows {
        group_ends: &nothing,
        kinds: None,
        columns: &empty,
        always_call: true,
    };
    assert_eq!(engine.fold(rows).unwrap().sequence_rows.len(), 0);
}

#[test]
fn gathering_keeps_kinds_and_sequence_numbers() {
    let mut bucket = Bucket::new(aggregation(json!("INT"), "sum", &[])).unwrap();
    let row = |n: i32| (Insert, model_row(&bucket.schema, &json!([n, n])));
    let written = [row(3), row(1), row(2)];
    bucket.flush(&written).unwrap();
    let run = gather_rows(&bucket.level0[0], &[2, 0]);
    assert_eq!(run.sequence.values().to_vec(), [0, 1]);
}
