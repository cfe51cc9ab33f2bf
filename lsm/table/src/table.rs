//! One table: the handle that reads, writes, follows and maintains it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tidewater_files::FilesContext;
use tidewater_format::{
    ManifestEntry, ManifestFileMeta, SchemaChange, SchemaDefinition, Snapshot, TableSchema,
    ensure_readable,
};
use tidewater_io::{CpuPool, Env, FileIo, MemoryBudget};

use crate::commit::TableCommit;
use crate::error::Result;
use crate::scan::{ScanBuilder, ScanPlanner, manifests_by_list};
use crate::stream::{StreamOptions, StreamScan};
use crate::table_log::TableLog;
use crate::verify::{VerifyOptions, VerifyReport, verify};
use crate::write::{TableWrite, WriteOptions};

/// Clock, threads and memory that tables of one process share. Cheap to clone.
#[derive(Debug, Clone)]
pub struct TableEnv {
    /// Clock and ids.
    pub env: Env,
    /// Where CPU work runs.
    pub cpu: CpuPool,
    /// What write buffers and reads may hold together.
    pub memory: MemoryBudget,
    /// Folder below which writers spill.
    pub scratch: PathBuf,
}

impl TableEnv {
    /// These, spilling into the operating system's place for temporary files.
    pub fn new(env: Env, cpu: CpuPool, memory: MemoryBudget) -> Self {
        Self {
            env,
            cpu,
            memory,
            scratch: std::env::temp_dir(),
        }
    }
}

/// Who commits.
#[derive(Debug, Clone, Default)]
pub struct CommitOptions {
    /// Name that the snapshots carry; a fresh one if empty.
    pub user: String,
}

/// A table as of one schema. Cheap to clone; clones share caches.
#[derive(Debug, Clone)]
pub struct Table {
    name: Arc<str>,
    log: TableLog,
    files: FilesContext,
    env: TableEnv,
}

impl Table {
    /// Opens the table in the folder `root` of `io`; `name` is what messages call it.
    ///
    /// # Errors
    /// [`TableError::NotATable`](crate::TableError::NotATable); a schema that cannot be read.
    pub async fn open(env: TableEnv, io: FileIo, root: &str, name: &str) -> Result<Self> {
        let log = TableLog::open(io, env.cpu.clone(), root).await?;
        Ok(Self::of(env, log, name))
    }

    /// Creates the table in the folder `root` of `io`; `None` if there is one.
    ///
    /// # Errors
    /// A definition that is refused, or asks for what is not built.
    pub async fn create(
        env: TableEnv,
        io: FileIo,
        root: &str,
        name: &str,
        definition: SchemaDefinition,
    ) -> Result<Option<Self>> {
        let log = TableLog::create(io, env.cpu.clone(), root, definition).await?;
        Ok(log.map(|log| Self::of(env, log, name)))
    }

    fn of(env: TableEnv, log: TableLog, name: &str) -> Self {
        Self {
            name: Arc::from(name),
            files: FilesContext::new(log.io().clone(), env.cpu.clone()).within(env.memory.limit()),
            log,
            env,
        }
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its schema, with the options of this handle on top.
    pub fn schema(&self) -> &Arc<TableSchema> {
        self.log.schema()
    }

    /// Its snapshots, schemas and paths.
    pub fn log(&self) -> &TableLog {
        &self.log
    }

    /// Clock, threads and memory.
    pub fn env(&self) -> &TableEnv {
        &self.env
    }

    pub(crate) fn files(&self) -> &FilesContext {
        &self.files
    }

    /// The same table with options for this handle only. Nothing is stored.
    ///
    /// # Errors
    /// An option that is refused: not a value, or one that a single job cannot change.
    pub fn with_options(&self, options: &BTreeMap<String, String>) -> Result<Self> {
        let mut table = self.clone();
        table.log = self.log.with_job_options(options)?;
        Ok(table)
    }

    /// The same table, with the newest schema and without options of its own.
    ///
    /// # Errors
    /// As [`Table::open`].
    pub async fn reload(&self) -> Result<Self> {
        let root = self.log.paths().root().to_owned();
        Self::open(self.env.clone(), self.log.io().clone(), &root, &self.name).await
    }

    /// The newest snapshot; `None` while there is none.
    ///
    /// # Errors
    /// The store's; a snapshot that is damaged.
    pub async fn latest_snapshot(&self) -> Result<Option<Snapshot>> {
        self.log.snapshots().latest().await
    }

    /// Changes the schema; answers the new one. This handle keeps the old: [`Table::reload`] takes the new one.
    ///
    /// # Errors
    /// A change that is refused.
    pub async fn alter(&self, changes: &[SchemaChange]) -> Result<Arc<TableSchema>> {
        let has_snapshots = self.latest_snapshot().await?.is_some();
        self.log.schemas().alter(changes, has_snapshots).await
    }

    /// A read of the state: everything, until columns, a filter or a snapshot are asked for.
    pub fn new_scan(&self) -> ScanBuilder {
        ScanBuilder::new(self.log.clone(), self.files.clone())
    }

    /// A stream of changes.
    ///
    /// # Errors
    /// Tables and options that this build cannot follow, columns that are not there.
    pub fn new_stream(&self, options: StreamOptions) -> Result<StreamScan> {
        StreamScan::new(self.log.clone(), self.files.clone(), options)
    }

    /// The manifests of a snapshot, and the list that names each: `base`, `delta` or `changelog`.
    ///
    /// # Errors
    /// A list that is missing or damaged.
    pub async fn manifests(
        &self,
        snapshot: &Snapshot,
    ) -> Result<Vec<(&'static str, ManifestFileMeta)>> {
        manifests_by_list(&self.log, snapshot).await
    }

    /// The live files of a snapshot with all their statistics, in the order in which manifests name them.
    ///
    /// # Errors
    /// Metadata that is missing or damaged.
    pub async fn live_files(&self, snapshot: &Snapshot) -> Result<Vec<ManifestEntry>> {
        let planner = ScanPlanner::new(&self.log, self.schema(), None)?.with_statistics();
        planner.live(snapshot).await
    }

    /// Reads again everything that snapshots reach, and tells what does not hold.
    ///
    /// # Errors
    /// A store that does not answer; formats and features that this build does not have.
    pub async fn verify(&self, options: VerifyOptions) -> Result<VerifyReport> {
        verify(&self.log, &self.files, options).await
    }

    /// A writer of rows.
    ///
    /// # Errors
    /// A table that this build cannot write.
    pub async fn new_write(&self, options: WriteOptions) -> Result<TableWrite> {
        ensure_readable(self.schema())?;
        TableWrite::open(self, options)
    }

    /// A committer of what writers prepared.
    ///
    /// # Errors
    /// A table that this build cannot write.
    pub fn new_commit(&self, options: CommitOptions) -> Result<TableCommit> {
        let user = if options.user.is_empty() {
            self.env.env.new_uuid()
        } else {
            options.user
        };
        self.log.new_commit(&user)
    }
}
