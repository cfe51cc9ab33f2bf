//! Buckets and hashes against the vectors of Java.

use serde_json::Value;

use super::*;
use crate::binary_row::{BinaryRow, hash_rows};
use crate::murmur;
use crate::test_vectors::{array_of, datum_of, hex, types_of, unhex, vector};

fn number(value: &Value) -> i32 {
    value.as_i64().unwrap().try_into().unwrap()
}

#[test]
fn default_buckets_are_javas() {
    for case in vector("bucket_hash.json")["cases"].as_array().unwrap() {
        let types = types_of(&case["types"]);
        let values = case["values"].as_array().unwrap();
        let datums: Vec<_> = values
            .iter()
            .zip(&types)
            .map(|(v, t)| datum_of(v, t))
            .collect();
        let row = BinaryRow::from_datums(&datums, &types).unwrap();
        assert_eq!(hex(row.as_bytes()), case["row_hex"].as_str().unwrap());
        assert_eq!(row.hash(), number(&case["hash"]));
        let columns: Vec<_> = values
            .iter()
            .zip(&types)
            .map(|(v, t)| array_of(&[v.clone(), v.clone()], t))
            .collect();
        assert_eq!(hash_rows(&columns, &types).unwrap(), [row.hash(); 2]);
        for (bucket, n) in case["bucket_for_1_to_128"]
            .as_array()
            .unwrap()
            .iter()
            .zip(1..)
        {
            let bucket = number(bucket);
            assert_eq!(
                BucketFunction::Default.assign(&columns, &types, n).unwrap(),
                [bucket; 2]
            );
            assert_eq!(
                BucketFunction::Default
                    .assign_datums(&datums, &types, n)
                    .unwrap(),
                bucket
            );
        }
    }
}

#[test]
fn mod_buckets_are_javas() {
    for case in vector("bucket_hash.json")["mod_cases"].as_array().unwrap() {
        let types = [DataType::from_json(&case["type"]).unwrap()];
        let value = datum_of(&case["value"], &types[0]);
        for bucket in case["buckets"].as_array().unwrap() {
            let assigned = BucketFunction::Mod.assign_datums(
                std::slice::from_ref(&value),
                &types,
                number(&bucket["n"]),
            );
            assert_eq!(assigned.unwrap(), number(&bucket["bucket"]), "{case}");
        }
    }
    assert_eq!(
        BucketFunction::Mod
            .assign_datums(&[Datum::Null], &[DataType::int()], 5)
            .unwrap(),
        0
    );
}

#[test]
fn hive_buckets_are_those_of_paimon_2() {
    for case in vector("bucket_hive.json")["cases"].as_array().unwrap() {
        let types = types_of(&case["types"]);
        let values = case["values"].as_array().unwrap();
        let datums: Vec<_> = values
            .iter()
            .zip(&types)
            .map(|(v, t)| datum_of(v, t))
            .collect();
        for (n, bucket) in case["buckets"].as_object().unwrap() {
            let assigned = BucketFunction::Hive.assign_datums(&datums, &types, n.parse().unwrap());
            assert_eq!(assigned.unwrap(), number(bucket), "{case}");
        }
    }
}

#[test]
fn murmur_hashes_are_javas() {
    for case in vector("bucket_hash.json")["murmur_cases"]
        .as_array()
        .unwrap()
    {
        let bytes = unhex(case["bytes_hex"].as_str().unwrap());
        assert_eq!(
            murmur::hash_by_bytes(&bytes),
            number(&case["hash_bytes"]),
            "{case}"
        );
        if let Some(by_words) = case
            .get("hash_by_words")
            .filter(|by_words| !by_words.is_null())
        {
            assert_eq!(murmur::hash_by_words(&bytes), number(by_words), "{case}");
        }
    }
}

#[test]
fn dynamic_bucket_assigners_are_javas() {
    for case in vector("bucket_hash.json")["dynamic_bucket_assigner_cases"]
        .as_array()
        .unwrap()
    {
        let of = |name: &str| number(&case[name]);
        let assigner = dynamic_bucket_assigner(
            of("partition_hash"),
            of("key_hash"),
            of("num_channels"),
            of("num_assigners"),
        );
        assert_eq!(assigner.unwrap(), of("assigner"), "{case}");
    }
}

#[test]
fn calls_that_make_no_sense_are_refused() {
    let one = [Datum::Int(1)];
    let int = [DataType::int()];
    assert!(
        BucketFunction::Default
            .assign_datums(&one, &int, 0)
            .is_err()
    );
    assert!(BucketFunction::Default.assign_datums(&[], &[], 4).is_err());
    assert!(
        BucketFunction::Mod
            .assign_datums(&[Datum::String("a".into())], &[DataType::string()], 4)
            .is_err()
    );
    assert!(
        BucketFunction::Mod
            .assign_datums(
                &[Datum::Int(1), Datum::Int(1)],
                &[DataType::int(), DataType::int()],
                4
            )
            .is_err()
    );
    assert!(
        BucketFunction::Hive
            .assign_datums(&[Datum::Null], &[DataType::timestamp(3)], 4)
            .is_err()
    );
    assert!(BucketFunction::parse("other").is_err());
    for function in [
        BucketFunction::Default,
        BucketFunction::Mod,
        BucketFunction::Hive,
    ] {
        assert_eq!(BucketFunction::parse(function.name()).unwrap(), function);
    }
}
