//! Predicates from JSON and text, and back.

use super::*;

fn from_json(json: serde_json::Value) -> Result<Predicate, TypeError> {
    Predicate::from_json(&json, &row_type())
}

#[test]
fn json_reads_like_the_text_of_the_same_condition() {
    for (json, written) in [
        (json!({"op":"=","field":"id","value":5}), "id = 5"),
        (
            json!({"op":"!=","field":"big","value":-9_223_372_036_854_775_808_i64}),
            "big <> -9223372036854775808",
        ),
        (json!({"op":"<","field":"d","value":1e-5}), "d < 1e-5"),
        (json!({"op":"<=","field":"f","value":0.1}), "f <= 0.1"),
        (
            json!({"op":">","field":"d","value":"-Infinity"}),
            "d > '-Infinity'",
        ),
        (
            json!({"op":">=","field":"price","value":"-12.50"}),
            "price >= -12.5",
        ),
        (
            json!({"op":"=","field":"price","value":"1.255"}),
            "price = 1.255",
        ),
        (
            json!({"op":"=","field":"day","value":"2024-02-29"}),
            "day = date '2024-02-29'",
        ),
        (
            json!({"op":"=","field":"day","value":"+12024-02-29"}),
            "day = '+12024-02-29'",
        ),
        (
            json!({"op":"=","field":"clock","value":"12:34:56.789"}),
            "clock = time '12:34:56.789'",
        ),
        (
            json!({"op":"=","field":"ts6","value":"2024-02-29T12:34:56.123456"}),
            "ts6 = timestamp '2024-02-29 12:34:56.123456'",
        ),
        (
            json!({"op":"=","field":"seen","value":"2024-02-29T12:34:56.123Z"}),
            "seen = '2024-02-29 12:34:56.123'",
        ),
        (
            json!({"op":"=","field":"raw","value":"fw=="}),
            "raw = X'7f'",
        ),
        (json!({"op":"=","field":"flag","value":true}), "flag"),
        (json!({"op":"=","field":"name","value":null}), "name = null"),
        (
            json!({"op":"startsWith","field":"name","value":"a"}),
            "starts_with(name, 'a')",
        ),
        (
            json!({"op":"endsWith","field":"name","value":"a"}),
            "ends_with(name, 'a')",
        ),
        (
            json!({"op":"contains","field":"name","value":"a"}),
            "contains(name, 'a')",
        ),
        (
            json!({"op":"like","field":"name","value":"a%"}),
            "name like 'a%'",
        ),
        (json!({"op":"isNull","field":"list"}), "list is null"),
        (json!({"op":"isNotNull","field":"a b"}), "`a b` is not null"),
        (
            json!({"op":"in","field":"tiny","values":[1,null]}),
            "tiny in (1, null)",
        ),
        (
            json!({"op":"notIn","field":"small","values":[]}),
            "small not in ()",
        ),
        (
            json!({"op":"between","field":"id","low":1,"high":2}),
            "id between 1 and 2",
        ),
        (
            json!({"op":"and","of":[{"op":"=","field":"id","value":1},{"op":"or","of":[{"op":"isNull","field":"d"},{"op":"isNull","field":"f"}]}]}),
            "id = 1 and (d is null or f is null)",
        ),
        (
            json!({"op":"not","of":[{"op":"isNull","field":"d"}]}),
            "d is not null",
        ),
        (
            json!({"op":"not","of":{"op":"=","field":"id","value":1}}),
            "id <> 1",
        ),
        (json!({"op":"and","of":[]}), "true"),
        (json!({"op":"or","of":[]}), "false"),
        (json!(true), "true"),
    ] {
        assert_eq!(
            from_json(json.clone()).unwrap_or_else(|error| panic!("{json}: {error:?}")),
            text(written),
            "{json}"
        );
    }
}

