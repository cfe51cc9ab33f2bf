//! Predicates rewritten: negated, split, bound to other rows.

use super::*;

#[test]
fn conjuncts_are_split_and_picked_by_their_columns() {
    let predicate = text("id = 1 and (name = 'a' and (big > 2 or id < 3)) and true");
    let parts: Vec<_> = predicate
        .split_and()
        .into_iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(parts, ["id = 1", "name = 'a'", "big > 2 OR id < 3"]);
    assert_eq!(
        predicate.columns().into_iter().collect::<Vec<_>>(),
        ["big", "id", "name"]
    );
    let key = |name: &str| ["id", "name"].contains(&name);
    assert_eq!(
        predicate.project_to(key).to_string(),
        "id = 1 AND name = 'a'"
    );
    assert_eq!(predicate.project_to(|_| false), Predicate::AlwaysTrue);
    // An OR across both kinds of columns is no condition on one kind.
    assert_eq!(
        text("id = 1 or big = 2").project_to(key),
        Predicate::AlwaysTrue
    );
    assert!(Predicate::AlwaysTrue.split_and().is_empty());
}

#[test]
fn negation_reaches_the_leaves() {
    for (predicate, negated) in [
        ("id = 1", "id <> 1"),
        ("id < 1 and big >= 2", "id >= 1 OR big < 2"),
        (
            "id in (1, 2) or name is null",
            "id NOT IN (1, 2) AND name IS NOT NULL",
        ),
        ("id between 1 and 2", "id < 1 OR id > 2"),
        ("name like 'a%'", "NOT (name LIKE 'a%')"),
        ("true", "FALSE"),
    ] {
        assert_eq!(text(predicate).negate().to_string(), negated);
        if !predicate.contains("between") {
            assert_eq!(text(predicate).negate().negate(), text(predicate));
        }
    }
}

#[test]
fn rebinding_follows_names_and_brings_literals_along() {
    let key = RowType::of([("name", DataType::string()), ("id", DataType::big_int())]);
    let rebound = text("id > 5 and name <> 'x'").rebind(&key).unwrap();
    assert_eq!(
        rebound,
        Predicate::parse_text("id > 5 and name <> 'x'", &key).unwrap()
    );
    assert!(matches!(&rebound, Predicate::And(parts)
        if matches!(&parts[0], Predicate::Leaf { field: 1, literals, .. } if literals == &[Datum::BigInt(5)])));
    let renamed = text("id > 5").rebind_renamed(&RowType::of([("k", DataType::int())]), |name| {
        (name == "id").then_some("k")
    });
    assert_eq!(renamed.unwrap().to_string(), "k > 5");
    assert!(matches!(
        text("big = 1").rebind(&key),
        Err(TypeError::UnknownColumn { .. })
    ));
    let tiny = RowType::of([("id", DataType::tiny_int())]);
    assert!(text("id = 5").rebind(&tiny).is_ok());
    let error = text("id = 500").rebind(&tiny).unwrap_err();
    assert!(
        matches!(error, TypeError::Column { ref source, .. } if matches!(**source, TypeError::DoesNotFit { .. })),
        "{error}"
    );
    assert!(
        text("id = 5")
            .rebind(&RowType::of([("id", DataType::string())]))
            .is_err()
    );
    // Literals between the values of the new type stay, and still compare.
    let narrow = RowType::of([("price", DataType::decimal(5, 1))]);
    assert_eq!(
        text("price < 1.25").rebind(&narrow).unwrap().to_string(),
        "price < 1.25"
    );
}

fn values(predicate: &str, columns: &[&str]) -> Option<Vec<String>> {
    let rows = text(predicate).equality_values(columns)?;
    Some(
        rows.iter()
            .map(|row| format!("{:?}", row.iter().map(inner).collect::<Vec<_>>()))
            .collect(),
    )
}

fn inner(datum: &Datum) -> String {
    match datum {
        Datum::Int(value) => value.to_string(),
        Datum::String(value) => value.clone(),
        Datum::Decimal { unscaled, .. } => unscaled.to_string(),
        other => format!("{other:?}"),
    }
}

#[test]
fn values_of_columns_are_combined() {
    let some = |rows: &[&str]| Some(rows.iter().map(ToString::to_string).collect::<Vec<_>>());
    assert_eq!(values("id = 1", &["id"]), some(&[r#"["1"]"#]));
    assert_eq!(
        values(
            "id in (1, 2, 1, null) and name = 'a' and big > 5",
            &["name", "id"]
        ),
        some(&[r#"["a", "1"]"#, r#"["a", "2"]"#])
    );
    assert_eq!(
        values("(id = 1 or id in (2) or id = 3) and name = 'a'", &["id"]),
        some(&[r#"["1"]"#, r#"["2"]"#, r#"["3"]"#])
    );
    // Limited twice: what both allow.
    assert_eq!(
        values("id in (1, 2, 3) and id in (2, 3, 4) and id = 3", &["id"]),
        some(&[r#"["3"]"#])
    );
    // Nothing equals null, nor what the column cannot hold.
    assert_eq!(values("id = null", &["id"]), some(&[]));
    assert_eq!(values("price = 1.255", &["price"]), some(&[]));
    assert_eq!(
        values("price in (1.255, 1.5)", &["price"]),
        some(&[r#"["150"]"#])
    );
    assert_eq!(values("false", &["id"]), some(&[]));
    for unlimited in [
        "id = 1 or name = 'a'",
        "id > 1",
        "id <> 1",
        "not (id in (1))",
        "name = 'a'",
        "true",
        "id is null",
    ] {
        assert_eq!(values(unlimited, &["id"]), None, "{unlimited}");
    }
    assert_eq!(values("d = 'NaN'", &["d"]), None);
    assert_eq!(values("id = 1", &[]), some(&["[]"]));
}

#[test]
fn too_many_combinations_are_none() {
    let list = |count: usize| {
        (0..count)
            .map(|value| value.to_string())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let predicate = |a: usize, b: usize| format!("id in ({}) and big in ({})", list(a), list(b));
    assert_eq!(
        values(&predicate(40, 25), &["id", "big"]).map(|rows| rows.len()),
        Some(1000)
    );
    assert_eq!(values(&predicate(143, 7), &["id", "big"]), None);
    assert_eq!(values(&predicate(1001, 1), &["id", "big"]), None);
}
