//! Predicates over batches.

use super::*;

#[test]
fn unknown_is_neither_true_nor_its_negation() {
    let ids = batch("id", &[Datum::Int(1), Datum::Null, Datum::Int(3)]);
    for (predicate, expected) in [
        ("id = 1", vec![0]),
        ("not id = 1", vec![2]),
        ("id <> 1", vec![2]),
        ("id = 1 or id is null", vec![0, 1]),
        ("not (id = 1 or id is null)", vec![2]),
        ("id in (1, null)", vec![0]),
        ("not (id in (1, null))", vec![]),
        ("id not in (1)", vec![2]),
        ("id not in (1, null)", vec![]),
        ("id = null", vec![]),
        ("not (id = null)", vec![]),
        ("id between 1 and null", vec![]),
        ("id not between 2 and null", vec![0]),
        ("id between 2 and 3", vec![2]),
        ("not (id between 2 and 3)", vec![0]),
        ("id in ()", vec![]),
        ("id not in ()", vec![0, 2]),
        ("true", vec![0, 1, 2]),
        ("not true", vec![]),
        ("id is not null and not (id > 1 and id < 5)", vec![0]),
        // Unknown and false is false, so its negation holds.
        ("not (id > 5 and false)", vec![0, 1, 2]),
    ] {
        assert_eq!(matching(&text(predicate), &ids), expected, "{predicate}");
    }
}

#[test]
fn floats_compare_in_javas_total_order() {
    let values: Vec<_> = [-0.0, 0.0, f64::NAN, -f64::NAN, f64::INFINITY, -1.5]
        .into_iter()
        .map(Datum::Double)
        .collect();
    let doubles = batch("d", &values);
    for (predicate, expected) in [
        ("d = 0.0", vec![1]),
        ("d = -0.0", vec![0]),
        ("d < 0.0", vec![0, 5]),
        ("d > 1e300", vec![2, 3, 4]),
        ("d = 'NaN'", vec![2, 3]),
        ("d > 'Infinity'", vec![2, 3]),
        ("d in (0.0, 'NaN')", vec![1, 2, 3]),
        ("d in (0.0, 'NaN', 5, 6, 7, 8)", vec![1, 2, 3]),
        ("d not in (-0.0, 'NaN')", vec![1, 4, 5]),
        ("d <> 'NaN'", vec![0, 1, 4, 5]),
    ] {
        assert_eq!(
            matching(&text(predicate), &doubles),
            expected,
            "{predicate}"
        );
    }
    let floats = batch("f", &[Datum::Float(0.1), Datum::Float(f32::NAN)]);
    assert_eq!(matching(&text("f = 0.1"), &floats), [0]);
    assert_eq!(matching(&text("f > 0.1"), &floats), [1]);
    assert_eq!(matching(&text("f = 0.10000000149011612"), &floats), [0]);
}

#[test]
fn bytes_compare_unsigned() {
    let raw = batch(
        "raw",
        &[&[0x80][..], &[0x7e], &[0x01], &[0x7f, 0x00]].map(|bytes| Datum::Bytes(bytes.to_vec())),
    );
    assert_eq!(matching(&text("raw > X'7F'"), &raw), [0, 3]);
    assert_eq!(matching(&text("raw <= X'7e'"), &raw), [1, 2]);
    assert_eq!(matching(&text("starts_with(raw, X'7F')"), &raw), [3]);
    assert_eq!(matching(&text("ends_with(raw, X'00')"), &raw), [3]);
    assert_eq!(matching(&text("contains(raw, X'')"), &raw), [0, 1, 2, 3]);
    assert_eq!(matching(&text("raw in (X'80', X'01')"), &raw), [0, 2]);
}

