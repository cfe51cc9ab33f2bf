//! `manifest_merge.json`, and the laws every merge keeps.

use std::collections::HashMap;
use std::sync::Mutex;

use proptest::prelude::*;
use serde_json::Value;
use tidewater_types::TypeKind;

use super::*;
use crate::error::FormatError;
use crate::manifest::tests::entry;
use crate::manifest::{decode_entries, encode_entries, live_entries};
use crate::test_vectors::vector;

fn types() -> Arc<[DataType]> {
    Arc::from([DataType::new(TypeKind::Int)])
}

/// `+a:5@1`: kind, name, level, partition.
fn parse(text: &str) -> ManifestEntry {
    let kind = if text.starts_with('+') {
        FileKind::Add
    } else {
        FileKind::Delete
    };
    let (name, partition) = text[1..].split_once('@').unwrap();
    let (name, level) = name.split_once(':').unwrap_or((name, "0"));
    entry(
        kind,
        partition.parse().unwrap(),
        name,
        level.parse().unwrap(),
    )
}

struct Merged {
    output: ManifestMergeOutput,
    entries: Vec<Vec<ManifestEntry>>,
    reads: usize,
}

/// Runs a merge over manifests in memory. `sizes` stand in for the real sizes.
fn run(
    inputs: &[Vec<ManifestEntry>],
    sizes: &[i64],
    options: ManifestMergeOptions,
) -> Result<Merged> {
    let mut store: HashMap<String, Vec<u8>> = HashMap::new();
    let mut metas = vec![];
    for (index, entries) in inputs.iter().enumerate() {
        let name = format!("in-{index}");
        metas.push(ManifestFileMeta::summarize(
            name.clone(),
            sizes[index],
            entries,
            &types(),
        )?);
        store.insert(name, encode_entries(entries, AvroCodec::default())?);
    }
    let store = Mutex::new(store);
    let mut reads = 0;
    let mut written = 0;
    let output = ManifestMerge::new(metas, options, types(), AvroCodec::default())
        .run::<FormatError>(
            |meta| {
                reads += 1;
                Ok(Bytes::from(store.lock().unwrap()[&meta.file_name].clone()))
            },
            |bytes| {
                let name = format!("out-{written}");
                written += 1;
                store.lock().unwrap().insert(name.clone(), bytes);
                Ok(name)
            },
        )?;
    let store = store.into_inner().unwrap();
    let entries = output
        .manifests
        .iter()
        .map(|meta| decode_entries(&store[&meta.file_name], &ManifestFilter::all()))
        .collect::<Result<_>>()?;
    Ok(Merged {
        output,
        entries,
        reads,
    })
}

#[test]
fn manifest_merge_vectors_are_reproduced() {
    let vectors = vector("manifest_merge.json");
    let cases = vectors["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 16);
    let entries = |manifest: &Value| -> Vec<ManifestEntry> {
        manifest["entries"]
            .as_array()
            .unwrap()
            .iter()
            .map(|text| parse(text.as_str().unwrap()))
            .collect()
    };
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let input = case["input"].as_array().unwrap();
        let inputs: Vec<_> = input.iter().map(entries).collect();
        let sizes: Vec<i64> = input
            .iter()
            .map(|manifest| manifest["size"].as_i64().unwrap())
            .collect();
        let options = ManifestMergeOptions {
            target_file_size: case["target_file_size"].as_u64().unwrap(),
            merge_min_count: usize::try_from(case["merge_min_count"].as_u64().unwrap()).unwrap(),
            full_compaction_threshold_size: case["full_compaction_threshold"].as_u64().unwrap(),
        };
        let merged = run(&inputs, &sizes, options);
        if let Some(error) = case["error"].as_str() {
            assert!(error.contains("already added"));
            let error = merged.err().unwrap();
            assert!(
                matches!(
                    error,
                    FormatError::Manifest(ManifestError::AddedTwice { .. })
                ),
                "{name}: {error}"
            );
            continue;
        }
        let merged = merged.unwrap();
        let expected = case["output"].as_array().unwrap();
        assert_eq!(merged.output.manifests.len(), expected.len(), "{name}");
        for ((meta, found), expected) in merged
            .output
            .manifests
            .iter()
            .zip(&merged.entries)
            .zip(expected)
        {
            match expected["reused_input"].as_u64() {
                Some(index) => assert_eq!(meta.file_name, format!("in-{index}"), "{name}"),
                None => assert!(merged.output.new_files.contains(&meta.file_name), "{name}"),
            }
            assert_eq!(found, &entries(expected), "{name}");
            assert_eq!(
                Some(meta.num_added_files),
                expected["num_added"].as_i64(),
                "{name}"
            );
            assert_eq!(
                Some(meta.num_deleted_files),
                expected["num_deleted"].as_i64(),
                "{name}"
            );
        }
        assert_eq!(
            merged.output.abandoned_files,
            Vec::<String>::new(),
            "{name}"
        );
        let unchanged = merged
            .output
            .manifests
            .iter()
            .map(|meta| meta.file_name.clone())
            .collect::<Vec<_>>()
            == (0..inputs.len())
                .map(|index| format!("in-{index}"))
                .collect::<Vec<_>>();
        assert_eq!(merged.output.changed, !unchanged, "{name}");
    }
}

#[test]
fn nothing_is_read_when_nothing_is_to_be_merged() {
    let inputs: Vec<_> = (0..29).map(|n| vec![parse(&format!("+f{n}@1"))]).collect();
    let merged = run(&inputs, &[2000; 29], ManifestMergeOptions::default()).unwrap();
    assert_eq!(merged.reads, 0);
    assert!(!merged.output.changed);
    let none = run(
        &[],
        &[],
        ManifestMergeOptions {
            merge_min_count: 0,
            ..Default::default()
        },
    )
    .unwrap();
    assert_eq!(none.output.manifests, vec![]);
}

