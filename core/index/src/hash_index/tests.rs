//! Hash files and assigners against what Java wrote and chose.

use std::collections::BTreeMap;

use bytes::Bytes;
use proptest::prelude::*;
use serde_json::Value;
use tidewater_io::FileIo;
use tidewater_types::{BinaryRow, ErrorKind, dynamic_bucket_assigner, murmur};

use super::*;
use crate::error::IndexError;
use crate::vectors::{hex, unhex, vector};

fn hashes(json: &Value) -> Vec<i32> {
    let list = json.as_array().unwrap().iter();
    list.map(|hash| i32::try_from(hash.as_i64().unwrap()).unwrap())
        .collect()
}

#[test]
fn files_of_java_are_read_and_written_byte_for_byte() {
    let vectors = vector("02-hash-index.json");
    for case in vectors["files"].as_array().unwrap() {
        let expected = hashes(&case["hashes"]);
        let bytes = unhex(case["file_hex"].as_str().unwrap());
        assert_eq!(decode_hashes("f", &bytes).unwrap(), expected);
        assert_eq!(hex(&encode_hashes(&expected)), hex(&bytes));
        assert_eq!(expected.len() as u64, case["row_count"].as_u64().unwrap());
    }
}

#[test]
fn keys_hash_as_in_java() {
    let vectors = vector("02-hash-index.json");
    for case in vectors["key_hashes"].as_array().unwrap() {
        let row = unhex(case["binary_row_hex"].as_str().unwrap());
        let expected = i32::try_from(case["hash_code"].as_i64().unwrap()).unwrap();
        assert_eq!(murmur::hash_by_words(&row), expected, "{case}");
    }
}

#[test]
fn rows_go_to_the_assigner_that_java_sends_them_to() {
    let vectors = vector("02-hash-index.json");
    for case in vectors["compute_assigner"].as_array().unwrap() {
        let number = |name: &str| i32::try_from(case[name].as_i64().unwrap()).unwrap();
        let assigner = dynamic_bucket_assigner(
            number("partition_hash"),
            number("key_hash"),
            number("num_channels"),
            number("num_assigners"),
        );
        assert_eq!(assigner.unwrap(), number("assigner"), "{case}");
    }
}

fn no_choice(_: usize) -> usize {
    panic!("nothing is to be chosen")
}

#[test]
fn buckets_are_chosen_as_java_chooses_them() {
    let vectors = vector("02-hash-index.json");
    let mut seen = BTreeMap::new();
    for case in vectors["bucket_assignment"].as_array().unwrap() {
        let number = |name: &str| i32::try_from(case[name].as_i64().unwrap()).unwrap();
        let options = AssignerOptions {
            target_rows: case["target_row_num"].as_u64().unwrap(),
            max_buckets: Some(number("max_buckets")).filter(|max| *max != -1),
            channels: number("num_assigners"),
            assigners: number("num_assigners"),
            assigner: number("assign_id"),
        };
        let partition = BinaryRow::empty();
        let kind = case["assigner"].as_str().unwrap();
        let mut assign: Box<dyn FnMut(i32) -> i32> = if kind.starts_with("Simple") {
            let mut assigner = SequentialBucketAssigner::new(options).unwrap();
            let partition = partition.clone();
            Box::new(move |hash| assigner.assign(&partition, hash, no_choice).unwrap().0)
        } else {
            let mut assigner = HashBucketAssigner::new(options).unwrap();
            assigner.load(partition.clone(), 0, []).unwrap();
            let partition = partition.clone();
            Box::new(move |hash| assigner.assign(&partition, hash, no_choice).unwrap().0)
        };
        let buckets: Vec<i32> = hashes(&case["hashes_in_order"])
            .into_iter()
            .map(&mut assign)
            .collect();
        assert_eq!(buckets, hashes(&case["buckets"]), "{case}");
        *seen.entry(kind.to_owned()).or_insert(0) += 1;
    }
    assert_eq!(seen.values().copied().collect::<Vec<_>>(), [9, 4]);
}

fn file(bucket: i32, hashes: &[i32]) -> HashFile {
    HashFile {
        bucket,
        hashes: hashes.to_vec(),
    }
}

#[test]
fn what_was_written_before_stays_where_it_is_and_buckets_are_filled_up() {
    let mut assigner = HashBucketAssigner::new(AssignerOptions::single(3, None)).unwrap();
    let partition = BinaryRow::empty();
    let error = assigner.assign(&partition, 1, no_choice).unwrap_err();
    assert!(matches!(error, IndexError::NotLoaded), "{error}");
    let files = [file(0, &[1, 2, 3]), file(2, &[10, 11]), file(5, &[])];
    assigner.load(partition.clone(), 0, files).unwrap();
    assert!(assigner.knows(&partition));
    let mut assign = |hash| assigner.assign(&partition, hash, no_choice).unwrap();
    assert_eq!(assign(11), (2, false));
    assert_eq!(
        [4, 5, 6, 7, 8, 4].map(&mut assign),
        [
            (2, true),
            (1, true),
            (1, true),
            (1, true),
            (3, true),
            (2, false)
        ]
    );
}

