//! Text forms of values, there and back.

use proptest::prelude::*;

use super::*;
use crate::datum::TimestampValue;

fn decimal(unscaled: i128, precision: u8, scale: u8) -> Datum {
    Datum::Decimal {
        unscaled,
        precision,
        scale,
    }
}

#[test]
fn floats_are_written_as_java_writes_them() {
    let cases = [
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (1e10, "1.0E10"),
        (1e7, "1.0E7"),
        (9_999_999.0, "9999999.0"),
        (0.001, "0.001"),
        (0.000_999, "9.99E-4"),
        (1e-5, "1.0E-5"),
        (123_456_789.0, "1.23456789E8"),
        (1234.5, "1234.5"),
        (0.1, "0.1"),
        (0.012, "0.012"),
        (f64::NAN, "NaN"),
        (f64::NEG_INFINITY, "-Infinity"),
        (f64::MAX, "1.7976931348623157E308"),
    ];
    for (value, text) in cases {
        assert_eq!(format_double(value), text);
    }
    assert_eq!(format_float(0.1), "0.1");
    assert_eq!(format_float(3.402_823_5e38), "3.4028235E38");
    assert_eq!(format_float(100.0), "100.0");
    // Two digits at least, the nearest ones.
    assert_eq!(format_float(f32::from_bits(1)), "1.4E-45");
    assert_eq!(format_double(f64::from_bits(1)), "4.9E-324");
    assert_eq!(format_double(0.001), "0.001");
}

#[test]
fn times_before_1970_are_floored() {
    let value = TimestampValue::from_micros(-1);
    assert_eq!(
        value,
        TimestampValue {
            millis: -1,
            nano_of_milli: 999_000
        }
    );
    assert_eq!(format_timestamp(value, 6), "1969-12-31 23:59:59.999999");
    assert_eq!(
        format_timestamp(TimestampValue::from_millis(-1), 6),
        "1969-12-31 23:59:59.999000"
    );
    assert_eq!(value.floor_to(3), TimestampValue::from_millis(-1));
    assert_eq!(value.floor_to(0), TimestampValue::from_millis(-1000));
    assert_eq!(iso_date(-1), "1969-12-31");
}

#[test]
fn iso_timestamps_show_the_precision_or_all_nine_digits() {
    let value = TimestampValue {
        millis: 1_709_210_096_123,
        nano_of_milli: 0,
    };
    assert_eq!(iso_timestamp(value, 3, false), "2024-02-29T12:34:56.123");
    assert_eq!(iso_timestamp(value, 6, true), "2024-02-29T12:34:56.123000Z");
    assert_eq!(
        iso_timestamp(value, 0, false),
        "2024-02-29T12:34:56.123000000"
    );
    assert_eq!(
        iso_timestamp(TimestampValue::from_millis(0), 0, true),
        "1970-01-01T00:00:00Z"
    );
    assert_eq!(iso_time(45_296_789), "12:34:56.789");
    assert_eq!(iso_time(0), "00:00:00.000");
}

#[test]
fn years_outside_four_digits_have_a_sign() {
    assert_eq!(
        iso_date(parse_date("+12024-01-31").unwrap()),
        "+12024-01-31"
    );
    assert_eq!(iso_date(parse_date("-0001-03-01").unwrap()), "-0001-03-01");
    assert_eq!(iso_date(parse_date("0000-01-01").unwrap()), "0000-01-01");
    assert_eq!(parse_date(&iso_date(i32::MIN)).unwrap(), i32::MIN);
    assert_eq!(parse_date(&iso_date(i32::MAX)).unwrap(), i32::MAX);
}

#[test]
fn dates_and_times_that_do_not_exist_are_refused() {
    for text in [
        "2023-02-29",
        "2024-13-01",
        "2024-00-01",
        "2024-01",
        "24:00",
        "",
        "2024-01-01x",
        "x",
    ] {
        assert!(parse_date(text).is_err(), "{text}");
    }
    for text in [
        "24:00:00",
        "12:60:00",
        "12:00:60",
        "12",
        "12:00.5",
        "12:00:00.",
        "12:00:00.x",
    ] {
        assert!(parse_time(text).is_err(), "{text}");
    }
    assert!(parse_timestamp("2024-01-01T00:00:00Z", false).is_err());
    assert!(parse_timestamp("2024-01-01T00:00:00+25", true).is_err());
}

#[test]
fn zones_move_instants_to_utc() {
    let utc = parse_timestamp("2024-01-01T10:00:00Z", true).unwrap();
    for text in [
        "2024-01-01 12:00:00+02",
        "2024-01-01 12:30+02:30",
        "2024-01-01T05:30:00-0430",
        "2024-01-01 10:00",
    ] {
        assert_eq!(parse_timestamp(text, true).unwrap(), utc, "{text}");
    }
}

