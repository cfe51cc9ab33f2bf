//! Why a measured program ended early.

use thiserror::Error;

/// A result with [`BenchError`].
pub(crate) type Result<T> = std::result::Result<T, BenchError>;

/// What went wrong. A figure is only given when nothing did.
#[derive(Debug, Error)]
pub(crate) enum BenchError {
    /// The call itself.
    #[error("{0}\n\n{usage}", usage = crate::args::USAGE)]
    Usage(String),
    /// The rows do not add up, or an input file lacks what the workload needs.
    #[error("{0}")]
    Wrong(String),
    /// A file of the workload.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The table under measurement.
    #[error(transparent)]
    Table(#[from] tidewater_table::TableError),
    /// The catalog.
    #[error(transparent)]
    Catalog(#[from] tidewater_catalog::CatalogError),
    /// The format.
    #[error(transparent)]
    Format(#[from] tidewater_format::FormatError),
    /// A value or type.
    #[error(transparent)]
    Type(#[from] tidewater_types::TypeError),
    /// Arrow data.
    #[error(transparent)]
    Arrow(#[from] arrow_schema::ArrowError),
    /// A Parquet file of the raw limit.
    #[error(transparent)]
    Parquet(#[from] parquet::errors::ParquetError),
    /// An answer of a measured program.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl BenchError {
    /// Names the file that `source` is about.
    pub(crate) fn file(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.display().to_string();
        move |source| Self::File { path, source }
    }
}
