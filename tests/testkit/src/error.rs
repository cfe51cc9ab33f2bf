//! Why a fixture or a line cannot be used.

use std::path::PathBuf;

/// A fixture that cannot be read, or a line that is not what the contract says.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names each field")]
pub enum TestkitError {
    /// A file of a fixture cannot be read.
    #[error("cannot read {path}")]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    /// A line is not JSON.
    #[error("line {line} is not json: {text}")]
    Line {
        line: usize,
        text: String,
        source: serde_json::Error,
    },
    /// A case lacks something that every case has.
    #[error("{path}: {what}")]
    Case { path: PathBuf, what: String },
    /// A line lacks a member that the contract promises.
    #[error("line lacks {member:?}: {line}")]
    Member { member: &'static str, line: String },
}

/// A result whose error is [`TestkitError`].
pub type Result<T, E = TestkitError> = std::result::Result<T, E>;
