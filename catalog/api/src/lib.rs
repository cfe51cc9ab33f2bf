//! Names of tables, and where they lie.
//!
//! [`Catalog`] is the interface; [`FileSystemCatalog`] keeps nothing but folders: `WAREHOUSE/DB.db/TABLE`.

mod error;
mod file_system;
mod identifier;

use std::sync::Arc;

use async_trait::async_trait;
use tidewater_format::{SchemaChange, SchemaDefinition, TableSchema};
use tidewater_table::Table;

pub use error::{CatalogError, Result};
pub use file_system::FileSystemCatalog;
pub use identifier::Identifier;

/// Maps names to tables. Source: Paimon `catalog/Catalog.java`; spec 04 §1.
#[async_trait]
pub trait Catalog: std::fmt::Debug + Send + Sync {
    /// Names of the databases, sorted.
    ///
    /// # Errors
    /// The store's.
    async fn list_databases(&self) -> Result<Vec<String>>;

    /// Makes a database.
    ///
    /// # Errors
    /// [`CatalogError::DatabaseExists`] unless `if_not_exists`; a name that cannot be one.
    async fn create_database(&self, name: &str, if_not_exists: bool) -> Result<()>;

    /// Removes a database; `cascade` with its tables.
    ///
    /// # Errors
    /// [`CatalogError::NoDatabase`] unless `if_exists`; [`CatalogError::DatabaseNotEmpty`].
    async fn drop_database(&self, name: &str, if_exists: bool, cascade: bool) -> Result<()>;

    /// Names of the tables of a database, sorted.
    ///
    /// # Errors
    /// [`CatalogError::NoDatabase`]; the store's.
    async fn list_tables(&self, database: &str) -> Result<Vec<String>>;

    /// Makes a table; answers it, or the one that is there if that is fine.
    ///
    /// # Errors
    /// [`CatalogError::NoDatabase`]; [`CatalogError::TableExists`] unless `if_not_exists`; a definition that is refused, or asks for what
    /// is not built.
    async fn create_table(
        &self,
        table: &Identifier,
        definition: SchemaDefinition,
        if_not_exists: bool,
    ) -> Result<Table>;

    /// Opens a table.
    ///
    /// # Errors
    /// [`CatalogError::NoTable`]; a schema that cannot be read.
    async fn get_table(&self, table: &Identifier) -> Result<Table>;

    /// The newest schema of a table, also of one that this build can neither read nor write.
    ///
    /// # Errors
    /// As [`Catalog::get_table`].
    async fn load_schema(&self, table: &Identifier) -> Result<Arc<TableSchema>>;

    /// Changes the schema of a table; all changes make one new schema, which is answered.
    ///
    /// # Errors
    /// [`CatalogError::NoTable`]; a change that is refused.
    async fn alter_table(
        &self,
        table: &Identifier,
        changes: &[SchemaChange],
    ) -> Result<Arc<TableSchema>>;

    /// Gives a table another name.
    ///
    /// # Errors
    /// [`CatalogError::NoTable`], [`CatalogError::TableExists`], [`CatalogError::NoDatabase`]; a store that cannot rename.
    async fn rename_table(&self, from: &Identifier, to: &Identifier) -> Result<()>;

    /// Removes a table and its files.
    ///
    /// # Errors
    /// [`CatalogError::NoTable`] unless `if_exists`; the store's.
    async fn drop_table(&self, table: &Identifier, if_exists: bool) -> Result<()>;
}
