//! Statistics as predicates ask for them: by the columns of the schema that is read, whatever schema the file was written with.
//!
//! ```text
//!  read column ─id─> column of the file's schema ─name─> slot of the (dense) statistics ─type─> bound as the read type
//! ```
//!
//! Source: Paimon `stats/SimpleStatsEvolution.java`; spec 01c §5.5.

use tidewater_types::{BinaryRow, ColumnStat, DataField, DataType, Datum, StatsSource};

use super::simple::SimpleStats;
use super::widen::{keeps_values, widen};
use crate::data_file_meta::DataFileMeta;
use crate::manifest::ManifestFileMeta;
use crate::schema::TableSchema;

/// How the columns of one schema are found in statistics made with another one. Made once per pair of schemas.
#[derive(Debug, Clone)]
pub struct StatsMapping {
    columns: Vec<MappedColumn>,
    /// Columns the statistics cover when they do not say which.
    covered: usize,
}

#[derive(Debug, Clone)]
enum MappedColumn {
    /// The file does not have the column: it reads as null.
    AllNull,
    /// The statistics do not tell.
    Unknown,
    Stored {
        index: usize,
        name: String,
        file_type: DataType,
        /// Present if the type changed.
        read_type: Option<DataType>,
    },
}

impl StatsMapping {
    /// For `value_stats`: the columns of the file's schema, and the columns that are read.
    pub fn of_values(file: &[DataField], read: &[DataField]) -> Self {
        Self::new(file, read, &MappedColumn::AllNull)
    }

    /// For `key_stats`: the trimmed primary key of the file's schema in its order, and the columns that are read. Columns that are
    /// no key are unknown.
    pub fn of_keys(file_key: &[DataField], read: &[DataField]) -> Self {
        Self::new(file_key, read, &MappedColumn::Unknown)
    }

    fn new(file: &[DataField], read: &[DataField], absent: &MappedColumn) -> Self {
        let columns = read
            .iter()
            .map(
                |read| match file.iter().enumerate().find(|(_, file)| file.id == read.id) {
                    None => absent.clone(),
                    Some((index, file)) if keeps_values(&file.data_type, &read.data_type) => {
                        MappedColumn::Stored {
                            index,
                            name: file.name.clone(),
                            file_type: file.data_type.clone(),
                            read_type: (file.data_type.kind != read.data_type.kind)
                                .then(|| read.data_type.clone()),
                        }
                    }
                    // A cast that may lose something may also make nulls: not even the null count holds.
                    Some(_) => MappedColumn::Unknown,
                },
            )
            .collect();
        Self {
            columns,
            covered: file.len(),
        }
    }

    /// The view on a file's value statistics.
    pub fn values<'a>(&'a self, file: &'a DataFileMeta) -> FileStatsView<'a> {
        FileStatsView {
            mapping: self,
            stats: &file.value_stats,
            listed: file.value_stats_cols.as_deref(),
            written: file.write_cols.as_deref(),
            row_count: file.row_count,
        }
    }

    /// The view on a file's key statistics.
    pub fn keys<'a>(&'a self, file: &'a DataFileMeta) -> FileStatsView<'a> {
        FileStatsView {
            mapping: self,
            stats: &file.key_stats,
            listed: None,
            written: None,
            row_count: file.row_count,
        }
    }
}

/// What a file's statistics say of the columns that are read. Only the columns asked for are decoded.
#[derive(Debug, Clone, Copy)]
pub struct FileStatsView<'a> {
    mapping: &'a StatsMapping,
    stats: &'a SimpleStats,
    listed: Option<&'a [String]>,
    written: Option<&'a [String]>,
    row_count: i64,
}

impl FileStatsView<'_> {
    /// The slot of column `name`, which is number `index` of the file's schema.
    fn slot(&self, index: usize, name: &str) -> Option<usize> {
        match self.listed.or(self.written) {
            Some(listed) => listed.iter().position(|listed| listed == name),
            // Statistics of fewer columns than the schema has, without a list, are none.
            None => (self.stats.min_values.arity() == self.mapping.covered).then_some(index),
        }
    }
}

