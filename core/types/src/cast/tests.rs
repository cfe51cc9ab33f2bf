use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder, MapBuilder, StringBuilder};
use arrow_array::types::{Date32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{
    ArrayRef, Float64Array, Int32Array, Int64Array, ListArray, StringArray, StructArray,
    TimestampMicrosecondArray, TimestampMillisecondArray, new_null_array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::DataType as ArrowType;
use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::datum::{Datum, TimestampValue, datums_to_array};
use crate::row_type::{DataField, RowType};
use crate::test_vectors::vector;

fn sql_type(text: &str) -> DataType {
    DataType::parse_atomic(text).unwrap()
}

/// Values as the vectors write them: instants in microseconds, bytes in hexadecimal digits.
fn datum(value: &Value, data_type: &DataType) -> Datum {
    let number = || value.as_i64().unwrap();
    let text = || value.as_str().unwrap();
    if value.is_null() {
        return Datum::Null;
    }
    match &data_type.kind {
        TypeKind::Boolean => Datum::Boolean(value.as_bool().unwrap()),
        TypeKind::TinyInt => Datum::TinyInt(i8::try_from(number()).unwrap()),
        TypeKind::SmallInt => Datum::SmallInt(i16::try_from(number()).unwrap()),
        TypeKind::Int => Datum::Int(i32::try_from(number()).unwrap()),
        TypeKind::BigInt => Datum::BigInt(number()),
        TypeKind::Float => Datum::Float(match value.as_str() {
            Some(word) => word.parse().unwrap(),
            None => value.to_string().parse().unwrap(),
        }),
        TypeKind::Double => Datum::Double(value.to_string().parse().unwrap()),
        TypeKind::Char(_) | TypeKind::VarChar(_) => Datum::String(text().to_owned()),
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => {
            let digits: Vec<char> = text().chars().collect();
            let byte =
                |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
            Datum::Bytes(digits.chunks(2).map(byte).collect())
        }
        TypeKind::Decimal { precision, scale } => Datum::Decimal {
            unscaled: crate::text::parse_decimal(text(), *precision, *scale).unwrap(),
            precision: *precision,
            scale: *scale,
        },
        TypeKind::Date => Datum::Date(i32::try_from(number()).unwrap()),
        TypeKind::Time(_) => Datum::Time(i32::try_from(number()).unwrap()),
        TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_) => {
            Datum::Timestamp(TimestampValue::from_micros(number()))
        }
        other => panic!("no values of {other:?} in the vectors"),
    }
}

fn array(values: &Value, data_type: &DataType) -> ArrayRef {
    let datums: Vec<_> = values
        .as_array()
        .unwrap()
        .iter()
        .map(|value| datum(value, data_type))
        .collect();
    datums_to_array(data_type, &datums).unwrap()
}

#[test]
fn every_pair_of_java_is_allowed_or_refused_as_there() {
    let name = |data_type: &DataType| match data_type.kind {
        TypeKind::Int => "INTEGER",
        TypeKind::Time(_) => "TIME_WITHOUT_TIME_ZONE",
        TypeKind::Timestamp(_) => "TIMESTAMP_WITHOUT_TIME_ZONE",
        TypeKind::TimestampLtz(_) => "TIMESTAMP_WITH_LOCAL_TIME_ZONE",
        _ => data_type.kind.name(),
    };
    let row = RowType::of([("x", DataType::int())]);
    let types = [
        DataType::new(TypeKind::Char(5)),
        DataType::new(TypeKind::VarChar(5)),
        DataType::boolean(),
        DataType::new(TypeKind::Binary(5)),
        DataType::bytes(),
        DataType::decimal(10, 2),
        DataType::tiny_int(),
        DataType::small_int(),
        DataType::int(),
        DataType::big_int(),
        DataType::float(),
        DataType::double(),
        DataType::date(),
        DataType::time(3),
        DataType::timestamp(6),
        DataType::timestamp_ltz(6),
        DataType::new(TypeKind::Variant),
        DataType::array(DataType::int()),
        DataType::map(DataType::string(), DataType::int()),
        DataType::multiset(DataType::string()),
        DataType::row(row),
    ];
    let vectors = vector("type_casts.json");
    let pairs = vectors["pairs"].as_array().unwrap();
    let mut found = 0;
    for from in &types {
        for to in types.iter().filter(|to| name(to) != name(from)) {
            let pair = pairs
                .iter()
                .find(|pair| pair["from"] == name(from) && pair["to"] == name(to));
            found += usize::from(pair.is_some());
            let allowed = |member: &str| pair.is_some_and(|pair| pair[member].as_bool().unwrap());
            assert_eq!(
                can_cast(from, to, true),
                allowed("alter_allowed_default"),
                "{from} to {to}"
            );
            assert_eq!(
                can_cast(from, to, false),
                allowed("alter_allowed_when_explicit_disabled"),
                "{from} to {to} without explicit casts"
            );
            // What is allowed can be done: an array of a null always can.
            let nulls = new_null_array(&to_arrow_type(from), 2);
            match cast_array(&nulls, from, to) {
                Ok(cast) => {
                    let time = matches!(name(from), "DATE") || name(from).starts_with("TIME");
                    assert!(
                        can_cast(from, to, true) || (time && to.kind.is_text()),
                        "{from} to {to}"
                    );
                    assert_eq!(*cast.data_type(), to_arrow_type(to));
                    assert_eq!((cast.len(), cast.null_count()), (2, 2), "{from} to {to}");
                }
                Err(error) => {
                    assert!(!can_cast(from, to, true), "{from} to {to}: {error}");
                    assert_eq!(error.kind(), crate::ErrorKind::Unsupported);
                }
            }
        }
    }
    assert_eq!(
        found,
        pairs.len(),
        "each pair of the vectors is one of ours"
    );
    for from in [
        DataType::date(),
        DataType::time(3),
        DataType::timestamp(3),
        DataType::timestamp_ltz(3),
    ] {
        assert!(can_cast(&from, &DataType::string(), true), "{from}");
        assert!(!can_cast(&from, &DataType::string(), false), "{from}");
    }
}

#[test]
fn nested_types_can_be_cast_when_their_parts_can() {
    let ints = DataType::array(DataType::int());
    assert!(can_cast(
        &ints,
        &DataType::array(DataType::big_int()),
        false
    ));
    assert!(!can_cast(&ints, &DataType::array(DataType::date()), true));
    let old = DataType::row(RowType::new(vec![DataField::new(3, "x", DataType::int())]));
    let added = DataType::row(RowType::new(vec![
        DataField::new(3, "renamed", DataType::string()),
        DataField::new(4, "x", DataType::date()),
    ]));
    assert!(can_cast(&old, &added, true));
    assert!(!can_cast(&old, &added, false));
}

#[test]
fn casts_of_old_files_read_as_in_java() {
    let vectors = vector("02-schema-evolution-read.json");
    let mut checked = 0;
    for case in vectors["casts_of_old_files"].as_array().unwrap() {
        if case.get("alter_error").is_some() {
            continue;
        }
        let (from_text, to_text) = (case["from"].as_str().unwrap(), case["to"].as_str().unwrap());
        let (from, to) = (sql_type(from_text), sql_type(to_text));
        let result = cast_array(&array(&case["values"], &from), &from, &to);
        if case["read"].is_string() {
            assert!(
                matches!(result, Err(TypeError::ValueText { .. })),
                "{case}: {result:?}"
            );
        } else {
            let mut expected = case["read"].clone();
            if (from_text, to_text) == ("TIMESTAMP(3)", "DATE") {
                // The one difference that is meant (spec 02a §6.3): Java cuts toward zero, days are floored here.
                assert_eq!(
                    expected[1], 0,
                    "the vector's instant is one millisecond before 1970"
                );
                expected[1] = Value::from(-1);
            }
            assert_eq!(&result.unwrap(), &array(&expected, &to), "{case}");
        }
        checked += 1;
    }
    assert_eq!(checked, 43);
}

fn text_array(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

fn cast_text(values: &[&str], to: &DataType) -> Result<ArrayRef> {
    cast_array(&text_array(values), &DataType::string(), to)
}

fn as_text(array: ArrayRef, from: &DataType) -> Vec<Option<String>> {
    let cast = cast_array(&array, from, &DataType::string()).unwrap();
    let text = cast.as_any().downcast_ref::<StringArray>().unwrap();
    text.iter().map(|value| value.map(str::to_owned)).collect()
}

#[test]
fn instants_before_1970_are_floored() {
    let micros = |values: Vec<i64>| Arc::new(TimestampMicrosecondArray::from(values)) as ArrayRef;
    let last_second_of_1969 = micros(vec![-1_000_000, -1, -86_400_000_000, -86_400_000_001]);
    let from = DataType::timestamp(6);
    let days = cast_array(&last_second_of_1969, &from, &DataType::date()).unwrap();
    assert_eq!(
        typed::<Date32Type>(&days, &DataType::date())
            .unwrap()
            .values(),
        &[-1, -1, -1, -2]
    );
    // 1960-06-15 10:30 is half past ten; no time of the day is negative.
    let half_past_ten = micros(vec![-301_239_000_000_000, -1]);
    let times = cast_array(&half_past_ten, &from, &DataType::time(3)).unwrap();
    assert_eq!(
        as_text(times, &DataType::time(3)),
        [
            Some("10:30:00.0".to_owned()),
            Some("23:59:59.999".to_owned())
        ]
    );
    for precision in 0..=9_u8 {
        let to = DataType::timestamp(precision);
        let cut = cast_array(&micros(vec![-1, 1_999_999]), &from, &to).unwrap();
        let expected: [i64; 2] = match precision {
            0 => [-1_000_000, 1_000_000],
            1 => [-100_000, 1_900_000],
            2 => [-10_000, 1_990_000],
            3 => [-1_000, 1_999_000],
            4 => [-100, 1_999_900],
            5 => [-10, 1_999_990],
            _ => [-1, 1_999_999],
        };
        let back = cast_array(&cut, &to, &from).unwrap();
        assert_eq!(
            typed::<TimestampMicrosecondType>(&back, &from)
                .unwrap()
                .values(),
            &expected,
            "{precision}"
        );
    }
    // Java divides toward zero here, and nothing says otherwise.
    let seconds = cast_array(
        &micros(vec![-1, -1_000_000, -1_500_000]),
        &from,
        &DataType::big_int(),
    )
    .unwrap();
    assert_eq!(
        typed::<Int64Type>(&seconds, &DataType::big_int())
            .unwrap()
            .values(),
        &[0, -1, -1]
    );
}

#[test]
fn instants_that_do_not_fit_are_errors_unless_they_are_null() {
    let far = Arc::new(TimestampMillisecondArray::from(vec![i64::MAX])) as ArrayRef;
    for precision in [6, 9] {
        let error = cast_array(
            &far,
            &DataType::timestamp(3),
            &DataType::timestamp(precision),
        )
        .unwrap_err();
        assert!(matches!(error, TypeError::DoesNotFit { .. }), "{error}");
    }
    assert!(cast_array(&far, &DataType::timestamp(3), &DataType::date()).is_err());
    assert!(
        cast_array(
            &(Arc::new(Int64Array::from(vec![i64::MAX])) as ArrayRef),
            &DataType::big_int(),
            &DataType::timestamp(3)
        )
        .is_err()
    );
    let hidden =
        TimestampMillisecondArray::new(vec![i64::MAX].into(), Some(NullBuffer::from(vec![false])));
    let cast = cast_array(
        &(Arc::new(hidden) as ArrayRef),
        &DataType::timestamp(3),
        &DataType::timestamp(9),
    )
    .unwrap();
    assert_eq!(cast.null_count(), 1);
}

#[test]
fn text_reads_as_java_reads_it() {
    let ints = cast_text(&["+5", "-0", "12.99", "."], &DataType::int()).unwrap();
    assert_eq!(
        &ints,
        &(Arc::new(Int32Array::from(vec![5, 0, 12, 0])) as ArrayRef)
    );
    for wrong in ["", "+", " 1", "1e3", "2147483648", "1.x", "٣"] {
        assert!(cast_text(&[wrong], &DataType::int()).is_err(), "{wrong:?}");
    }
    for wrong in ["128", "-129"] {
        assert!(
            cast_text(&[wrong], &DataType::tiny_int()).is_err(),
            "{wrong:?}"
        );
    }
    let doubles = cast_text(
        &[" 1.5 ", "-Infinity", "1e400", "5d", ".5", "1."],
        &DataType::double(),
    )
    .unwrap();
    let expected = vec![1.5, f64::NEG_INFINITY, f64::INFINITY, 5.0, 0.5, 1.0];
    assert_eq!(
        &doubles,
        &(Arc::new(Float64Array::from(expected)) as ArrayRef)
    );
    for wrong in ["inf", "nan", "", "1dd", "x"] {
        assert!(
            cast_text(&[wrong], &DataType::double()).is_err(),
            "{wrong:?}"
        );
    }
    let decimal = DataType::decimal(5, 2);
    let decimals = cast_text(
        &[
            "1.255", "-1.255", "1e2", "999.994", "999.995", "1e-9", "0e99",
        ],
        &decimal,
    )
    .unwrap();
    let read: Vec<_> = as_text(decimals, &decimal);
    let expected = [
        Some("1.26"),
        Some("-1.26"),
        Some("100.00"),
        Some("999.99"),
        None,
        Some("0.00"),
        Some("0.00"),
    ];
    assert_eq!(read, expected.map(|text| text.map(str::to_owned)));
    for wrong in ["", "-", ".", "1e", "1_000", " 1"] {
        assert!(cast_text(&[wrong], &decimal).is_err(), "{wrong:?}");
    }
    let dates = cast_text(
        &[
            "2024-02-29",
            "2024-1-2",
            "2024-02",
            "19724",
            "2024-02-29 10:00:00",
        ],
        &DataType::date(),
    );
    assert_eq!(
        as_text(dates.unwrap(), &DataType::date()),
        [
            "2024-02-29",
            "2024-01-02",
            "2024-02-01",
            "2024-01-02",
            "2024-02-29"
        ]
        .map(|text| Some(text.to_owned()))
    );
    for wrong in ["2023-02-29", "x", "", "2024-13-01"] {
        assert!(cast_text(&[wrong], &DataType::date()).is_err(), "{wrong:?}");
    }
    let times = cast_text(
        &["1:2:3", "10:30", "23:59:59.9996", "1000"],
        &DataType::time(3),
    )
    .unwrap();
    assert_eq!(
        as_text(times, &DataType::time(3)),
        ["01:02:03.0", "10:30:00.0", "23:59:59.999", "00:00:01.0"]
            .map(|text| Some(text.to_owned()))
    );
    let stamps = cast_text(
        &[
            "2024-01-02T03:04:05.6789",
            "2024-1-2 3:4:5",
            "1704164645678",
        ],
        &DataType::timestamp(3),
    );
    assert_eq!(
        as_text(stamps.unwrap(), &DataType::timestamp(3)),
        [
            "2024-01-02 03:04:05.678",
            "2024-01-02 03:04:05.000",
            "2024-01-02 03:04:05.678"
        ]
        .map(|text| Some(text.to_owned()))
    );
}

#[test]
fn an_error_of_text_shows_its_beginning_only() {
    let long = "é".repeat(10_000);
    let Err(TypeError::ValueText { text, .. }) = cast_text(&[&long], &DataType::int()) else {
        panic!("no error")
    };
    assert_eq!(text.chars().count(), 100);
}

#[test]
fn declared_lengths_cut_and_fill_by_characters() {
    let char3 = DataType::new(TypeKind::Char(3));
    let filled = cast_text(&["", "äö", "äöüß"], &char3).unwrap();
    assert_eq!(
        as_text(filled, &char3),
        ["   ", "äö ", "äöü"].map(|text| Some(text.to_owned()))
    );
    let varchar2 = DataType::new(TypeKind::VarChar(2));
    let numbers = Arc::new(Int32Array::from(vec![Some(12345), None, Some(7)])) as ArrayRef;
    let cut = cast_array(&numbers, &DataType::int(), &varchar2).unwrap();
    assert_eq!(
        as_text(cut, &varchar2),
        [Some("12".to_owned()), None, Some("7".to_owned())]
    );
    let huge = DataType::new(TypeKind::Char(MAX_CHAR));
    assert_eq!(
        cast_text(&["a", "b"], &huge).unwrap_err().kind(),
        crate::ErrorKind::Unsupported
    );
    let binary4 = DataType::new(TypeKind::Binary(4));
    let bytes = cast_text(&["ab", "abcde"], &binary4).unwrap();
    assert_eq!(
        as_text(bytes, &binary4),
        ["ab\0\0", "abcd"].map(|text| Some(text.to_owned()))
    );
}

const MAX_CHAR: u32 = crate::MAX_LENGTH;

#[test]
fn bytes_that_are_no_text_are_repaired() {
    let bytes = Arc::new(arrow_array::BinaryArray::from(vec![&b"a\xff"[..], b"ok"])) as ArrayRef;
    assert_eq!(
        as_text(bytes, &DataType::bytes()),
        ["a\u{fffd}", "ok"].map(|text| Some(text.to_owned()))
    );
}

#[test]
fn nested_values_have_the_text_forms_of_java() {
    let mut lists = ListBuilder::new(Int32Builder::new()).with_field(arrow_schema::Field::new(
        "element",
        ArrowType::Int32,
        true,
    ));
    lists.append_value([Some(1), None, Some(3)]);
    lists.append_null();
    lists.append_value([]);
    let lists = Arc::new(lists.finish()) as ArrayRef;
    let list_type = DataType::array(DataType::int());
    let expected = [Some("[1, null, 3]".to_owned()), None, Some("[]".to_owned())];
    assert_eq!(as_text(Arc::clone(&lists), &list_type), expected);
    // A slice does not start at offset 0.
    assert_eq!(as_text(lists.slice(1, 2), &list_type), expected[1..]);

    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    maps.keys().append_value("a");
    maps.values().append_value(1);
    maps.keys().append_value("b");
    maps.values().append_null();
    maps.append(true).unwrap();
    let maps = Arc::new(maps.finish()) as ArrayRef;
    assert_eq!(
        as_text(maps, &DataType::map(DataType::string(), DataType::int())),
        [Some("{a -> 1, b -> null}".to_owned())]
    );

    let row_type = RowType::of([("l", list_type.clone()), ("d", DataType::double())]);
    let ArrowType::Struct(fields) = to_arrow_type(&DataType::row(row_type.clone())) else {
        panic!("a row")
    };
    let doubles = Arc::new(Float64Array::from(vec![1e20, 0.5, 2.0])) as ArrayRef;
    let rows = StructArray::new(
        fields,
        vec![lists, doubles],
        Some(NullBuffer::from(vec![true, false, true])),
    );
    assert_eq!(
        as_text(Arc::new(rows), &DataType::row(row_type)),
        [
            Some("{[1, null, 3], 1.0E20}".to_owned()),
            None,
            Some("{[], 2.0}".to_owned())
        ]
    );
}

#[test]
fn members_of_rows_follow_their_ids_and_nulls_hide_what_lies_under_them() {
    let old = RowType::new(vec![
        DataField::new(1, "x", DataType::string()),
        DataField::new(2, "gone", DataType::int()),
    ]);
    let new = RowType::new(vec![
        DataField::new(5, "added", DataType::date()),
        DataField::new(1, "renamed", DataType::int()),
    ]);
    let ArrowType::Struct(fields) = to_arrow_type(&DataType::row(old.clone())) else {
        panic!("a row")
    };
    let ArrowType::Struct(new_fields) = to_arrow_type(&DataType::row(new.clone())) else {
        panic!("a row")
    };
    // The text under the null row is no number.
    let columns = vec![
        text_array(&["1", "junk"]),
        Arc::new(Int32Array::from(vec![7, 8])) as ArrayRef,
    ];
    let rows = Arc::new(StructArray::new(
        fields,
        columns,
        Some(NullBuffer::from(vec![true, false])),
    )) as ArrayRef;
    let cast = cast_array(
        &rows,
        &DataType::row(old.clone()),
        &DataType::row(new.clone()),
    )
    .unwrap();
    let expected = StructArray::new(
        new_fields,
        vec![
            new_null_array(&ArrowType::Date32, 2),
            Arc::new(Int32Array::from(vec![Some(1), None])) as ArrayRef,
        ],
        Some(NullBuffer::from(vec![true, false])),
    );
    assert_eq!(cast.as_ref(), &expected as &dyn Array);

    // The same inside an array whose first element lies before the slice.
    let (old, new) = (
        DataType::array(DataType::row(old)),
        DataType::array(DataType::row(new)),
    );
    let ArrowType::List(field) = to_arrow_type(&old) else {
        panic!("a list")
    };
    let lists = Arc::new(ListArray::new(
        field,
        OffsetBuffer::from_lengths([1, 1]),
        rows,
        None,
    )) as ArrayRef;
    let cast = cast_array(&lists.slice(1, 1), &old, &new).unwrap();
    assert_eq!(*cast.data_type(), to_arrow_type(&new));
    assert_eq!(cast.len(), 1);
}

#[test]
fn an_array_of_another_type_is_refused() {
    let error =
        cast_array(&text_array(&["1"]), &DataType::int(), &DataType::big_int()).unwrap_err();
    assert!(matches!(error, TypeError::TypeMismatch { .. }), "{error}");
}

proptest! {
    /// Rounding to a scale gives the nearest multiple, ties away from zero.
    #[test]
    fn rescaling_rounds_half_up(value in -1_000_000_000_i128..1_000_000_000, from in 0_u8..9, to in 0_u8..9) {
        let rescaled = decimal::rescale(value, from, 38, to).unwrap();
        // |value / 10^from - rescaled / 10^to| <= half a unit of 10^-to, both sides times 2 * 10^(from + to).
        let ten = |exponent: u8| 10_i128.pow(u32::from(exponent));
        let off = 2 * (value * ten(to) - rescaled * ten(from));
        prop_assert!(off.abs() <= ten(from));
        if off.abs() == ten(from) {
            prop_assert!(rescaled.abs() * ten(from) > value.abs() * ten(to));
        }
        let exact = decimal::rescale_exact(value, from, 38, to);
        prop_assert_eq!(exact, (off == 0).then_some(rescaled));
    }

    /// Decimal text reads back, and rounding text is rounding the number.
    #[test]
    fn decimal_text_is_read_as_the_number_is_rounded(value in any::<i64>(), from in 0_u8..20, to in 0_u8..20) {
        let text = crate::text::format_decimal(i128::from(value), from);
        prop_assert_eq!(decimal::parse_decimal(&text, 38, to), Ok(decimal::rescale(i128::from(value), from, 38, to)));
    }

    /// Each number's text reads back as the number.
    #[test]
    fn doubles_come_back_from_their_text(value in any::<f64>()) {
        let numbers = Arc::new(Float64Array::from(vec![value])) as ArrayRef;
        let text = cast_array(&numbers, &DataType::double(), &DataType::string()).unwrap();
        let back = cast_array(&text, &DataType::string(), &DataType::double()).unwrap();
        let back = back.as_any().downcast_ref::<Float64Array>().unwrap().value(0);
        prop_assert!(back.to_bits() == value.to_bits() || (back.is_nan() && value.is_nan()));
    }

    /// No text makes a cast panic.
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC*|[-+0-9.eETZ: ]{0,30}") {
        for to in [
            DataType::boolean(), DataType::tiny_int(), DataType::big_int(), DataType::float(), DataType::double(),
            DataType::decimal(38, 10), DataType::date(), DataType::time(3), DataType::timestamp(9),
            DataType::timestamp_ltz(3), DataType::new(TypeKind::Char(4)), DataType::new(TypeKind::Binary(4)),
        ] {
            let _ = cast_text(&[&text], &to);
        }
    }
}
