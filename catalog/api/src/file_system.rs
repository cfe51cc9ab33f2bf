//! A catalog of folders. Source: spec 04 §3; Paimon `catalog/FileSystemCatalog.java`.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use tidewater_format::{SchemaChange, SchemaDefinition, TableSchema};
use tidewater_io::FileIo;
use tidewater_table::{Table, TableEnv, TableError};
use tidewater_types::ErrorKind;

use crate::Catalog;
use crate::error::{CatalogError, Result};
use crate::identifier::{Identifier, check_name};

/// What a database's folder ends with.
const DATABASE_SUFFIX: &str = ".db";
/// Catalog options of this form set an option of every table created, unless its definition does.
const TABLE_DEFAULT_PREFIX: &str = "table-default.";

/// Databases are folders `NAME.db` of the warehouse, tables are folders with schemas in them.
#[derive(Debug, Clone)]
pub struct FileSystemCatalog {
    io: FileIo,
    warehouse: String,
    table_defaults: BTreeMap<String, String>,
    env: TableEnv,
}

impl FileSystemCatalog {
    /// The catalog of a warehouse: a path, or a `file:`, `s3:`, `gs:` or `az:` address. Options are those of the store, and
    /// `table-default.KEY` for new tables.
    ///
    /// # Errors
    /// An address or option that is refused.
    pub fn open(
        warehouse: &str,
        options: &BTreeMap<String, String>,
        env: TableEnv,
    ) -> Result<Self> {
        let (io, root) = FileIo::from_uri(warehouse, options)?;
        Ok(Self::over(io.with_env(env.env.clone()), root, options, env))
    }

    /// The catalog of the folder `root` of a store that the host brings along.
    pub fn over(
        io: FileIo,
        root: impl Into<String>,
        options: &BTreeMap<String, String>,
        env: TableEnv,
    ) -> Self {
        let defaults = options.iter().filter_map(|(key, value)| {
            let key = key.strip_prefix(TABLE_DEFAULT_PREFIX)?;
            Some((key.to_owned(), value.clone()))
        });
        Self {
            io,
            warehouse: root.into().trim_end_matches('/').to_owned(),
            table_defaults: defaults.collect(),
            env,
        }
    }

    /// The folder of the databases.
    pub fn warehouse(&self) -> &str {
        &self.warehouse
    }

    fn database_path(&self, name: &str) -> String {
        format!("{}/{name}{DATABASE_SUFFIX}", self.warehouse)
    }

    /// The folder of a table.
    pub fn table_path(&self, table: &Identifier) -> String {
        format!("{}/{}", self.database_path(&table.database), table.object)
    }

    /// Whether tables can be made in a database. Object stores have no empty folders: there every database is.
    async fn has_database(&self, name: &str) -> Result<bool> {
        Ok(!self.io.is_local() || self.io.exists(&self.database_path(name)).await?)
    }

