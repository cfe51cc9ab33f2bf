//! One line of a manifest list: a manifest and bounds of what is in it.
//!
//! Source: Paimon `manifest/ManifestFileMeta.java`; spec 01b §4.3.

use std::collections::HashMap;

use tidewater_types::{BinaryRow, DataType, Datum, SchemaId};

use super::entry::{FileKind, ManifestEntry};
use crate::error::Result;
use crate::options::StatsMode;
use crate::stats::{ColumnStats, SimpleStats, stats_from_columns};

/// A manifest and what is known of it without opening it. Bounds serve to skip it; `None` means unknown.
#[derive(Debug, Clone, PartialEq)]
pub struct ManifestFileMeta {
    /// Name in `manifest/`.
    pub file_name: String,
    /// Size in bytes.
    pub file_size: i64,
    /// ADD entries in it.
    pub num_added_files: i64,
    /// DELETE entries in it.
    pub num_deleted_files: i64,
    /// Statistics over the partitions of all entries, never truncated.
    pub partition_stats: SimpleStats,
    /// Greatest schema id of its files.
    pub schema_id: SchemaId,
    /// Least bucket.
    pub min_bucket: Option<i32>,
    /// Greatest bucket.
    pub max_bucket: Option<i32>,
    /// Least level.
    pub min_level: Option<i32>,
    /// Greatest level.
    pub max_level: Option<i32>,
    /// First row id (2.x).
    pub min_row_id: Option<i64>,
    /// Last row id (2.x).
    pub max_row_id: Option<i64>,
}

impl ManifestFileMeta {
    /// The line for a manifest of `size` bytes that holds `entries`. The row ids stay `None`, as 1.3.1 does not store them.
    ///
    /// `partition_types` are the types of the partition columns.
    ///
    /// # Errors
    /// A partition does not have these types.
    pub fn summarize(
        name: impl Into<String>,
        size: i64,
        entries: &[ManifestEntry],
        partition_types: &[DataType],
    ) -> Result<Self> {
        let mut summary = ManifestSummary::new();
        for entry in entries {
            summary.add(entry);
        }
        summary.into_meta(name.into(), size, partition_types)
    }
}

/// What a manifest list will say of a manifest, gathered entry by entry.
#[derive(Debug, Clone, Default)]
pub(super) struct ManifestSummary {
    added: i64,
    deleted: i64,
    schema_id: i64,
    buckets: Option<(i32, i32)>,
    levels: Option<(i32, i32)>,
    /// Entries per partition; a manifest has many entries of few partitions.
    partitions: HashMap<BinaryRow, i64>,
}

impl ManifestSummary {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn add(&mut self, entry: &ManifestEntry) {
        match entry.kind {
            FileKind::Add => self.added += 1,
            FileKind::Delete => self.deleted += 1,
        }
        self.schema_id = self.schema_id.max(entry.file.schema_id.0);
        widen(&mut self.buckets, entry.bucket);
        widen(&mut self.levels, entry.file.level);
        match self.partitions.get_mut(&entry.partition) {
            Some(count) => *count += 1,
            None => {
                self.partitions.insert(entry.partition.clone(), 1);
            }
        }
    }

    pub(super) fn into_meta(
        self,
        name: String,
        size: i64,
        partition_types: &[DataType],
    ) -> Result<ManifestFileMeta> {
        Ok(ManifestFileMeta {
            file_name: name,
            file_size: size,
            num_added_files: self.added,
            num_deleted_files: self.deleted,
            partition_stats: self.partition_stats(partition_types)?,
            schema_id: SchemaId(self.schema_id),
            min_bucket: self.buckets.map(|(min, _)| min),
            max_bucket: self.buckets.map(|(_, max)| max),
            min_level: self.levels.map(|(min, _)| min),
            max_level: self.levels.map(|(_, max)| max),
            min_row_id: None,
            max_row_id: None,
        })
    }

    fn partition_stats(&self, types: &[DataType]) -> Result<SimpleStats> {
        let mut columns = Vec::with_capacity(types.len());
        for (index, data_type) in types.iter().enumerate() {
            let mut column = ColumnStats {
                min: Datum::Null,
                max: Datum::Null,
                null_count: Some(0),
            };
            for (partition, entries) in &self.partitions {
                column.widen(&partition.get(index, data_type)?, *entries);
            }
            columns.push(StatsMode::Full.apply(column, data_type));
        }
        Ok(stats_from_columns(&columns, types, None)?.0)
    }
}

fn widen(range: &mut Option<(i32, i32)>, value: i32) {
    *range = Some(match *range {
        None => (value, value),
        Some((min, max)) => (min.min(value), max.max(value)),
    });
}