#[test]
fn another_assigner_counts_its_buckets_whole_and_knows_its_own_keys_only() {
    let options = AssignerOptions {
        channels: 2,
        assigners: 2,
        assigner: 1,
        ..AssignerOptions::single(3, None)
    };
    let mut assigner = HashBucketAssigner::new(options).unwrap();
    let partition = BinaryRow::empty();
    // Keys 1 and 3 are its own, bucket 1 is: the key 2 in it counts too.
    assigner
        .load(partition.clone(), 0, [file(0, &[3]), file(1, &[1, 2])])
        .unwrap();
    let mut assign = |hash| assigner.assign(&partition, hash, no_choice).unwrap();
    assert_eq!(
        [1, 3, 5, 7].map(&mut assign),
        [(1, false), (0, false), (1, true), (3, true)]
    );
}

#[test]
fn with_a_largest_number_full_buckets_are_chosen_from_and_without_one_they_run_out() {
    let mut assigner = HashBucketAssigner::new(AssignerOptions::single(1, Some(2))).unwrap();
    let partition = BinaryRow::empty();
    assigner.load(partition.clone(), 0, []).unwrap();
    let assigned = [1, 2, 3, 3].map(|hash| {
        let pick = |buckets| {
            assert_eq!(buckets, 2);
            1
        };
        assigner.assign(&partition, hash, pick).unwrap()
    });
    assert_eq!(assigned, [(0, true), (1, true), (1, true), (1, false)]);

    let options = AssignerOptions {
        channels: 20_000,
        assigners: 20_000,
        assigner: 7,
        ..AssignerOptions::single(1, None)
    };
    let mut assigner = HashBucketAssigner::new(options).unwrap();
    assigner.load(partition.clone(), 0, []).unwrap();
    let mut assign = |hash| assigner.assign(&partition, hash, no_choice);
    assert_eq!(assign(1).unwrap().0, 7);
    assert_eq!(assign(2).unwrap().0, 20_007);
    let error = assign(3).unwrap_err();
    assert!(
        matches!(error, IndexError::NoBucket { in_use: 2 }),
        "{error}"
    );
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

#[test]
fn partitions_are_forgotten_once_their_hashes_are_committed() {
    let mut assigner = HashBucketAssigner::new(AssignerOptions::single(3, None)).unwrap();
    let partition = BinaryRow::empty();
    assigner.load(partition.clone(), 0, []).unwrap();
    assigner.assign(&partition, 1, no_choice).unwrap();
    assigner.prepare_commit(1, None);
    assigner.prepare_commit(2, None);
    assert!(assigner.knows(&partition));
    assigner.prepare_commit(3, Some(0));
    assert!(assigner.knows(&partition));
    assigner.prepare_commit(4, Some(1));
    assert!(!assigner.knows(&partition));
}

#[test]
fn numbers_that_make_no_assigner_are_refused() {
    for (channels, assigners, assigner) in [(0, 1, 0), (1, 0, 0), (1, 1, -1)] {
        let options = AssignerOptions {
            channels,
            assigners,
            assigner,
            ..AssignerOptions::single(1, None)
        };
        assert!(HashBucketAssigner::new(options).is_err());
        assert!(SequentialBucketAssigner::new(options).is_err());
    }
}

#[tokio::test]
async fn a_file_with_another_number_of_hashes_is_refused() {
    let io = FileIo::memory();
    let mut meta = write_hash_file(&io, "/i", "i".to_owned(), &[1, -2])
        .await
        .unwrap();
    assert_eq!(read_hash_file(&io, "/i", &meta).await.unwrap(), [1, -2]);
    meta.row_count = 3;
    let error = read_hash_file(&io, "/i", &meta).await.unwrap_err();
    assert!(
        matches!(
            error,
            IndexError::HashCount {
                expected: 3,
                found: 2,
                ..
            }
        ),
        "{error}"
    );
    io.overwrite("/i", Bytes::from_static(&[0; 7]))
        .await
        .unwrap();
    let error = read_hash_file(&io, "/i", &meta).await.unwrap_err();
    assert!(
        matches!(error, IndexError::HashBytes { bytes: 7, .. }),
        "{error}"
    );
}

proptest! {
    /// No bucket gets more keys than it should while numbers are left; a key that was seen keeps its bucket.
    #[test]
    fn buckets_hold_what_they_should(keys in prop::collection::vec(0..60_i32, 0..200), target in 1..8_u64) {
        let mut assigner = HashBucketAssigner::new(AssignerOptions::single(target, None)).unwrap();
        let partition = BinaryRow::empty();
        assigner.load(partition.clone(), 0, []).unwrap();
        let mut model: BTreeMap<i32, i32> = BTreeMap::new();
        for key in keys {
            let (bucket, new) = assigner.assign(&partition, key, no_choice).unwrap();
            prop_assert_eq!(new, !model.contains_key(&key));
            prop_assert_eq!(*model.entry(key).or_insert(bucket), bucket);
        }
        let mut counts: BTreeMap<i32, u64> = BTreeMap::new();
        for bucket in model.values() {
            *counts.entry(*bucket).or_default() += 1;
        }
        prop_assert!(counts.values().all(|count| *count <= target));
        // One after the other, without holes.
        prop_assert!(counts.keys().copied().eq(0..i32::try_from(counts.len()).unwrap()));
    }
}
