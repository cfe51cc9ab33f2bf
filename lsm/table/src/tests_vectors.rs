//! The vectors of spec 01d on conflicts, played through whole commits.

use std::sync::Arc;

use tidewater_format::{DataFileMeta, FileKind};
use tidewater_io::FileIo;
use tidewater_store::{CommitMessage, CompactIncrement, DataIncrement};
use tidewater_types::BinaryRow;

use crate::commit::live_of;
use crate::tests::{file, memory, table};
use crate::{Committable, TableCommit, TableError};

/// `+f1 L0 [10,25] total_buckets 2`, `-f1 L0`, `total_buckets 2`, in the words of the vector.
struct Entry {
    kind: FileKind,
    file: Arc<DataFileMeta>,
    total_buckets: i32,
}

fn entry(text: &str, number: usize, known: &[Entry]) -> Entry {
    let words: Vec<&str> = text.split_whitespace().collect();
    let after = |word: &str| {
        let at = words.iter().position(|found| *found == word)?;
        words.get(at + 1).copied()
    };
    let total_buckets = after("total_buckets").map_or(1, |text| text.parse().unwrap());
    // A line that names no file means any file.
    let (kind, name) = match words[0].split_at(1) {
        ("+", name) => (FileKind::Add, name.to_owned()),
        ("-", name) => (FileKind::Delete, name.to_owned()),
        _ => (FileKind::Add, format!("f{number}")),
    };
    let level = words
        .iter()
        .find_map(|word| word.strip_prefix('L'))
        .map_or(0, |level| level.parse().unwrap());
    let keys = words
        .iter()
        .find_map(|word| word.strip_prefix('[')?.strip_suffix(']'))
        .map(|keys| {
            let (min, max) = keys.split_once(',').unwrap();
            (min.parse().unwrap(), max.parse().unwrap())
        });
    let keys = keys.or_else(|| {
        let same = known.iter().find(|entry| entry.file.file_name == name)?;
        let int = |row: &BinaryRow| match row.get(0, &tidewater_types::DataType::int()).unwrap() {
            tidewater_types::Datum::Int(value) => value,
            other => panic!("{other:?}"),
        };
        Some((int(&same.file.min_key), int(&same.file.max_key)))
    });
    // Files without a range do not meet the others.
    let keys = keys.unwrap_or((1000 + 10 * i32::try_from(number).unwrap(), 1001));
    Entry {
        kind,
        file: file(&name, level, (keys.0, keys.1.max(keys.0))),
        total_buckets,
    }
}

fn entries(texts: &serde_json::Value, known: &[Entry]) -> Vec<Entry> {
    let texts = texts.as_array().unwrap().iter();
    texts
        .enumerate()
        .map(|(number, text)| entry(text.as_str().unwrap(), number + 1, known))
        .collect()
}

/// The entries as what writers would say.
fn messages(entries: &[Entry], compaction: bool) -> Vec<CommitMessage> {
    let one = |entry: &Entry| {
        let (mut data, mut compact) = (DataIncrement::default(), CompactIncrement::default());
        match (compaction, entry.kind) {
            (false, _) => data.new_files.push(Arc::clone(&entry.file)),
            (true, FileKind::Add) => compact.after.push(Arc::clone(&entry.file)),
            (true, FileKind::Delete) => compact.before.push(Arc::clone(&entry.file)),
        }
        CommitMessage {
            partition: BinaryRow::empty(),
            bucket: 0,
            total_buckets: entry.total_buckets,
            data,
            compact,
        }
    };
    entries.iter().map(one).collect()
}

/// Puts the files there, each on its level.
async fn put(commit: &TableCommit, base: &[Entry]) {
    for (number, entry) in (1..).zip(base) {
        let added = std::slice::from_ref(entry);
        let compaction = entry.file.level > 0;
        let messages = messages(added, compaction);
        commit
            .commit(Committable::new(number, messages))
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn conflicts_are_those_of_java() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/fixtures/vectors/commit_conflicts.json"
    );
    let vector: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let cases = vector["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 7);
    for case in cases {
        let (name, result) = (
            case["name"].as_str().unwrap(),
            case["result"].as_str().unwrap(),
        );
        let io: FileIo = memory();
        let opened = table(&io, "/w/db.db/t", true, &[]).await;
        let commit = opened.new_commit("u").unwrap();
        if case.get("identifier").is_some() {
            let again = || {
                Committable::new(
                    1,
                    messages(&entries(&serde_json::json!(["+a L0"]), &[]), false),
                )
            };
            commit.commit(again()).await.unwrap();
            let other = || {
                Committable::new(
                    1,
                    messages(&entries(&serde_json::json!(["+b L0"]), &[]), false),
                )
            };
            let made = match name.starts_with("filterAndCommit") {
                true => commit.filter_and_commit(vec![other()]).await.unwrap(),
                false => commit.commit(other()).await.unwrap(),
            };
            assert_eq!(made.is_empty(), result.starts_with("0 committed"), "{name}");
            continue;
        }
        let base = entries(&case["base"], &[]);
        put(&commit, &base).await;
        let delta = entries(&case["delta"], &base);
        let compaction = case["kind"] == "COMPACT";
        let outcome = commit
            .commit(Committable::new(100, messages(&delta, compaction)))
            .await;
        match outcome {
            Ok(_) => {
                assert!(result.starts_with("ok"), "{name}: {result}");
                let latest = opened.snapshots().latest().await.unwrap().unwrap();
                let live = live_of(commit.context(), &latest).await.unwrap();
                for entry in &delta {
                    let is_live = live.contains(&entry.file.file_name);
                    assert_eq!(is_live, entry.kind == FileKind::Add, "{name}");
                }
            }
            Err(TableError::FileConflict { reason, .. }) => {
                let expected = match () {
                    () if result.starts_with("file deletion") => "was removed by another commit",
                    () if result.starts_with("LSM") => "LSM conflict",
                    () => "total buckets changed",
                };
                assert!(
                    !result.starts_with("ok") && reason.contains(expected),
                    "{name}: {reason}"
                );
            }
            Err(other) => panic!("{name}: {other}"),
        }
    }
}
