//! What can go wrong with a table, and what its caller can do about it.

use tidewater_files::FilesError;
use tidewater_format::FormatError;
use tidewater_index::IndexError;
use tidewater_io::IoError;
use tidewater_merge::MergeError;
use tidewater_store::StoreError;
use tidewater_types::{ErrorKind, TypeError};

/// Why a table operation was refused or failed. Variants name the table's part, the expectation and the way out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names each field")]
pub enum TableError {
    /// The folder holds no schema file, so there is no table.
    #[error("no table at {location}: it has no schema file")]
    NotATable { location: String },
    /// A schema id that no file has.
    #[error("schema {id} of the table at {location} does not exist")]
    SchemaNotFound { location: String, id: i64 },
    /// A snapshot that has expired or does not exist yet.
    #[error(
        "snapshot {id} is not there: the table at {location} has snapshots {earliest} to {latest}"
    )]
    SnapshotNotFound {
        location: String,
        id: i64,
        earliest: i64,
        latest: i64,
    },
    /// The table has no snapshot at all where one is needed.
    #[error("the table at {location} has no snapshot yet")]
    NoSnapshot { location: String },
    /// Time travel to before the first snapshot.
    #[error(
        "there is currently no snapshot earlier than or equal to timestamp [{asked_millis}], the earliest snapshot's timestamp is [{earliest_millis}]"
    )]
    NoSnapshotAtTime {
        asked_millis: i64,
        earliest_millis: i64,
    },
    /// A file of the table whose bytes are not what they must be.
    #[error("{path} is damaged")]
    Damaged {
        path: String,
        #[source]
        source: Box<FormatError>,
    },
    /// A statistics file that does not say which schema it was made for.
    #[error("statistics file {path} is damaged: it names no schemaId")]
    StatisticsDamaged { path: String },
    /// A file that deletes what others deleted or added meanwhile: this commit cannot be rebased.
    #[error(
        "commit of {user} conflicts with snapshot {snapshot}: {reason}; read the table again and redo the work"
    )]
    FileConflict {
        user: String,
        snapshot: i64,
        reason: String,
    },
    /// The race for a snapshot id was lost too often.
    #[error(
        "gave up after {attempts} attempts to commit: other writers took each snapshot id, the last one {last}; raise commit.max-retries or commit less often"
    )]
    RetriesExhausted { attempts: u32, last: i64 },
    /// The commit ran out of its time.
    #[error("gave up committing after {elapsed_millis} ms (commit.timeout)")]
    CommitTimeout { elapsed_millis: u64 },
    /// A data file of a re-submitted commit is gone.
    #[error("cannot commit {identifier} again: its file {file} no longer exists")]
    CommittedFileMissing { identifier: i64, file: String },
    /// A condition on partitions that looks at something else.
    #[error("{column:?} is not a partition column: partitions are chosen by their own columns")]
    NotAPartitionColumn { column: String },
    /// A column that an option names and the table lacks.
    #[error("the table has no column {column:?}, which {asked_by} names")]
    NoColumn {
        column: String,
        asked_by: &'static str,
    },
    /// A row kind that is none.
    #[error("row {row} of the batch: {column} is {found}, not a row kind (+I, -U, +U, -D)")]
    BadRowKind {
        column: String,
        row: usize,
        found: String,
    },
    /// Kinds that are not one per row.
    #[error("{kinds} kinds were given for {rows} rows")]
    KindCount { rows: usize, kinds: usize },
    /// A row of kind -U or -D where rows can only be added.
    #[error(
        "an append table takes no rows of kind -U or -D; give the table a primary key, or set ignore-delete"
    )]
    RetractionInAppendTable,
    /// A bucket that the table does not have.
    #[error(
        "there is no bucket {bucket}: the table has {buckets} (0 means that it has none to choose)"
    )]
    NoSuchBucket { bucket: i32, buckets: i32 },
    /// A bucket written under another number of buckets.
    #[error(
        "bucket {bucket} was written when its partition had {written} buckets, now the table says {expected}; rewrite the partition, or set bucket back"
    )]
    BucketCount {
        bucket: i32,
        written: i32,
        expected: i32,
    },
    /// A compaction that would miss rows of its own writer.
    #[error("commit the rows before compacting this table: it has no buckets, or is write-only")]
    UncommittedRows,
    /// A stream's next snapshot has expired.
    #[error(
        "the snapshot with id {next} has expired, the earliest available one of the table at {location} is {earliest}; read the table in full again, and expire snapshots later"
    )]
    PositionExpired {
        location: String,
        next: i64,
        earliest: i64,
    },
    /// A stream waits for a snapshot that cannot come next.
    #[error(
        "the next expected snapshot {next} is too big: the latest one of the table at {location} is {latest}; the table may have been rolled back or made anew"
    )]
    PositionAhead {
        location: String,
        next: i64,
        latest: i64,
    },
    /// A text that is no position of a stream.
    #[error("not a position of a stream: {text}")]
    PositionText {
        text: String,
        #[source]
        source: serde_json::Error,
    },
    /// A data file with two deletion vectors.
    #[error("{path} is damaged: it lists two deletion vectors of {data_file}")]
    TwoDeletionVectors { path: String, data_file: String },
    /// A number of rows that no table has.
    #[error(
        "the latest snapshot says that the table has {before} rows, which {added} more would overflow: it is damaged"
    )]
    RowCount { before: i64, added: i64 },
    /// A file that says another number than its name.
    #[error("{path} is damaged: inside it is number {found}")]
    WrongNumber { path: String, found: i64 },
    /// A snapshot in the middle that is missing.
    #[error(
        "snapshot {missing} of the table at {location} is missing, though it has {earliest} to {latest}: the stream cannot go on without it; read the table in full, and find out what removed the file"
    )]
    SnapshotGap {
        location: String,
        missing: i64,
        earliest: i64,
        latest: i64,
    },
    /// What cannot happen.
    #[error("internal error: {what}")]
    Bug { what: &'static str },
    /// The bytes or values of the format are refused.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The store answered with an error.
    #[error(transparent)]
    Io(#[from] IoError),
    /// Files that cannot be merged as their table says.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// A data file could not be read.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// A deletion vector or hash index could not be read.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A bucket could not be written, compacted or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Columns that do not go together.
    #[error("columns do not fit together")]
    Arrow(#[from] arrow_schema::ArrowError),
    /// A value or type is refused.
    #[error(transparent)]
    Type(#[from] TypeError),
}

impl TableError {
    /// The file at `path` is damaged.
    pub(crate) fn damaged(path: String, source: FormatError) -> Self {
        Self::Damaged {
            path,
            source: Box::new(source),
        }
    }

    /// What the caller can do.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotATable { .. }
            | Self::SchemaNotFound { .. }
            | Self::SnapshotNotFound { .. }
            | Self::NoSnapshot { .. }
            | Self::PositionExpired { .. }
            | Self::CommittedFileMissing { .. } => ErrorKind::NotFound,
            Self::NoSnapshotAtTime { .. }
            | Self::PositionAhead { .. }
            | Self::PositionText { .. }
            | Self::NoColumn { .. }
            | Self::NotAPartitionColumn { .. }
            | Self::BadRowKind { .. }
            | Self::KindCount { .. }
            | Self::RetractionInAppendTable
            | Self::NoSuchBucket { .. }
            | Self::UncommittedRows
            | Self::Arrow(_) => ErrorKind::Invalid,
            Self::BucketCount { .. } => ErrorKind::Conflict,
            Self::Damaged { .. }
            | Self::StatisticsDamaged { .. }
            | Self::TwoDeletionVectors { .. }
            | Self::RowCount { .. }
            | Self::WrongNumber { .. }
            | Self::SnapshotGap { .. } => ErrorKind::Corrupt,
            Self::FileConflict { .. } | Self::RetriesExhausted { .. } => ErrorKind::Conflict,
            Self::CommitTimeout { .. } => ErrorKind::Unavailable,
            Self::Bug { .. } => ErrorKind::Internal,
            Self::Format(e) => e.kind(),
            Self::Io(e) => e.kind(),
            Self::Merge(e) => e.kind(),
            Self::Files(e) => e.kind(),
            Self::Index(e) => e.kind(),
            Self::Store(e) => e.kind(),
            Self::Type(e) => e.kind(),
        }
    }
}

/// The crate's result.
pub type Result<T> = std::result::Result<T, TableError>;
