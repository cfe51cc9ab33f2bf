//! Option sets of partial update and aggregation that Java refuses, or accepts and then cannot work with.

use super::*;

/// A table with columns of many types; the key is `k`.
fn folding(options: &[(&str, &str)]) -> Result<TableSchema> {
    let options: Vec<String> = options
        .iter()
        .map(|(key, value)| format!("{key:?}:{value:?}"))
        .collect();
    let json = format!(
        r#"{{"fields":[
            {{"name":"k","type":"INT NOT NULL"}},
            {{"name":"i","type":"INT"}},
            {{"name":"s","type":"STRING"}},
            {{"name":"b","type":"BOOLEAN"}},
            {{"name":"y","type":"BYTES"}},
            {{"name":"g","type":"INT"}},
            {{"name":"h","type":"INT"}},
            {{"name":"l","type":{{"type":"ARRAY","element":"INT"}}}},
            {{"name":"m","type":{{"type":"MAP","key":"INT NOT NULL","value":"INT"}}}},
            {{"name":"r","type":{{"type":"ARRAY","element":{{"type":"ROW","fields":[{{"id":20,"name":"a","type":"INT"}}]}}}}}}
        ],"primaryKeys":["k"],"options":{{"bucket":"1",{}}}}}"#,
        options.join(",")
    );
    TableSchema::create(definition(&json), 0)
}

fn refusal(options: &[(&str, &str)]) -> String {
    folding(options).unwrap_err().to_string()
}

const AGGREGATION: (&str, &str) = ("merge-engine", "aggregation");
const PARTIAL: (&str, &str) = ("merge-engine", "partial-update");

#[test]
fn a_function_that_does_not_take_its_columns_type_is_refused() {
    for (column, function) in [
        ("s", "sum"),
        ("s", "product"),
        ("b", "max"),
        ("l", "min"),
        ("i", "listagg"),
        ("i", "bool_and"),
        ("i", "collect"),
        ("l", "merge_map"),
        ("l", "nested_update"),
        ("s", "rbm32"),
        ("i", "rbm64"),
        ("s", "hll_sketch"),
        ("s", "theta_sketch"),
    ] {
        let key = format!("fields.{column}.aggregate-function");
        let error = refusal(&[AGGREGATION, (&key, function)]);
        assert!(
            error.starts_with(&format!(
                "option '{key}' is refused: function {function} takes "
            )),
            "{error}"
        );
    }
    for (column, function) in [
        ("i", "sum"),
        ("s", "max"),
        ("s", "listagg"),
        ("b", "bool_or"),
        ("l", "collect"),
        ("m", "merge_map"),
        ("r", "nested_update"),
        ("r", "collect"),
        ("y", "rbm32"),
        ("y", "theta_sketch"),
        ("m", "first_not_null_value"),
    ] {
        let key = format!("fields.{column}.aggregate-function");
        folding(&[AGGREGATION, (&key, function)]).unwrap();
    }
    assert_eq!(
        refusal(&[AGGREGATION, ("fields.default-aggregate-function", "sum")]),
        "option 'fields.default-aggregate-function' is refused: function sum takes a numeric type, and column \"s\" is STRING; choose another function, or give the column one of its own"
    );
    assert!(
        refusal(&[AGGREGATION, ("fields.i.aggregate-function", "count")])
            .starts_with("option 'fields.i.aggregate-function' cannot be \"count\": expected one of sum, product, max,")
    );
}

#[test]
fn the_key_of_nested_rows_must_exist() {
    let nested = ("fields.r.aggregate-function", "nested_update");
    folding(&[AGGREGATION, nested, ("fields.r.nested-key", " a ")]).unwrap();
    assert_eq!(
        refusal(&[AGGREGATION, nested, ("fields.r.nested-key", "a,x")]),
        "option 'fields.r.nested-key' is refused: the rows of column \"r\" have no field \"x\"; correct the name"
    );
}

/// M15.
#[test]
fn a_function_outside_every_sequence_group_is_refused_at_create_and_alter() {
    let sum = ("fields.i.aggregate-function", "sum");
    let problem = "option 'fields.i.aggregate-function' is refused: column \"i\" with function sum is in no sequence group; put the column into a fields.<columns>.sequence-group";
    assert_eq!(refusal(&[PARTIAL, sum]), problem);
    folding(&[PARTIAL, sum, ("fields.g.sequence-group", "i")]).unwrap();
    let set = change(r#"{"op":"set-option","key":"fields.i.aggregate-function","value":"sum"}"#);
    let table = folding(&[PARTIAL]).unwrap();
    assert_eq!(
        table.apply(&[set], true, 0).unwrap_err().to_string(),
        problem
    );
}

#[test]
fn sequence_groups_that_cannot_work_are_refused() {
    for (options, part) in [
        (
            vec![("fields.g.sequence-group", "x")],
            "names column \"x\", which the table does not have",
        ),
        (
            vec![
                ("fields.g.sequence-group", "i"),
                ("fields.h.sequence-group", "i"),
            ],
            "belongs to another group too",
        ),
        (
            vec![("fields.l.sequence-group", "i")],
            "column \"l\" is ARRAY, whose values have no order",
        ),
        (
            vec![
                ("fields.g.sequence-group", "s"),
                ("fields.s.aggregate-function", "sum"),
            ],
            "function sum takes a numeric type",
        ),
        (
            vec![
                ("fields.g.sequence-group", "i"),
                ("partial-update.remove-record-on-delete", "true"),
            ],
            "it contradicts the sequence groups",
        ),
        (
            vec![
                ("ignore-delete", "true"),
                ("partial-update.remove-record-on-delete", "true"),
            ],
            "it contradicts ignore-delete",
        ),
        (
            vec![
                ("fields.g.sequence-group", "i"),
                ("partial-update.remove-record-on-sequence-group", "i"),
            ],
            "is no sequence column of a group",
        ),
    ] {
        let options: Vec<_> = std::iter::once(PARTIAL).chain(options).collect();
        let error = refusal(&options);
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn aggregation_that_removes_rows_contradicts_ignored_retractions() {
    let remove = ("aggregation.remove-record-on-delete", "true");
    folding(&[AGGREGATION, remove, ("fields.i.ignore-retract", "false")]).unwrap();
    assert_eq!(
        refusal(&[AGGREGATION, remove, ("fields.i.ignore-retract", "true")]),
        "option 'aggregation.remove-record-on-delete' is refused: it contradicts fields.i.ignore-retract; remove one of the two"
    );
}

/// M16.
#[test]
fn blanks_around_the_names_of_a_sequence_group_do_not_count() {
    let options = folding(&[PARTIAL, ("fields. g , h .sequence-group", " i , s ")])
        .unwrap()
        .options()
        .unwrap();
    let groups: Vec<_> = options
        .sequence_groups()
        .iter()
        .map(|(sequence, members)| format!("{sequence} -> {members}"))
        .collect();
    assert_eq!(groups, ["g,h -> i,s"]);
}
