//! Casts of atomic values.

use arrow_array::types::{Date32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{
    Float64Array, Int32Array, Int64Array, TimestampMicrosecondArray, TimestampMillisecondArray,
};
use arrow_buffer::NullBuffer;
use proptest::prelude::*;

use super::*;

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
    let huge = DataType::new(TypeKind::Char(crate::MAX_LENGTH));
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

#[test]
fn bytes_that_are_no_text_are_repaired() {
    let bytes = Arc::new(arrow_array::BinaryArray::from(vec![&b"a\xff"[..], b"ok"])) as ArrayRef;
    assert_eq!(
        as_text(bytes, &DataType::bytes()),
        ["a\u{fffd}", "ok"].map(|text| Some(text.to_owned()))
    );
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