#[test]
fn thirty_small_manifests_become_one() {
    let inputs: Vec<_> = (0..30).map(|n| vec![parse(&format!("+f{n}@1"))]).collect();
    let merged = run(&inputs, &[2000; 30], ManifestMergeOptions::default()).unwrap();
    assert_eq!(merged.output.manifests.len(), 1);
    assert_eq!(merged.entries, vec![inputs.concat()]);
}

#[test]
fn a_manifest_with_unknown_values_is_never_rewritten() {
    // 2.1 of the future: one more column, with a value.
    let schema = crate::manifest::encode::MANIFEST_SCHEMA.replace(
        r#"{"name":"_KIND","type":"int"}"#,
        r#"{"name":"_KIND","type":"int"},{"name":"_NEW","type":"int"}"#,
    );
    let schema: &'static str = Box::leak(schema.into_boxed_str());
    let add = parse("+a@1");
    let mut plain = vec![];
    crate::manifest::encode::put_entry(&mut plain, &add, false);
    let mut writer = crate::avro::ContainerWriter::new(schema, AvroCodec::Null).unwrap();
    writer
        .append(|out| {
            out.extend_from_slice(&plain[..2]);
            out.push(14);
            out.extend_from_slice(&plain[2..]);
        })
        .unwrap();
    let future = writer.finish().unwrap();
    assert_eq!(
        decode_entries(&future, &ManifestFilter::all()).unwrap(),
        vec![add.clone()]
    );

    let other = encode_entries(&[parse("+b@1")], AvroCodec::Null).unwrap();
    let gone = encode_entries(&[parse("-b@1")], AvroCodec::Null).unwrap();
    let files = [
        ("other", other, parse("+b@1")),
        ("future", future, add),
        ("gone", gone, parse("-b@1")),
    ];
    let metas: Vec<_> = files
        .iter()
        .map(|(name, _, entry)| {
            ManifestFileMeta::summarize(*name, 2000, std::slice::from_ref(entry), &types()).unwrap()
        })
        .collect();
    for full in [false, true] {
        let options = ManifestMergeOptions {
            merge_min_count: 2,
            // Rolls after each block, so that the full compaction has stored a file when it gives way.
            target_file_size: 1 << 30,
            full_compaction_threshold_size: if full { 1 } else { u64::MAX },
        };
        let output = ManifestMerge::new(metas.clone(), options, types(), AvroCodec::Null)
            .run::<FormatError>(
                |meta| {
                    Ok(Bytes::from(
                        files
                            .iter()
                            .find(|(name, ..)| *name == meta.file_name)
                            .unwrap()
                            .1
                            .clone(),
                    ))
                },
                |_| Ok("new".to_owned()),
            )
            .unwrap();
        assert!(!output.changed, "{full}");
        assert_eq!(output.manifests, metas);
    }
}

#[test]
fn the_protocol_is_checked() {
    let metas = vec![ManifestFileMeta::summarize("a", 1, &[parse("+a@1")], &types()).unwrap(); 2];
    let options = ManifestMergeOptions {
        merge_min_count: 2,
        ..Default::default()
    };
    let mut merge = ManifestMerge::new(metas, options, types(), AvroCodec::default());
    assert!(matches!(merge.step().unwrap(), MergeStep::Read(indexes) if indexes == vec![0, 1]));
    assert_eq!(
        merge.step().unwrap_err().kind(),
        tidewater_types::ErrorKind::Internal
    );
    assert_eq!(
        merge.stored("x").unwrap_err().kind(),
        tidewater_types::ErrorKind::Internal
    );
}

proptest! {
    /// Whatever is merged, the file set of the whole list stays the same, and reused manifests keep their order.
    #[test]
    fn a_merge_keeps_the_file_set(
        steps in prop::collection::vec((0usize..20, 0i32..3, any::<bool>()), 0..80),
        sizes in prop::collection::vec(1i64..100, 80),
        target in 1u64..200,
        min_count in 0usize..10,
        threshold in 1u64..400,
    ) {
        let mut live: Vec<ManifestEntry> = vec![];
        let mut seen: Vec<(usize, i32)> = vec![];
        let mut inputs: Vec<Vec<ManifestEntry>> = vec![vec![]];
        for (file, partition, cut) in steps {
            let name = format!("f{file}");
            let known = live.iter().position(|known| known.file.file_name == name && known.partition == entry(FileKind::Add, partition, "", 0).partition);
            let step = match known {
                Some(at) => Some(live.remove(at).to_delete()),
                None if seen.contains(&(file, partition)) => None,
                None => {
                    seen.push((file, partition));
                    live.push(entry(FileKind::Add, partition, &name, 0));
                    live.last().cloned()
                }
            };
            if let (Some(step), Some(last)) = (step, inputs.last_mut()) {
                last.push(step);
            }
            if cut && inputs.last().is_some_and(|last| !last.is_empty()) {
                inputs.push(vec![]);
            }
        }
        inputs.retain(|manifest| !manifest.is_empty());
        let options = ManifestMergeOptions {
            target_file_size: target,
            merge_min_count: min_count,
            full_compaction_threshold_size: threshold,
        };
        let merged = run(&inputs, &sizes[..inputs.len()], options).unwrap();
        let order = |entry: &ManifestEntry| (entry.file.file_name.clone(), entry.partition.clone());
        let mut found = live_entries(merged.entries.concat()).unwrap();
        found.sort_by_key(order);
        live.sort_by_key(order);
        prop_assert_eq!(found, live);
        prop_assert_eq!(merged.output.manifests.iter().filter(|meta| meta.file_name.starts_with("out")).count(), merged.output.new_files.len());
    }
}
