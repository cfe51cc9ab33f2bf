//! Key order against the order of values.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, Int32Array, Int64Array, StringArray};
use proptest::prelude::*;

use super::*;
use crate::binary_row::BinaryRow;
use crate::data_type::{DataType, TypeKind};
use crate::datum::{Datum, TimestampValue, datums_to_array};
use crate::error::{ErrorKind, TypeError};

fn key_types() -> Vec<DataType> {
    let mut types = vec![
        DataType::boolean(),
        DataType::tiny_int(),
        DataType::small_int(),
        DataType::int(),
        DataType::big_int(),
        DataType::float(),
        DataType::double(),
        DataType::new(TypeKind::Char(3)),
        DataType::string(),
        DataType::new(TypeKind::Binary(3)),
        DataType::bytes(),
        DataType::decimal(9, 2),
        DataType::decimal(18, 4),
        DataType::decimal(38, 5),
        DataType::date(),
        DataType::time(3),
    ];
    for precision in [3, 6, 9] {
        types.push(DataType::timestamp(precision));
        types.push(DataType::timestamp_ltz(precision));
    }
    types
}

/// Values of a type, edges more often than not; never null.
fn values(data_type: &DataType) -> BoxedStrategy<Datum> {
    fn number<T: Arbitrary + Clone + std::fmt::Debug + 'static>(edges: Vec<T>) -> BoxedStrategy<T> {
        prop_oneof![any::<T>(), proptest::sample::select(edges)].boxed()
    }
    match data_type.kind {
        TypeKind::Boolean => any::<bool>().prop_map(Datum::Boolean).boxed(),
        TypeKind::TinyInt => any::<i8>().prop_map(Datum::TinyInt).boxed(),
        TypeKind::SmallInt => any::<i16>().prop_map(Datum::SmallInt).boxed(),
        TypeKind::Int => number(vec![i32::MIN, -1, 0, 1, i32::MAX])
            .prop_map(Datum::Int)
            .boxed(),
        TypeKind::BigInt => number(vec![i64::MIN, -1, 0, 1, i64::MAX])
            .prop_map(Datum::BigInt)
            .boxed(),
        TypeKind::Float => {
            let edges = vec![
                f32::NAN,
                -f32::NAN,
                0.0,
                -0.0,
                f32::INFINITY,
                f32::NEG_INFINITY,
                f32::MIN_POSITIVE,
            ];
            prop_oneof![
                any::<u32>().prop_map(f32::from_bits),
                proptest::sample::select(edges)
            ]
            .prop_map(Datum::Float)
            .boxed()
        }
        TypeKind::Double => {
            let edges = vec![
                f64::NAN,
                -f64::NAN,
                0.0,
                -0.0,
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::MAX,
            ];
            prop_oneof![
                any::<u64>().prop_map(f64::from_bits),
                proptest::sample::select(edges)
            ]
            .prop_map(Datum::Double)
            .boxed()
        }
        TypeKind::Char(_) | TypeKind::VarChar(_) => {
            prop_oneof!["[ab\u{0}é中😀]{0,12}", "\\PC{0,4}"]
                .prop_map(Datum::String)
                .boxed()
        }
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => {
            let byte = prop_oneof![
                any::<u8>(),
                proptest::sample::select(vec![0, 1, 0x7f, 0x80, 0xff])
            ];
            proptest::collection::vec(byte, 0..40)
                .prop_map(Datum::Bytes)
                .boxed()
        }
        TypeKind::Decimal { precision, scale } => {
            let most = 10_i128.pow(u32::from(precision)) - 1;
            prop_oneof![
                -most..=most,
                proptest::sample::select(vec![-most, -1, 0, 1, most])
            ]
            .prop_map(move |unscaled| Datum::Decimal {
                unscaled,
                precision,
                scale,
            })
            .boxed()
        }
        TypeKind::Date => number(vec![i32::MIN, -1, 0, i32::MAX])
            .prop_map(Datum::Date)
            .boxed(),
        TypeKind::Time(_) => (0..86_400_000).prop_map(Datum::Time).boxed(),
        TypeKind::Timestamp(precision) | TypeKind::TimestampLtz(precision) => any::<i64>()
            .prop_map(move |count| {
                Datum::Timestamp(match precision {
                    0..=3 => TimestampValue::from_millis(count),
                    4..=6 => TimestampValue::from_micros(count),
                    _ => TimestampValue::from_nanos(count),
                })
            })
            .boxed(),
        _ => panic!("{data_type} is no key type"),
    }
}

