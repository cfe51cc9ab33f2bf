//! Why metadata is refused: bytes that are wrong, options and columns that do not fit, features not built yet.

use tidewater_types::{ErrorKind, TypeError};

use crate::avro::AvroError;
use crate::manifest::ManifestError;
use crate::unsupported::Unsupported;

/// What can go wrong with a table's metadata.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names each field")]
pub enum FormatError {
    /// Bytes that claim to be `what` cannot be one.
    #[error("corrupt {what}: {reason}")]
    Corrupt { what: &'static str, reason: String },
    /// Text that should be JSON is not.
    #[error("corrupt {what}: it is not valid json")]
    Json {
        what: &'static str,
        source: serde_json::Error,
    },
    /// The file was made by a newer writer than this build can read.
    #[error("{what} has version {found}, this build reads up to {supported}")]
    NewerVersion {
        what: &'static str,
        found: i64,
        supported: i64,
    },
    /// An option whose value is no value of its type, or out of its range.
    #[error("option '{key}' cannot be {value:?}: expected {expected}")]
    InvalidOption {
        key: String,
        value: String,
        expected: String,
    },
    /// An option that does not go with the table or with another option.
    #[error("option '{key}' is refused: {problem}; {remedy}")]
    OptionConflict {
        key: String,
        problem: String,
        remedy: String,
    },
    /// An option that names a column the table does not have.
    #[error(
        "option '{key}' names column {column:?}, which the table does not have; correct the name"
    )]
    OptionColumn { key: String, column: String },
    /// An option that cannot change as asked while the table holds data.
    #[error("option '{key}' cannot change once the table has snapshots: {problem}; {remedy}")]
    ImmutableOption {
        key: String,
        problem: String,
        remedy: String,
    },
    /// A column that cannot be as it was asked for.
    #[error("column {column:?} is refused: {problem}; {remedy}")]
    InvalidColumn {
        column: String,
        problem: String,
        remedy: String,
    },
    /// A change names a column that is not there.
    #[error("there is no column {column:?}; {hint}")]
    NoSuchColumn { column: String, hint: String },
    /// A name that is taken already.
    #[error("column {column:?} exists already; choose another name")]
    ColumnExists { column: String },
    /// A type that values of the old one cannot be read as.
    #[error(
        "column {column:?} of type {from} cannot become {to}; add a column of the new type instead"
    )]
    TypeChange {
        column: String,
        from: String,
        to: String,
    },
    /// A default value that is no value of its column.
    #[error("the default value of column {column:?} is refused")]
    DefaultValue { column: String, source: TypeError },
    /// A key that cannot be one.
    #[error("the {key} {columns} is refused: {problem}; {remedy}")]
    InvalidKey {
        key: &'static str,
        columns: String,
        problem: String,
        remedy: String,
    },
    /// The JSON of a new table, or of a change to one, does not say what it must.
    #[error("cannot read the {what}: {reason}")]
    Request { what: &'static str, reason: String },
    /// A feature that this build does not have yet.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// An Avro file is corrupt or cannot be made.
    #[error(transparent)]
    Avro(#[from] AvroError),
    /// Manifest entries do not add up.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A type or a value is refused.
    #[error(transparent)]
    Type(#[from] TypeError),
}

/// A result whose error is [`FormatError`].
pub type Result<T, E = FormatError> = std::result::Result<T, E>;

impl From<Box<AvroError>> for FormatError {
    fn from(error: Box<AvroError>) -> Self {
        Self::Avro(*error)
    }
}

impl FormatError {
    /// What the caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Corrupt { .. } | Self::Json { .. } => ErrorKind::Corrupt,
            Self::NewerVersion { .. } | Self::Unsupported(_) => ErrorKind::Unsupported,
            Self::NoSuchColumn { .. } => ErrorKind::NotFound,
            Self::InvalidOption { .. }
            | Self::OptionConflict { .. }
            | Self::OptionColumn { .. }
            | Self::ImmutableOption { .. }
            | Self::InvalidColumn { .. }
            | Self::ColumnExists { .. }
            | Self::TypeChange { .. }
            | Self::DefaultValue { .. }
            | Self::InvalidKey { .. }
            | Self::Request { .. } => ErrorKind::Invalid,
            Self::Avro(error) => error.kind(),
            Self::Manifest(error) => error.kind(),
            Self::Type(error) => error.kind(),
        }
    }

    /// Bytes that claim to be `what` cannot be one.
    pub(crate) fn corrupt(what: &'static str, reason: impl Into<String>) -> Self {
        Self::Corrupt {
            what,
            reason: reason.into(),
        }
    }

    pub(crate) fn option_conflict(
        key: impl Into<String>,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::OptionConflict {
            key: key.into(),
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    pub(crate) fn invalid_column(
        column: impl Into<String>,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::InvalidColumn {
            column: column.into(),
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }
}