#[test]
fn decimals_compare_by_value_whatever_the_scale_of_the_literal() {
    let prices = batch(
        "price",
        &[
            decimal(110, 2),
            decimal(-125, 2),
            decimal(0, 2),
            decimal(126, 2),
        ],
    );
    for (predicate, expected) in [
        ("price = 1.1", vec![0]),
        ("price = 1.10000", vec![0]),
        ("price < 0", vec![1]),
        ("price = 1.255", vec![]),
        ("price <> 1.255", vec![0, 1, 2, 3]),
        ("price < 1.255", vec![0, 1, 2]),
        ("price <= 1.255", vec![0, 1, 2]),
        ("price > 1.255", vec![3]),
        ("price >= -1.2549", vec![0, 1, 2, 3]),
        ("price < -1.2501", vec![]),
        ("price <= -1.2499", vec![1]),
        ("price < 123456789012345678901234567890", vec![0, 1, 2, 3]),
        (
            "price > -99999999999999999999999999999999999999",
            vec![0, 1, 2, 3],
        ),
        ("price >= 99999999999999999999999999999999999999", vec![]),
        ("price in (1.1, 1.255, -1.25)", vec![0, 1]),
        ("price between 1.099 and 1.2599", vec![0]),
        ("price = 1e-30", vec![]),
    ] {
        assert_eq!(matching(&text(predicate), &prices), expected, "{predicate}");
    }
    let wide = batch("wide", &[decimal(-1, 18), decimal(1, 18), decimal(0, 18)]);
    assert_eq!(matching(&text("wide < 0"), &wide), [0]);
    assert_eq!(
        matching(&text("wide >= -0.000000000000000001"), &wide),
        [0, 1, 2]
    );
}

#[test]
fn instants_compare_at_their_own_grain() {
    let noon = 1_700_000_000_000_000;
    let ts6 = batch("ts6", &[micros(noon), micros(noon + 700)]);
    assert_eq!(
        matching(&text("ts6 > timestamp '2023-11-14 22:13:20.000000'"), &ts6),
        [1]
    );
    assert_eq!(
        matching(&text("ts6 = '2023-11-14T22:13:20.0007'"), &ts6),
        [1]
    );
    // Finer than the column stores: between two of its values.
    let ts3 = batch("ts3", &[micros(noon), micros(noon + 1_000), micros(-1_000)]);
    for (predicate, expected) in [
        ("ts3 = '2023-11-14 22:13:20.0005'", vec![]),
        ("ts3 < '2023-11-14 22:13:20.0005'", vec![0, 2]),
        ("ts3 >= '2023-11-14 22:13:20.0005'", vec![1]),
        ("ts3 > '1969-12-31 23:59:59.9985'", vec![0, 1, 2]),
        ("ts3 < '1969-12-31 23:59:59.999000001'", vec![2]),
        ("ts3 > date '2023-11-14'", vec![0, 1]),
    ] {
        assert_eq!(matching(&text(predicate), &ts3), expected, "{predicate}");
    }
    // Beyond what nanoseconds reach.
    let ts9 = batch("ts9", &[micros(noon)]);
    assert_eq!(matching(&text("ts9 < '3000-01-01 00:00:00'"), &ts9), [0]);
    assert_eq!(matching(&text("ts9 > '1000-01-01 00:00:00'"), &ts9), [0]);
    assert_eq!(
        matching(&text("ts9 in ('3000-01-01')"), &ts9),
        [] as [usize; 0]
    );
    // Text of an instant is in UTC, or carries its offset; the zone of the machine plays no part.
    let seen = batch("seen", &[micros(noon)]);
    for literal in [
        "2023-11-14T22:13:20Z",
        "2023-11-14 22:13:20",
        "2023-11-15T06:13:20+08:00",
    ] {
        assert_eq!(
            matching(&text(&format!("seen = '{literal}'")), &seen),
            [0],
            "{literal}"
        );
    }
}

