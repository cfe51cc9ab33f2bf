//! What snapshots reach: lists and manifests, read once each, and the data files they name.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bytes::Bytes;
use tidewater_format::{
    DataFileMeta, FileIdentity, FileKind, ManifestEntry, ManifestFileMeta, ManifestFilter,
    PartitionValues, extra_file_path, manifest::decode_entries, manifest_list,
};
use tidewater_types::{BinaryRow, DataType, ErrorKind, RowType};

use super::VerifyReport;
use super::bounds::{has_order, within};
use crate::error::Result;
use crate::table_log::TableLog;

/// A data or changelog file to be read.
#[derive(Debug, Clone)]
pub(super) struct ReachedFile {
    /// The snapshot that named it first, and its name.
    pub(super) place: String,
    pub(super) path: String,
    pub(super) entry: ManifestEntry,
    pub(super) changelog: bool,
}

/// Everything that was named so far.
#[derive(Debug)]
pub(super) struct Reached {
    /// Paths of files that something names.
    pub(super) paths: HashSet<String>,
    /// Data files, each once, and once more if it is a changelog file as well.
    pub(super) files: Vec<ReachedFile>,
    partition_type: RowType,
    partition_types: Vec<DataType>,
    manifests: HashMap<String, Arc<[ManifestEntry]>>,
    identities: HashSet<(FileIdentity, bool)>,
    file_paths: HashSet<(String, bool)>,
    bucket_dirs: HashMap<(BinaryRow, i32), Arc<str>>,
}

impl Reached {
    pub(super) fn new(partition_type: RowType) -> Self {
        Self {
            paths: HashSet::new(),
            files: Vec::new(),
            partition_types: partition_type.types(),
            partition_type,
            manifests: HashMap::new(),
            identities: HashSet::new(),
            file_paths: HashSet::new(),
            bucket_dirs: HashMap::new(),
        }
    }

    /// Names a file.
    pub(super) fn name(&mut self, path: String) {
        self.paths.insert(path);
    }

    /// What a list says; nothing if it is missing or damaged.
    pub(super) async fn list(
        &mut self,
        log: &TableLog,
        report: &mut VerifyReport,
        place: &str,
        name: &str,
        size: Option<i64>,
    ) -> Result<Vec<ManifestFileMeta>> {
        let path = log.paths().manifest(name);
        self.name(path.clone());
        let Some(bytes) = read(log, &path).await? else {
            report.fault("manifest-list-missing", place, name);
            return Ok(Vec::new());
        };
        if size.is_some_and(|size| usize::try_from(size).ok() != Some(bytes.len())) {
            let size = size.unwrap_or_default();
            let detail = format!("{name}: snapshot says {size}, is {}", bytes.len());
            report.fault("manifest-list-size", place, detail);
        }
        match manifest_list::decode(&bytes) {
            Ok(metas) => Ok(metas),
            Err(e) => {
                report.fault("manifest-list-unreadable", place, format!("{name}: {e}"));
                Ok(Vec::new())
            }
        }
    }

    /// The entries of a manifest, checked against the list's line when it is met first; nothing if it is missing or damaged.
    pub(super) async fn manifest(
        &mut self,
        log: &TableLog,
        report: &mut VerifyReport,
        place: &str,
        meta: &ManifestFileMeta,
    ) -> Result<Arc<[ManifestEntry]>> {
        if let Some(known) = self.manifests.get(&meta.file_name) {
            return Ok(Arc::clone(known));
        }
        let path = log.paths().manifest(&meta.file_name);
        self.name(path.clone());
        let place = format!("{place} {}", meta.file_name);
        let entries = match read(log, &path).await? {
            None => {
                report.fault("manifest-missing", &place, &meta.file_name);
                Arc::default()
            }
            Some(bytes) => {
                if usize::try_from(meta.file_size).ok() != Some(bytes.len()) {
                    let detail = format!("list says {}, is {}", meta.file_size, bytes.len());
                    report.fault("manifest-size", &place, detail);
                }
                let decode = move || decode_entries(&bytes, &ManifestFilter::all());
                match log.cpu().run(decode).await? {
                    Ok(entries) => {
                        self.check_line(report, &place, meta, &entries);
                        Arc::from(entries)
                    }
                    Err(e) => {
                        report.fault("manifest-unreadable", &place, e.to_string());
                        Arc::default()
                    }
                }
            }
        };
        self.manifests
            .insert(meta.file_name.clone(), Arc::clone(&entries));
        Ok(entries)
    }

