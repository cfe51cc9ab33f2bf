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
    /// A retraction where the merge engine takes none.
    #[error("merge engine {engine} takes no -U and -D: set {remedy}, or write none (key {key})")]
    RetractRefused {
        engine: &'static str,
        remedy: &'static str,
        key: String,
    },
    /// A retraction for a function that takes nothing back.
    #[error(
        "function {function} of column {column:?} takes nothing back: set fields.{column}.ignore-retract, \
         or write no -U and -D (key {key})"
    )]
    RetractUnsupported {
        column: String,
        function: &'static str,
        key: String,
    },
    /// A total that its column cannot hold.
    #[error(
        "{function} of column {column:?} leaves the range of its type at key {key}; \
         fields.{column}.{function}.fail-on-overflow=false lets it wrap"
    )]
    Overflow {
        column: String,
        function: &'static str,
        key: String,
    },
    /// A product from which a factor of zero is taken back.
    #[error("the product of column {column:?} is divided by zero at key {key}")]
    DivisionByZero { column: String, key: String },
    /// A DECIMAL product whose quotient has endless digits.
    #[error("the product of column {column:?} divided at key {key} is no finite decimal number")]
    EndlessQuotient { column: String, key: String },
    /// A null for a column that allows none.
    #[error("column {column:?} is NOT NULL and gets a null at key {key}")]
    NullInNotNull { column: String, key: String },
    /// Bytes that are not what the column's function folds.
    #[error("column {column:?} holds no {what} at key {key}: {problem}")]
    BadValue {
        column: String,
        what: &'static str,
        key: String,
        problem: String,
    },
    /// A function for a column of another type.
    #[error("function {function} takes {expected}, column {column:?} is {found}")]
    WrongType {
        column: String,
        function: &'static str,
        expected: &'static str,
        found: String,
    },
    /// Options of a merge engine that contradict the schema.
    #[error("option '{key}' is wrong: {problem}")]
    BadOption { key: String, problem: String },
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
            | Self::RetractRefused { .. }
            | Self::RetractUnsupported { .. }
            | Self::Overflow { .. }
            | Self::DivisionByZero { .. }
            | Self::EndlessQuotient { .. }
            | Self::NullInNotNull { .. }
            | Self::BadValue { .. }
            | Self::WrongType { .. }
            | Self::BadOption { .. }
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
