//! Directory names against the vectors of Java 1.3.1, and escaping there and back.

use proptest::prelude::*;

use super::*;
use crate::ids::Bucket;
use crate::test_vectors::{datum_of, hex, types_of, vector};

#[test]
fn partition_directories_are_javas() {
    let vectors = vector("partition_paths.json");
    for case in vectors["cases"].as_array().unwrap() {
        let types = types_of(&case["types"]);
        let values = case["values"].as_array().unwrap();
        let datums: Vec<_> = values
            .iter()
            .zip(&types)
            .map(|(v, t)| datum_of(v, t))
            .collect();
        let row = BinaryRow::from_datums(&datums, &types).unwrap();
        assert_eq!(
            hex(&row.to_serialized()),
            case["partition_serialized_hex"].as_str().unwrap()
        );
        let keys: Vec<String> = serde_json::from_value(case["keys"].clone()).unwrap();
        for (legacy, name) in [(true, "legacy_true"), (false, "legacy_false")] {
            let path =
                partition_path(&keys, &row, &types, "__DEFAULT_PARTITION__", legacy).unwrap();
            assert_eq!(path, case[name].as_str().unwrap(), "{case}");
            let bucket = format!("/t/{path}{}", Bucket(0).directory_name());
            assert_eq!(
                bucket,
                case[format!("{name}_bucket0")].as_str().unwrap(),
                "{case}"
            );
        }
    }
}

#[test]
fn names_are_unescaped_as_java_does() {
    for case in vector("partition_paths.json")["unescape_cases"]
        .as_array()
        .unwrap()
    {
        assert_eq!(
            unescape_path_name(case["input"].as_str().unwrap()),
            case["unescaped"].as_str().unwrap()
        );
    }
}

#[test]
fn bucket_directories_are_javas() {
    for case in vector("partition_paths.json")["bucket_dirs"]
        .as_array()
        .unwrap()
    {
        let bucket = Bucket(case["bucket"].as_i64().unwrap().try_into().unwrap());
        let path = case["path"].as_str().unwrap();
        assert_eq!(path.rsplit('/').next().unwrap(), bucket.directory_name());
    }
}

#[test]
fn columns_without_a_usable_name_are_refused() {
    let bytes = Datum::Bytes(vec![0x61]);
    let error = partition_text(&bytes, &DataType::bytes(), true).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::Unsupported);
    assert_eq!(
        partition_text(&bytes, &DataType::bytes(), false)
            .unwrap()
            .as_deref(),
        Some("a")
    );
    assert!(partition_text(&Datum::Null, &DataType::array(DataType::int()), true).is_err());
}

#[test]
fn only_javas_white_space_is_blank() {
    assert!(is_blank(" \t\u{1c}\u{3000}"));
    assert!(!is_blank("\u{a0}"));
    assert!(!is_blank("\u{85}"));
}

#[test]
fn paths_split_into_their_keys_and_texts() {
    let split = split_partition_path("a%3Db=1/c=x%2Fy/").unwrap();
    assert_eq!(
        split,
        [
            ("a=b".to_owned(), "1".to_owned()),
            ("c".to_owned(), "x/y".to_owned())
        ]
    );
    assert!(split_partition_path("a/b=1").is_err());
}

proptest! {
    /// Escaping loses nothing and leaves no character that splits a path.
    #[test]
    fn escaped_names_come_back(name in any::<String>()) {
        let escaped = escape_path_name(&name);
        prop_assert!(!escaped.contains(['/', '=', ':']));
        prop_assert_eq!(unescape_path_name(&escaped), name);
    }

    /// No text makes unescaping panic.
    #[test]
    fn any_text_unescapes(text in "(%|[0-9a-fG]|é|😀){0,12}") {
        let _ = unescape_path_name(&text);
    }
}
