//! The engine behind a call: clock, threads and memory of this process, and the tables it opens with them.

use std::sync::Arc;

use tidewater_catalog::{Catalog, FileSystemCatalog, Identifier};
use tidewater_format::{SchemaChange, SchemaDefinition, TableSchema};
use tidewater_io::{CpuPool, Env, MemoryBudget};
use tidewater_table::{Table, TableEnv};

use crate::args::{GlobalArgs, TableArgs, WarehouseArgs, pairs};
use crate::error::Result;
use crate::json::LineSorter;

/// Clock, threads and memory, shared by all that a call does.
pub(crate) struct Engine {
    env: Env,
    cpu: CpuPool,
    memory: MemoryBudget,
}

impl Engine {
    /// Starts the threads that the arguments ask for.
    pub(crate) fn new(global: &GlobalArgs) -> Self {
        let cpu = global
            .threads
            .map_or_else(CpuPool::with_all_cores, |threads| {
                CpuPool::new(usize::from(threads))
            });
        Self {
            env: Env::system(),
            cpu,
            memory: MemoryBudget::new(global.memory.0),
        }
    }

    /// The clock.
    pub(crate) fn env(&self) -> &Env {
        &self.env
    }

    /// What tables need of it.
    pub(crate) fn table_env(&self) -> TableEnv {
        TableEnv::new(self.env.clone(), self.cpu.clone(), self.memory.clone())
    }

    /// Sorts lines within the memory of this call.
    pub(crate) fn line_sorter(&self) -> LineSorter {
        LineSorter::new(self.memory.limit(), self.table_env().scratch)
    }

    fn catalog(&self, location: &WarehouseArgs) -> Result<FileSystemCatalog> {
        let options = pairs(&location.catalog_options);
        Ok(FileSystemCatalog::open(
            &location.warehouse,
            &options,
            self.table_env(),
        )?)
    }

    /// Opens a table, with the options of the call on top of its own.
    ///
    /// # Errors
    /// When there is no such table, or it needs what is not built yet.
    pub(crate) async fn table(&self, args: &TableArgs) -> Result<Table> {
        args.refuse_later_features()?;
        let table = self
            .catalog(&args.location)?
            .get_table(&identifier(args))
            .await?;
        let options = args.dynamic_options();
        Ok(if options.is_empty() {
            table
        } else {
            table.with_options(&options)?
        })
    }

    /// Creates database and table; the answer is the table's schema.
    ///
    /// # Errors
    /// When the definition is refused, or the table exists and that is not fine.
    pub(crate) async fn create_table(
        &self,
        args: &TableArgs,
        definition: SchemaDefinition,
        if_not_exists: bool,
    ) -> Result<Arc<TableSchema>> {
        let catalog = self.catalog(&args.location)?;
        catalog.create_database(&args.table.database, true).await?;
        let table = catalog
            .create_table(&identifier(args), definition, if_not_exists)
            .await?;
        Ok(Arc::clone(table.schema()))
    }

    /// The schema of the newest schema file.
    ///
    /// # Errors
    /// When there is no such table.
    pub(crate) async fn latest_schema(&self, args: &TableArgs) -> Result<Arc<TableSchema>> {
        let catalog = self.catalog(&args.location)?;
        Ok(catalog.load_schema(&identifier(args)).await?)
    }

    /// Changes the schema; the answer is the new one.
    ///
    /// # Errors
    /// When a change is refused.
    pub(crate) async fn alter_table(
        &self,
        args: &TableArgs,
        changes: &[SchemaChange],
    ) -> Result<Arc<TableSchema>> {
        let catalog = self.catalog(&args.location)?;
        Ok(catalog.alter_table(&identifier(args), changes).await?)
    }

    /// Deletes a table and its files.
    ///
    /// # Errors
    /// When there is no such table.
    pub(crate) async fn drop_table(&self, args: &TableArgs) -> Result<()> {
        Ok(self
            .catalog(&args.location)?
            .drop_table(&identifier(args), false)
            .await?)
    }

    /// `db.table` of every table.
    ///
    /// # Errors
    /// When the warehouse cannot be listed.
    pub(crate) async fn table_names(&self, location: &WarehouseArgs) -> Result<Vec<String>> {
        let catalog = self.catalog(location)?;
        let mut names = Vec::new();
        for database in catalog.list_databases().await? {
            for table in catalog.list_tables(&database).await? {
                names.push(format!("{database}.{table}"));
            }
        }
        Ok(names)
    }
}

fn identifier(args: &TableArgs) -> Identifier {
    Identifier::new(&args.table.database, &args.table.object)
}
