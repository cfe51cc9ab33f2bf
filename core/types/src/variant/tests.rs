//! VARIANT bytes and texts against what Java 1.3.1 makes (`variant_json.json`), and damaged bytes.

use parquet_variant::Variant;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::ErrorKind;
use crate::test_vectors::{hex, unhex, vector};

#[test]
fn json_becomes_the_bytes_that_java_makes_and_comes_back() {
    for case in vector("variant_json.json")["cases"].as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        let made = json_to_variant(text);
        if case.get("error").is_some() {
            assert_eq!(made.unwrap_err().kind(), ErrorKind::Invalid, "{text}");
            continue;
        }
        let (value, metadata) = made.unwrap();
        assert_eq!(
            hex(&metadata),
            case["metadata_hex"].as_str().unwrap(),
            "{text}"
        );
        assert_eq!(hex(&value), case["value_hex"].as_str().unwrap(), "{text}");
        assert_eq!(
            variant_to_json(&value, &metadata).unwrap(),
            case["json"].as_str().unwrap(),
            "{text}"
        );
        if !text.contains("\"\":") {
            // The library refuses empty names, which are valid.
            Variant::try_new(&metadata, &value).unwrap();
        }
    }
}

#[test]
fn scalars_that_no_json_makes_are_written_as_java_writes_them() {
    for case in vector("variant_json.json")["scalars"].as_array().unwrap() {
        let (value, metadata) = (
            case["value_hex"].as_str().unwrap(),
            case["metadata_hex"].as_str().unwrap(),
        );
        assert_eq!(
            variant_to_json(&unhex(value), &unhex(metadata)).unwrap(),
            case["json"].as_str().unwrap(),
            "{case}"
        );
    }
}

#[test]
fn scalars_that_java_does_not_know_are_written_likewise() {
    let cases = [
        ("4440420f0000000000", "\"00:00:01\""),
        ("44ff5fd71d14000000", "\"23:59:59.999999\""),
        (
            "48ffffffffffffffff",
            "\"1969-12-31 23:59:59.999999999+00:00\"",
        ),
        ("4c0100000000000000", "\"1970-01-01 00:00:00.000000001\""),
    ];
    for (value, json) in cases {
        assert_eq!(
            variant_to_json(&unhex(value), &unhex("010000")).unwrap_or_default(),
            json,
            "{value}"
        );
    }
}

#[test]
fn names_are_sorted_by_bytes_and_text_ends_where_the_value_ends() {
    let (value, metadata) = json_to_variant("{\"😀\":1,\"\u{ffee}\":2}").unwrap();
    assert_eq!(
        variant_to_json(&value, &metadata).unwrap(),
        "{\"\u{ffee}\":2,\"😀\":1}"
    );
    Variant::try_new(&metadata, &value).unwrap();
    assert!(json_to_variant("1 2").is_err());
}

#[test]
fn bytes_that_are_no_variant_are_refused() {
    for (value, metadata) in [
        ("", "010000"),
        ("00", ""),
        ("00", "020000"),
        ("0c", "010000"),
        ("0578", "0100"),
        ("09787", "010000"),
        ("02010000020c00", "010000"),
        ("0303000204060c010c02", "010000"),
        ("2027ffffffff", "010000"),
        ("fc", "010000"),
        ("05ff", "010000"),
    ] {
        let read = variant_to_json(&unhex(&value[..value.len() / 2 * 2]), &unhex(metadata));
        if (value, metadata) == ("0578", "0100") {
            // A value without names does not look at a cut table of them.
            assert_eq!(read.unwrap(), "\"x\"");
        } else {
            assert!(
                matches!(
                    read.unwrap_err().kind(),
                    ErrorKind::Corrupt | ErrorKind::Unsupported
                ),
                "{value}"
            );
        }
    }
}

#[test]
fn deep_and_overlapping_values_are_refused_before_they_hurt() {
    // Each list holds one element, the rest of the bytes.
    let mut deep = Vec::new();
    for _ in 0..200_000 {
        deep.extend_from_slice(&[0x03, 1, 0, 0]);
    }
    deep.push(0);
    let metadata = [1, 0, 0];
    assert_eq!(
        variant_to_json(&deep, &metadata).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
    // Lists of eight elements that all are the next list.
    let mut wide = Vec::new();
    for _ in 0..20 {
        wide.extend_from_slice(&[0x03, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
    wide.push(0);
    assert_eq!(
        variant_to_json(&wide, &metadata).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
    let text = format!("{}{}", "[".repeat(200), "]".repeat(200));
    assert_eq!(
        json_to_variant(&text).unwrap_err().kind(),
        ErrorKind::Invalid
    );
}

fn trees() -> impl Strategy<Value = Value> {
    let leaves = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(|v| json!(v)),
        any::<i64>().prop_map(|v| json!(v)),
        ".{0,70}".prop_map(|v| json!(v)),
    ];
    leaves.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::btree_map(".{0,5}", inner, 0..6)
                .prop_map(|v| Value::Object(v.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Trees come back as they were, and the library reads the bytes.
    #[test]
    fn trees_come_back(tree in trees()) {
        let text = tree.to_string();
        let (value, metadata) = json_to_variant(&text).unwrap();
        prop_assert!(text.contains("\"\":") || Variant::try_new(&metadata, &value).is_ok());
        prop_assert_eq!(variant_to_json(&value, &metadata).unwrap(), text);
    }

    /// Damaged bytes are refused or read as something; nothing panics.
    #[test]
    fn damaged_bytes_never_panic(tree in trees(), damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let (mut value, mut metadata) = json_to_variant(&tree.to_string()).unwrap();
        for (index, (at, byte)) in damage.into_iter().enumerate() {
            let bytes = if index % 4 == 3 { &mut metadata } else { &mut value };
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = variant_to_json(&value, &metadata);
    }
}
