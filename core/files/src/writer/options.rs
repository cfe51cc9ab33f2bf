//! What a writer of data or changelog files needs to know, from the options of its table.

use tidewater_format::{
    DataFileName, FileSource, StatsMode, StatsTarget, TableOptions, TableSchema, key_column_name,
};

use super::layout::{FileColumns, FileLayout};
use super::naming::FileNames;
use crate::error::{FilesError, Result};
use crate::parquet::ParquetWriteOptions;

/// Rows after which the size of a file is looked at. Source: Paimon `io/RollingFileWriter.java`.
pub(crate) const SIZE_CHECK_ROWS: u64 = 1000;

/// Settings of one [`super::RollingFileWriter`].
#[derive(Debug, Clone)]
pub struct FileWriterOptions {
    /// Columns of the files.
    pub layout: FileLayout,
    /// Level that the files belong to.
    pub level: i32,
    /// Who writes: a writer or a compaction. Changelog files always say writer.
    pub file_source: FileSource,
    /// Size at which the next file begins.
    pub target_file_bytes: u64,
    /// Sequence number of the first row of an append file; keyed files carry their own.
    pub first_sequence_number: i64,
    /// Threads that encode the columns of one file. More than 1 helps when a single file is written at a time.
    pub encode_threads: usize,
    pub(crate) parquet: ParquetWriteOptions,
    target: StatsTarget,
    prefix: String,
    name_compression: Option<String>,
    table: TableOptions,
}

impl FileWriterOptions {
    /// Data files of a level.
    ///
    /// # Errors
    /// [`FilesError::Unsupported`] if their format is not Parquet; [`FilesError::Option`] and [`FilesError::Format`] for an option that
    /// is not valid.
    pub fn data(schema: &TableSchema, level: i32, file_source: FileSource) -> Result<Self> {
        let table = schema.options()?;
        let (format, compression) = (
            table.data_file_format(level),
            table.data_file_compression(level).to_owned(),
        );
        let prefix = table.data_file_prefix.clone();
        Self::new(
            schema,
            table,
            StatsTarget::Data { level },
            &format,
            &compression,
            prefix,
            file_source,
        )
    }

    /// Changelog files of a level.
    ///
    /// # Errors
    /// As [`FileWriterOptions::data`].
    pub fn changelog(schema: &TableSchema, level: i32) -> Result<Self> {
        let table = schema.options()?;
        let (format, compression) = (
            table.changelog_format(level),
            table.changelog_compression(level).to_owned(),
        );
        let prefix = table.changelog_file_prefix.clone();
        let target = StatsTarget::Changelog { level };
        Self::new(
            schema,
            table,
            target,
            &format,
            &compression,
            prefix,
            FileSource::Append,
        )
    }

    fn new(
        schema: &TableSchema,
        table: TableOptions,
        target: StatsTarget,
        format: &str,
        compression: &str,
        prefix: String,
        file_source: FileSource,
    ) -> Result<Self> {
        if format != "parquet" {
            return Err(FilesError::Unsupported {
                what: format!("writing {format} data files"),
            });
        }
        let level = match target {
            StatsTarget::Data { level } | StatsTarget::Changelog { level } => level,
            _ => {
                return Err(FilesError::Internal {
                    what: "files of an unknown kind".to_owned(),
                });
            }
        };
        let block_bytes = table.file_block_size.map(|size| size.bytes());
        let zstd_level = table.file_compression_zstd_level;
        let parquet =
            ParquetWriteOptions::new(compression, zstd_level, block_bytes, table.values())?;
        // Names of changelog files tell the codec of data files, whatever their own is.
        let name_compression = table
            .file_suffix_include_compression
            .then(|| table.data_file_compression(level).to_owned());
        Ok(Self {
            layout: FileLayout::of(schema)?,
            level,
            file_source,
            target_file_bytes: table.target_file_size_bytes(schema.is_keyed()),
            first_sequence_number: 0,
            encode_threads: 1,
            parquet,
            target,
            prefix,
            name_compression,
            table,
        })
    }

    /// Name of the writer's next file.
    pub(crate) fn file_name(&self, names: &FileNames) -> String {
        let name = DataFileName {
            prefix: &self.prefix,
            uuid: names.uuid(),
            number: names.next_number(),
            format: "parquet",
            compression: self.name_compression.as_deref(),
        };
        name.to_string()
    }

    /// What is kept about the values of each column of the file, and whether columns without statistics are left out.
    pub(crate) fn stats(&self, columns: &FileColumns) -> Result<StatsOptions> {
        let names: Vec<&str> = columns.file_type.names().collect();
        let thin_key: Vec<String> = match columns.layout {
            FileLayout::KeyValue { thin: true } => {
                columns.key_type.names().map(str::to_owned).collect()
            }
            _ => Vec::new(),
        };
        let modes = self.table.stats_modes(&names, self.target, &thin_key)?;
        Ok(StatsOptions {
            modes,
            dense: self.table.metadata_stats_dense_store,
        })
    }
}

/// How statistics are kept.
#[derive(Debug, Clone)]
pub(crate) struct StatsOptions {
    /// Per column of the file.
    pub(crate) modes: Vec<StatsMode>,
    pub(crate) dense: bool,
}

/// Name in the file of the column that holds the key's statistics.
pub(crate) fn key_stats_column(layout: FileLayout, key: &str) -> String {
    match layout {
        FileLayout::KeyValue { thin: false } => key_column_name(key),
        _ => key.to_owned(),
    }
}
