//! What a store can do, in the few operations the table format needs.
//!
//! ```text
//!  FileIo  --retries, coalescing, counters-->  Store
//!                                               |- LocalStore    folders of this machine, own publishing
//!                                               |- RemoteStore   object_store: memory, S3, GCS, Azure, a host's own
//!                                               '- FaultyStore   any of them with scripted trouble (test-util)
//! ```
//!
//! A store sends one request per call, or as many as the work needs, but does not repeat a failed call: that is for [`crate::FileIo`].

#[cfg(any(test, feature = "test-util"))]
pub(crate) mod faulty;
mod local;
mod remote;

use std::fmt;
use std::fs::File;
use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::OwnedSemaphorePermit;

pub(crate) use self::local::{LocalStore, read_at};
pub(crate) use self::remote::{RemoteStore, STORE_OPTION_DOCS, open_remote};
use crate::IoError;

/// How a race for a name ended. Only the first answer makes the file ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum PutOutcome {
    /// This call made the file.
    Created,
    /// The name is taken: the file was read back. On a store that may act on a request whose answer it lost, it can be an earlier
    /// attempt of the same caller, so look into the file before calling it foreign (design §6).
    Exists,
    /// The store did not say, and the file may appear yet. Read the name before trying again or deleting anything.
    Unknown,
}

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileStatus {
    /// As given to [`crate::FileIo`]'s methods: the listed folder's text, a slash, the name.
    pub path: String,
    /// The last part of the path.
    pub name: String,
    /// Bytes; 0 for folders.
    pub size: u64,
    /// Whether it is a folder. Object stores know folders only by the objects in them.
    pub is_dir: bool,
    /// Last change in milliseconds since 1970 UTC; 0 for folders of object stores.
    pub modified_millis: i64,
}

/// What counts as existing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sought {
    File,
    FileOrFolder,
}

/// How far a listing goes down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The entries of the folder, folders among them.
    One,
    /// The files below the folder.
    All,
}

/// How ranges are best fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RangeHabits {
    pub(crate) gap_bytes: u64,
    /// Ranges that one call takes.
    pub(crate) ranges_per_call: usize,
    /// Calls that run at the same time.
    pub(crate) parallel_calls: usize,
}

/// A file of this machine that stays open.
#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) file: File,
    pub(crate) length: u64,
    /// Its place among the files that may be open.
    pub(crate) place: OwnedSemaphorePermit,
}

#[async_trait]
pub(crate) trait Store: fmt::Debug + Send + Sync + 'static {
    /// The name of a path for messages.
    fn address(&self, path: &str) -> String;

    /// Whether paths are those of the operating system.
    fn is_local(&self) -> bool {
        false
    }

    fn range_habits(&self) -> RangeHabits;

    async fn read(&self, path: &str) -> Result<Bytes, IoError>;

    /// One answer per range, each exactly as long; `ShortRead` otherwise. No range is empty.
    async fn read_ranges(&self, path: &str, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, IoError>;

    /// The file itself, where bytes are at hand without a request; nothing if too many are open.
    async fn open_local(&self, _path: &str) -> Result<Option<OpenFile>, IoError> {
        Ok(None)
    }

    async fn size(&self, path: &str) -> Result<u64, IoError>;

    async fn exists(&self, path: &str, sought: Sought) -> Result<bool, IoError>;

    /// In any order; a folder that does not exist is empty.
    async fn list(&self, dir: &str, depth: Depth) -> Result<Vec<FileStatus>, IoError>;

    /// A file nobody reads yet.
    async fn write(&self, path: &str, bytes: Bytes) -> Result<(), IoError>;

    /// Readers see the old bytes or the new ones. `staging_id` is unique.
    async fn overwrite(&self, path: &str, bytes: Bytes, staging_id: &str) -> Result<(), IoError>;

    /// An error means that the file was not made and will not be. `staging_id` is unique.
    async fn put_if_absent(
        &self,
        path: &str,
        bytes: Bytes,
        staging_id: &str,
    ) -> Result<PutOutcome, IoError>;

    async fn open_write(&self, path: &str) -> Result<Box<dyn Sink>, IoError>;

    /// A missing file is no error.
    async fn delete(&self, path: &str) -> Result<(), IoError>;

    /// A missing folder is no error.
    async fn delete_dir(&self, dir: &str) -> Result<(), IoError>;

    async fn rename_dir(&self, from: &str, to: &str) -> Result<(), IoError>;

    async fn create_dir(&self, dir: &str) -> Result<(), IoError>;
}

/// A file that is being written piece by piece.
#[async_trait]
pub(crate) trait Sink: Send {
    async fn write(&mut self, bytes: Bytes) -> Result<(), IoError>;

    /// Makes the file durable and visible; answers its size.
    async fn finish(&mut self) -> Result<u64, IoError>;

    /// Removes what was written.
    async fn abort(&mut self) -> Result<(), IoError>;

    /// As `abort`, but from a destructor: without waiting, and as well as that goes.
    fn discard(&mut self);
}

/// The last part of a path.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The path of an entry of `dir`.
fn child(dir: &str, name: &str) -> String {
    format!("{}/{name}", dir.trim_end_matches('/'))
}
