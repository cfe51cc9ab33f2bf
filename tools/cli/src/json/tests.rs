//! Lines to batches and back.

use proptest::prelude::*;
use tidewater_types::{DataType, RowType, TypeKind};

use super::*;

fn decode(row_type: &RowType, lines: &[&str]) -> Result<DecodedRows, JsonError> {
    let mut decoder = RowDecoder::new(row_type)?;
    for (line, number) in lines.iter().zip(1..) {
        assert_eq!(decoder.line(number, line)?, InputLine::Row);
    }
    Ok(decoder.take()?.unwrap())
}

fn encode(row_type: &RowType, rows: &DecodedRows) -> Vec<String> {
    let encoder = RowEncoder::new(row_type);
    let mut bound = encoder.bind(&rows.batch).unwrap();
    (0..rows.batch.num_rows())
        .map(|row| {
            let mut out = Vec::new();
            bound.write_row(row, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        })
        .collect()
}

/// What one value of `data_type` is written as after it was read.
fn again(data_type: DataType, value: &str) -> Result<String, String> {
    let row_type = RowType::of([("v", data_type)]);
    let line = format!("{{\"row\":{{\"v\":{value}}}}}");
    let rows = decode(&row_type, &[&line]).map_err(|error| error.to_string())?;
    let text = encode(&row_type, &rows).remove(0);
    Ok(text
        .strip_prefix("{\"v\":")
        .unwrap()
        .strip_suffix('}')
        .unwrap()
        .to_owned())
}

#[track_caller]
fn stays(data_type: DataType, values: &[&str]) {
    for value in values {
        assert_eq!(
            again(data_type.clone(), value).as_deref(),
            Ok(*value),
            "{data_type}"
        );
    }
}

#[track_caller]
fn refused(data_type: DataType, values: &[&str]) {
    for value in values {
        assert!(
            again(data_type.clone(), value).is_err(),
            "{data_type} took {value}"
        );
    }
}

#[test]
fn whole_numbers_are_exact_and_bounded() {
    stays(DataType::tiny_int(), &["-128", "127", "null"]);
    stays(DataType::small_int(), &["-32768", "32767"]);
    stays(DataType::int(), &["-2147483648", "2147483647", "0"]);
    stays(
        DataType::big_int(),
        &[
            "-9223372036854775808",
            "9223372036854775807",
            "9007199254740993",
        ],
    );
    refused(
        DataType::tiny_int(),
        &["128", "-129", "1.0", "1e0", "\"1\"", "true"],
    );
    refused(
        DataType::big_int(),
        &["9223372036854775808", "-9223372036854775809", "1.5", "[]"],
    );
}

#[test]
fn doubles_keep_their_bits_and_floats_are_widened() {
    stays(
        DataType::double(),
        &[
            "1.0",
            "-0.0",
            "0.1",
            "5e-324",
            "\"NaN\"",
            "\"Infinity\"",
            "\"-Infinity\"",
            "null",
        ],
    );
    assert_eq!(again(DataType::double(), "1").unwrap(), "1.0");
    assert_eq!(again(DataType::double(), "1E-5").unwrap(), "0.00001");
    assert_eq!(
        again(DataType::float(), "0.1").unwrap(),
        "0.10000000149011612"
    );
    refused(DataType::double(), &["1e999", "\"1.5\"", "\"nan\"", "true"]);
    refused(DataType::float(), &["1e39"]);
}

#[test]
fn decimals_are_strings_with_all_digits_of_the_scale() {
    let most = format!("\"{}.{}\"", "9".repeat(28), "9".repeat(10));
    stays(
        DataType::decimal(38, 10),
        &[&most, "\"0.0000000000\"", "null"],
    );
    assert_eq!(
        again(DataType::decimal(10, 2), "12.5").unwrap(),
        "\"12.50\""
    );
    assert_eq!(
        again(DataType::decimal(10, 2), "\"-1\"").unwrap(),
        "\"-1.00\""
    );
    refused(
        DataType::decimal(4, 2),
        &["\"100\"", "\"1.234\"", "\"x\"", "\"\""],
    );
}

#[test]
fn text_bytes_and_variants() {
    stays(
        DataType::string(),
        &["\"\"", "\" a \"", "\"日本\\n\\\"\"", "\"\u{7f}\""],
    );
    stays(DataType::new(TypeKind::Char(3)), &["\"a\""]);
    stays(DataType::bytes(), &["\"\"", "\"AAH/\"", "\"/w==\""]);
    stays(
        DataType::new(TypeKind::Variant),
        &["\"{\\\"a\\\":[1,null,\\\"x\\\"]}\"", "null"],
    );
    refused(DataType::bytes(), &["\"AA\"", "\"?\"", "1"]);
    refused(DataType::string(), &["1", "true", "{}"]);
    refused(DataType::new(TypeKind::Variant), &["\"{\"", "{}"]);
}

#[test]
fn days_and_moments() {
    stays(
        DataType::date(),
        &[
            "\"2024-02-29\"",
            "\"0001-01-01\"",
            "\"-0044-03-15\"",
            "\"+12345-01-01\"",
        ],
    );
    stays(DataType::time(0), &["\"23:59:59.999\"", "\"00:00:00.000\""]);
    stays(DataType::timestamp(0), &["\"2024-02-29T12:34:56\""]);
    stays(
        DataType::timestamp(3),
        &["\"1969-12-31T23:59:59.999\"", "\"9999-12-31T23:59:59.999\""],
    );
    stays(DataType::timestamp(6), &["\"0001-01-01T00:00:00.000001\""]);
    stays(
        DataType::timestamp(9),
        &["\"2262-04-11T23:47:16.854775807\""],
    );
    stays(
        DataType::timestamp_ltz(3),
        &["\"2024-02-29T12:34:56.123Z\""],
    );
    assert_eq!(
        again(DataType::timestamp(0), "\"2024-01-01T00:00:00.5\"").unwrap(),
        "\"2024-01-01T00:00:00.500000000\""
    );
    assert_eq!(
        again(DataType::timestamp(3), "\"2024-01-01T00:00\"").unwrap(),
        "\"2024-01-01T00:00:00.000\""
    );
    refused(DataType::date(), &["\"2023-02-29\"", "\"24-01-01\"", "1"]);
    refused(DataType::time(3), &["\"24:00:00\"", "\"12\""]);
    refused(
        DataType::timestamp(3),
        &["\"2024-02-29T12:34:56.123Z\"", "\"2024-02-29\""],
    );
    refused(DataType::timestamp_ltz(3), &["\"2024-02-29T12:34:56.123\""]);
    refused(DataType::timestamp(9), &["\"9999-12-31T00:00:00\""]);
}

#[test]
fn nested_values_of_every_kind() {
    stays(
        DataType::array(DataType::int()),
        &["[]", "[1,null,3]", "null"],
    );
    stays(
        DataType::array(DataType::array(DataType::string())),
        &["[[\"a\"],null,[]]"],
    );
    let map = DataType::map(
        DataType::string().not_null(),
        DataType::array(DataType::double()),
    );
    stays(map.clone(), &["[]", "[[\"a\",[1.0]],[\"b\",null]]"]);
    assert_eq!(
        again(map, "[[\"b\",null],[\"a\",[1.0]]]").unwrap(),
        "[[\"a\",[1.0]],[\"b\",null]]"
    );
    assert_eq!(
        again(
            DataType::map(DataType::int().not_null(), DataType::int()),
            "[[2,1],[10,2],[-1,3]]"
        )
        .unwrap(),
        "[[-1,3],[10,2],[2,1]]"
    );
    stays(
        DataType::multiset(DataType::string().not_null()),
        &["[[\"a\",2],[\"b\",1]]"],
    );
    let row = DataType::row(RowType::of([
        ("a", DataType::int()),
        ("b", DataType::row(RowType::of([("c", DataType::date())]))),
    ]));
    stays(
        row.clone(),
        &[
            "{\"a\":1,\"b\":{\"c\":\"2024-01-01\"}}",
            "{\"a\":null,\"b\":null}",
            "null",
        ],
    );
    assert_eq!(
        again(row, "{\"b\":{}}").unwrap(),
        "{\"a\":null,\"b\":{\"c\":null}}"
    );
    let deep = DataType::map(
        DataType::string(),
        DataType::map(DataType::string(), DataType::int()),
    );
    assert_eq!(
        again(
            deep,
            "[[\"b\",[[\"y\",1],[\"x\",2]]],[\"a\",[[\"z\",3],[\"w\",4]]]]"
        )
        .unwrap(),
        "[[\"a\",[[\"w\",4],[\"z\",3]]],[\"b\",[[\"x\",2],[\"y\",1]]]]"
    );
}

#[test]
fn nested_values_that_no_table_can_hold() {
    refused(
        DataType::array(DataType::int().not_null()),
        &["[null]", "{}"],
    );
    refused(
        DataType::map(DataType::string(), DataType::int()),
        &[
            "[[null,1]]",
            "[[\"a\"]]",
            "[[\"a\",1,2]]",
            "[[]]",
            "{\"a\":1}",
            "[[\"a\",1],[\"a\",2]]",
        ],
    );
    refused(DataType::multiset(DataType::string()), &["[[\"a\",null]]"]);
    refused(
        DataType::row(RowType::of([("a", DataType::int().not_null())])),
        &["{}", "{\"a\":null}", "{\"b\":1}", "[1]"],
    );
}

#[test]
fn lines_may_have_kinds_buckets_and_members_in_any_order() {
    let row_type = RowType::of([("a", DataType::int()), ("b", DataType::string())]);
    let rows = decode(
        &row_type,
        &[
            r#"{"row":{"b":"x","a":1}}"#,
            r#"{"kind":"-D","row":{"a":2}}"#,
            r#" { "row" : { } , "bucket" : 3, "kind" : "+U" } "#,
        ],
    )
    .unwrap();
    assert_eq!(
        encode(&row_type, &rows),
        [
            r#"{"a":1,"b":"x"}"#,
            r#"{"a":2,"b":null}"#,
            r#"{"a":null,"b":null}"#
        ]
    );
    assert_eq!(rows.kinds.values(), &[0, 3, 2]);
    assert_eq!(
        rows.buckets.unwrap().iter().collect::<Vec<_>>(),
        [None, None, Some(3)]
    );
}

#[test]
fn errors_name_line_column_value_and_what_was_expected() {
    let inner = DataType::row(RowType::of([("x", DataType::array(DataType::int()))]));
    let row_type = RowType::of([("a", DataType::int()), ("r", inner)]);
    let error = |line: &str| {
        RowDecoder::new(&row_type)
            .unwrap()
            .line(7, line)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        error(r#"{"row":{"a":"one"}}"#),
        "line 7, column a: \"one\" is not INT"
    );
    assert_eq!(
        error(r#"{"row":{"r":{"x":[1,2.5]}}}"#),
        "line 7, column r.x.element: 2.5 is not INT"
    );
    assert_eq!(error(r#"{"row":{"z":1}}"#), "line 7: no such column: \"z\"");
    assert_eq!(
        error(r#"{"row":{"a":1,"a":2}}"#),
        "line 7: column given twice: \"a\""
    );
    assert_eq!(
        error(r#"{"row":{"a":1}"#),
        "line 7, character 15: expected a comma or }"
    );
    assert_eq!(
        error(r#"{"row":{"a":1},"commit":1}"#),
        "line 7: \"commit\" has no meaning beside a row"
    );
    assert_eq!(
        error(r#"{"commit":1,"row":{}}"#),
        "line 7: \"commit\" has no meaning beside a row"
    );
    assert_eq!(
        error(r#"{"kind":"I","row":{}}"#),
        "line 7: kind \"I\" is not one of \"+I\", \"-U\", \"+U\", \"-D\""
    );
    assert_eq!(error(r#"[1]"#), "line 7, character 1: expected an object");
}

#[test]
fn other_lines_are_handed_on() {
    let mut decoder = RowDecoder::new(&RowType::of([("a", DataType::int())])).unwrap();
    assert_eq!(decoder.line(1, "  ").unwrap(), InputLine::Blank);
    let InputLine::Directive(members) = decoder
        .line(2, r#"{"commit":5,"properties":{"row":"no row"}}"#)
        .unwrap()
    else {
        panic!()
    };
    assert_eq!(members["commit"], 5);
    assert!(decoder.take().unwrap().is_none());
    assert!(decoder.line(3, r#"{"commit":5"#).is_err());
}

#[test]
fn a_decoder_starts_afresh_after_each_take() {
    let row_type = RowType::of([
        ("a", DataType::array(DataType::string())),
        ("m", DataType::map(DataType::int(), DataType::int())),
    ]);
    let mut decoder = RowDecoder::new(&row_type).unwrap();
    for round in 0..3 {
        decoder
            .line(
                1,
                &format!(r#"{{"row":{{"a":["{round}"],"m":[[{round},1]]}}}}"#),
            )
            .unwrap();
        let rows = decoder.take().unwrap().unwrap();
        assert_eq!(
            encode(&row_type, &rows),
            [format!(r#"{{"a":["{round}"],"m":[[{round},1]]}}"#)]
        );
        assert_eq!((decoder.rows(), decoder.text_bytes()), (0, 0));
    }
}

fn json_of(data_type: &DataType) -> BoxedStrategy<String> {
    let value = match &data_type.kind {
        TypeKind::Boolean => any::<bool>().prop_map(|value| value.to_string()).boxed(),
        TypeKind::BigInt => any::<i64>().prop_map(|value| value.to_string()).boxed(),
        TypeKind::Double => any::<f64>()
            .prop_filter("json has no others", |value| value.is_finite())
            .prop_map(|value| serde_json::to_string(&value).unwrap())
            .boxed(),
        TypeKind::VarChar(_) => any::<String>()
            .prop_map(|value| {
                let mut out = Vec::new();
                write_string(&mut out, &value);
                String::from_utf8(out).unwrap()
            })
            .boxed(),
        TypeKind::Array(element) => prop::collection::vec(json_of(element), 0..4)
            .prop_map(|items| format!("[{}]", items.join(",")))
            .boxed(),
        TypeKind::Row(row) => {
            let members: Vec<_> = row
                .fields
                .iter()
                .map(|field| (Just(field.name.clone()), json_of(&field.data_type)))
                .collect();
            members
                .prop_map(|members| {
                    let members: Vec<_> = members
                        .into_iter()
                        .map(|(name, value)| format!("\"{name}\":{value}"))
                        .collect();
                    format!("{{{}}}", members.join(","))
                })
                .boxed()
        }
        other => panic!("no strategy for {other:?}"),
    };
    prop_oneof![1 => Just("null".to_owned()), 6 => value].boxed()
}

fn mixed_type() -> RowType {
    let row = RowType::of([
        ("x", DataType::big_int()),
        ("y", DataType::array(DataType::double())),
    ]);
    RowType::of([
        ("a", DataType::boolean()),
        ("b", DataType::big_int()),
        ("c", DataType::double()),
        ("d", DataType::string()),
        ("e", DataType::array(DataType::string())),
        ("f", DataType::array(DataType::row(row))),
    ])
}

fn row_of(row_type: &RowType) -> BoxedStrategy<String> {
    let row = DataType::row(row_type.clone());
    json_of(&row)
        .prop_filter("a row of its own", |row| row != "null")
        .boxed()
}

proptest! {
    /// What is read and written again is the same text.
    #[test]
    fn rows_come_back_as_they_were(rows in prop::collection::vec(row_of(&mixed_type()), 1..20)) {
        let row_type = mixed_type();
        let lines: Vec<String> = rows.iter().map(|row| format!("{{\"row\":{row}}}")).collect();
        let decoded = decode(&row_type, &lines.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
        prop_assert_eq!(encode(&row_type, &decoded), rows);
    }

    /// No line makes the decoder panic.
    #[test]
    fn any_line_is_read_or_refused(line in r#"[\{\}\[\]":,a-d0-9.\-+ \\rowkind]{0,60}"#) {
        let mut decoder = RowDecoder::new(&mixed_type()).unwrap();
        drop(decoder.line(1, &line));
        let mut decoder = RowDecoder::new(&mixed_type()).unwrap();
        drop(decoder.line(1, &format!("{{\"row\":{{{line}}}}}")));
    }
}
