//! Threads, memory and clock of a program that uses tables.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tidewater_catalog::{CatalogError, FileSystemCatalog};
use tidewater_io::{CpuPool, Env, MemoryBudget};
use tidewater_table::TableEnv;

/// Memory that write buffers and reads of a program hold together, unless it says otherwise.
const MEMORY_BYTES: usize = 1 << 30;

/// What all tables of a program share. Make one, and clone it.
///
/// The default has one computing thread per core and 1 GiB for buffers. Waiting for storage happens on the tokio runtime of the caller.
#[derive(Debug, Clone)]
pub struct Runtime {
    env: TableEnv,
}

impl Default for Runtime {
    fn default() -> Self {
        Self::new(CpuPool::with_all_cores(), MEMORY_BYTES)
    }
}

impl Runtime {
    /// These threads, and this many bytes for buffers.
    pub fn new(cpu: CpuPool, memory_bytes: usize) -> Self {
        let memory = MemoryBudget::new(memory_bytes);
        Self {
            env: TableEnv::new(Env::system(), cpu, memory),
        }
    }

    /// The same, spilling below this folder instead of the operating system's place for temporary files.
    #[must_use]
    pub fn with_scratch(mut self, folder: impl Into<PathBuf>) -> Self {
        self.env.scratch = folder.into();
        self
    }

    /// The tables of a warehouse: a path, or a `file:`, `s3:`, `gs:` or `az:` address.
    ///
    /// # Errors
    /// An address that is refused.
    pub fn catalog(&self, warehouse: &str) -> Result<FileSystemCatalog, CatalogError> {
        self.catalog_with(warehouse, &BTreeMap::new())
    }

    /// The same with options of the store, and `table-default.KEY` for new tables.
    ///
    /// # Errors
    /// An address or option that is refused.
    pub fn catalog_with(
        &self,
        warehouse: &str,
        options: &BTreeMap<String, String>,
    ) -> Result<FileSystemCatalog, CatalogError> {
        FileSystemCatalog::open(warehouse, options, self.env.clone())
    }

    /// What tables need of it.
    pub fn env(&self) -> &TableEnv {
        &self.env
    }
}
