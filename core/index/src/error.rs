//! What can go wrong with index files, with the file and the place in it.

use tidewater_io::IoError;
use tidewater_types::ErrorKind;

/// A result whose error is [`IndexError`].
pub type Result<T, E = IndexError> = std::result::Result<T, E>;

/// Why an index file could not be read or written, or a bucket not be chosen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names each field")]
pub enum IndexError {
    /// The store refused; its error names the path.
    #[error("an index file could not be accessed")]
    Io(#[from] IoError),
    /// The first byte is not that of a file of deletion vectors.
    #[error("{path} is damaged: a file of deletion vectors begins with 1, this one with {found:?}")]
    Version { path: String, found: Option<u8> },
    /// The file ended inside something.
    #[error(
        "{path} is damaged: {what} at offset {offset} needs {needed} bytes, {available} are left"
    )]
    Truncated {
        path: String,
        what: &'static str,
        offset: u64,
        needed: u64,
        available: u64,
    },
    /// A length that is not the one that was said.
    #[error(
        "{path} is damaged: the vector at offset {offset} should be {expected} bytes long, it is {found}"
    )]
    Length {
        path: String,
        offset: u64,
        expected: i64,
        found: i64,
    },
    /// Bytes that begin like no kind of vector.
    #[error(
        "{path} is damaged: the vector at offset {offset} begins with {found:08x}, which is no kind of vector"
    )]
    Magic {
        path: String,
        offset: u64,
        found: u32,
    },
    /// Bytes that are not those that were written.
    #[error(
        "{path} is damaged: the checksum of the vector at offset {offset} should be {expected:08x}, it is {found:08x}"
    )]
    Checksum {
        path: String,
        offset: u64,
        expected: u32,
        found: u32,
    },
    /// A bitmap that does not decode.
    #[error("{path} is damaged: the vector at offset {offset} does not decode: {reason}")]
    Bitmap {
        path: String,
        offset: u64,
        reason: String,
    },
    /// A vector with another number of positions than the index manifest says.
    #[error(
        "{path} is damaged: the vector at offset {offset} should delete {expected} rows, it deletes {found}"
    )]
    Cardinality {
        path: String,
        offset: u64,
        expected: i64,
        found: u64,
    },
    /// A place that no file has.
    #[error(
        "the index manifest is damaged: it places the vector of {data_file} at offset {offset} of {path}, {length} bytes long"
    )]
    Place {
        path: String,
        data_file: String,
        offset: i64,
        length: i64,
    },
    /// Vectors of which nobody knows whose they are.
    #[error("the index manifest is damaged: it does not list the vectors in {path}")]
    Unlisted { path: String },
    /// Vectors that do not follow each other as Java reads them.
    #[error(
        "{path} is listed wrongly: the vector of {data_file} should begin at offset {expected}, the index manifest says {found}"
    )]
    Layout {
        path: String,
        data_file: String,
        expected: i64,
        found: i64,
    },
    /// A position that the kind of vector has no place for.
    #[error(
        "row {position} cannot be deleted: the largest position of a vector of this kind is {limit}; deletion-vectors.bitmap64 allows larger ones"
    )]
    Position { position: u64, limit: u64 },
    /// More bytes than a file of deletion vectors may have.
    #[error(
        "a file of deletion vectors would be larger than {limit} bytes; lower deletion-vector.index-file.target-size"
    )]
    FileSize { limit: u64 },
    /// A file that is no list of hashes.
    #[error("{path} is damaged: a hash index has four bytes a hash, this one has {bytes} bytes")]
    HashBytes { path: String, bytes: u64 },
    /// A file with another number of hashes than the index manifest says.
    #[error("{path} is damaged: it should hold {expected} hashes, it holds {found}")]
    HashCount {
        path: String,
        expected: i64,
        found: u64,
    },
    /// Hashes of a partition that was not loaded.
    #[error("the buckets of a partition were asked for before its index was loaded")]
    NotLoaded,
    /// All bucket numbers are in use.
    #[error(
        "no bucket number is left for new keys: {in_use} are in use; raise dynamic-bucket.target-row-num"
    )]
    NoBucket { in_use: usize },
    /// Settings that make no assigner.
    #[error("there is no assigner {assigner} of {assigners} for {channels} channels")]
    Assigner {
        assigner: i32,
        assigners: i32,
        channels: i32,
    },
}

impl IndexError {
    /// What the caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Io(source) => source.kind(),
            Self::Version { .. }
            | Self::Truncated { .. }
            | Self::Length { .. }
            | Self::Magic { .. }
            | Self::Checksum { .. }
            | Self::Bitmap { .. }
            | Self::Cardinality { .. }
            | Self::Place { .. }
            | Self::Unlisted { .. }
            | Self::Layout { .. }
            | Self::HashBytes { .. }
            | Self::HashCount { .. } => ErrorKind::Corrupt,
            Self::Position { .. }
            | Self::FileSize { .. }
            | Self::NoBucket { .. }
            | Self::Assigner { .. } => ErrorKind::Invalid,
            Self::NotLoaded => ErrorKind::Internal,
        }
    }
}
