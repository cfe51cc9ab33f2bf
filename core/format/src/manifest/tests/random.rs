//! Laws of the codec on random entries, and its behaviour on torn and altered files.

use super::*;
use crate::manifest::{index, list};

fn index_entries() -> impl Strategy<Value = IndexManifestEntry> {
    let vector = (
        "[a-z]{1,9}",
        any::<i32>(),
        any::<i32>(),
        any::<Option<i64>>(),
    )
        .prop_map(|(data_file_name, offset, length, cardinality)| DvMeta {
            data_file_name,
            offset,
            length,
            cardinality,
        });
    let vectors = prop::option::of(prop::collection::vec(vector, 0..3));
    (
        rows(),
        any::<i32>(),
        "[A-Z_]{1,9}",
        "[a-z]{1,9}",
        any::<(i64, i64)>(),
        vectors,
        prop::option::of("[a-z]{1,5}"),
    )
        .prop_map(
            |(
                partition,
                bucket,
                index_type,
                file_name,
                (file_size, row_count),
                deletion_vectors,
                external_path,
            )| {
                IndexManifestEntry {
                    kind: FileKind::Add,
                    partition,
                    bucket,
                    file: IndexFileMeta {
                        index_type,
                        file_name,
                        file_size,
                        row_count,
                        deletion_vectors,
                        external_path,
                        global_index: None,
                    },
                }
            },
        )
}

/// Whatever the bytes: an answer or an error.
fn decode_all(bytes: &[u8]) {
    let _ = decode_entries(bytes, &ManifestFilter::all());
    let _ = list::decode(bytes);
    let _ = index::decode(bytes);
}

proptest! {
    /// decode ∘ encode is the identity, in every codec; encode is a function.
    #[test]
    fn entries_round_trip(entries in prop::collection::vec(entries(), 0..30), codec in prop::sample::select(&CODECS)) {
        let file = encode_entries(&entries, codec).unwrap();
        let decoded = decode_manifest(&file, &ManifestFilter::all()).unwrap();
        prop_assert_eq!(&decoded.records, &entries);
        prop_assert!(!decoded.carries_unknown);
        prop_assert_eq!(encode_entries(&decoded.records, codec).unwrap(), file);
    }

    #[test]
    fn index_entries_round_trip(entries in prop::collection::vec(index_entries(), 0..10), codec in prop::sample::select(&CODECS)) {
        prop_assert_eq!(index::decode(&index::encode(&entries, codec).unwrap()).unwrap(), entries);
    }

    /// Filtering while decoding equals filtering afterwards.
    #[test]
    fn filters_commute_with_decoding(entries in prop::collection::vec(entries(), 0..30), bit in 0u8..8) {
        let file = encode_entries(&entries, AvroCodec::Null).unwrap();
        let odd = move |value: i32| value & (1 << bit) != 0;
        let empty = |row: &BinaryRow| row.arity() == 0;
        let filter = ManifestFilter::all()
            .with_partition(empty)
            .with_bucket(move |bucket, total| odd(bucket ^ total))
            .with_level(odd);
        let kept: Vec<_> = entries
            .iter()
            .filter(|entry| empty(&entry.partition) && odd(entry.bucket ^ entry.total_buckets) && odd(entry.file.level))
            .cloned()
            .collect();
        prop_assert_eq!(decode_entries(&file, &filter).unwrap(), kept);

        let bare = decode_entries(&file, &ManifestFilter::all().without_key_stats().without_value_stats()).unwrap();
        let expected: Vec<_> = entries
            .iter()
            .map(|entry| ManifestEntry {
                file: Arc::new(DataFileMeta { key_stats: SimpleStats::empty(), ..entry.file.without_value_stats() }),
                ..entry.clone()
            })
            .collect();
        prop_assert_eq!(bare, expected);
    }

    #[test]
    fn random_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        decode_all(&bytes);
        decode_all(&[b"Obj\x01".as_slice(), &bytes].concat());
    }

    /// A byte changed anywhere, or the end missing: never a panic, and a cut file is never taken for a whole one.
    #[test]
    fn altered_and_torn_files_do_no_harm(
        entries in prop::collection::vec(entries(), 1..6),
        codec in prop::sample::select(&CODECS),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let file = encode_entries(&entries, codec).unwrap();
        let cut = cut.index(file.len());
        let torn = decode_entries(&file[..cut], &ManifestFilter::all());
        // A cut right after the header leaves a file without blocks, which is one.
        prop_assert!(torn.is_err() || torn.unwrap().is_empty());
        let mut altered = file;
        for (place, byte) in changes {
            let place = place.index(altered.len());
            altered[place] = byte;
        }
        decode_all(&altered);
    }

    /// Merging keeps what was added and not deleted, in order, however the entries are cut into manifests.
    #[test]
    fn merging_equals_replaying(steps in prop::collection::vec((0usize..12, 0i32..3), 0..60)) {
        let mut live: Vec<(usize, i32)> = vec![];
        let mut gone: Vec<(usize, i32)> = vec![];
        let mut log = vec![];
        for (file, level) in steps {
            let name = format!("f{file}");
            if let Some(at) = live.iter().position(|known| *known == (file, level)) {
                live.remove(at);
                gone.push((file, level));
                log.push(entry(FileKind::Delete, 1, &name, level));
            } else if !gone.contains(&(file, level)) {
                live.push((file, level));
                log.push(entry(FileKind::Add, 1, &name, level));
            }
        }
        let merged = live_entries(log.clone()).unwrap();
        let expected: Vec<_> = live.iter().map(|(file, level)| entry(FileKind::Add, 1, &format!("f{file}"), *level)).collect();
        prop_assert_eq!(merged, expected);
        // Cut anywhere, the halves merged first: the same.
        let (front, back) = log.split_at(log.len() / 2);
        let halves = merge_entries(front.to_vec()).unwrap().into_iter().chain(merge_entries(back.to_vec()).unwrap());
        let mut halves = live_entries(halves).unwrap();
        let mut whole = live_entries(log).unwrap();
        let order = |entry: &ManifestEntry| (entry.file.file_name.clone(), entry.file.level);
        halves.sort_by_key(order);
        whole.sort_by_key(order);
        prop_assert_eq!(halves, whole);
    }
}

