use serde_json::Value;

use super::*;
use crate::RowKind;
use crate::test_vectors::vector;

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

/// Types and bytes of the vectors whose fields are all atomic.
fn atomic_cases() -> Vec<(String, Vec<DataType>, Vec<u8>, Value)> {
    let mut out = Vec::new();
    for case in vector("binary_row.json")["cases"].as_array().unwrap() {
        let types: Vec<DataType> = case["types"]
            .as_array()
            .unwrap()
            .iter()
            .map(|json| DataType::from_json(json).unwrap())
            .collect();
        if types
            .iter()
            .any(|t| t.kind.is_nested() || t.kind == crate::TypeKind::Variant)
        {
            continue;
        }
        out.push((
            case["name"].to_string(),
            types,
            unhex(case["row_hex"].as_str().unwrap()),
            case.clone(),
        ));
    }
    assert!(out.len() > 60);
    out
}

#[test]
fn atomic_vectors_decode_encode_and_hash_to_the_same_bytes() {
    for (name, types, bytes, case) in atomic_cases() {
        let row = BinaryRow::from_bytes(types.len(), &bytes).unwrap();
        let values = row
            .to_datums(&types)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut writer = BinaryRowWriter::new(types.len());
        writer.set_kind(RowKind::from_i8(bytes[0].cast_signed()).unwrap());
        for (index, (value, data_type)) in values.iter().zip(&types).enumerate() {
            writer
                .write_datum(index, value, data_type)
                .unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        assert_eq!(writer.finish().as_bytes(), bytes, "{name}");
        assert_eq!(
            i64::from(row.hash()),
            case["hash"].as_i64().unwrap(),
            "{name}"
        );
        let serialized = unhex(case["serialized_hex"].as_str().unwrap());
        assert_eq!(row.to_serialized(), serialized, "{name}");
        assert_eq!(
            BinaryRow::from_serialized(&serialized).unwrap(),
            row,
            "{name}"
        );
    }
}

#[test]
fn damaged_rows_are_errors() {
    for (_, types, bytes, _) in atomic_cases() {
        for cut in (0..bytes.len()).step_by(8) {
            if let Ok(row) = BinaryRow::from_bytes(types.len(), &bytes[..cut]) {
                // whatever is left must answer, with values or with an error
                let _ = row.to_datums(&types);
            }
        }
        let mut noise = bytes.clone();
        for at in 0..noise.len() {
            noise[at] ^= 0xff;
            let _ = BinaryRow::from_bytes(types.len(), &noise)
                .unwrap()
                .to_datums(&types);
        }
    }
    assert!(BinaryRow::from_serialized(&[0, 0]).is_err());
    assert!(BinaryRow::from_serialized(&[0xff; 12]).is_err());
    assert!(BinaryRow::from_serialized(&[0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0]).is_err());
}
