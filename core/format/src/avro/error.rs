//! What can be wrong with an Avro container, its schema or its data.

use tidewater_types::ErrorKind;

/// Why bytes are not the Avro file they should be, or why a file cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names each field")]
pub enum AvroError {
    /// The file does not start as an Avro container does.
    #[error("not an avro file: it starts with {found:02x?}")]
    Magic { found: Vec<u8> },
    /// The header lacks something or carries it in a form that cannot be right.
    #[error("avro header: {reason}")]
    Header { reason: String },
    /// The blocks are compressed in a way this build does not know.
    #[error("avro codec {name:?} is not supported")]
    UnknownCodec { name: String },
    /// The codec could not undo a block.
    #[error("avro block at offset {offset} cannot be decompressed with {codec}")]
    Decompress {
        codec: &'static str,
        offset: usize,
        source: std::io::Error,
    },
    /// The codec could not compress a block.
    #[error("a block cannot be compressed with {codec}")]
    Compress {
        codec: &'static str,
        source: std::io::Error,
    },
    /// A block would be larger in memory than any writer makes it.
    #[error("avro block at offset {offset} holds more than {limit} bytes")]
    BlockTooLarge { offset: usize, limit: usize },
    /// The marker between two blocks is not the one of the header.
    #[error("avro block at offset {offset} does not end with the sync marker")]
    SyncMarker { offset: usize },
    /// The buffer ended inside an item.
    #[error("{what} needs {needed} bytes at offset {offset}, but {available} are left")]
    Truncated {
        what: &'static str,
        offset: usize,
        needed: usize,
        available: usize,
    },
    /// An item that cannot be what it claims to be.
    #[error("{what} at offset {offset} is invalid")]
    Invalid { what: &'static str, offset: usize },
    /// The records of a block ended before the block did.
    #[error("{left} bytes follow the last record of an avro block")]
    TrailingBytes { left: usize },
    /// The schema in the header is not one.
    #[error("avro schema: {reason}")]
    Schema { reason: String },
    /// A field has another type than the format gives it.
    #[error("avro field {field:?} is {found} where {expected} is expected")]
    FieldType {
        field: &'static str,
        expected: &'static str,
        found: String,
    },
    /// A field without which a record makes no sense is not in the schema.
    #[error("avro field {field:?} is missing")]
    MissingField { field: &'static str },
}

/// The error of functions that read single items: one word, so that their answers travel in registers.
pub type Fault = Box<AvroError>;

impl From<Fault> for AvroError {
    fn from(fault: Fault) -> Self {
        *fault
    }
}

impl AvroError {
    /// What the caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::UnknownCodec { .. } => ErrorKind::Unsupported,
            Self::Compress { .. } => ErrorKind::Internal,
            _ => ErrorKind::Corrupt,
        }
    }
}
