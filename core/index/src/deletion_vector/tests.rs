//! Vectors and their files against the bytes of Java, against a plain set, and damaged.

use std::collections::BTreeSet;

use bytes::Bytes;
use proptest::prelude::*;
use serde_json::Value;
use tidewater_format::DvMeta;
use tidewater_io::FileIo;
use tidewater_types::ErrorKind;

use super::*;
use crate::vectors::{hex, unhex, vector};

const PATH: &str = "/t/index/index-0";

fn kind(json: &Value) -> DvKind {
    match json["kind"].as_str().unwrap() {
        "bitmap32" => DvKind::Bits32,
        "bitmap64" => DvKind::Bits64,
        other => panic!("{other}"),
    }
}

fn positions(json: &Value) -> Vec<u64> {
    if let Some(list) = json.get("list").or(json.is_array().then_some(json)) {
        let list = list.as_array().unwrap().iter();
        return list.map(|position| position.as_u64().unwrap()).collect();
    }
    if let Some(generator) = json["generator"].as_str() {
        let last = generator.strip_prefix("2*i+1 for i in 0..").unwrap();
        return (0..=last.parse::<u64>().unwrap())
            .map(|i| 2 * i + 1)
            .collect();
    }
    let ranges = json["ranges_inclusive"].as_array().unwrap().iter();
    ranges
        .flat_map(|range| range[0].as_u64().unwrap()..=range[1].as_u64().unwrap())
        .collect()
}

#[test]
fn entries_of_java_are_read_and_written_byte_for_byte() {
    let vectors = vector("02-deletion-vectors.json");
    let mut seen = 0;
    for case in vectors["entries"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let expected = DeletionVector::of(kind(case), positions(&case["positions"])).unwrap();
        assert_eq!(
            expected.cardinality(),
            case["cardinality"].as_u64().unwrap(),
            "{name}"
        );
        let bytes = unhex(case["entry_hex"].as_str().unwrap());
        let (read, frame) = entry::decode(PATH, 1, &bytes).unwrap();
        assert_eq!(read, expected, "{name}");
        assert_eq!(frame, case["entry_bytes_total"].as_u64().unwrap(), "{name}");
        let length = case["entry_length_recorded_in_manifest"].as_u64().unwrap();
        assert_eq!(entry::manifest_length(kind(case), frame), length, "{name}");
        assert_eq!(
            hex(&entry::encode(&expected).unwrap()),
            hex(&bytes),
            "{name}"
        );
        // What was read is written the same, whatever containers it was read into.
        assert_eq!(hex(&entry::encode(&read).unwrap()), hex(&bytes), "{name}");
        seen += 1;
    }
    assert_eq!(seen, 21);
}

fn ranges(json: &Value) -> Vec<DvMeta> {
    let ranges = json.as_array().unwrap().iter();
    let number = |json: &Value| i32::try_from(json.as_i64().unwrap()).unwrap();
    ranges
        .map(|range| DvMeta {
            data_file_name: range["f0"].as_str().unwrap().to_owned(),
            offset: number(&range["f1_offset"]),
            length: number(&range["f2_length"]),
            cardinality: range["_CARDINALITY"].as_i64(),
        })
        .collect()
}

fn input(case: &Value) -> Vec<(String, DeletionVector)> {
    let input = case["input"].as_array().unwrap().iter();
    input
        .map(|file| {
            let vector = DeletionVector::of(kind(case), positions(&file["positions"])).unwrap();
            (file["data_file"].as_str().unwrap().to_owned(), vector)
        })
        .collect()
}

fn encode(vectors: &[(String, DeletionVector)], target: Option<u64>) -> Vec<EncodedDvFile> {
    let vectors = vectors.iter().map(|(name, vector)| (name.as_str(), vector));
    encode_dv_files(vectors, target).unwrap()
}

