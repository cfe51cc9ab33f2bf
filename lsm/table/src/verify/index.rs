//! Index manifests and the index files that they list.
//!
//! A deletion vector whose data file is gone is noted only: Java leaves one behind when a full compaction rewrites the only file of a
//! bucket, and readers look vectors up by the names of live files.

use std::collections::{HashMap, HashSet};

use tidewater_format::{DvMeta, FileKind, IndexFileMeta, ManifestEntry, Snapshot, index_manifest};
use tidewater_index::{DELETION_VECTORS, DvEntry, HASH, check_dv_layout, decode_dv_entries};

use super::reached::{Reached, read, size};
use super::{VerifyReport, fault};
use crate::error::Result;
use crate::table_log::TableLog;

/// Checks index files; each is read once.
#[derive(Debug, Default)]
pub(super) struct IndexCheck {
    /// The vectors of each file that was read, by offset; nothing if it cannot be read.
    vectors: HashMap<String, Option<HashMap<u64, Vector>>>,
}

/// What is known of a vector.
#[derive(Debug, Clone, Copy)]
struct Vector {
    length: u64,
    cardinality: u64,
    last: Option<u64>,
}

/// Where faults go, and what they are about.
struct Told<'a> {
    report: &'a mut VerifyReport,
    place: String,
}

impl Told<'_> {
    fn fault(&mut self, code: &'static str, detail: impl Into<String>) {
        self.report.fault(code, &self.place, detail);
    }
}

impl IndexCheck {
    /// Checks what the snapshot lists against its live files.
    pub(super) async fn check<'a>(
        &mut self,
        log: &TableLog,
        reached: &mut Reached,
        report: &mut VerifyReport,
        place: &str,
        snapshot: &Snapshot,
        live: impl Iterator<Item = &'a ManifestEntry>,
    ) -> Result<()> {
        let Some(name) = &snapshot.index_manifest else {
            return Ok(());
        };
        let path = log.paths().manifest(name);
        reached.name(path.clone());
        let Some(bytes) = read(log, &path).await? else {
            report.fault("index-manifest-missing", place, name);
            return Ok(());
        };
        let entries = match index_manifest::decode(&bytes) {
            Ok(entries) => entries,
            Err(e) => {
                report.fault("index-manifest-unreadable", place, format!("{name}: {e}"));
                return Ok(());
            }
        };
        let rows_of = |entry: &'a ManifestEntry| {
            let rows = u64::try_from(entry.file.row_count).unwrap_or(0);
            ((entry.bucket, entry.file.file_name.as_str()), rows)
        };
        let rows: HashMap<(i32, &str), u64> = live.map(rows_of).collect();
        let mut seen = HashSet::new();
        for entry in &entries {
            let file = &entry.file;
            let path = match &file.external_path {
                Some(path) => path.clone(),
                None => {
                    let dir = reached.bucket_dir(log, &entry.partition, entry.bucket);
                    log.paths()
                        .index_file(&dir.unwrap_or_default(), &file.file_name)
                }
            };
            reached.name(path.clone());
            let mut told = Told {
                report: &mut *report,
                place: format!("{place} {}", file.file_name),
            };
            if entry.kind != FileKind::Add {
                told.fault("index-entry-kind", "DELETE");
            }
            let Some(bytes) = size(log, &path).await? else {
                told.fault("index-file-missing", path);
                continue;
            };
            if u64::try_from(file.file_size).ok() != Some(bytes) {
                let detail = format!("says {}, is {bytes}", file.file_size);
                told.fault("index-file-size", detail);
                continue;
            }
            match file.index_type.as_str() {
                // A hash index is its hashes, four bytes each.
                HASH if bytes % 4 != 0 || u64::try_from(file.row_count).ok() != Some(bytes / 4) => {
                    let detail = format!("says {}, has {}", file.row_count, bytes / 4);
                    told.fault("hash-index-count", detail);
                }
                DELETION_VECTORS => {
                    let Some(ranges) = &file.deletion_vectors else {
                        told.fault("dv-ranges", "none");
                        continue;
                    };
                    if !self.vectors.contains_key(&path) {
                        let vectors = vectors(log, &path, file, ranges, &mut told).await?;
                        self.vectors.insert(path.clone(), vectors);
                    }
                    let Some(Some(vectors)) = self.vectors.get(&path) else {
                        continue;
                    };
                    for range in ranges {
                        let data_file = range.data_file_name.as_str();
                        let rows = rows.get(&(entry.bucket, data_file)).copied();
                        let first = seen.insert((entry.bucket, data_file));
                        check_vector(&mut told, range, vectors, rows, first);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The vectors of a file, and what is wrong with it as a whole.
async fn vectors(
    log: &TableLog,
    path: &str,
    file: &IndexFileMeta,
    ranges: &[DvMeta],
    told: &mut Told<'_>,
) -> Result<Option<HashMap<u64, Vector>>> {
    let Some(bytes) = read(log, path).await? else {
        told.fault("index-file-missing", path);
        return Ok(None);
    };
    let name = path.to_owned();
    let decode = move || decode_dv_entries(&name, &bytes);
    let entries: Vec<DvEntry> = match log.cpu().run(decode).await? {
        Ok(entries) => entries,
        Err(e) => {
            told.fault("dv-unreadable", e.to_string());
            return Ok(None);
        }
    };
    if u64::try_from(file.row_count).ok() != Some(entries.len() as u64) {
        let detail = format!("says {}, has {}", file.row_count, entries.len());
        told.fault("dv-count", detail);
    }
    if let Err(e) = check_dv_layout(path, &entries, ranges) {
        told.fault("dv-layout", e.to_string());
    }
    let known = entries.iter().map(|entry| {
        let vector = Vector {
            length: entry.length,
            cardinality: entry.vector.cardinality(),
            last: entry.vector.last(),
        };
        (entry.offset, vector)
    });
    Ok(Some(known.collect()))
}

/// Checks what is said of one vector. `rows` are those of its data file, if that is live; `first` if no other vector is its.
fn check_vector(
    told: &mut Told<'_>,
    range: &DvMeta,
    vectors: &HashMap<u64, Vector>,
    rows: Option<u64>,
    first: bool,
) {
    let data_file = &range.data_file_name;
    let vector = u64::try_from(range.offset).ok();
    let Some(vector) = vector.and_then(|offset| vectors.get(&offset)) else {
        let detail = format!("{data_file}: no vector begins at offset {}", range.offset);
        told.fault("dv-layout", detail);
        return;
    };
    if u64::try_from(range.length).ok() != Some(vector.length) {
        let detail = format!(
            "{data_file}: says {} bytes, has {}",
            range.length, vector.length
        );
        told.fault("dv-length", detail);
    }
    if let Some(said) = range.cardinality
        && u64::try_from(said).ok() != Some(vector.cardinality)
    {
        let detail = format!("{data_file}: says {said}, has {}", vector.cardinality);
        told.fault("dv-cardinality", detail);
    }
    let Some(rows) = rows else {
        let note = fault("dv-of-unknown-file", &told.place, data_file);
        told.report.notes.push(note);
        return;
    };
    if !first {
        told.fault("dv-twice", data_file);
    }
    if vector.last.is_some_and(|last| last >= rows) {
        let detail = format!("{data_file}: positions beyond its {rows} rows");
        told.fault("dv-position", detail);
    }
}