    /// Names of folders in a folder; a folder that is not there has none.
    async fn folders(&self, path: &str) -> Result<Vec<String>> {
        let listed = match self.io.list(path).await {
            Ok(listed) => listed,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let folders = listed.into_iter().filter(|entry| entry.is_dir);
        let mut names: Vec<String> = folders.map(|entry| entry.name).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Whether a folder has a schema in it.
    async fn is_table(&self, path: &str) -> Result<bool> {
        let schemas = match self.io.list(&format!("{path}/schema")).await {
            Ok(listed) => listed,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        Ok(schemas
            .iter()
            .any(|file| tidewater_format::versioned_file_number(&file.name, "schema-").is_some()))
    }

    fn no_table(&self, table: &Identifier) -> CatalogError {
        CatalogError::NoTable {
            table: table.to_string(),
            warehouse: self.warehouse.clone(),
        }
    }

    fn fault(&self, table: &Identifier, error: TableError) -> CatalogError {
        match error {
            TableError::NotATable { .. } => self.no_table(table),
            source => CatalogError::Table {
                table: table.to_string(),
                source: Box::new(source),
            },
        }
    }
}

#[async_trait]
impl Catalog for FileSystemCatalog {
    async fn list_databases(&self) -> Result<Vec<String>> {
        let folders = self.folders(&self.warehouse).await?;
        let names = folders
            .iter()
            .filter_map(|name| name.strip_suffix(DATABASE_SUFFIX));
        Ok(names.map(str::to_owned).collect())
    }

    async fn create_database(&self, name: &str, if_not_exists: bool) -> Result<()> {
        check_name("database", name)?;
        if self.io.exists(&self.database_path(name)).await? {
            return if if_not_exists {
                Ok(())
            } else {
                Err(CatalogError::DatabaseExists {
                    database: name.to_owned(),
                })
            };
        }
        Ok(self.io.create_dir(&self.database_path(name)).await?)
    }

    async fn drop_database(&self, name: &str, if_exists: bool, cascade: bool) -> Result<()> {
        check_name("database", name)?;
        let path = self.database_path(name);
        if !self.has_database(name).await? {
            return if if_exists {
                Ok(())
            } else {
                Err(CatalogError::NoDatabase {
                    database: name.to_owned(),
                })
            };
        }
        if !cascade && !self.list_tables(name).await?.is_empty() {
            return Err(CatalogError::DatabaseNotEmpty {
                database: name.to_owned(),
            });
        }
        Ok(self.io.delete_dir(&path).await?)
    }

    async fn list_tables(&self, database: &str) -> Result<Vec<String>> {
        check_name("database", database)?;
        let path = self.database_path(database);
        if !self.has_database(database).await? {
            return Err(CatalogError::NoDatabase {
                database: database.to_owned(),
            });
        }
        let mut tables = Vec::new();
        for name in self.folders(&path).await? {
            if self.is_table(&format!("{path}/{name}")).await? {
                tables.push(name);
            }
        }
        Ok(tables)
    }

    async fn create_table(
        &self,
        table: &Identifier,
        mut definition: SchemaDefinition,
        if_not_exists: bool,
    ) -> Result<Table> {
        table.check()?;
        if !self.has_database(&table.database).await? {
            return Err(CatalogError::NoDatabase {
                database: table.database.clone(),
            });
        }
        let root = self.table_path(table);
        if let Some(path) = definition.options.get("path")
            && path.trim_end_matches('/') != root
        {
            return Err(CatalogError::CustomPath {
                table: table.to_string(),
                path: path.clone(),
            });
        }
        for (key, value) in &self.table_defaults {
            let options = &mut definition.options;
            options.entry(key.clone()).or_insert_with(|| value.clone());
        }
        let (env, io, name) = (self.env.clone(), self.io.clone(), table.to_string());
        let made = Table::create(env, io, &root, &name, definition).await;
        match made.map_err(|error| self.fault(table, error))? {
            Some(made) => Ok(made),
            None if if_not_exists => self.get_table(table).await,
            None => Err(CatalogError::TableExists {
                table: table.to_string(),
            }),
        }
    }

    async fn get_table(&self, table: &Identifier) -> Result<Table> {
        table.check()?;
        let (env, io, name) = (self.env.clone(), self.io.clone(), table.to_string());
        let opened = Table::open(env, io, &self.table_path(table), &name).await;
        opened.map_err(|error| self.fault(table, error))
    }

    async fn load_schema(&self, table: &Identifier) -> Result<Arc<TableSchema>> {
        Ok(Arc::clone(self.get_table(table).await?.schema()))
    }

    async fn alter_table(
        &self,
        table: &Identifier,
        changes: &[SchemaChange],
    ) -> Result<Arc<TableSchema>> {
        let altered = self.get_table(table).await?.alter(changes).await;
        altered.map_err(|error| self.fault(table, error))
    }

    async fn rename_table(&self, from: &Identifier, to: &Identifier) -> Result<()> {
        from.check()?;
        to.check()?;
        if !self.is_table(&self.table_path(from)).await? {
            return Err(self.no_table(from));
        }
        if !self.has_database(&to.database).await? {
            return Err(CatalogError::NoDatabase {
                database: to.database.clone(),
            });
        }
        let target = self.table_path(to);
        if self.io.exists(&target).await? {
            return Err(CatalogError::TableExists {
                table: to.to_string(),
            });
        }
        Ok(self.io.rename_dir(&self.table_path(from), &target).await?)
    }

    async fn drop_table(&self, table: &Identifier, if_exists: bool) -> Result<()> {
        table.check()?;
        let path = self.table_path(table);
        if !self.is_table(&path).await? {
            return if if_exists {
                Ok(())
            } else {
                Err(self.no_table(table))
            };
        }
        Ok(self.io.delete_dir(&path).await?)
    }
}

#[cfg(test)]
mod tests {
    use tidewater_io::{CpuPool, Env, MemoryBudget};
    use tidewater_types::{DataType, RowType};

    use super::*;

    fn catalog(warehouse: &str) -> FileSystemCatalog {
        let env = TableEnv::new(Env::seeded(1), CpuPool::inline(), MemoryBudget::unlimited());
        let options = BTreeMap::from([("table-default.bucket".to_owned(), "3".to_owned())]);
        FileSystemCatalog::open(warehouse, &options, env).unwrap()
    }

    fn definition() -> SchemaDefinition {
        SchemaDefinition {
            fields: RowType::of([("k", DataType::int().not_null()), ("v", DataType::string())])
                .fields,
            primary_keys: vec!["k".to_owned()],
            partition_keys: Vec::new(),
            options: BTreeMap::new(),
            comment: None,
        }
    }

    fn run<F: Future>(work: F) -> F::Output {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(work)
    }

    #[test]
    fn tables_are_made_found_renamed_and_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = catalog(folder.path().to_str().unwrap());
        run(async {
            let table = Identifier::new("d", "t");
            let missing = catalog.create_table(&table, definition(), false).await;
            assert!(matches!(missing, Err(CatalogError::NoDatabase { .. })));
            catalog.create_database("d", false).await.unwrap();
            assert!(matches!(
                catalog.create_database("d", false).await,
                Err(CatalogError::DatabaseExists { .. })
            ));
            catalog.create_database("d", true).await.unwrap();
            let made = catalog
                .create_table(&table, definition(), false)
                .await
                .unwrap();
            assert_eq!(
                made.schema().options.get("bucket").map(String::as_str),
                Some("3")
            );
            assert!(matches!(
                catalog.create_table(&table, definition(), false).await,
                Err(CatalogError::TableExists { .. })
            ));
            catalog
                .create_table(&table, definition(), true)
                .await
                .unwrap();
            std::fs::create_dir(folder.path().join("d.db/no_table")).unwrap();
            assert_eq!(catalog.list_databases().await.unwrap(), ["d"]);
            assert_eq!(catalog.list_tables("d").await.unwrap(), ["t"]);
            let other = Identifier::new("d", "u");
            catalog.rename_table(&table, &other).await.unwrap();
            assert!(matches!(
                catalog.get_table(&table).await,
                Err(CatalogError::NoTable { .. })
            ));
            assert_eq!(catalog.get_table(&other).await.unwrap().name(), "d.u");
            assert!(matches!(
                catalog.drop_database("d", false, false).await,
                Err(CatalogError::DatabaseNotEmpty { .. })
            ));
            catalog.drop_table(&other, false).await.unwrap();
            assert!(matches!(
                catalog.drop_table(&other, false).await,
                Err(CatalogError::NoTable { .. })
            ));
            catalog.drop_table(&other, true).await.unwrap();
            catalog.drop_database("d", false, false).await.unwrap();
            assert!(catalog.list_databases().await.unwrap().is_empty());
        });
    }

    #[test]
    fn names_that_would_leave_their_folder_are_refused() {
        let catalog = catalog("memory:/w");
        run(async {
            for name in ["", " ", "a/b", "..", "sys"] {
                assert!(matches!(
                    catalog.create_database(name, true).await,
                    Err(CatalogError::BadName { .. })
                ));
            }
            let branch = Identifier::new("d", "t$branch_b");
            assert!(matches!(
                catalog.get_table(&branch).await,
                Err(CatalogError::Unsupported { .. })
            ));
        });
    }

    #[test]
    fn a_table_cannot_lie_somewhere_else() {
        let catalog = catalog("memory:/w");
        run(async {
            catalog.create_database("d", false).await.unwrap();
            let mut definition = definition();
            definition
                .options
                .insert("path".to_owned(), "/elsewhere".to_owned());
            let made = catalog
                .create_table(&Identifier::new("d", "t"), definition, false)
                .await;
            assert!(matches!(made, Err(CatalogError::CustomPath { .. })));
        });
    }
}
