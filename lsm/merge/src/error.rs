//! Why a merge or a compaction plan is refused.

use tidewater_types::{ErrorKind, TypeError};

/// Errors of this crate. Nothing here does IO, so every error is about the values that were handed in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names each field")]
pub enum MergeError {
    /// A batch whose arrays do not belong together.
    #[error("{part} of a merge batch has {found} rows, the batch has {expected}")]
    LengthMismatch {
        part: &'static str,
        expected: usize,
        found: usize,
    },
    /// Batches of one merge must all be encoded alike.
    #[error("merge batches differ in {what}")]
    MixedBatches { what: &'static str },
    /// A run number that the merge does not have.
    #[error("run {run} does not exist, the merge has {runs}")]
    NoSuchRun { run: usize, runs: usize },
    /// A batch for a run that was declared finished.
    #[error("run {run} is already finished")]
    RunFinished { run: usize },
    /// A batch or a merge beyond what 32-bit positions address.
    #[error("{what} has {found} entries, the limit is {limit}")]
    TooLarge {
        what: &'static str,
        found: usize,
        limit: usize,
    },
    /// Keys of a run must ascend: the file is not sorted as its table says.
    #[error("run {run} is out of key order at row {row} of its batch {batch}")]
    OutOfOrder {
        run: usize,
        batch: usize,
        row: usize,
    },
    /// A null where the file layout allows none.
    #[error("column {column} holds a null in run {run}")]
    NullSystemColumn { column: &'static str, run: usize },
    /// A row kind outside 0..=3.
    #[error("row kind {found} is not one of 0..=3")]
    BadRowKind { found: i8 },
    /// A table needs level 0 and at least one level below it.
    #[error("a tree needs at least 2 levels, not {found}")]
    TooFewLevels { found: usize },
    /// A file claims a level no writer makes.
    #[error("file {file} is on level {level}, levels go from 0 to {max}")]
    LevelOutOfRange { file: String, level: i64, max: i64 },
    /// Files of one level above 0 must not overlap.
    #[error("files {left} and {right} of level {level} overlap")]
    OverlappingRun {
        level: usize,
        left: String,
        right: String,
    },
    /// A file whose greatest key is below its smallest.
    #[error("file {file} has its greatest key below its smallest")]
    InvertedKeyRange { file: String },
    /// A compaction result names a file that the tree does not hold.
    #[error("file {file} is not on level {level}")]
    NoSuchFile { file: String, level: i64 },
    /// A feature this build does not have.
    #[error("unsupported: {what}")]
    Unsupported { what: String },
    /// A key or a type is wrong.
    #[error("key values are refused")]
    Type(#[from] TypeError),
    /// Arrow refused to gather columns.
    #[error("arrow refused the operation")]
    Arrow(#[from] arrow_schema::ArrowError),
}

/// A result whose error is [`MergeError`].
pub type Result<T, E = MergeError> = std::result::Result<T, E>;

impl MergeError {
    /// What the caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::LengthMismatch { .. }
            | Self::MixedBatches { .. }
            | Self::NoSuchRun { .. }
            | Self::RunFinished { .. }
            | Self::TooLarge { .. }
            | Self::TooFewLevels { .. }
            | Self::Arrow(_) => ErrorKind::Invalid,
            Self::OutOfOrder { .. }
            | Self::NullSystemColumn { .. }
            | Self::BadRowKind { .. }
            | Self::LevelOutOfRange { .. }
            | Self::OverlappingRun { .. }
            | Self::InvertedKeyRange { .. } => ErrorKind::Corrupt,
            Self::NoSuchFile { .. } => ErrorKind::Internal,
            Self::Unsupported { .. } => ErrorKind::Unsupported,
            Self::Type(source) => source.kind(),
        }
    }
}
