//! What is wrong with a line, or with a value that cannot be written as one.

use tidewater_types::{ErrorKind, TypeError};

/// Characters of a value shown in an error.
const SHOWN: usize = 60;

/// A line or a value that is not what the contract says.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names each field")]
pub enum JsonError {
    /// A line is not JSON.
    #[error("line {line}, character {position}: expected {expected}")]
    Syntax {
        line: u64,
        position: usize,
        expected: &'static str,
    },
    /// A value does not fit its column.
    #[error("line {line}, column {column}: {value} is not {expected}")]
    Value {
        line: u64,
        column: String,
        value: String,
        expected: String,
    },
    /// A line names a column that the table does not have, or one twice.
    #[error("line {line}: {what} {name:?}")]
    Name {
        line: u64,
        what: &'static str,
        name: String,
    },
    /// A line is JSON but means nothing here.
    #[error("line {line}: {what}")]
    Line { line: u64, what: String },
    /// A filter is not what the contract says.
    #[error("filter: {what}")]
    Filter { what: String },
    /// A value could not be taken over.
    #[error("a value is refused")]
    Type(#[from] TypeError),
    /// Arrow refused to assemble columns.
    #[error("columns cannot be assembled")]
    Arrow(#[from] arrow_schema::ArrowError),
}

impl JsonError {
    /// What the caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Type(source) => source.kind(),
            Self::Arrow(_) => ErrorKind::Internal,
            Self::Syntax { .. }
            | Self::Value { .. }
            | Self::Name { .. }
            | Self::Line { .. }
            | Self::Filter { .. } => ErrorKind::Invalid,
        }
    }
}

/// What went wrong inside a line, before anybody says which line it was.
#[derive(Debug)]
pub(super) enum Fault {
    /// Not JSON at this byte.
    Syntax { at: usize, expected: &'static str },
    /// Not a value of the type; `path` grows from the inside out.
    Value {
        path: Vec<String>,
        value: String,
        expected: String,
    },
    /// An unknown or doubled member.
    Name { what: &'static str, name: String },
    /// Anything else about the line as a whole.
    Line { what: String },
}

impl Fault {
    /// A value that is not one of the type `expected` names.
    pub(super) fn value(value: &str, expected: impl Into<String>) -> Self {
        let mut shown: String = value.chars().take(SHOWN).collect();
        if shown.len() < value.len() {
            shown.push('…');
        }
        Self::Value {
            path: Vec::new(),
            value: shown,
            expected: expected.into(),
        }
    }

    /// The same fault, met inside the part called `name`.
    pub(super) fn inside(mut self, name: &str) -> Self {
        if let Self::Value { path, .. } = &mut self {
            path.push(name.to_owned());
        }
        self
    }

    /// The error for the line with this number; `text` is that line.
    pub(super) fn at_line(self, line: u64, text: &str) -> JsonError {
        match self {
            Self::Syntax { at, expected } => {
                let position = text.get(..at).map_or(at, |before| before.chars().count()) + 1;
                JsonError::Syntax {
                    line,
                    position,
                    expected,
                }
            }
            Self::Value {
                mut path,
                value,
                expected,
            } => {
                path.reverse();
                JsonError::Value {
                    line,
                    column: path.join("."),
                    value,
                    expected,
                }
            }
            Self::Name { what, name } => JsonError::Name { line, what, name },
            Self::Line { what } => JsonError::Line { line, what },
        }
    }
}