#[test]
fn like_takes_escaped_wildcards_for_themselves() {
    let values = [
        "a%",
        "a\\anything",
        "abc",
        "a_",
        "ab",
        "a\\",
        "",
        "a",
        "aé",
        "xay",
    ];
    let names = batch("name", &values.map(string));
    for (pattern, expected) in [
        ("a\\%", vec!["a%"]),
        ("a\\_", vec!["a_"]),
        ("a\\\\%", vec!["a\\anything", "a\\"]),
        ("a\\\\", vec!["a\\"]),
        (
            "a%",
            vec!["a%", "a\\anything", "abc", "a_", "ab", "a\\", "a", "aé"],
        ),
        ("a_", vec!["a%", "a_", "ab", "a\\", "aé"]),
        (
            "%a%",
            vec![
                "a%",
                "a\\anything",
                "abc",
                "a_",
                "ab",
                "a\\",
                "a",
                "aé",
                "xay",
            ],
        ),
        ("%y", vec!["xay"]),
        ("_", vec!["a"]),
        ("%", values.to_vec()),
        ("", vec![""]),
        ("a_%c", vec!["abc"]),
        ("%a_y%", vec!["a\\anything"]),
        ("%\\_", vec!["a_"]),
    ] {
        let predicate = Predicate::leaf(
            &row_type(),
            "name",
            PredicateOp::Like,
            vec![string(pattern)],
        )
        .unwrap();
        let found: Vec<_> = matching(&predicate, &names)
            .into_iter()
            .map(|row| values[row])
            .collect();
        let expected: Vec<_> = values
            .into_iter()
            .filter(|value| expected.contains(value))
            .collect();
        assert_eq!(found, expected, "{pattern}");
    }
    for wrong in ["a\\", "\\x", "%\\"] {
        let error = Predicate::leaf(&row_type(), "name", PredicateOp::Like, vec![string(wrong)])
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{wrong}");
    }
}

#[test]
fn text_is_searched_by_its_parts() {
    let names = batch(
        "name",
        &[string("delta"), Datum::Null, string("alpha"), string("")],
    );
    assert_eq!(matching(&text("starts_with(name, 'al')"), &names), [2]);
    assert_eq!(matching(&text("ends_with(name, 'a')"), &names), [0, 2]);
    assert_eq!(matching(&text("contains(name, 'lt')"), &names), [0]);
    assert_eq!(matching(&text("not contains(name, 'lt')"), &names), [2, 3]);
    assert_eq!(matching(&text("name not like '%a'"), &names), [3]);
    assert_eq!(matching(&text("name >= 'b'"), &names), [0]);
    assert_eq!(matching(&text("name = ''"), &names), [3]);
    assert_eq!(
        matching(&text("not starts_with(name, null)"), &names),
        [] as [usize; 0]
    );
}

#[test]
fn booleans_are_conditions_and_values() {
    let flags = batch(
        "flag",
        &[Datum::Boolean(true), Datum::Boolean(false), Datum::Null],
    );
    assert_eq!(matching(&text("flag"), &flags), [0]);
    assert_eq!(matching(&text("not flag"), &flags), [1]);
    assert_eq!(matching(&text("flag in (true, false)"), &flags), [0, 1]);
    assert_eq!(matching(&text("flag < true"), &flags), [1]);
}

#[test]
fn columns_are_looked_up_by_name_and_checked() {
    let ids = batch("id", &[Datum::Int(1)]);
    let error = text("name = 'a'").eval(&ids).unwrap_err();
    assert!(
        matches!(error, TypeError::UnknownColumn { ref name } if name == "name"),
        "{error}"
    );
    let mut wrong = text("id = 1");
    if let Predicate::Leaf {
        data_type,
        literals,
        ..
    } = &mut wrong
    {
        (*data_type, *literals) = (DataType::big_int(), vec![Datum::BigInt(1)]);
    }
    let error = wrong.eval(&ids).unwrap_err();
    assert!(
        matches!(error, TypeError::Column { ref column, .. } if column == "id"),
        "{error}"
    );
    let lists = batch("list", &[Datum::Null]);
    assert_eq!(matching(&text("list is null"), &lists), [0]);
}