#[test]
fn entries_that_do_not_add_up_are_refused() {
    let add = entry(FileKind::Add, 1, "a", 0);
    let delete = add.to_delete();
    let twice = merge_entries([add.clone(), add.clone()]).unwrap_err();
    assert!(matches!(twice, ManifestError::AddedTwice { .. }), "{twice}");
    let back = merge_entries([delete.clone(), add.clone()]).unwrap_err();
    assert!(matches!(back, ManifestError::AddedTwice { .. }), "{back}");
    let gone_twice = merge_entries([delete.clone(), delete.clone()]).unwrap_err();
    assert!(
        matches!(gone_twice, ManifestError::DeletedTwice { .. }),
        "{gone_twice}"
    );
    assert_eq!(
        merge_entries([delete.clone()]).unwrap(),
        vec![delete.clone()]
    );
    let left = live_entries([delete]).unwrap_err();
    assert!(
        matches!(left, ManifestError::DeletedWithoutAdd { .. }),
        "{left}"
    );
    // Another level, bucket, partition or companion makes another file.
    let mut other = plain_file("a", 0);
    other.extra_files = vec!["x".into()];
    let others = [
        entry(FileKind::Add, 1, "a", 1),
        entry(FileKind::Add, 2, "a", 0),
        ManifestEntry {
            bucket: 1,
            ..add.clone()
        },
        ManifestEntry {
            file: Arc::new(other),
            ..add.clone()
        },
        add,
    ];
    assert_eq!(merge_entries(others.clone()).unwrap(), others.to_vec());
}

#[test]
fn manifests_roll_at_their_target_size_and_lose_nothing() {
    let types: Arc<[DataType]> = Arc::from([DataType::new(TypeKind::Int)]);
    let entries: Vec<_> = (0..5000)
        .map(|n| entry(FileKind::Add, n % 7, &format!("data-{n}"), 0))
        .collect();
    let mut writer = RollingManifestWriter::new(AvroCodec::Null, 200_000, Arc::clone(&types));
    let mut manifests = vec![];
    for entry in &entries {
        writer.write(entry).unwrap();
        manifests.extend(writer.take_finished());
    }
    manifests.extend(writer.finish().unwrap());
    assert!(manifests.len() > 2);
    let mut read = vec![];
    for (number, manifest) in manifests.iter().enumerate() {
        assert!(
            number + 1 == manifests.len() || (200_000..300_000).contains(&manifest.bytes.len())
        );
        let part = decode_entries(&manifest.bytes, &ManifestFilter::all()).unwrap();
        let size = i64::try_from(manifest.bytes.len()).unwrap();
        let expected = ManifestFileMeta::summarize("m", size, &part, &types).unwrap();
        assert_eq!(manifest.meta("m").unwrap(), expected);
        read.extend(part);
    }
    assert_eq!(read, entries);
    let none = RollingManifestWriter::new(AvroCodec::default(), 1, types)
        .finish()
        .unwrap();
    assert!(none.is_empty(), "no entries give no manifest");
}
