//! An opened table, as far as its histories go: schemas, snapshots, commits.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidewater_format::{SchemaDefinition, TableOptions, TablePaths, TableSchema, ensure_writable};
use tidewater_io::{CpuPool, Env, FileIo};
use tidewater_merge::KeyComparator;

use crate::commit::{CommitContext, FileSnapshotCommit, TableCommit};
use crate::error::Result;
use crate::schema_store::SchemaStore;
use crate::snapshot_log::SnapshotLog;

/// The histories of one table, with the newest schema at the time of opening.
#[derive(Debug, Clone)]
pub struct TableLog {
    io: FileIo,
    env: Env,
    cpu: CpuPool,
    paths: TablePaths,
    schema: Arc<TableSchema>,
    schemas: SchemaStore,
    snapshots: SnapshotLog,
}

impl TableLog {
    /// Opens the table in the folder `root` of `io`.
    ///
    /// # Errors
    /// [`TableError::NotATable`](crate::TableError::NotATable); a schema that cannot be read.
    pub async fn open(io: FileIo, cpu: CpuPool, root: &str) -> Result<Self> {
        let env = io.env().clone();
        // Where schemas lie does not depend on options, so they can be found before any is known.
        let schemas = SchemaStore::new(
            io.clone(),
            env.clone(),
            TablePaths::new(root, &TableOptions::from_map(&BTreeMap::new())?),
        );
        let schema = schemas.latest_or_fail().await?;
        Self::of(io, cpu, root, schema, schemas)
    }

    /// Creates the table in the folder `root` of `io`; `None` if there is one already.
    ///
    /// # Errors
    /// A definition that is refused; a table that this build cannot write.
    pub async fn create(
        io: FileIo,
        cpu: CpuPool,
        root: &str,
        definition: SchemaDefinition,
    ) -> Result<Option<Self>> {
        let env = io.env().clone();
        let schemas = SchemaStore::new(
            io.clone(),
            env,
            TablePaths::new(root, &TableOptions::from_map(&BTreeMap::new())?),
        );
        match schemas.create(definition).await? {
            None => Ok(None),
            Some(schema) => Self::of(io, cpu, root, schema, schemas).map(Some),
        }
    }

    fn of(
        io: FileIo,
        cpu: CpuPool,
        root: &str,
        schema: Arc<TableSchema>,
        schemas: SchemaStore,
    ) -> Result<Self> {
        let env = io.env().clone();
        let paths = TablePaths::new(root, &schema.options()?);
        let snapshots = SnapshotLog::new(io.clone(), env.clone(), paths.clone());
        Ok(Self {
            io,
            env,
            cpu,
            paths,
            schema,
            schemas,
            snapshots,
        })
    }

    /// The same table with options of one job on top of the stored ones.
    ///
    /// # Errors
    /// Options that no job may change, or values that are none.
    pub fn with_job_options(&self, options: &BTreeMap<String, String>) -> Result<Self> {
        Ok(Self {
            schema: Arc::new(self.schema.with_job_options(options)?),
            ..self.clone()
        })
    }

    /// The store.
    pub fn io(&self) -> &FileIo {
        &self.io
    }

    /// The threads that encode, decode and plan.
    pub fn cpu(&self) -> &CpuPool {
        &self.cpu
    }

    /// Clock and ids.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// The schema that was the newest when the table was opened.
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.schema
    }

    /// The table's schemas.
    pub fn schemas(&self) -> &SchemaStore {
        &self.schemas
    }

    /// The table's snapshots.
    pub fn snapshots(&self) -> &SnapshotLog {
        &self.snapshots
    }

    /// Where the table's files lie.
    pub fn paths(&self) -> &TablePaths {
        &self.paths
    }

    /// Commits as `user`.
    ///
    /// # Errors
    /// A table that this build cannot write.
    pub fn new_commit(&self, user: &str) -> Result<TableCommit> {
        ensure_writable(&self.schema)?;
        let options = Arc::new(self.schema.options()?);
        let partition_type = self.schema.partition_type();
        let keys = self
            .schema
            .is_keyed()
            .then(|| KeyComparator::new(self.schema.key_type().types()));
        Ok(TableCommit::new(
            CommitContext {
                log: self.clone(),
                options,
                partition_types: Arc::from(partition_type.types()),
                partition_type,
                keys,
                publisher: Arc::new(FileSnapshotCommit::new(self.io.clone(), self.paths.clone())),
            },
            user.to_owned(),
        ))
    }
}
