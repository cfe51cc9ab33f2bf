//! What can be wrong with the entries of manifests, taken together.

use tidewater_types::ErrorKind;

/// Why manifest entries do not add up to a file set, or may not be rewritten.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names each field")]
pub enum ManifestError {
    /// A file comes in although it is there, or although it was taken out before.
    #[error("file {file:?} (bucket {bucket}, level {level}) is added twice")]
    AddedTwice {
        file: String,
        bucket: i32,
        level: i32,
    },
    /// A file goes out twice.
    #[error("file {file:?} (bucket {bucket}, level {level}) is deleted twice")]
    DeletedTwice {
        file: String,
        bucket: i32,
        level: i32,
    },
    /// A file goes out that never came in.
    #[error("file {file:?} (bucket {bucket}, level {level}) is deleted but was never added")]
    DeletedWithoutAdd {
        file: String,
        bucket: i32,
        level: i32,
    },
    /// The caller of a manifest merge does not follow its protocol.
    #[error("manifest merge: {what}")]
    MergeProtocol { what: &'static str },
}

impl ManifestError {
    /// What the caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::AddedTwice { .. }
            | Self::DeletedTwice { .. }
            | Self::DeletedWithoutAdd { .. } => ErrorKind::Corrupt,
            Self::MergeProtocol { .. } => ErrorKind::Internal,
        }
    }
}
