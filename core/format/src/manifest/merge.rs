//! Adds entries up to a file set: an ADD and the DELETE of the same identity cancel.
//!
//! Source: Paimon `manifest/FileEntry.mergeEntries`; spec 01b §4.6.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::entry::{FileKind, IdentityOf, ManifestEntry};
use super::error::ManifestError;

/// Merges entries in the order given; what survives keeps its order.
///
/// A DELETE whose ADD is not among the entries stays, since its ADD may be in an older manifest.
///
/// # Errors
/// An identity is added twice, or added after its DELETE. It is deleted twice: Java lets such a pair cancel; here it is
/// corruption, since an identity lives once.
pub fn merge_entries(
    entries: impl IntoIterator<Item = ManifestEntry>,
) -> Result<Vec<ManifestEntry>, ManifestError> {
    let mut entries: Vec<ManifestEntry> = entries.into_iter().collect();
    let mut alive = vec![true; entries.len()];
    {
        let mut by_identity: HashMap<IdentityOf<'_>, usize> = HashMap::with_capacity(entries.len());
        for (index, entry) in entries.iter().enumerate() {
            match (by_identity.entry(IdentityOf(entry)), entry.kind) {
                (Entry::Vacant(vacant), _) => {
                    vacant.insert(index);
                }
                (Entry::Occupied(_), FileKind::Add) => return Err(added_twice(entry)),
                (Entry::Occupied(occupied), FileKind::Delete) => {
                    let (earlier, earlier_index) = occupied.remove_entry();
                    if earlier.0.kind == FileKind::Delete {
                        return Err(deleted_twice(entry));
                    }
                    for gone in [earlier_index, index] {
                        if let Some(slot) = alive.get_mut(gone) {
                            *slot = false;
                        }
                    }
                }
            }
        }
    }
    if alive.contains(&false) {
        let mut alive = alive.into_iter();
        entries.retain(|_| alive.next().unwrap_or(true));
    }
    Ok(entries)
}

/// Merges the entries of a whole snapshot: every file that is left must have come in.
///
/// # Errors
/// As [`merge_entries`], or a DELETE is left over.
pub fn live_entries(
    entries: impl IntoIterator<Item = ManifestEntry>,
) -> Result<Vec<ManifestEntry>, ManifestError> {
    let merged = merge_entries(entries)?;
    match merged.iter().find(|entry| entry.kind == FileKind::Delete) {
        Some(entry) => Err(ManifestError::DeletedWithoutAdd {
            file: entry.file.file_name.clone(),
            bucket: entry.bucket,
            level: entry.file.level,
        }),
        None => Ok(merged),
    }
}

fn added_twice(entry: &ManifestEntry) -> ManifestError {
    ManifestError::AddedTwice {
        file: entry.file.file_name.clone(),
        bucket: entry.bucket,
        level: entry.file.level,
    }
}

fn deleted_twice(entry: &ManifestEntry) -> ManifestError {
    ManifestError::DeletedTwice {
        file: entry.file.file_name.clone(),
        bucket: entry.bucket,
        level: entry.file.level,
    }
}
