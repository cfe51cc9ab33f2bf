//! Why rows cannot be taken in.

use tidewater_types::{ErrorKind, TypeError};

use super::bad_rows::BadRow;
use crate::json::JsonError;

/// Why a load cannot begin or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names each field")]
pub enum LoadError {
    /// Neither the name nor an option says what is in an input.
    #[error("cannot tell the format of {input} by its name: give it with --format")]
    NoFormat { input: String },
    /// An input cannot be opened or read.
    #[error("cannot read {file}")]
    Read {
        file: String,
        source: std::io::Error,
    },
    /// Dead letters or an export cannot be written.
    #[error("cannot write {file}")]
    Write {
        file: String,
        source: std::io::Error,
    },
    /// A row is not one of the table's, and nobody said where to put it.
    #[error(transparent)]
    BadRow(Box<BadRow>),
    /// More rows are bad than was allowed.
    #[error("more than {limit} bad rows, the last: {last}")]
    TooManyBadRows { limit: u64, last: Box<BadRow> },
    /// An input has columns that the table does not have.
    #[error("{file}: the table has no column {columns} (--ignore-extra-columns leaves them out)")]
    ExtraColumns { file: String, columns: String },
    /// An input lacks a column whose type is NOT NULL.
    #[error("{file}: no column {column}, which is NOT NULL in the table")]
    MissingColumn { file: String, column: String },
    /// An input lacks the column that kinds are to be read from.
    #[error("{file}: no column {column} to take row kinds from")]
    NoKindColumn { file: String, column: String },
    /// The first line, or what stands for it, is not usable.
    #[error("{file}: {reason}")]
    Header { file: String, reason: String },
    /// A row is longer than a row may be.
    #[error(
        "{file}, line {line}: the row does not end within {limit_bytes} bytes; an unclosed quote?"
    )]
    RowTooLong {
        file: String,
        line: u64,
        limit_bytes: usize,
    },
    /// A parquet file is corrupt or of a kind that cannot be read.
    #[error("{file}, from row {row}")]
    Parquet {
        file: String,
        row: u64,
        source: ::parquet::errors::ParquetError,
    },
    /// An Arrow file or stream is corrupt or of a kind that cannot be read.
    #[error("{file}, from row {row}")]
    Arrow {
        file: String,
        row: u64,
        source: arrow_schema::ArrowError,
    },
    /// A library panicked over the bytes of an input.
    #[error("{file}: the bytes make no sense ({what})")]
    GaveUp { file: String, what: String },
    /// Columns do not convert to those of the table.
    #[error("{file}")]
    Columns { file: String, source: TypeError },
    /// Rows as JSON could not be assembled.
    #[error("{file}")]
    Json { file: String, source: JsonError },
    /// An input ends before the row at which the load is to go on.
    #[error("{file} has {found} rows, but {done} of it are loaded already")]
    Shorter { file: String, found: u64, done: u64 },
    /// The inputs are not those that the load began with.
    #[error(
        "the load cannot go on: {what}; --again loads everything from the beginning, --job gives these inputs a load of their own"
    )]
    SourcesChanged { what: String },
    /// What an earlier load wrote into a snapshot cannot be read.
    #[error("property {property} of the load's last snapshot is {value:?}, not {expected}")]
    Checkpoint {
        property: String,
        value: String,
        expected: &'static str,
    },
    /// No schema can be made of an input.
    #[error("{file}: {reason}")]
    NoSchema { file: String, reason: String },
    /// The thread that reads ended without a word.
    #[error("the thread that reads {file} stopped")]
    ReaderStopped { file: String },
    /// A call out of order.
    #[error("{what}")]
    Misuse { what: &'static str },
}

impl LoadError {
    /// What the caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        use ::parquet::errors::ParquetError;
        use arrow_schema::ArrowError;
        match self {
            Self::NoFormat { .. }
            | Self::BadRow(_)
            | Self::TooManyBadRows { .. }
            | Self::ExtraColumns { .. }
            | Self::MissingColumn { .. }
            | Self::NoKindColumn { .. }
            | Self::Header { .. }
            | Self::RowTooLong { .. }
            | Self::Shorter { .. }
            | Self::SourcesChanged { .. }
            | Self::NoSchema { .. } => ErrorKind::Invalid,
            Self::Read { source, .. } => match source.kind() {
                std::io::ErrorKind::NotFound => ErrorKind::NotFound,
                // What the decompressors answer for bytes that are none of theirs.
                std::io::ErrorKind::InvalidData
                | std::io::ErrorKind::InvalidInput
                | std::io::ErrorKind::UnexpectedEof => ErrorKind::Corrupt,
                _ => ErrorKind::Unavailable,
            },
            Self::Write { .. } => ErrorKind::Unavailable,
            Self::Parquet { source, .. } => match source {
                ParquetError::NYI(_) => ErrorKind::Unsupported,
                _ => ErrorKind::Corrupt,
            },
            Self::Arrow { source, .. } => match source {
                ArrowError::NotYetImplemented(_) => ErrorKind::Unsupported,
                _ => ErrorKind::Corrupt,
            },
            Self::Columns { source, .. } => source.kind(),
            Self::Json { source, .. } => source.kind(),
            Self::GaveUp { .. } | Self::Checkpoint { .. } => ErrorKind::Corrupt,
            Self::ReaderStopped { .. } | Self::Misuse { .. } => ErrorKind::Internal,
        }
    }
}

/// A result whose error is [`LoadError`].
pub(super) type Result<T, E = LoadError> = std::result::Result<T, E>;