type Table = (Vec<DataType>, Vec<Vec<Datum>>);

/// Rows of one to four key columns, from few distinct values per column so that ties reach the later ones.
fn tables(nullable: bool) -> impl Strategy<Value = Table> {
    let types = proptest::collection::vec(proptest::sample::select(key_types()), 1..5);
    types.prop_flat_map(move |types| {
        let columns: Vec<_> = types
            .iter()
            .map(|data_type| {
                let value = if nullable {
                    prop_oneof![1 => Just(Datum::Null), 4 => values(data_type)].boxed()
                } else {
                    values(data_type)
                };
                proptest::collection::vec(value, 1..4)
            })
            .collect();
        (
            Just(types),
            columns,
            proptest::collection::vec(any::<[u8; 4]>(), 1..20),
        )
            .prop_map(|(types, columns, picks)| {
                let row = |pick: [u8; 4]| {
                    let cells = columns.iter().zip(pick);
                    cells
                        .map(|(column, pick)| column[usize::from(pick) % column.len()].clone())
                        .collect()
                };
                let rows = picks.into_iter().map(row).collect();
                (types, rows)
            })
    })
}

fn columns((types, rows): &Table) -> Vec<ArrayRef> {
    let column = |(at, data_type): (usize, &DataType)| {
        let datums: Vec<_> = rows.iter().map(|row| row[at].clone()).collect();
        datums_to_array(data_type, &datums).unwrap()
    };
    types.iter().enumerate().map(column).collect()
}

