//! How a command fails, and what the process says then.

use std::error::Error;

use serde_json::json;
use tidewater_types::ErrorKind;

use crate::json::JsonError;

/// Exit status of a command that did what it was asked.
pub const EXIT_DONE: u8 = 0;
/// Exit status of a command that was refused or failed.
pub const EXIT_FAILED: u8 = 1;
/// Exit status of wrong usage.
pub const EXIT_USAGE: u8 = 2;
/// Exit status of `verify` when it found faults.
pub const EXIT_FAULTS: u8 = 3;
/// Exit status of what is not built yet.
pub const EXIT_UNSUPPORTED: u8 = 64;

/// Why a command ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names each field")]
pub enum CliError {
    /// The arguments make no sense.
    #[error("{what}")]
    Usage { what: String },
    /// The command, option or feature does not exist yet.
    #[error("{what} is not built yet")]
    NotBuilt { what: String },
    /// A line or a value is not what the contract says.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// A type or value is refused.
    #[error(transparent)]
    Type(#[from] tidewater_types::TypeError),
    /// A schema, option or file of the format is refused.
    #[error(transparent)]
    Format(#[from] tidewater_format::FormatError),
    /// The table failed.
    #[error(transparent)]
    Table(#[from] tidewater_table::TableError),
    /// A name, or the table behind it.
    #[error(transparent)]
    Catalog(#[from] tidewater_catalog::CatalogError),
    /// The threads of this call cannot be started.
    #[error("cannot start the threads of this call")]
    Runtime(#[source] std::io::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] tidewater_io::IoError),
    /// A file named on the command line cannot be read.
    #[error("cannot read {path}")]
    Read {
        path: String,
        source: std::io::Error,
    },
    /// A file named on the command line is not what it should be; the source says why.
    #[error("{path}")]
    InFile { path: String, source: Box<CliError> },
    /// A file named on the command line cannot be written.
    #[error("cannot write {path}")]
    Write {
        path: String,
        source: std::io::Error,
    },
    /// Standard input failed or is not UTF-8.
    #[error("standard input, line {line}")]
    Input { line: u64, source: std::io::Error },
    /// Standard output failed.
    #[error("standard output")]
    Output(#[source] std::io::Error),
    /// Columns cannot be put together.
    #[error(transparent)]
    Arrow(#[from] arrow_schema::ArrowError),
    /// A line of input failed; the source says why.
    #[error("line {line}")]
    AtLine { line: u64, source: Box<CliError> },
    /// Rows cannot be loaded, or no table made for them.
    #[error(transparent)]
    Load(#[from] crate::load::LoadError),
    /// Somebody ended it with Ctrl-C or a termination signal.
    #[error("stopped: {what}")]
    Stopped { what: String },
    /// Rows cannot be exported.
    #[error(transparent)]
    Export(crate::export::ExportError),
}

/// A result whose error is [`CliError`].
pub(crate) type Result<T, E = CliError> = std::result::Result<T, E>;

impl CliError {
    /// Wrong usage that only needs a sentence.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::Usage { what: what.into() }
    }

    /// Something the contract has and this build does not.
    pub fn not_built(what: impl Into<String>) -> Self {
        Self::NotBuilt { what: what.into() }
    }

    /// Says in which file this happened.
    pub(crate) fn in_file(self, path: impl ToString) -> Self {
        Self::InFile {
            path: path.to_string(),
            source: Box::new(self),
        }
    }

    /// What the caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Usage { .. } | Self::Input { .. } => ErrorKind::Invalid,
            Self::NotBuilt { .. } => ErrorKind::Unsupported,
            Self::Json(source) => source.kind(),
            Self::Type(source) => source.kind(),
            Self::Format(source) => source.kind(),
            Self::Table(source) => source.kind(),
            Self::Catalog(source) => source.kind(),
            Self::Runtime(_) | Self::Stopped { .. } => ErrorKind::Unavailable,
            Self::Store(source) => source.kind(),
            Self::Read { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                ErrorKind::NotFound
            }
            Self::Read { .. } | Self::Write { .. } | Self::Output(_) => ErrorKind::Unavailable,
            Self::Arrow(_) => ErrorKind::Internal,
            Self::AtLine { source, .. } | Self::InFile { source, .. } => source.kind(),
            Self::Load(source) => source.kind(),
            Self::Export(source) => source.kind(),
        }
    }

    /// The status of the process.
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::Usage { .. } => EXIT_USAGE,
            _ if self.kind() == ErrorKind::Unsupported => EXIT_UNSUPPORTED,
            _ => EXIT_FAILED,
        }
    }

    /// Whether nobody reads the output any more, as behind `| head`: a reason to stop, not to complain.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(source) if source.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// The error with all that led to it, in one line.
    pub fn message(&self) -> String {
        let mut message = self.to_string();
        let mut source = self.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            // A transparent variant repeats its source.
            if !message.ends_with(&text) {
                message.push_str(": ");
                message.push_str(&text);
            }
            source = cause.source();
        }
        message
    }

    /// The class of the error as scripts read it.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Usage { .. } => "Usage",
            _ => match self.kind() {
                ErrorKind::Invalid => "Invalid",
                ErrorKind::NotFound => "NotFound",
                ErrorKind::Corrupt => "Corrupt",
                ErrorKind::Unsupported => "Unsupported",
                ErrorKind::Conflict => "Conflict",
                ErrorKind::Unavailable => "Unavailable",
                ErrorKind::Internal => "Internal",
            },
        }
    }

    /// The line for scripts: `{"error":CLASS,"message":TEXT}`.
    pub fn json_line(&self) -> String {
        json!({"error": self.class(), "message": self.message()}).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_built_exits_64_and_wrong_usage_2() {
        let error = CliError::not_built("tag");
        assert_eq!((error.exit_status(), error.class()), (64, "Unsupported"));
        assert_eq!(
            error.json_line(),
            r#"{"error":"Unsupported","message":"tag is not built yet"}"#
        );
        assert_eq!(CliError::usage("--table is needed").exit_status(), 2);
    }

    #[test]
    fn the_message_tells_the_chain_once() {
        let source = std::io::Error::new(std::io::ErrorKind::NotFound, "no such file");
        let error = CliError::Read {
            path: "s.json".into(),
            source,
        };
        assert_eq!(error.message(), "cannot read s.json: no such file");
        assert_eq!((error.class(), error.exit_status()), ("NotFound", 1));
        let json = CliError::Json(JsonError::Filter {
            what: "needs \"op\"".into(),
        });
        assert_eq!(json.message(), "filter: needs \"op\"");
    }
}