#[test]
fn json_errors_name_the_field_and_the_value() {
    for (json, wanted) in [
        (
            json!({"op":"=","field":"id","value":"5"}),
            "\"\\\"5\\\"\" is not a value of type INT",
        ),
        (
            json!({"op":"=","field":"id","value":1.5}),
            "\"1.5\" is not a value of type INT",
        ),
        (
            json!({"op":"=","field":"tiny","value":300}),
            "value 300 does not fit TINYINT",
        ),
        (
            json!({"op":"=","field":"day","value":"2023-02-29"}),
            "\"2023-02-29\" is not a value of type DATE",
        ),
        (json!({"op":"=","field":"raw","value":"?"}), "not base64"),
        (
            json!({"op":"=","field":"d","value":"1.0"}),
            "a JSON number is wanted",
        ),
        (
            json!({"op":"=","field":"flag","value":1}),
            "true or false is wanted",
        ),
        (
            json!({"op":"=","field":"name","value":1}),
            "a JSON string is wanted",
        ),
        (
            json!({"op":"=","field":"list","value":[1]}),
            "unsupported: comparing values of type ARRAY<INT>",
        ),
        (json!({"op":"<","field":"name"}), "without \"value\""),
        (
            json!({"op":"in","field":"id","values":5}),
            "without \"values\"",
        ),
        (
            json!({"op":"startsWith","field":"raw","value":5}),
            "a JSON string is wanted",
        ),
        (
            json!({"op":"like","field":"name","value":"\\"}),
            "a \\ must stand before",
        ),
    ] {
        let error = from_json(json.clone()).unwrap_err();
        let TypeError::Column { column, source } = &error else {
            panic!("{json}: {error:?}")
        };
        assert_eq!(json["field"], column.as_str());
        assert!(source.to_string().contains(wanted), "{json}: {source}");
    }
    for json in [
        json!({"op":"=","field":"nothing","value":1}),
        json!({"op":"~","field":"id","value":1}),
        json!({"field":"id"}),
        json!({"op":"and"}),
        json!({"op":"not","of":[]}),
        json!(["and"]),
        json!(null),
        json!({"op":"isNull"}),
    ] {
        assert!(from_json(json.clone()).is_err(), "{json}");
    }
    let mut deep = json!({"op":"isNull","field":"id"});
    for _ in 0..200 {
        deep = json!({"op":"not","of":[deep]});
    }
    assert!(from_json(deep).is_err());
}

#[test]
fn text_is_written_in_one_form() {
    for (written, canonical) in [
        (
            "id > 30 and name in ('AA','UA') and name like 'J%' and d is not null and day between date '2013-01-01' and '2013-02-01'",
            "id > 30 AND name IN ('AA', 'UA') AND name LIKE 'J%' AND d IS NOT NULL AND day BETWEEN DATE '2013-01-01' AND DATE '2013-02-01'",
        ),
        ("\"a b\" = 1 OR `a b`=2", "`a b` = 1 OR `a b` = 2"),
        ("NOT (id = 1 AND big = 2)", "id <> 1 OR big <> 2"),
        ("not not id != 1", "id <> 1"),
        (
            "5 < id and 5 >= big and 'x' = name",
            "id > 5 AND big <= 5 AND name = 'x'",
        ),
        ("ID = 1 and Name = 'it''s'", "id = 1 AND name = 'it''s'"),
        ("id=-1 or id=+1", "id = -1 OR id = 1"),
        (
            "flag and not flag or true = flag",
            "flag = TRUE AND flag <> TRUE OR flag = TRUE",
        ),
        (
            "d = 1e20 or d = .5 or d < 'NaN'",
            "d = 1.0E20 OR d = 0.5 OR d < 'NaN'",
        ),
        ("raw = X'00fF'", "raw = X'00FF'"),
        ("name not like '%a'", "NOT (name LIKE '%a')"),
        (
            "ts3 >= date '2024-02-29'",
            "ts3 >= TIMESTAMP '2024-02-29 00:00:00'",
        ),
        (
            "seen < '2025-06-19 14:40:20'",
            "seen < TIMESTAMP '2025-06-19 14:40:20'",
        ),
        ("(((id is null)))", "id IS NULL"),
        ("id = 1 and true", "id = 1"),
        (
            "id = 1 or (big = 2 and (d > 3 or f < 4))",
            "id = 1 OR (big = 2 AND (d > 3.0 OR f < 4.0))",
        ),
        ("clock = '1:2:3'", "clock = TIME '01:02:03.000'"),
        (
            "starts_with(name,'a') and contains(\"name\", 'b') and ends_with(name, null)",
            "starts_with(name, 'a') AND contains(name, 'b') AND ends_with(name, NULL)",
        ),
    ] {
        let predicate = text(written);
        let expected = canonical.replace(
            "flag = TRUE AND flag <> TRUE OR",
            "(flag = TRUE AND flag <> TRUE) OR",
        );
        assert_eq!(predicate.to_string(), expected, "{written}");
        assert_eq!(text(&predicate.to_string()), predicate, "{written}");
    }
}

