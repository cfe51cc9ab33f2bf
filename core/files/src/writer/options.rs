//! What a writer of data or changelog files needs to know, from the options of its table.

use tidewater_format::{
    AvroCodec, DataFileName, FileSource, StatsMode, StatsTarget, TableOptions, TableSchema,
    key_column_name,
};

use super::layout::{FileColumns, FileLayout};
use super::naming::FileNames;
use crate::error::{FilesError, Result};
use crate::parquet::ParquetWriteOptions;

/// Rows after which the size of a file is looked at. Source: Paimon `io/RollingFileWriter.java`.
pub(crate) const SIZE_CHECK_ROWS: u64 = 1000;
/// Level of zstandard where Avro's own option names the codec.
const AVRO_ZSTD_LEVEL: i32 = 3;

/// Settings of the format of the files.
#[derive(Debug, Clone)]
pub(crate) enum FormatOptions {
    Parquet(ParquetWriteOptions),
    Avro(AvroCodec),
}

impl FormatOptions {
    /// The settings of `format` for files that `compression` was asked for.
    fn new(format: &str, compression: &str, table: &TableOptions) -> Result<Self> {
        let zstd_level = table.file_compression_zstd_level;
        match format {
            "parquet" => {
                let block_bytes = table.file_block_size.map(|size| size.bytes());
                let options = table.values();
                let parquet =
                    ParquetWriteOptions::new(compression, zstd_level, block_bytes, options)?;
                Ok(Self::Parquet(parquet))
            }
            "avro" => avro_codec(compression, zstd_level, table).map(Self::Avro),
            _ => Err(FilesError::Unsupported {
                what: format!("writing {format} data files"),
            }),
        }
    }

    /// The format, as file names end.
    fn name(&self) -> &'static str {
        match self {
            Self::Parquet(_) => "parquet",
            Self::Avro(_) => "avro",
        }
    }
}

/// `avro.codec` goes before the compression of files. Source: Paimon `format/avro/AvroFileFormat.java`.
fn avro_codec(compression: &str, zstd_level: i32, table: &TableOptions) -> Result<AvroCodec> {
    const CODEC: &str = "avro.codec";
    let (key, name, level) = match table.values().get(CODEC) {
        Some(name) => (CODEC, name.as_str(), AVRO_ZSTD_LEVEL),
        None => ("file.compression", compression, zstd_level),
    };
    AvroCodec::from_name(name, level).map_err(|_| FilesError::Option {
        key: key.to_owned(),
        value: name.to_owned(),
        reason: "avro files take zstd, snappy, deflate, bzip2, xz and null".to_owned(),
    })
}

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
    pub(crate) format: FormatOptions,
    target: StatsTarget,
    prefix: String,
    name_compression: Option<String>,
    table: TableOptions,
}

impl FileWriterOptions {
    /// Data files of a level.
    ///
    /// # Errors
    /// [`FilesError::Unsupported`] if their format is neither Parquet nor Avro; [`FilesError::Option`] and [`FilesError::Format`] for an option that
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
        let format = FormatOptions::new(format, compression, &table)?;
        let level = match target {
            StatsTarget::Data { level } | StatsTarget::Changelog { level } => level,
            _ => {
                return Err(FilesError::Internal {
                    what: "files of an unknown kind".to_owned(),
                });
            }
        };
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
            format,
            target,
            prefix,
            name_compression,
            table,
        })
    }

    /// Whether a column has settings of its own, so that its encoding cannot serve for a copy of it; a format of rows encodes each.
    pub(crate) fn encodes_alone(&self, column: &str) -> bool {
        match &self.format {
            FormatOptions::Parquet(parquet) => parquet.names_column(column),
            FormatOptions::Avro(_) => true,
        }
    }

    /// Name of the writer's next file.
    pub(crate) fn file_name(&self, names: &FileNames) -> String {
        let name = DataFileName {
            prefix: &self.prefix,
            uuid: names.uuid(),
            number: names.next_number(),
            format: self.format.name(),
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