#[test]
fn files_of_java_are_read_and_written_byte_for_byte() {
    let vectors = vector("02-deletion-vectors.json");
    let (mut whole, mut rolled) = (0, 0);
    for case in vectors["files"].as_array().unwrap() {
        let vectors = input(case);
        if let Some(target) = case["rolling_target_size_bytes"].as_u64() {
            let files = encode(&vectors, Some(target));
            let expected = case["rolled_files"].as_array().unwrap();
            assert_eq!(files.len(), expected.len());
            for (file, expected) in files.iter().zip(expected) {
                let names = expected["data_files"].as_array().unwrap().iter();
                let names: Vec<_> = names.map(|name| name.as_str().unwrap()).collect();
                let meta = file.meta("index-0".to_owned());
                assert_eq!(meta.file_size, expected["file_size"].as_i64().unwrap());
                assert_eq!(meta.row_count, expected["row_count"].as_i64().unwrap());
                let found: Vec<_> = file
                    .ranges
                    .iter()
                    .map(|range| &*range.data_file_name)
                    .collect();
                assert_eq!(found, names);
            }
            rolled += 1;
            continue;
        }
        let [file] = &encode(&vectors, None)[..] else {
            panic!("one file")
        };
        let bytes = unhex(case["file_hex"].as_str().unwrap());
        assert_eq!(hex(&file.bytes), hex(&bytes));
        let expected = ranges(&case["dv_ranges"]);
        assert_eq!(file.ranges, expected);
        let meta = file.meta("index-0".to_owned());
        assert_eq!(meta.index_type, case["index_type"].as_str().unwrap());
        assert_eq!(meta.file_size, case["file_size"].as_i64().unwrap());
        assert_eq!(meta.row_count, case["row_count"].as_i64().unwrap());
        let read = decode_dv_file(PATH, &bytes, &expected).unwrap();
        assert_eq!(read, vectors.into_iter().collect());
        let entries = decode_dv_entries(PATH, &bytes).unwrap();
        check_dv_layout(PATH, &entries, &expected).unwrap();
        whole += 1;
    }
    assert!(whole >= 4 && rolled >= 1, "{whole} {rolled}");
}

#[test]
fn no_vectors_make_one_file_of_one_byte_with_buckets_and_none_without() {
    let [file] = &encode(&[], None)[..] else {
        panic!("one file")
    };
    assert_eq!(&*file.bytes, &[1]);
    assert_eq!(file.meta("index-0".to_owned()).row_count, 0);
    assert!(decode_dv_file(PATH, &file.bytes, &[]).unwrap().is_empty());
    assert_eq!(encode(&[], Some(1)), Vec::new());
}

fn two() -> EncodedDvFile {
    let of = |kind, positions: &[u64]| DeletionVector::of(kind, positions.iter().copied()).unwrap();
    let vectors = [
        ("a".to_owned(), of(DvKind::Bits32, &[0, 7, 9])),
        ("b".to_owned(), of(DvKind::Bits64, &[1, 1 << 33])),
    ];
    encode(&vectors, None).pop().unwrap()
}

async fn stored(bytes: &[u8]) -> FileIo {
    let io = FileIo::memory();
    io.write(PATH, Bytes::copy_from_slice(bytes)).await.unwrap();
    io
}

fn places(file: &EncodedDvFile) -> DeletionFiles {
    deletion_files(PATH, &file.meta("index-0".to_owned()))
        .unwrap()
        .into_iter()
        .collect()
}

#[tokio::test]
async fn one_vector_is_read_from_its_place_alone() {
    let file = two();
    let io = stored(&file.bytes).await;
    let places = places(&file);
    let all = read_dv_file(&io, PATH, &file.ranges).await.unwrap();
    for (name, place) in &places {
        let vector = read_deletion_vector(&io, place).await.unwrap();
        assert_eq!(Some(&vector), all.get(name));
        assert_eq!(place.cardinality, Some(vector.cardinality()));
    }
    assert_eq!(places.len(), 2);
}