impl StatsSource for FileStatsView<'_> {
    fn row_count(&self) -> i64 {
        self.row_count
    }

    fn column(&self, field: usize, _name: &str) -> ColumnStat {
        match self.mapping.columns.get(field) {
            None | Some(MappedColumn::Unknown) => ColumnStat::unknown(),
            // With data evolution another file may hold the column.
            Some(MappedColumn::AllNull) if self.written.is_some() => ColumnStat::unknown(),
            Some(MappedColumn::AllNull) => ColumnStat::all_null(self.row_count),
            Some(MappedColumn::Stored {
                index,
                name,
                file_type,
                read_type,
            }) => match self.slot(*index, name) {
                None => ColumnStat::unknown(),
                Some(slot) => {
                    let bound = |row: &BinaryRow| {
                        let value = value_at(row, slot, file_type)?;
                        match read_type {
                            None => Some(value),
                            Some(read_type) => widen(value, read_type),
                        }
                    };
                    ColumnStat {
                        min: bound(&self.stats.min_values),
                        max: bound(&self.stats.max_values),
                        null_count: self.stats.null_counts.get(slot).copied().flatten(),
                    }
                }
            },
        }
    }
}

/// The non-null value in a slot. Bytes that cannot be one say nothing, which is always safe for bounds.
fn value_at(row: &BinaryRow, slot: usize, data_type: &DataType) -> Option<Datum> {
    if row.is_null(slot) {
        return None;
    }
    row.get(slot, data_type).ok()
}

/// A [`FileStatsView`] of value statistics with its own mapping, for looking at one file. For many files of the same schemas
/// make the [`StatsMapping`] once.
#[derive(Debug, Clone)]
pub struct OwnedFileStatsView<'a> {
    mapping: StatsMapping,
    file: &'a DataFileMeta,
}

/// What the value statistics of `file`, written with `file_schema`, say of the columns of `read_schema`.
pub fn file_stats_view<'a>(
    file: &'a DataFileMeta,
    file_schema: &TableSchema,
    read_schema: &TableSchema,
) -> OwnedFileStatsView<'a> {
    OwnedFileStatsView {
        mapping: StatsMapping::of_values(&file_schema.fields, &read_schema.fields),
        file,
    }
}

impl StatsSource for OwnedFileStatsView<'_> {
    fn row_count(&self) -> i64 {
        self.file.row_count
    }

    fn column(&self, field: usize, name: &str) -> ColumnStat {
        self.mapping.values(self.file).column(field, name)
    }
}

/// What a manifest list says of the partitions in a manifest. Fields are numbered as the partition keys are.
#[derive(Debug, Clone, Copy)]
pub struct PartitionStatsView<'a> {
    manifest: &'a ManifestFileMeta,
    partition_types: &'a [DataType],
}

impl<'a> PartitionStatsView<'a> {
    /// The view on the line of one manifest.
    pub fn new(manifest: &'a ManifestFileMeta, partition_types: &'a [DataType]) -> Self {
        Self {
            manifest,
            partition_types,
        }
    }
}

impl StatsSource for PartitionStatsView<'_> {
    fn row_count(&self) -> i64 {
        self.manifest
            .num_added_files
            .saturating_add(self.manifest.num_deleted_files)
    }

    fn column(&self, field: usize, _name: &str) -> ColumnStat {
        let stats = &self.manifest.partition_stats;
        let Some(data_type) = self.partition_types.get(field) else {
            return ColumnStat::unknown();
        };
        ColumnStat {
            min: value_at(&stats.min_values, field, data_type),
            max: value_at(&stats.max_values, field, data_type),
            null_count: stats.null_counts.get(field).copied().flatten(),
        }
    }
}

/// One partition, as statistics of one row: a condition on partition columns is decided by it, but for patterns that are no prefix.
#[derive(Debug, Clone)]
pub struct PartitionValues {
    values: Vec<Datum>,
}

impl PartitionValues {
    /// The values of a partition of these types. Fields are numbered as the partition keys are.
    ///
    /// # Errors
    /// The row does not hold values of these types.
    pub fn new(partition: &BinaryRow, types: &[DataType]) -> crate::error::Result<Self> {
        let values = types
            .iter()
            .enumerate()
            .map(|(index, data_type)| partition.get(index, data_type));
        Ok(Self {
            values: values.collect::<Result<_, _>>()?,
        })
    }

    /// The values, in order.
    pub fn values(&self) -> &[Datum] {
        &self.values
    }
}

impl StatsSource for PartitionValues {
    fn row_count(&self) -> i64 {
        1
    }

    fn column(&self, field: usize, _name: &str) -> ColumnStat {
        match self.values.get(field) {
            None => ColumnStat::unknown(),
            Some(Datum::Null) => ColumnStat::all_null(1),
            Some(value) => ColumnStat {
                min: Some(value.clone()),
                max: Some(value.clone()),
                null_count: Some(0),
            },
        }
    }
}
