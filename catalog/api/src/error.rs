//! What can go wrong with names and the tables behind them.

use tidewater_io::IoError;
use tidewater_table::TableError;
use tidewater_types::ErrorKind;

/// Why a catalog refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names each field")]
pub enum CatalogError {
    /// A name that cannot be one.
    #[error("the {what} name {name:?} {problem}")]
    BadName {
        what: &'static str,
        name: String,
        problem: &'static str,
    },
    /// A database that is not there.
    #[error("there is no database {database}; create it first")]
    NoDatabase { database: String },
    /// A database that is there already.
    #[error("database {database} exists already")]
    DatabaseExists { database: String },
    /// A database that still has tables.
    #[error("database {database} has tables; drop them first, or ask for cascade")]
    DatabaseNotEmpty { database: String },
    /// A table that is not there.
    #[error("there is no table {table} in {warehouse}")]
    NoTable { table: String, warehouse: String },
    /// A table that is there already.
    #[error("table {table} exists already")]
    TableExists { table: String },
    /// A custom place for a table, which this catalog cannot remember.
    #[error(
        "table {table} cannot lie at {path}: a filesystem catalog finds tables by their name only"
    )]
    CustomPath { table: String, path: String },
    /// What is not built.
    #[error("not supported yet: {what}")]
    Unsupported { what: String },
    /// The store failed.
    #[error(transparent)]
    Io(#[from] IoError),
    /// The table failed.
    #[error("table {table}: {source}")]
    Table {
        table: String,
        source: Box<TableError>,
    },
}

impl CatalogError {
    /// What the caller can do.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::BadName { .. } | Self::CustomPath { .. } => ErrorKind::Invalid,
            Self::NoDatabase { .. } | Self::NoTable { .. } => ErrorKind::NotFound,
            Self::DatabaseExists { .. }
            | Self::DatabaseNotEmpty { .. }
            | Self::TableExists { .. } => ErrorKind::Conflict,
            Self::Unsupported { .. } => ErrorKind::Unsupported,
            Self::Io(error) => error.kind(),
            Self::Table { source, .. } => source.kind(),
        }
    }
}

/// The crate's result.
pub type Result<T> = std::result::Result<T, CatalogError>;
