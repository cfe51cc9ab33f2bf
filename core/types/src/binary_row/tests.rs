//! Byte rows against the vectors of Java 1.3.1, and damaged bytes.

use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, StringArray};
use proptest::prelude::*;
use std::sync::Arc;

use super::column::Column;
use super::hash::hash_built_rows;
use super::*;
use crate::ErrorKind;
use crate::test_vectors::{
    any_types, array_of, atomic_types, columns_of, datum_of, fixed_types, hex, types_of, unhex,
    vector,
};

#[test]
fn every_row_of_java_is_encoded_and_hashed_byte_for_byte() {
    let cases = vector("binary_row.json");
    let cases = cases["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 104);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let types = types_of(&case["types"]);
        let values = case["values"].as_array().unwrap();
        let columns: Vec<_> = values
            .iter()
            .zip(&types)
            .map(|(v, t)| array_of(std::slice::from_ref(v), t))
            .collect();

        let mut writer = BinaryRowWriter::new(types.len());
        if let Some(kind) = case.get("row_kind") {
            writer.set_kind(RowKind::from_short(kind.as_str().unwrap()).unwrap());
        }
        for (index, (column, data_type)) in columns.iter().zip(&types).enumerate() {
            writer
                .write_from_array(index, column, 0, data_type)
                .unwrap();
        }
        let row = writer.finish();
        assert_eq!(
            hex(row.as_bytes()),
            case["row_hex"].as_str().unwrap(),
            "{name}"
        );
        assert_eq!(
            hex(&row.to_serialized()),
            case["serialized_hex"].as_str().unwrap(),
            "{name}"
        );
        assert_eq!(
            i64::from(row.hash()),
            case["hash"].as_i64().unwrap(),
            "{name}"
        );
        let read =
            BinaryRow::from_serialized(&unhex(case["serialized_hex"].as_str().unwrap())).unwrap();
        assert_eq!(read, row, "{name}");
        if case.get("row_kind").is_some() {
            assert_eq!(row.row_kind().unwrap(), RowKind::Delete);
            continue;
        }
        if types.is_empty() {
            assert_eq!(row, BinaryRow::empty());
            continue;
        }
        let rows = encode_rows(&columns, &types).unwrap();
        assert_eq!(rows.to_row(0).unwrap(), row, "{name}");
        assert_eq!(hash_rows(&columns, &types).unwrap(), [row.hash()], "{name}");
        if types
            .iter()
            .all(|t| !t.is_nested() && t.kind != crate::TypeKind::Variant)
        {
            let datums: Vec<_> = values
                .iter()
                .zip(&types)
                .map(|(v, t)| datum_of(v, t))
                .collect();
            assert_eq!(
                BinaryRow::from_datums(&datums, &types).unwrap(),
                row,
                "{name}"
            );
            assert_eq!(row.to_datums(&types).unwrap(), datums, "{name}");
        }
        let decoded = decode_rows(&[row.view()], &types).unwrap();
        assert_eq!(
            encode_rows(&decoded, &types).unwrap().row(0),
            row.as_bytes(),
            "{name}"
        );
        if !name.contains("NaN payload") {
            assert_eq!(decoded, columns, "{name}");
        }
    }
}

#[test]
fn rows_sort_and_compare_by_their_bytes() {
    let row = |value| BinaryRow::from_datums(&[Datum::Int(value)], &[DataType::int()]).unwrap();
    assert!(row(1) < row(2));
    assert_eq!(row(7), row(7));
    assert_ne!(BinaryRow::empty(), row(0));
}

#[test]
fn fields_past_the_last_are_null_and_no_value() {
    let row = BinaryRow::empty();
    assert!(row.is_null(0));
    assert_eq!(
        row.get(0, &DataType::int()).unwrap_err().kind(),
        ErrorKind::Invalid
    );
    assert!(row.to_datums(&[DataType::int()]).is_err());
    let mut writer = BinaryRowWriter::new(1);
    assert!(
        writer
            .write_datum(1, &Datum::Int(1), &DataType::int())
            .is_err()
    );
    assert!(
        writer
            .write_datum(0, &Datum::BigInt(1), &DataType::int())
            .is_err()
    );
}