fn compare_rows(a: &[Datum], b: &[Datum]) -> Ordering {
    let cells = a.iter().zip(b);
    cells
        .map(|(a, b)| a.compare(b).unwrap())
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// Nulls smallest in both orders; the rest turned round when descending.
fn compare_sequences(a: &[Datum], b: &[Datum], order: SequenceOrder) -> Ordering {
    let cell = |a: &Datum, b: &Datum| match (a.is_null(), b.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) if order == SequenceOrder::Descending => a.compare(b).unwrap().reverse(),
        (false, false) => a.compare(b).unwrap(),
    };
    a.iter()
        .zip(b)
        .map(|(a, b)| cell(a, b))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

proptest! {
    /// Keys compare as the rows do, value by value, whatever they are packed in; so do the rows read back from
    /// BinaryRows, and bounds encoded one by one.
    #[test]
    fn keys_order_as_rows_do(table in tables(false)) {
        let (types, rows) = &table;
        let encoder = KeyEncoder::new(types).unwrap();
        let keys = encoder.encode(&columns(&table)).unwrap();
        prop_assert_eq!(keys.len(), rows.len());
        let binary: Vec<_> = rows.iter().map(|row| {
            let row = BinaryRow::from_datums(row, types).unwrap();
            row.to_datums(types).unwrap()
        }).collect();
        for i in 0..rows.len() {
            let bound = encoder.encode_datums(&rows[i]).unwrap();
            for j in 0..rows.len() {
                let expected = compare_rows(&rows[i], &rows[j]);
                prop_assert_eq!(keys.cmp(i, &keys, j), expected, "{:?} {:?}", &rows[i], &rows[j]);
                prop_assert_eq!(bound.cmp(0, &keys, j), expected);
                prop_assert_eq!(compare_rows(&binary[i], &binary[j]), expected);
                prop_assert!(keys.prefix_u64(i).cmp(&keys.prefix_u64(j)).is_eq()
                    || keys.prefix_u64(i).cmp(&keys.prefix_u64(j)) == expected);
            }
        }
    }

    /// Sequence keys put nulls first in both orders and turn round the rest when descending.
    #[test]
    fn sequences_keep_nulls_oldest(table in tables(true), descending in any::<bool>()) {
        let (types, rows) = &table;
        let order = if descending { SequenceOrder::Descending } else { SequenceOrder::Ascending };
        let keys = KeyEncoder::for_sequence(types, order).unwrap().encode(&columns(&table)).unwrap();
        for i in 0..rows.len() {
            for j in 0..rows.len() {
                let expected = compare_sequences(&rows[i], &rows[j], order);
                prop_assert_eq!(keys.cmp(i, &keys, j), expected, "{:?} {:?}", &rows[i], &rows[j]);
            }
        }
    }

    /// Sorting equals a stable sort of the rows; taking in that order gives sorted keys.
    #[test]
    fn sorting_is_a_stable_sort(table in tables(false)) {
        let (types, rows) = &table;
        let encoder = KeyEncoder::new(types).unwrap();
        let keys = encoder.encode(&columns(&table)).unwrap();
        let mut expected: Vec<u32> = (0..u32::try_from(rows.len()).unwrap()).collect();
        expected.sort_by(|a, b| compare_rows(&rows[*a as usize], &rows[*b as usize]));
        let sorted = sort_indices(&keys);
        prop_assert_eq!(&sorted, &expected);
        let taken = encoder.take(&keys, &sorted);
        prop_assert!(taken.is_sorted());
        prop_assert_eq!(taken.len(), rows.len());
        let adjacent_equal = (0..rows.len()).any(|at| taken.eq_adjacent(at));
        prop_assert_eq!(taken.is_strictly_ascending(), !adjacent_equal);
    }

    /// With sequence fields rows of one key go by them, then by arrival.
    #[test]
    fn sorting_with_sequences_is_a_stable_sort(keys in proptest::collection::vec((0_i64..4, 0_i64..4), 0..40)) {
        let column = |values: Vec<i64>| vec![Arc::new(Int64Array::from(values)) as ArrayRef];
        let encoder = KeyEncoder::new(&[DataType::big_int()]).unwrap();
        let sequence = KeyEncoder::for_sequence(&[DataType::big_int()], SequenceOrder::Descending).unwrap();
        let encoded = encoder.encode(&column(keys.iter().map(|(key, _)| *key).collect())).unwrap();
        let sequences = sequence.encode(&column(keys.iter().map(|(_, seq)| *seq).collect())).unwrap();
        let mut expected: Vec<u32> = (0..u32::try_from(keys.len()).unwrap()).collect();
        expected.sort_by_key(|row| (keys[*row as usize].0, -keys[*row as usize].1));
        prop_assert_eq!(sort_indices_with_sequence(&encoded, &sequences), expected);
    }

    /// Bits that differ in scattered places and few rows: ties of the packed words are told apart by the whole keys.
    #[test]
    fn scattered_bits_sort(
        bits in proptest::collection::vec(0_u32..128, 1..8),
        picks in proptest::collection::vec(any::<u8>(), 1..200),
    ) {
        let spread = |pick: u8| bits.iter().enumerate().fold(0_u128, |key, (at, bit)| {
            key | (u128::from(pick >> (at % 8)) & 1) << bit
        });
        let keys: Vec<u128> = picks.iter().map(|pick| spread(*pick)).collect();
        let mut expected: Vec<u32> = (0..u32::try_from(keys.len()).unwrap()).collect();
        expected.sort_by_key(|row| keys[*row as usize]);
        prop_assert_eq!(sort_indices(&Keys::U128(keys)), expected);
    }

    /// Every way of packing row numbers sorts alike: windows of all widths and places.
    #[test]
    fn windows_of_all_widths_sort(
        keys in proptest::collection::vec(any::<u128>(), 1..50), mask in any::<u128>(), shift in 0_u32..128,
    ) {
        let keys: Vec<u128> = keys.into_iter().map(|key| key & (mask >> shift)).collect();
        let mut expected: Vec<u32> = (0..u32::try_from(keys.len()).unwrap()).collect();
        expected.sort_by_key(|row| keys[*row as usize]);
        let low: Vec<u64> = keys.iter().map(|key| u64::try_from(*key & u128::from(u64::MAX)).unwrap()).collect();
        let mut expected_low: Vec<u32> = (0..u32::try_from(keys.len()).unwrap()).collect();
        expected_low.sort_by_key(|row| low[*row as usize]);
        prop_assert_eq!(sort_indices(&Keys::U128(keys)), expected);
        prop_assert_eq!(sort_indices(&Keys::U64(low)), expected_low);
    }
}

#[test]
fn columns_that_fit_are_packed_and_the_rest_are_byte_strings() {
    let variant = |types: &[DataType]| {
        KeyEncoder::new(types)
            .unwrap()
            .encode(&nothing(types))
            .unwrap()
            .variant()
    };
    let (int, big) = (DataType::int(), DataType::big_int());
    assert_eq!(variant(std::slice::from_ref(&big)), 0);
    assert_eq!(variant(&[int.clone(), int.clone()]), 0);
    assert_eq!(
        variant(&[int.clone(), DataType::small_int(), DataType::boolean()]),
        0
    );
    assert_eq!(variant(&[int.clone(), int.clone(), DataType::boolean()]), 1);
    assert_eq!(variant(&[big.clone(), big.clone()]), 1);
    assert_eq!(variant(&[DataType::decimal(38, 0)]), 1);
    assert_eq!(variant(&[big.clone(), big, DataType::boolean()]), 2);
    assert_eq!(variant(&[int, DataType::string()]), 2);
}

fn nothing(types: &[DataType]) -> Vec<ArrayRef> {
    types
        .iter()
        .map(|data_type| datums_to_array(data_type, &[]).unwrap())
        .collect()
}

#[test]
fn bytes_with_the_high_bit_set_sort_above() {
    let bytes = |value: &[u8]| Datum::Bytes(value.to_vec());
    let encoder = KeyEncoder::new(&[DataType::bytes()]).unwrap();
    let column = [
        bytes(&[0x80]),
        bytes(&[0x7e]),
        bytes(&[0xff]),
        bytes(&[0x01]),
    ];
    let keys = encoder
        .encode(&[datums_to_array(&DataType::bytes(), &column).unwrap()])
        .unwrap();
    assert_eq!(sort_indices(&keys), [3, 1, 0, 2]);
    let bound = encoder.encode_datums(&[bytes(&[0x7f])]).unwrap();
    let above: Vec<_> = (0..4)
        .filter(|row| keys.cmp(*row, &bound, 0).is_gt())
        .collect();
    assert_eq!(above, [0, 2]);
}

#[test]
fn negative_nan_is_the_same_key_in_byte_strings_too() {
    let types = [DataType::double(), DataType::string()];
    let doubles = Arc::new(Float64Array::from(vec![
        -f64::NAN,
        f64::NAN,
        f64::INFINITY,
        -0.0,
        0.0,
    ])) as ArrayRef;
    let text = Arc::new(StringArray::from(vec!["x"; 5])) as ArrayRef;
    let keys = KeyEncoder::new(&types)
        .unwrap()
        .encode(&[doubles, text])
        .unwrap();
    assert!(keys.as_bytes(0).is_some());
    assert!(keys.eq(0, &keys, 1));
    assert_eq!(sort_indices(&keys), [3, 4, 2, 0, 1]);
}

#[test]
fn nulls_and_wrong_columns_are_refused() {
    let encoder = KeyEncoder::new(&[DataType::int(), DataType::string()]).unwrap();
    let ints = Arc::new(Int32Array::from(vec![Some(1), None])) as ArrayRef;
    let text = Arc::new(StringArray::from(vec!["a", "b"])) as ArrayRef;
    let error = encoder
        .encode(&[Arc::clone(&ints), Arc::clone(&text)])
        .unwrap_err();
    assert!(
        matches!(error, TypeError::ColumnNull { row: 1, .. }),
        "{error}"
    );
    assert!(encoder.encode(std::slice::from_ref(&ints)).is_err());
    assert!(
        encoder
            .encode(&[Arc::clone(&text), Arc::clone(&text)])
            .is_err()
    );
    assert!(encoder.encode(&[ints.slice(0, 1), text]).is_err());
    for data_type in [
        DataType::array(DataType::int()),
        DataType::new(TypeKind::Variant),
    ] {
        assert_eq!(
            KeyEncoder::new(&[data_type]).unwrap_err().kind(),
            ErrorKind::Unsupported
        );
    }
    let narrow = DataType::decimal(18, 0);
    let wide = arrow_array::Decimal128Array::from(vec![i128::MAX])
        .with_precision_and_scale(18, 0)
        .unwrap();
    let error = KeyEncoder::new(&[narrow])
        .unwrap()
        .encode(&[Arc::new(wide)])
        .unwrap_err();
    assert!(matches!(error, TypeError::DoesNotFit { .. }), "{error}");
}

#[test]
fn no_columns_and_no_rows_are_no_keys() {
    let keys = KeyEncoder::new(&[]).unwrap().encode(&[]).unwrap();
    assert!(keys.is_empty());
    assert!(sort_indices(&keys).is_empty());
    assert!(!keys.eq_adjacent(0));
    let rows = KeyEncoder::new(&[DataType::string()])
        .unwrap()
        .encode(&nothing(&[DataType::string()]))
        .unwrap();
    assert!(sort_indices(&rows).is_empty());
    assert_eq!(
        (rows.prefix_u64(3), rows.cmp(0, &rows, 5)),
        (0, Ordering::Equal)
    );
}
