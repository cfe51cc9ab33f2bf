//! Whether a commit still fits on top of the latest snapshot.
//!
//! Three questions (spec 01d §3.2): does every partition keep its number of buckets; do the files that go still exist, and are those
//! that come new; do the levels above 0 stay free of overlaps. A no is final for this commit: rebasing cannot help.
//!
//! Source: Paimon `operation/commit/ConflictDetection.java`.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use tidewater_format::{CommitKind, DataFileMeta, FileKind, ManifestEntry, merge_entries};
use tidewater_merge::KeyComparator;
use tidewater_types::BinaryRow;

use super::changes::Changes;

/// Why a commit does not fit, as text for the error.
pub(crate) type Conflict = String;

/// Checks `changes` against the live entries `base` of the partitions that they touch.
///
/// `keys` compares keys; `None` for append tables, which have no levels.
pub(crate) fn check(
    base: Vec<ManifestEntry>,
    changes: &Changes,
    keys: Option<&KeyComparator>,
) -> Result<(), Conflict> {
    if changes.kind != CommitKind::Overwrite {
        bucket_counts(&base, &changes.delta)?;
    }
    let merged = merge_entries(base.into_iter().chain(changes.delta.iter().cloned()))
        .map_err(|e| e.to_string())?;
    if let Some(gone) = merged.iter().find(|entry| entry.kind == FileKind::Delete) {
        return Err(format!(
            "file {} of bucket {} on level {} was removed by another commit",
            gone.file.file_name, gone.bucket, gone.file.level
        ));
    }
    keys.map_or(Ok(()), |keys| levels(&merged, keys))
}

fn bucket_counts(base: &[ManifestEntry], delta: &[ManifestEntry]) -> Result<(), Conflict> {
    let mut known: HashMap<&BinaryRow, i32> = HashMap::new();
    for entry in base
        .iter()
        .chain(delta)
        .filter(|entry| entry.total_buckets > 0)
    {
        let first = *known.entry(&entry.partition).or_insert(entry.total_buckets);
        if first != entry.total_buckets {
            return Err(format!(
                "total buckets changed without overwrite: a partition has {first} buckets and file {} was written for {}",
                entry.file.file_name, entry.total_buckets
            ));
        }
    }
    Ok(())
}

fn levels(merged: &[ManifestEntry], keys: &KeyComparator) -> Result<(), Conflict> {
    let mut groups: HashMap<(&BinaryRow, i32, i32), Vec<&Arc<DataFileMeta>>> = HashMap::new();
    for entry in merged.iter().filter(|entry| entry.file.level >= 1) {
        groups
            .entry((&entry.partition, entry.bucket, entry.file.level))
            .or_default()
            .push(&entry.file);
    }
    for ((_, bucket, level), mut files) in groups {
        let mut failed = None;
        files.sort_by(|left, right| {
            keys.compare(&left.min_key, &right.min_key)
                .unwrap_or_else(|e| {
                    failed = Some(e.to_string());
                    Ordering::Equal
                })
        });
        if let Some(reason) = failed {
            return Err(reason);
        }
        for pair in files.windows(2) {
            if let [left, right] = pair
                && keys
                    .compare(&left.max_key, &right.min_key)
                    .map_err(|e| e.to_string())?
                    != Ordering::Less
            {
                return Err(format!(
                    "LSM conflict: files {} and {} of bucket {bucket} overlap on level {level}",
                    left.file_name, right.file_name
                ));
            }
        }
    }
    Ok(())
}