    /// Holds a list's line against the entries.
    fn check_line(
        &self,
        report: &mut VerifyReport,
        place: &str,
        meta: &ManifestFileMeta,
        entries: &[ManifestEntry],
    ) {
        let added = entries.iter().filter(|entry| entry.kind == FileKind::Add);
        let added = i64::try_from(added.count()).unwrap_or(i64::MAX);
        let deleted = i64::try_from(entries.len()).unwrap_or(i64::MAX) - added;
        if (added, deleted) != (meta.num_added_files, meta.num_deleted_files) {
            let detail = format!(
                "list says +{} -{}, has +{added} -{deleted}",
                meta.num_added_files, meta.num_deleted_files
            );
            report.fault("manifest-counts", place, detail);
        }
        let mut nulls = vec![0_i64; self.partition_types.len()];
        for entry in entries {
            let Ok(partition) = PartitionValues::new(&entry.partition, &self.partition_types)
            else {
                report.fault("partition-unreadable", place, entry.file.file_name.as_str());
                continue;
            };
            let columns = partition.values().iter().zip(&self.partition_type.fields);
            for (index, ((value, field), nulls)) in columns.zip(&mut nulls).enumerate() {
                if value.is_null() {
                    *nulls += 1;
                    continue;
                }
                let stats = &meta.partition_stats;
                if has_order(&field.data_type)
                    && !within(value, stats, index, &field.data_type).unwrap_or(true)
                {
                    let detail = format!("{}: {value:?} is out of bounds", field.name);
                    report.fault("manifest-partition-stats", place, detail);
                }
            }
            let ranges = [
                (
                    "manifest-bucket-range",
                    entry.bucket,
                    meta.min_bucket,
                    meta.max_bucket,
                ),
                (
                    "manifest-level-range",
                    entry.file.level,
                    meta.min_level,
                    meta.max_level,
                ),
            ];
            for (code, value, low, high) in ranges {
                if let (Some(low), Some(high)) = (low, high)
                    && !(low..=high).contains(&value)
                {
                    report.fault(code, place, format!("{value} not in [{low},{high}]"));
                }
            }
        }
        for (said, has) in meta.partition_stats.null_counts.iter().zip(&nulls) {
            if let Some(said) = said
                && said != has
            {
                let detail = format!("stats say {said}, has {has}");
                report.fault("manifest-partition-nulls", place, detail);
            }
        }
    }

    /// Names a data file and those beside it; the first time it is kept for reading.
    pub(super) fn data_file(
        &mut self,
        log: &TableLog,
        report: &mut VerifyReport,
        place: &str,
        entry: &ManifestEntry,
        changelog: bool,
    ) {
        if !self.identities.insert((entry.identity(), changelog)) {
            return;
        }
        let place = format!("{place} {}", entry.file.file_name);
        let Some(path) = self.path(log, entry) else {
            report.fault(
                "partition-unreadable",
                &place,
                entry.file.file_name.as_str(),
            );
            return;
        };
        self.name(path.clone());
        for extra in &entry.file.extra_files {
            self.name(extra_file_path(&path, extra));
        }
        if self.file_paths.insert((path.clone(), changelog)) {
            self.files.push(ReachedFile {
                place,
                path,
                entry: entry.clone(),
                changelog,
            });
        }
    }

    /// Folder of a bucket, if the partition can be named.
    pub(super) fn bucket_dir(
        &mut self,
        log: &TableLog,
        partition: &BinaryRow,
        bucket: i32,
    ) -> Option<Arc<str>> {
        let key = (partition.clone(), bucket);
        if let Some(known) = self.bucket_dirs.get(&key) {
            return Some(Arc::clone(known));
        }
        let dir = log
            .paths()
            .bucket_dir(partition, bucket, &self.partition_type);
        let dir: Arc<str> = Arc::from(dir.ok()?);
        self.bucket_dirs.insert(key, Arc::clone(&dir));
        Some(dir)
    }

    fn path(&mut self, log: &TableLog, entry: &ManifestEntry) -> Option<String> {
        let file: &DataFileMeta = &entry.file;
        let dir = self.bucket_dir(log, &entry.partition, entry.bucket)?;
        Some(log.paths().data_file(&dir, file))
    }
}

/// The bytes of a file, `None` if it is missing.
pub(super) async fn read(log: &TableLog, path: &str) -> Result<Option<Bytes>> {
    match log.io().read(path).await {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// The size of a file, `None` if it is missing.
pub(super) async fn size(log: &TableLog, path: &str) -> Result<Option<u64>> {
    match log.io().size(path).await {
        Ok(size) => Ok(Some(size)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e.into()),
    }
}