#[test]
fn text_errors_say_where() {
    for (written, position, wanted) in [
        ("", 0, "a column is wanted, not the end"),
        (
            "id",
            2,
            "a comparison, IS, IN, BETWEEN or LIKE is wanted, not the end",
        ),
        ("id =", 4, "a value is wanted, not the end"),
        ("id = 1 big = 2", 7, "AND, OR or the end is wanted"),
        ("id = 1 and", 10, "a column is wanted, not the end"),
        ("nothing = 1", 0, "no column is named \"nothing\""),
        ("\"ID\" = 1", 0, "no column is named \"ID\""),
        ("id = 'x'", 5, "not a whole number"),
        ("tiny = 300", 7, "value 300 does not fit TINYINT"),
        ("name = 5", 7, "expected STRING, found a number"),
        ("id = date '2024-01-01'", 5, "expected INT, found a date"),
        ("day = date '2024-13-01'", 6, "not a date like"),
        (
            "day = timestamp '2024-01-01 00:00:00'",
            6,
            "found a timestamp",
        ),
        ("id = 'x", 5, "the closing ' is missing"),
        ("`id = 1", 0, "the closing ` is missing"),
        ("(id = 1", 7, ") is wanted, not the end"),
        ("id = 1)", 6, "AND, OR or the end is wanted"),
        ("id in 1", 6, "( is wanted"),
        ("id in (1 2)", 9, ", is wanted"),
        ("id between 1 or 2", 13, "AND is wanted"),
        ("id is 5", 6, "NULL is wanted"),
        ("id not 5", 7, "a comparison, IS"),
        ("id = - x", 5, "a number is wanted after the sign"),
        ("id ; 1", 3, "';' has no meaning here"),
        ("raw = X'0'", 6, "hexadecimal"),
        ("raw = X'0g'", 6, "hexadecimal"),
        ("id = big", 5, "a value is wanted, not \"big\""),
        ("1 = 1", 4, "a column is wanted"),
        ("1 and id = 1", 2, "a comparison is wanted"),
        ("and = 1", 0, "a column is wanted, not \"and\""),
        ("list = 1", 7, "expected ARRAY<INT>, found a number"),
        ("id like 'a'", 8, "not a whole number"),
        ("name like 'a\\'", 10, "a \\ must stand before"),
        ("starts_with(id, 1)", 17, "startsWith does not apply to INT"),
        ("é = 1", 0, "no column is named \"é\""),
        ("id = 1 and é = 1", 11, "no column"),
    ] {
        let error = Predicate::parse_text(written, &row_type()).unwrap_err();
        let TypeError::FilterText {
            position: found,
            reason,
        } = &error
        else {
            panic!("{written}: {error:?}")
        };
        assert!(reason.contains(wanted), "{written}: {reason}");
        assert_eq!(*found, position, "{written}: {reason}");
        assert_eq!(error.kind(), ErrorKind::Invalid);
    }
}

#[test]
fn names_in_other_case_must_be_unambiguous() {
    let row = RowType::of([
        ("Key", DataType::int()),
        ("KEY", DataType::int()),
        ("one", DataType::int()),
    ]);
    assert!(Predicate::parse_text("Key = 1 and KEY = 2 and ONE = 3", &row).is_ok());
    assert!(Predicate::parse_text("key = 1", &row).is_err());
}

#[test]
fn nesting_has_a_limit() {
    for (open, close) in [("(", ")"), ("not ", "")] {
        let nested = |depth: usize| format!("{}id = 1{}", open.repeat(depth), close.repeat(depth));
        assert!(Predicate::parse_text(&nested(MAX_PREDICATE_DEPTH), &row_type()).is_ok());
        assert!(Predicate::parse_text(&nested(MAX_PREDICATE_DEPTH + 1), &row_type()).is_err());
        assert!(Predicate::parse_text(&nested(100_000), &row_type()).is_err());
    }
}
