//! What can go wrong inside one bucket.

use tidewater_files::FilesError;
use tidewater_format::FormatError;
use tidewater_index::IndexError;
use tidewater_io::IoError;
use tidewater_merge::MergeError;
use tidewater_types::{ErrorKind, SchemaId, TypeError};

/// Why a bucket could not be written, compacted or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names each field")]
pub enum StoreError {
    /// A key or sequence column that the schema lacks.
    #[error("the table has no column {column:?}")]
    UnknownColumn { column: String },
    /// A column that is to tell the age of rows and cannot.
    #[error("column {column:?} is {data_type}, which holds no time (record-level.time-field)")]
    NoTimeColumn { column: String, data_type: String },
    /// A batch with too few columns.
    #[error("a batch has {found} columns where {expected} are needed")]
    ColumnCount { expected: usize, found: usize },
    /// More rows in one buffer than can be numbered.
    #[error("a write buffer holds at most {limit} rows: lower the memory of the writer")]
    TooManyRows { limit: usize },
    /// `_VALUE_KIND` without a value.
    #[error("a row has no kind: _VALUE_KIND is null")]
    NullKind,
    /// A codec that spill files cannot have.
    #[error("spill-compression {found:?} is not one of none, lz4, zstd")]
    SpillCodec { found: String },
    /// A spill file that could not be written or read back.
    #[error("spill file {path} failed; look at the space and health of that disk")]
    Spill {
        path: String,
        #[source]
        source: arrow_schema::ArrowError,
    },
    /// A drain whose caller went away in the middle.
    #[error("the write buffer was being emptied when its caller gave up")]
    DrainCancelled,
    /// A read whose caller went away while it waited and came back.
    #[error("the read was given up in the middle: read the split again")]
    ReadCancelled,
    /// `_VALUE_KIND` with a value that means nothing.
    #[error("_VALUE_KIND {found} is no kind of row")]
    UnknownKind { found: i8 },
    /// A file of a schema that the reader was not given.
    #[error("data file {file} was written with schema {schema}, which is not at hand")]
    UnknownSchema { file: String, schema: SchemaId },
    /// A writer that went on after an error.
    #[error("this writer failed before: open a new one and write again what was not committed")]
    WriterFailed,
    /// A full compaction by a writer that must not compact.
    #[error(
        "this writer does not compact: the table is write-only or has no buckets; use the compact job"
    )]
    WriteOnly,
    /// Sequence numbers that are used up.
    #[error("the bucket has no sequence number left")]
    SequenceExhausted,
    /// A compaction that ended without an answer.
    #[error("a compaction ended without an answer: {reason}")]
    CompactionLost { reason: String },
    /// What cannot happen.
    #[error("internal error: {what}")]
    Bug { what: &'static str },
    /// Columns that do not go together.
    #[error("columns do not fit together")]
    Arrow(#[from] arrow_schema::ArrowError),
    /// A data file could not be written or read.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// A deletion vector or hash index could not be read.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A schema or option is refused.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The store or a worker failed.
    #[error(transparent)]
    Io(#[from] IoError),
    /// The merge refused its input.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// A value or type is refused.
    #[error(transparent)]
    Type(#[from] TypeError),
}

impl StoreError {
    /// What the caller can do.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::UnknownColumn { .. }
            | Self::NoTimeColumn { .. }
            | Self::ColumnCount { .. }
            | Self::NullKind
            | Self::SpillCodec { .. } => ErrorKind::Invalid,
            Self::TooManyRows { .. } | Self::Arrow(_) => ErrorKind::Invalid,
            Self::Spill { .. } => ErrorKind::Unavailable,
            Self::UnknownKind { .. } => ErrorKind::Corrupt,
            Self::UnknownSchema { .. } => ErrorKind::NotFound,
            Self::WriteOnly => ErrorKind::Invalid,
            Self::DrainCancelled
            | Self::ReadCancelled
            | Self::WriterFailed
            | Self::SequenceExhausted
            | Self::CompactionLost { .. }
            | Self::Bug { .. } => ErrorKind::Internal,
            Self::Files(e) => e.kind(),
            Self::Format(e) => e.kind(),
            Self::Index(e) => e.kind(),
            Self::Io(e) => e.kind(),
            Self::Merge(e) => e.kind(),
            Self::Type(e) => e.kind(),
        }
    }
}

/// The crate's result.
pub type Result<T> = std::result::Result<T, StoreError>;