#[tokio::test]
async fn whatever_byte_is_changed_the_vector_is_refused_and_the_place_named() {
    let file = two();
    let places = places(&file);
    for at in 1..file.bytes.len() {
        let mut bytes = file.bytes.to_vec();
        bytes[at] ^= 1;
        let io = stored(&bytes).await;
        let name = if at < usize::try_from(places["b"].offset).unwrap() {
            "a"
        } else {
            "b"
        };
        let error = read_deletion_vector(&io, &places[name]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{at}: {error}");
        assert!(error.to_string().contains(PATH), "{at}: {error}");
        let error = decode_dv_file(PATH, &bytes, &file.ranges).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{at}: {error}");
        for end in [0, at] {
            let cut = decode_dv_file(PATH, &file.bytes[..end], &file.ranges);
            assert_eq!(cut.unwrap_err().kind(), ErrorKind::Corrupt, "cut at {end}");
        }
    }
    let mut bytes = file.bytes.to_vec();
    bytes[0] = 2;
    let error = decode_dv_entries(PATH, &bytes).unwrap_err();
    assert!(
        matches!(error, IndexError::Version { found: Some(2), .. }),
        "{error}"
    );
}

#[tokio::test]
async fn a_list_that_does_not_fit_the_file_is_refused() {
    let file = two();
    let io = stored(&file.bytes).await;
    let refused = async |change: fn(&mut DeletionFile)| {
        let mut place = places(&file)["a"].clone();
        change(&mut place);
        read_deletion_vector(&io, &place).await.unwrap_err()
    };
    let error = refused(|place| place.cardinality = Some(4)).await;
    assert!(
        matches!(
            error,
            IndexError::Cardinality {
                expected: 4,
                found: 3,
                ..
            }
        ),
        "{error}"
    );
    let error = refused(|place| place.length += 8).await;
    assert!(matches!(error, IndexError::Length { .. }), "{error}");
    let error = refused(|place| place.offset = place.file_bytes).await;
    assert!(matches!(error, IndexError::Truncated { .. }), "{error}");
    let mut meta = file.meta("index-0".to_owned());
    meta.deletion_vectors.as_mut().unwrap()[1].offset = -1;
    assert!(matches!(
        deletion_files(PATH, &meta).err(),
        Some(IndexError::Place { .. })
    ));
    meta.deletion_vectors.as_mut().unwrap()[1].offset = 1 << 20;
    assert!(matches!(
        deletion_files(PATH, &meta).err(),
        Some(IndexError::Place { .. })
    ));
    let entries = decode_dv_entries(PATH, &file.bytes).unwrap();
    let mut ranges = file.ranges.clone();
    ranges.reverse();
    let error = check_dv_layout(PATH, &entries, &ranges).unwrap_err();
    assert!(
        matches!(error, IndexError::Layout { expected: 1, .. }),
        "{error}"
    );
    ranges.truncate(1);
    assert!(check_dv_layout(PATH, &entries, &file.ranges[..1]).is_err());
}

#[test]
fn a_sixty_four_bit_vector_may_leave_keys_out() {
    let full = DeletionVector::of(DvKind::Bits64, [3, 1 << 33, (1 << 33) + 5]).unwrap();
    let bytes = body::encode(&full).unwrap();
    // Without the empty bitmap of key 1: four bytes of key and eight of bitmap, behind the magic, the count and the bitmap of key 0.
    let first = 4 + 8 + 4 + 8 + 4 + 4 + 2;
    let mut gaps = bytes[..first].to_vec();
    gaps.extend_from_slice(&bytes[first + 12..]);
    gaps[4] = 2;
    assert_eq!(body::decode(PATH, 1, &gaps).unwrap(), full);
}

#[test]
fn a_kind_refuses_positions_that_it_has_no_place_for() {
    let mut small = DeletionVector::new(DvKind::Bits32);
    assert!(small.insert((1 << 31) - 1).unwrap());
    let error = small.insert(1 << 31).unwrap_err();
    assert!(
        matches!(
            error,
            IndexError::Position {
                limit: 2_147_483_647,
                ..
            }
        ),
        "{error}"
    );
    let large = DeletionVector::of(DvKind::Bits64, [1 << 31]).unwrap();
    small.union(&large);
    assert_eq!((small.kind(), small.cardinality()), (DvKind::Bits64, 2));
}

/// Positions in stretches and alone, some of them around 2^32.
fn any_positions() -> impl Strategy<Value = BTreeSet<u64>> {
    let start = prop_oneof![
        0..300_u64,
        65_500..65_600_u64,
        ((1_u64 << 32) - 50)..((1 << 32) + 50)
    ];
    let stretches = prop::collection::vec((start, prop_oneof![Just(1_u64), 1..90_u64]), 0..12);
    stretches.prop_map(|stretches| {
        let rows = stretches
            .into_iter()
            .flat_map(|(start, length)| start..start + length);
        rows.collect()
    })
}

proptest! {
    /// Whatever is written is read back, alone and among others, and written the same again.
    #[test]
    fn what_is_written_is_read(sets in prop::collection::vec(any_positions(), 0..5), target in prop::option::of(1..400_u64)) {
        let vectors: Vec<_> = sets.iter().enumerate().map(|(number, set)| {
            let vector = DeletionVector::of(DvKind::Bits64, set.iter().copied()).unwrap();
            (format!("data-{number}"), vector)
        }).collect();
        let files = encode(&vectors, target);
        let mut read = std::collections::HashMap::new();
        for file in &files {
            let entries = decode_dv_entries(PATH, &file.bytes).unwrap();
            check_dv_layout(PATH, &entries, &file.ranges).unwrap();
            read.extend(decode_dv_file(PATH, &file.bytes, &file.ranges).unwrap());
        }
        let again: Vec<_> = vectors.iter().map(|(name, _)| (name.clone(), read[name].clone())).collect();
        prop_assert_eq!(encode(&again, target), files);
        prop_assert_eq!(again, vectors);
    }

    /// A vector answers as a plain set does.
    #[test]
    fn a_vector_is_a_set(left in any_positions(), right in any_positions(), start in prop_oneof![0..400_u64, 65_400..65_700_u64, ((1_u64 << 32) - 60)..((1 << 32) + 60)], length in 0..200_u64) {
        let of = |set: &BTreeSet<u64>| DeletionVector::of(DvKind::Bits64, set.iter().copied()).unwrap();
        let mut vector = of(&left);
        vector.union(&of(&right));
        let model: BTreeSet<u64> = left.union(&right).copied().collect();
        prop_assert!(vector.iter().eq(model.iter().copied()));
        prop_assert_eq!(vector.cardinality(), model.len() as u64);
        prop_assert_eq!(vector.last(), model.last().copied());
        prop_assert_eq!(vector.is_empty(), model.is_empty());
        let rows = start..start + length;
        let deleted: Vec<u64> = rows.clone().filter(|row| model.contains(row)).collect();
        prop_assert!(rows.clone().all(|row| vector.contains(row) == model.contains(&row)));
        prop_assert_eq!(vector.cardinality_in(rows.clone()), deleted.len() as u64);
        let stretches: Vec<_> = vector.stretches(rows.clone()).collect();
        prop_assert_eq!(stretches.iter().cloned().flatten().collect::<Vec<_>>(), deleted.clone());
        match vector.live_mask(rows.clone()) {
            None => prop_assert!(deleted.is_empty()),
            Some(mask) => {
                let live: Vec<bool> = rows.map(|row| !model.contains(&row)).collect();
                prop_assert_eq!(mask.iter().collect::<Vec<_>>(), live);
                prop_assert!(!deleted.is_empty());
            }
        }
    }

    /// No bytes bring the decoder down.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = decode_dv_entries(PATH, &bytes);
        for magic in [[0x5e, 0x43, 0xf2, 0xd0], [0xd1, 0xd3, 0x39, 0x64]] {
            let body: Vec<u8> = magic.into_iter().chain(bytes.iter().copied()).collect();
            let _ = body::decode(PATH, 1, &body);
        }
    }
}
