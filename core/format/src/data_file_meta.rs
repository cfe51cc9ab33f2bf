//! A data or changelog file and what is known of it without opening it.
//!
//! Source: Paimon `io/DataFileMeta.java`; spec 01b §4.4, 02a §1.7.

use std::sync::Arc;

use tidewater_types::{BinaryRow, SchemaId};

use crate::stats::SimpleStats;

/// Names of columns in a fixed order. Most files of a table carry the same list, so it is shared.
pub type ColumnNames = Arc<[String]>;

/// Who wrote a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileSource {
    /// A writer, from rows it was given; changelog files too.
    Append,
    /// A compaction, from other files.
    Compact,
}

impl FileSource {
    /// The number stored in `_FILE_SOURCE`.
    pub fn as_i32(self) -> i32 {
        match self {
            Self::Append => 0,
            Self::Compact => 1,
        }
    }

    /// The source with this number; `None` for a number no version of the format uses.
    pub fn from_i32(value: i32) -> Option<Self> {
        match value {
            0 => Some(Self::Append),
            1 => Some(Self::Compact),
            _ => None,
        }
    }
}

/// What a manifest says of one file.
///
/// The fields of Paimon 1.3.1, and `write_cols_sequences` of 2.x, which is kept and written back.
#[derive(Debug, Clone, PartialEq)]
pub struct DataFileMeta {
    /// Name without a directory.
    pub file_name: String,
    /// Size in bytes.
    pub file_size: i64,
    /// Rows in the file, delete rows included.
    pub row_count: i64,
    /// Trimmed primary key of the first row; a row of no fields for append files.
    pub min_key: BinaryRow,
    /// Trimmed primary key of the last row.
    pub max_key: BinaryRow,
    /// Statistics of the key columns, all of them; empty for append files.
    pub key_stats: SimpleStats,
    /// Statistics of the table's columns, of those that `value_stats_cols` names.
    pub value_stats: SimpleStats,
    /// Least sequence number in the file (spec 01b §4.4 for append tables).
    pub min_sequence_number: i64,
    /// Greatest sequence number in the file.
    pub max_sequence_number: i64,
    /// Schema the file was written with. It decides ids, names and types of the columns in the file and in its statistics.
    pub schema_id: SchemaId,
    /// LSM level; 0 for append files and new files.
    pub level: i32,
    /// Names of companion files beside the file.
    pub extra_files: Vec<String>,
    /// Wall clock of the writer, as if its zone were UTC, in epoch milliseconds. Advisory.
    pub creation_time_millis: Option<i64>,
    /// Rows of kind `-U` or `-D`; `None` if unknown.
    pub delete_row_count: Option<i64>,
    /// A file index small enough to live in the manifest.
    pub embedded_file_index: Option<Vec<u8>>,
    /// Who wrote the file; `None` in old manifests.
    pub file_source: Option<FileSource>,
    /// The columns of `value_stats`, in order; `None` means all columns of the file's schema (or of `write_cols`).
    pub value_stats_cols: Option<ColumnNames>,
    /// Full URI if the file is not under its bucket's directory.
    pub external_path: Option<String>,
    /// Row id of the first row, for row tracking.
    pub first_row_id: Option<i64>,
    /// The columns in the file, for data evolution; `None` means all columns of the schema.
    pub write_cols: Option<ColumnNames>,
    /// Greatest sequence number of each written column (2.x).
    pub write_cols_sequences: Option<Vec<i64>>,
}

impl DataFileMeta {
    /// Rows that are neither `-U` nor `-D`; `None` if the file does not tell.
    pub fn add_row_count(&self) -> Option<i64> {
        self.delete_row_count
            .map(|deletes| self.row_count.saturating_sub(deletes))
    }

    /// The same file on another level, as a compaction moves it without rewriting it.
    /// Source: Paimon `DataFileMeta.upgrade`.
    #[must_use]
    pub fn upgraded(&self, level: i32) -> Self {
        Self {
            level,
            ..self.clone()
        }
    }

    /// The same file without value statistics, as `manifest.delete-file-drop-stats` wants it in DELETE entries.
    #[must_use]
    pub fn without_value_stats(&self) -> Self {
        Self {
            value_stats: SimpleStats::empty(),
            value_stats_cols: Some(ColumnNames::from([])),
            ..self.clone()
        }
    }
}
