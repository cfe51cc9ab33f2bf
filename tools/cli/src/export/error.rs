//! Why an export fails.

use tidewater_types::ErrorKind;

use crate::error::CliError;
use crate::json::JsonError;

/// Why rows could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names each field")]
pub enum ExportError {
    /// The file, or standard output, refused bytes.
    #[error("cannot write {file}")]
    Write {
        file: String,
        source: std::io::Error,
    },
    /// A batch is not of the row type.
    #[error("rows cannot be exported")]
    Values(#[from] JsonError),
    /// The Parquet library refused.
    #[error("parquet")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// The Arrow library refused.
    #[error("arrow")]
    Arrow(#[from] arrow_schema::ArrowError),
}

/// A result whose error is [`ExportError`].
pub(super) type Result<T, E = ExportError> = std::result::Result<T, E>;

impl ExportError {
    /// What the caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        use arrow_schema::ArrowError;
        use parquet::errors::ParquetError;
        match self {
            Self::Write { .. } => ErrorKind::Unavailable,
            Self::Values(source) => source.kind(),
            Self::Parquet(ParquetError::NYI(_)) | Self::Arrow(ArrowError::NotYetImplemented(_)) => {
                ErrorKind::Unsupported
            }
            Self::Parquet(ParquetError::External(_)) | Self::Arrow(ArrowError::IoError(..)) => {
                ErrorKind::Unavailable
            }
            Self::Parquet(_) | Self::Arrow(_) => ErrorKind::Invalid,
        }
    }

    /// Whether nobody reads standard output any more.
    fn is_broken_pipe(&self) -> bool {
        use arrow_schema::ArrowError;
        use parquet::errors::ParquetError;
        let source = match self {
            Self::Write { source, .. } | Self::Arrow(ArrowError::IoError(_, source)) => source,
            Self::Parquet(ParquetError::External(source)) => match source.downcast_ref() {
                Some(source) => source,
                None => return false,
            },
            _ => return false,
        };
        std::io::Error::kind(source) == std::io::ErrorKind::BrokenPipe
    }
}

impl From<ExportError> for CliError {
    fn from(error: ExportError) -> Self {
        if error.is_broken_pipe() {
            Self::Output(std::io::Error::from(std::io::ErrorKind::BrokenPipe))
        } else {
            Self::Export(error)
        }
    }
}