#[test]
fn what_does_not_fit_is_refused_and_never_rounded() {
    let refused = [
        ("128", DataType::tiny_int()),
        ("-32769", DataType::small_int()),
        ("2147483648", DataType::int()),
        ("9223372036854775808", DataType::big_int()),
        ("1.5", DataType::int()),
        ("1000", DataType::decimal(5, 2)),
        ("1.001", DataType::decimal(5, 2)),
        ("1e3", DataType::decimal(5, 2)),
        ("12:00:00.0001", DataType::time(9)),
        ("2024-01-01 00:00:00.0001", DataType::timestamp(3)),
        ("2024-01-01 00:00:00.0000001", DataType::timestamp(6)),
        ("5881580-07-12", DataType::date()),
        ("maybe", DataType::boolean()),
        ("inf", DataType::double()),
        ("", DataType::decimal(5, 2)),
        (".", DataType::decimal(5, 2)),
    ];
    for (text, data_type) in refused {
        assert!(
            parse_datum(text, &data_type).is_err(),
            "{text} as {data_type}"
        );
    }
}

#[test]
fn decimals_are_plain_with_the_full_scale() {
    assert_eq!(format_decimal(1250, 2), "12.50");
    assert_eq!(format_decimal(-1, 2), "-0.01");
    assert_eq!(format_decimal(0, 3), "0.000");
    assert_eq!(format_decimal(7, 0), "7");
    for (text, unscaled) in [
        ("12.5", 1250),
        ("12.500", 1250),
        ("1.25e1", 1250),
        (".01", 1),
        ("-1E-2", -1),
        ("+3", 300),
        ("0e99", 0),
    ] {
        assert_eq!(
            parse_datum(text, &DataType::decimal(5, 2)).unwrap(),
            decimal(unscaled, 5, 2),
            "{text}"
        );
    }
    let largest = 10_i128.pow(38) - 1;
    assert_eq!(
        parse_decimal(&format_decimal(-largest, 38), 38, 38).unwrap(),
        -largest
    );
}

#[test]
fn java_cast_text_of_times_cuts_zeros() {
    assert_eq!(format_time(45_296_789, 3), "12:34:56.789");
    assert_eq!(format_time(45_296_789, 1), "12:34:56.7");
    assert_eq!(format_time(45_296_100, 3), "12:34:56.1");
    assert_eq!(format_time(45_296_000, 3), "12:34:56.0");
    assert_eq!(format_time(45_296_789, 0), "12:34:56");
}

fn typed_values() -> impl Strategy<Value = (Datum, DataType)> {
    let wide = -(10_i128.pow(38) - 1)..10_i128.pow(38);
    prop_oneof![
        any::<bool>().prop_map(|v| (Datum::Boolean(v), DataType::boolean())),
        any::<i8>().prop_map(|v| (Datum::TinyInt(v), DataType::tiny_int())),
        any::<i16>().prop_map(|v| (Datum::SmallInt(v), DataType::small_int())),
        any::<i32>().prop_map(|v| (Datum::Int(v), DataType::int())),
        any::<i64>().prop_map(|v| (Datum::BigInt(v), DataType::big_int())),
        any::<u32>().prop_map(|v| (Datum::Float(f32::from_bits(v)), DataType::float())),
        any::<u64>().prop_map(|v| (Datum::Double(f64::from_bits(v)), DataType::double())),
        any::<String>().prop_map(|v| (Datum::String(v), DataType::string())),
        any::<String>().prop_map(|v| (Datum::Bytes(v.into_bytes()), DataType::bytes())),
        any::<i32>().prop_map(|v| (Datum::Date(v), DataType::date())),
        (0..86_400_000).prop_map(|v| (Datum::Time(v), DataType::time(3))),
        (wide, 0_u8..=38).prop_map(|(v, s)| (decimal(v, 38, s), DataType::decimal(38, s))),
        (any::<i64>(), 0..1_000_000, 7_u8..=9).prop_map(|(millis, nano_of_milli, p)| {
            (
                Datum::Timestamp(TimestampValue {
                    millis,
                    nano_of_milli,
                }),
                DataType::timestamp(p),
            )
        }),
        (any::<i64>(), 0_u8..=3).prop_map(|(v, p)| {
            (
                Datum::Timestamp(TimestampValue::from_millis(v)),
                DataType::timestamp_ltz(p),
            )
        }),
        (any::<i64>(), 4_u8..=6).prop_map(|(v, p)| {
            (
                Datum::Timestamp(TimestampValue::from_micros(v)),
                DataType::timestamp(p),
            )
        }),
    ]
}

proptest! {
    /// What is written reads back to the same value.
    #[test]
    fn text_round_trips((datum, data_type) in typed_values()) {
        let text = format_datum(&datum, &data_type);
        prop_assert_eq!(parse_datum(&text, &data_type).unwrap(), datum);
    }

    /// So does the ISO form of the command line.
    #[test]
    fn iso_text_round_trips(micros in any::<i64>(), precision in 6_u8..=9, utc in any::<bool>()) {
        let value = TimestampValue::from_micros(micros);
        prop_assert_eq!(parse_timestamp(&iso_timestamp(value, precision, utc), utc).unwrap(), value);
    }

    /// No text makes the parser panic.
    #[test]
    fn any_text_is_answered(text in "[0-9+\\-:.TZe ]{0,24}", (_, data_type) in typed_values()) {
        let _ = parse_datum(&text, &data_type);
    }
}
