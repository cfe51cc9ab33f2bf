//! Order, equality and Arrow round trips of single values.

use arrow_array::Array;
use proptest::prelude::*;

use super::*;
use crate::arrow_types::to_arrow_type;

#[test]
fn floats_compare_in_java_order() {
    let ascending = [
        f64::NEG_INFINITY,
        -1.0,
        -0.0,
        0.0,
        1.0,
        f64::INFINITY,
        f64::NAN,
    ];
    for pair in ascending.windows(2) {
        assert_eq!(
            Datum::Double(pair[0]).compare(&Datum::Double(pair[1])),
            Some(Ordering::Less)
        );
    }
    let negative_nan = f64::from_bits(0xfff8_0000_0000_0001);
    assert_eq!(
        Datum::Double(negative_nan).compare(&Datum::Double(f64::NAN)),
        Some(Ordering::Equal)
    );
    assert_eq!(Datum::Double(negative_nan), Datum::Double(f64::NAN));
    assert_ne!(Datum::Float(-0.0), Datum::Float(0.0));
}

#[test]
fn decimals_compare_by_value_across_scales() {
    let decimal = |unscaled, scale| Datum::Decimal {
        unscaled,
        precision: 38,
        scale,
    };
    assert_eq!(
        decimal(150, 2).compare(&decimal(15, 1)),
        Some(Ordering::Equal)
    );
    assert_eq!(
        decimal(-151, 2).compare(&decimal(-15, 1)),
        Some(Ordering::Less)
    );
    let huge = 10_i128.pow(37);
    assert_eq!(
        decimal(huge, 0).compare(&decimal(huge, 38)),
        Some(Ordering::Greater)
    );
    assert_eq!(
        decimal(huge, 38).compare(&decimal(-huge, 0)),
        Some(Ordering::Greater)
    );
}

#[test]
fn null_and_other_types_have_no_order() {
    assert_eq!(Datum::Null.compare(&Datum::Null), None);
    assert_eq!(Datum::Int(1).compare(&Datum::Null), None);
    assert_eq!(Datum::Int(1).compare(&Datum::BigInt(1)), None);
    assert_eq!(Datum::Null, Datum::Null);
}

#[test]
fn nanosecond_timestamps_outside_64_bits_are_refused_not_wrapped() {
    let far = Datum::Timestamp(TimestampValue::from_millis(i64::MAX / 1_000));
    let error = datums_to_array(&DataType::timestamp(9), std::slice::from_ref(&far)).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::Invalid);
    assert!(datums_to_array(&DataType::timestamp(6), &[far]).is_ok());
    assert_eq!(
        TimestampValue::from_nanos(i64::MIN).to_nanos(),
        Some(i64::MIN)
    );
    assert_eq!(
        TimestampValue::from_micros(i64::MIN).to_micros(),
        Some(i64::MIN)
    );
    assert_eq!(TimestampValue::from_millis(i64::MAX).to_nanos(), None);
    assert_eq!(TimestampValue::from_millis(i64::MAX).to_micros(), None);
}

#[test]
fn values_of_another_type_are_refused() {
    assert!(datums_to_array(&DataType::int(), &[Datum::BigInt(1)]).is_err());
    let wrong_scale = Datum::Decimal {
        unscaled: 1,
        precision: 5,
        scale: 1,
    };
    assert!(datums_to_array(&DataType::decimal(5, 2), &[wrong_scale]).is_err());
    let too_wide = Datum::Decimal {
        unscaled: 100_000,
        precision: 10,
        scale: 2,
    };
    assert!(datums_to_array(&DataType::decimal(5, 2), &[too_wide]).is_err());
    let array = datums_to_array(&DataType::int(), &[Datum::Int(1)]).unwrap();
    assert!(Datum::from_array(&array, 0, &DataType::big_int()).is_err());
    assert!(Datum::from_array(&array, 1, &DataType::int()).is_err());
}

#[test]
fn nulls_of_every_type_make_an_array_of_its_canonical_type() {
    let nested = DataType::map(DataType::string(), DataType::array(DataType::int()));
    for data_type in [
        DataType::int(),
        nested,
        DataType::new(crate::TypeKind::Variant),
    ] {
        let array = datums_to_array(&data_type, &[Datum::Null, Datum::Null]).unwrap();
        assert_eq!((array.len(), array.null_count()), (2, 2));
        assert_eq!(array.data_type(), &to_arrow_type(&data_type));
        assert_eq!(
            Datum::from_array(&array, 1, &data_type).unwrap(),
            Datum::Null
        );
    }
}

proptest! {
    /// Into an array and back is the identity for what the array's unit can hold.
    #[test]
    fn arrays_keep_values(millis in any::<i64>(), micros in any::<i64>(), nanos in any::<i64>(), unscaled in any::<i64>()) {
        let cases = [
            (DataType::timestamp(3), Datum::Timestamp(TimestampValue::from_millis(millis))),
            (DataType::timestamp_ltz(6), Datum::Timestamp(TimestampValue::from_micros(micros))),
            (DataType::timestamp(9), Datum::Timestamp(TimestampValue::from_nanos(nanos))),
            (DataType::decimal(20, 3), Datum::Decimal { unscaled: i128::from(unscaled), precision: 20, scale: 3 }),
            (DataType::big_int(), Datum::BigInt(millis)),
        ];
        for (data_type, datum) in cases {
            let array = datums_to_array(&data_type, &[Datum::Null, datum.clone()]).unwrap();
            prop_assert_eq!(array.data_type(), &to_arrow_type(&data_type));
            prop_assert_eq!(Datum::from_array(&array, 0, &data_type).unwrap(), Datum::Null);
            prop_assert_eq!(Datum::from_array(&array, 1, &data_type).unwrap(), datum);
        }
    }
}
