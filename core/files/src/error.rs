//! What can go wrong with a data file, with the file and the column in each error.

use parquet::errors::ParquetError;
use tidewater_format::FormatError;
use tidewater_io::IoError;
use tidewater_types::{ErrorKind, TypeError};

/// A result whose error is [`FilesError`].
pub type Result<T, E = FilesError> = std::result::Result<T, E>;

/// Why a data file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names each field")]
pub enum FilesError {
    /// The store refused; its error names the path.
    #[error("a data file could not be accessed")]
    Io(#[from] IoError),
    /// The bytes are no file of this format, or are damaged.
    #[error("{path} is damaged: {reason}")]
    CorruptFile { path: String, reason: String },
    /// The pages of one column are damaged.
    #[error("{path} is damaged in column {column:?}: {reason}")]
    CorruptColumn {
        path: String,
        column: String,
        reason: String,
    },
    /// The file stores a column in a form that the column's type cannot be read from.
    #[error("{path} stores column {column:?} as {found}, which cannot be read as {expected}")]
    ColumnType {
        path: String,
        column: String,
        expected: String,
        found: String,
    },
    /// A stored value has no place in the column's in-memory type.
    #[error("{path}, column {column:?}: {reason}")]
    ValueOutOfRange {
        path: String,
        column: String,
        reason: String,
    },
    /// A value could not be converted to the type that is asked for.
    #[error("{path}, column {column:?}: value cannot be converted")]
    Convert {
        path: String,
        column: String,
        source: Box<TypeError>,
    },
    /// A deletion vector with rows that the file does not have: it belongs to another file.
    #[error("row {position} of {path} is said to be deleted, but it has {rows} rows")]
    DeletedBeyondEnd {
        path: String,
        position: u64,
        rows: u64,
    },
    /// A column that allows no null has one.
    #[error("{path}, column {column:?}: null in a column that is not null")]
    NullValue { path: String, column: String },
    /// The batch does not have the columns of the file.
    #[error("the batch does not fit the file: {reason}")]
    Batch { reason: String },
    /// An option has a value that cannot be used.
    #[error("option {key}: {value:?} is not valid: {reason}")]
    Option {
        key: String,
        value: String,
        reason: String,
    },
    /// A feature this build does not have.
    #[error("unsupported: {what}")]
    Unsupported { what: String },
    /// Types or values were refused.
    #[error("a type or value was refused")]
    Type(#[from] TypeError),
    /// Metadata was refused.
    #[error("metadata of a data file was refused")]
    Format(#[from] FormatError),
    /// The encoder refused.
    #[error("{path} could not be encoded: {reason}")]
    Encode { path: String, reason: String },
    /// A bug in this crate.
    #[error("internal error: {what}")]
    Internal { what: String },
}

impl FilesError {
    /// What the caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Io(source) => source.kind(),
            Self::CorruptFile { .. }
            | Self::CorruptColumn { .. }
            | Self::ColumnType { .. }
            | Self::DeletedBeyondEnd { .. } => ErrorKind::Corrupt,
            Self::ValueOutOfRange { .. } | Self::Unsupported { .. } => ErrorKind::Unsupported,
            Self::Convert { source, .. } => source.kind(),
            Self::NullValue { .. } | Self::Batch { .. } | Self::Option { .. } => ErrorKind::Invalid,
            Self::Type(source) => source.kind(),
            Self::Format(source) => source.kind(),
            Self::Encode { .. } | Self::Internal { .. } => ErrorKind::Internal,
        }
    }

    /// The file is damaged as a whole.
    pub(crate) fn corrupt(path: &str, reason: impl ToString) -> Self {
        Self::CorruptFile {
            path: path.to_owned(),
            reason: reason.to_string(),
        }
    }

    /// An error of the encoder.
    pub(crate) fn encode(path: &str, error: &ParquetError) -> Self {
        Self::Encode {
            path: path.to_owned(),
            reason: error.to_string(),
        }
    }

    /// Turns a panic of a decoder into damage of the file it worked on; other errors stay.
    pub(crate) fn from_decoder(path: &str, error: IoError) -> Self {
        match error {
            IoError::TaskPanicked { message } => {
                Self::corrupt(path, format!("the decoder gave up: {message}"))
            }
            other => Self::Io(other),
        }
    }
}
