//! What can go wrong with types and values, and the kinds every crate sorts its errors into.

/// What the caller can do about an error. All crates of the project answer `kind()` with this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorKind {
    /// The call or its input is wrong: fix it and call again.
    Invalid,
    /// The named thing does not exist.
    NotFound,
    /// Bytes that were read are not what they must be.
    Corrupt,
    /// A newer format, or a feature that this build does not have.
    Unsupported,
    /// Somebody else won: rebase or restart.
    Conflict,
    /// The other side did not answer: retry.
    Unavailable,
    /// A bug in this project.
    Internal,
}

impl ErrorKind {
    /// The kind's name in lower case, for logs and for machine-read output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::NotFound => "not-found",
            Self::Corrupt => "corrupt",
            Self::Unsupported => "unsupported",
            Self::Conflict => "conflict",
            Self::Unavailable => "unavailable",
            Self::Internal => "internal",
        }
    }
}

impl std::fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a type or a value is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names each field")]
pub enum TypeError {
    /// Text that should name a data type does not.
    #[error("cannot read type {text:?} at position {position}: {reason}")]
    TypeText {
        text: String,
        position: usize,
        reason: String,
    },
    /// JSON that should be a data type or a field is not.
    #[error("cannot read type from json: {reason}")]
    TypeJson { reason: String },
    /// A length, precision or scale out of its range.
    #[error("{what} must be between {min} and {max}, not {found}")]
    ParameterRange {
        what: &'static str,
        min: i64,
        max: i64,
        found: i64,
    },
    /// No column has this name.
    #[error("no column is named {name:?}")]
    UnknownColumn { name: String },
    /// Text that should be a value does not read as one.
    #[error("{text:?} is not a value of type {data_type}: {reason}")]
    ValueText {
        text: String,
        data_type: String,
        reason: &'static str,
    },
    /// Text that should be a condition does not read as one.
    #[error("filter, position {position}: {reason}")]
    FilterText { position: usize, reason: String },
    /// A value outside what its type holds.
    #[error("value {value} does not fit {data_type}")]
    DoesNotFit { value: String, data_type: String },
    /// A value or an array of another type than the one asked for.
    #[error("expected {expected}, found {found}")]
    TypeMismatch { expected: String, found: String },
    /// A value of a column that cannot be taken over without loss.
    #[error("column {column:?}, row {row}: value {value} does not fit {data_type}")]
    ColumnValue {
        column: String,
        row: usize,
        value: String,
        data_type: String,
    },
    /// A null in a column that allows none.
    #[error("column {column:?}, row {row}: null in a column that is not null")]
    ColumnNull { column: String, row: usize },
    /// Something is wrong with one column; the source says what.
    #[error("column {column:?} is refused")]
    Column {
        column: String,
        source: Box<TypeError>,
    },
    /// The call is wrong in a way no other variant names.
    #[error("{what}")]
    Invalid { what: String },
    /// The buffer ended inside an item.
    #[error("{what} needs {needed} bytes at offset {offset}, but the buffer has {available}")]
    Truncated {
        what: &'static str,
        offset: usize,
        needed: usize,
        available: usize,
    },
    /// Bytes that cannot be what they claim to be.
    #[error("corrupt {what}: {reason}")]
    Corrupt { what: &'static str, reason: String },
    /// A feature this build does not have.
    #[error("unsupported: {what}")]
    Unsupported { what: String },
    /// The Arrow library refused an operation.
    #[error("arrow refused the operation")]
    Arrow(#[from] arrow_schema::ArrowError),
    /// A bug in this crate.
    #[error("internal error: {what}")]
    Internal { what: String },
}

/// A result whose error is [`TypeError`].
pub type Result<T, E = TypeError> = std::result::Result<T, E>;

impl TypeError {
    /// What the caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::TypeText { .. }
            | Self::TypeJson { .. }
            | Self::ParameterRange { .. }
            | Self::ValueText { .. }
            | Self::FilterText { .. }
            | Self::DoesNotFit { .. }
            | Self::TypeMismatch { .. }
            | Self::ColumnValue { .. }
            | Self::ColumnNull { .. }
            | Self::Invalid { .. } => ErrorKind::Invalid,
            Self::UnknownColumn { .. } => ErrorKind::NotFound,
            Self::Column { source, .. } => source.kind(),
            Self::Truncated { .. } | Self::Corrupt { .. } => ErrorKind::Corrupt,
            Self::Unsupported { .. } => ErrorKind::Unsupported,
            Self::Arrow(arrow_schema::ArrowError::NotYetImplemented(_)) => ErrorKind::Unsupported,
            Self::Arrow(_) => ErrorKind::Invalid,
            Self::Internal { .. } => ErrorKind::Internal,
        }
    }

    /// An error of kind [`ErrorKind::Invalid`] that only needs a sentence.
    pub fn invalid(what: impl Into<String>) -> Self {
        Self::Invalid { what: what.into() }
    }

    /// An error of kind [`ErrorKind::Unsupported`]; `what` names the feature.
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported { what: what.into() }
    }

    /// An error of kind [`ErrorKind::Corrupt`]; `what` is the thing that was being decoded.
    pub fn corrupt(what: &'static str, reason: impl Into<String>) -> Self {
        Self::Corrupt {
            what,
            reason: reason.into(),
        }
    }

    /// An error of kind [`ErrorKind::Internal`].
    pub fn internal(what: impl Into<String>) -> Self {
        Self::Internal { what: what.into() }
    }

    /// A value or array of type `found` where `expected` was asked for.
    pub fn mismatch(expected: impl std::fmt::Display, found: impl std::fmt::Display) -> Self {
        Self::TypeMismatch {
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }

    /// The same error with the column it belongs to in front.
    pub fn in_column(self, column: &str) -> Self {
        Self::Column {
            column: column.to_owned(),
            source: Box::new(self),
        }
    }
}
