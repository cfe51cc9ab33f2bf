//! What the manifest says of a file: collected while it is written, or read off its footer.
//!
//! Source: spec 02a §1.7, 01c §5; Paimon `io/KeyValueDataFileWriter.java`, `io/RowDataFileWriter.java`,
//! `format/parquet/ParquetSimpleStatsExtractor.java`.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use parquet::file::metadata::ParquetMetaData;
use tidewater_format::{ColumnStats, DataFileMeta, SimpleStats, TableSchema, stats_from_columns};
use tidewater_types::{BinaryRow, DataType, Datum, RowKind};

use super::layout::{FileColumns, FileLayout};
use super::naming::FileDirectory;
use super::options::{FileWriterOptions, StatsOptions, key_stats_column};
use crate::error::{FilesError, Result};
use crate::parquet::file_bounds;

/// What is known of a file's rows so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowSummary {
    pub(crate) rows: u64,
    deletes: i64,
    sequence: Option<(i64, i64)>,
    first_key: Vec<Datum>,
    last_key: Vec<Datum>,
}

impl RowSummary {
    /// Takes in the next rows of the file, whose arrays have the order of the file's columns.
    pub(crate) fn add(
        &mut self,
        columns: &FileColumns,
        arrays: &[ArrayRef],
        first_sequence: i64,
    ) -> Result<()> {
        let rows = arrays.first().map_or(0, Array::len);
        if rows == 0 {
            return Ok(());
        }
        match columns.system_values(arrays) {
            Some((sequences, kinds)) => {
                for &kind in kinds {
                    let kind = RowKind::from_i8(kind).map_err(|error| FilesError::Batch {
                        reason: format!("_VALUE_KIND: {error}"),
                    })?;
                    self.deletes += i64::from(kind.is_retract());
                }
                let (least, greatest) = sequences
                    .iter()
                    .fold((i64::MAX, i64::MIN), |(least, greatest), &number| {
                        (least.min(number), greatest.max(number))
                    });
                self.widen(least, greatest);
                let types = columns.key_types();
                let keys = columns.key_arrays(arrays);
                if self.rows == 0 {
                    self.first_key = key_at(&keys, &types, 0)?;
                }
                self.last_key = key_at(&keys, &types, rows - 1)?;
            }
            None => {
                let last = i64::try_from(rows - 1)
                    .ok()
                    .and_then(|rows| first_sequence.checked_add(rows));
                let last = last.ok_or_else(|| FilesError::Batch {
                    reason: "sequence numbers have run out".to_owned(),
                })?;
                self.widen(first_sequence, last);
            }
        }
        self.rows += rows as u64;
        Ok(())
    }

    fn widen(&mut self, least: i64, greatest: i64) {
        let (held_least, held_greatest) = self.sequence.unwrap_or((least, greatest));
        self.sequence = Some((held_least.min(least), held_greatest.max(greatest)));
    }
}

fn key_at(keys: &[&ArrayRef], types: &[DataType], row: usize) -> Result<Vec<Datum>> {
    let datums = keys
        .iter()
        .zip(types)
        .map(|(array, data_type)| Datum::from_array(array.as_ref(), row, data_type));
    Ok(datums.collect::<Result<_, _>>()?)
}

/// What is the same for all files of a writer.
#[derive(Debug)]
pub(crate) struct Describer {
    pub(crate) schema: Arc<TableSchema>,
    pub(crate) columns: FileColumns,
    pub(crate) stats: StatsOptions,
    pub(crate) directory: FileDirectory,
}

impl Describer {
    /// The entry of a finished file; `stats` are those of its columns, cut by their modes.
    pub(crate) fn describe(
        &self,
        options: &FileWriterOptions,
        file_name: String,
        file_bytes: u64,
        stats: &[ColumnStats],
        rows: &RowSummary,
        now_millis: i64,
    ) -> Result<DataFileMeta> {
        let columns = &self.columns;
        let first = columns.first_table_column();
        let dense: Option<Vec<String>> = self
            .stats
            .dense
            .then(|| columns.table_type.names().map(str::to_owned).collect());
        let value_stats = stats.get(first..).unwrap_or_default();
        let (value_stats, value_stats_cols) =
            stats_from_columns(value_stats, &columns.table_type.types(), dense.as_deref())?;
        let key_types = columns.key_types();
        let (min_key, max_key, key_stats) = if columns.key_type.is_empty() {
            (BinaryRow::empty(), BinaryRow::empty(), SimpleStats::empty())
        } else {
            let of_key = columns.key_type.names().map(|key| {
                let position = columns
                    .file_type
                    .index_of(&key_stats_column(columns.layout, key));
                position
                    .and_then(|position| stats.get(position))
                    .cloned()
                    .unwrap_or_else(ColumnStats::unknown)
            });
            let (key_stats, _) = stats_from_columns(&of_key.collect::<Vec<_>>(), &key_types, None)?;
            let row = |datums| BinaryRow::from_datums(datums, &key_types);
            (row(&rows.first_key)?, row(&rows.last_key)?, key_stats)
        };
        let (min_sequence_number, max_sequence_number) = rows.sequence.unwrap_or((0, 0));
        let external_path = self.directory.external_path(&file_name);
        Ok(DataFileMeta {
            file_name,
            file_size: i64::try_from(file_bytes).unwrap_or(i64::MAX),
            row_count: i64::try_from(rows.rows).unwrap_or(i64::MAX),
            min_key,
            max_key,
            key_stats,
            value_stats,
            min_sequence_number,
            max_sequence_number,
            schema_id: self.schema.id,
            level: match columns.layout {
                FileLayout::KeyValue { .. } => options.level,
                FileLayout::Append => 0,
            },
            extra_files: Vec::new(),
            creation_time_millis: Some(now_millis),
            delete_row_count: Some(rows.deletes),
            embedded_file_index: None,
            file_source: Some(options.file_source),
            value_stats_cols,
            external_path,
            first_row_id: None,
            write_cols: None,
            write_cols_sequences: None,
        })
    }

    /// Statistics of each column of a Parquet file, cut by its mode. The footer has none for nested columns as a whole.
    pub(crate) fn stats_of_footer(&self, footer: &ParquetMetaData) -> Vec<ColumnStats> {
        let fields = self.columns.file_type.fields.iter().enumerate();
        let stats = fields
            .zip(&self.stats.modes)
            .map(
                |((column, field), mode)| match file_bounds(footer, column, &field.data_type) {
                    None => ColumnStats::unknown(),
                    Some(bounds) => {
                        let exact = ColumnStats {
                            min: bounds.min.unwrap_or(Datum::Null),
                            max: bounds.max.unwrap_or(Datum::Null),
                            null_count: bounds.nulls,
                        };
                        mode.apply(exact, &field.data_type)
                    }
                },
            );
        stats.collect()
    }
}
