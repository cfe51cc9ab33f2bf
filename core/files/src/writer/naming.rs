//! Names and places of the files of one writer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tidewater_io::Env;

/// The part of names that the files of one writer share, and their count. Clones count together: data and changelog files of a
/// writer take turns. Source: spec 02a §1.7, Paimon `io/DataFilePathFactory.java`.
#[derive(Debug, Clone)]
pub struct FileNames {
    uuid: Arc<str>,
    next: Arc<AtomicU64>,
}

impl FileNames {
    /// Names of a new writer, counted from 0.
    pub fn new(env: &Env) -> Self {
        Self {
            uuid: env.new_uuid().into(),
            next: Arc::new(AtomicU64::new(0)),
        }
    }

    /// Id of the writer.
    pub(crate) fn uuid(&self) -> &str {
        &self.uuid
    }

    /// Takes the next number.
    pub(crate) fn next_number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

/// Where files are written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDirectory {
    path: String,
    external: bool,
}

impl FileDirectory {
    /// The folder of a bucket in the table.
    pub fn of_bucket(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            external: false,
        }
    }

    /// A folder outside the table, by its full address: files written there carry it in `_EXTERNAL_PATH`.
    pub fn external(uri: impl Into<String>) -> Self {
        Self {
            path: uri.into(),
            external: true,
        }
    }

    /// Path of the folder.
    pub fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.path)
    }

    pub(crate) fn external_path(&self, name: &str) -> Option<String> {
        self.external.then(|| self.file(name))
    }
}