#[test]
fn bytes_that_are_no_row_are_refused() {
    for bytes in [
        "",
        "000000",
        "00000001",
        "000000010000000000000000",
        "ffffffff0000000000000000",
        "7fffffff0000000000000000",
    ] {
        let error = BinaryRow::from_serialized(&unhex(bytes)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{bytes}");
    }
    // A slot that points past the end, text that is no UTF-8, a decimal of 17 bytes.
    let cases = [
        (
            "0000000100000000000000000800000018000000",
            DataType::string(),
        ),
        (
            "000000010000000000000000ff00000000000081",
            DataType::string(),
        ),
        (
            "0000000100000000000000001100000000000000",
            DataType::decimal(20, 0),
        ),
        (
            "00000001000000000000000040420f0000000000",
            DataType::timestamp(6),
        ),
    ];
    for (bytes, data_type) in cases {
        let row = BinaryRow::from_serialized(&unhex(bytes)).unwrap();
        assert_eq!(
            row.get(0, &data_type).unwrap_err().kind(),
            ErrorKind::Corrupt,
            "{bytes}"
        );
    }
}

#[test]
fn arrays_that_overlap_cannot_blow_up_memory() {
    // One array of 1000 elements that all are the array itself's bytes.
    let inner = DataType::array(DataType::array(DataType::tiny_int()));
    let count = 1000_usize;
    let header = 4 + count.div_ceil(32) * 4;
    let size = header + count * 8;
    let mut array = vec![0; size];
    array[..4].copy_from_slice(&i32::try_from(count).unwrap().to_le_bytes());
    for index in 0..count {
        let slot = (size as u64).to_le_bytes();
        array[header + index * 8..][..8].copy_from_slice(&slot);
    }
    let mut row = vec![0; 16];
    row[8..].copy_from_slice(&((16_u64 << 32) | size as u64).to_le_bytes());
    row.extend_from_slice(&array);
    let row = RowView::new(&row, 1).unwrap();
    let error = decode_rows(&[row], &[inner]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn slices_of_columns_are_encoded_like_copies() {
    let whole: ArrayRef = Arc::new(StringArray::from(vec![
        Some("first string"),
        None,
        Some("x"),
        Some("another string"),
    ]));
    let slice = whole.slice(1, 3);
    let copy: ArrayRef = Arc::new(StringArray::from(vec![
        None,
        Some("x"),
        Some("another string"),
    ]));
    let types = [DataType::string()];
    let (a, b) = (
        encode_rows(&[slice], &types).unwrap(),
        encode_rows(&[copy], &types).unwrap(),
    );
    assert_eq!(a.iter().collect::<Vec<_>>(), b.iter().collect::<Vec<_>>());
}

#[test]
fn columns_must_be_of_one_length_and_of_their_types() {
    let ints: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let longs: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let types = [DataType::int(), DataType::big_int()];
    assert!(encode_rows(&[Arc::clone(&ints), Arc::clone(&longs)], &types).is_err());
    assert!(hash_rows(&[longs, Arc::clone(&ints)], &types).is_err());
    assert!(hash_rows(&[ints], &types).is_err());
}

proptest! {
    /// Columns to rows to columns is the identity, for every type (NaNs in arrays are made canonical once).
    #[test]
    fn rows_decode_to_what_was_encoded((types, columns) in columns_of(any_types(), 1..4, 0..6)) {
        let rows = encode_rows(&columns, &types).unwrap();
        let views: Vec<_> = rows.iter().map(|row| RowView::new(row, types.len()).unwrap()).collect();
        let decoded = decode_rows(&views, &types).unwrap();
        let again = encode_rows(&decoded, &types).unwrap();
        prop_assert_eq!(rows.iter().collect::<Vec<_>>(), again.iter().collect::<Vec<_>>());
        prop_assert_eq!(hash_rows(&columns, &types).unwrap(), rows.iter().map(crate::murmur::hash_by_words).collect::<Vec<_>>());
        for row in rows.iter() {
            prop_assert_eq!(row.len() % 8, 0);
        }
    }

    /// Rows of values and rows of columns are the same bytes, and give the values back.
    #[test]
    fn datums_and_columns_make_the_same_rows((types, columns) in columns_of(atomic_types(), 1..70, 1..3)) {
        let rows = encode_rows(&columns, &types).unwrap();
        for index in 0..rows.len() {
            let datums: Vec<_> =
                columns.iter().zip(&types).map(|(column, t)| Datum::from_array(column, index, t).unwrap()).collect();
            let row = BinaryRow::from_datums(&datums, &types).unwrap();
            prop_assert_eq!(row.as_bytes(), rows.row(index));
            prop_assert_eq!(&row.to_datums(&types).unwrap(), &datums);
            prop_assert_eq!(&BinaryRow::from_serialized(&row.to_serialized()).unwrap(), &row);
        }
    }

    /// The hash without rows is the hash of the rows.
    #[test]
    fn fast_hash_equals_general_hash((types, columns) in columns_of(fixed_types(), 1..5, 0..40)) {
        let (seen, rows) = Column::all(&columns, &types).unwrap();
        prop_assert_eq!(hash_rows(&columns, &types).unwrap(), hash_built_rows(&seen, rows).unwrap());
    }

    /// Damaged rows are refused or read as something; nothing panics.
    #[test]
    fn damaged_rows_never_panic(
        (types, columns) in columns_of(any_types(), 1..4, 1..3),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let rows = encode_rows(&columns, &types).unwrap();
        let mut bytes = rows.row(0).to_vec();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(bytes.len() - cut.index(bytes.len()) / 4);
        if let Ok(view) = RowView::new(&bytes, types.len()) {
            let _ = decode_rows(&[view], &types);
        }
    }
}

#[test]
fn blocks_of_the_fast_hash_join_without_a_seam() {
    let values: ArrayRef = Arc::new(Int64Array::from_iter(
        (0..5000_i64).map(|v| (v % 7 != 0).then_some(v * 31)),
    ));
    let types = [DataType::big_int()];
    let columns = [values];
    let (seen, rows) = Column::all(&columns, &types).unwrap();
    assert_eq!(
        hash_rows(&columns, &types).unwrap(),
        hash_built_rows(&seen, rows).unwrap()
    );
    assert_eq!(columns[0].len(), rows);
}
