//! Folders of this machine, through `std::fs` on blocking threads.
//!
//! Not `object_store`'s local store: it stages as `NAME#1` beside the target, and a name that begins with `snapshot-` and is no number
//! makes Java's listing fail (spec 01 §1); its listing hides such names from a cleaner, and it does not force files to the disk.

mod list;
mod publish;
mod read;
mod sink;

use std::fs;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::Semaphore;

use self::publish::Publisher;
pub(crate) use self::read::read_at;
use self::sink::LocalSink;
use super::{Depth, FileStatus, OpenFile, PutOutcome, RangeHabits, Sink, Sought, Store};
use crate::{IoError, IoOptions};

#[derive(Debug)]
pub(crate) struct LocalStore {
    options: IoOptions,
    /// Places of files that stay open.
    places: Arc<Semaphore>,
}

/// Files that stay open at most: a process often may have 1024, and others need some. A merge reads all runs of a bucket at once.
const OPEN_FILES_MAX: usize = 256;

impl LocalStore {
    pub(crate) fn new(options: IoOptions) -> Self {
        Self {
            options,
            places: Arc::new(Semaphore::new(OPEN_FILES_MAX)),
        }
    }

    fn publisher(&self) -> Publisher {
        Publisher {
            sync: self.options.local_sync,
        }
    }
}

#[async_trait]
impl Store for LocalStore {
    fn address(&self, path: &str) -> String {
        path.to_owned()
    }

    fn is_local(&self) -> bool {
        true
    }

    fn range_habits(&self) -> RangeHabits {
        RangeHabits {
            gap_bytes: self.options.local_gap_bytes,
            ranges_per_call: usize::MAX,
            parallel_calls: 1,
        }
    }

    async fn read(&self, path: &str) -> Result<Bytes, IoError> {
        on_path("read", path, |path| {
            let (mut file, length) = read::open(path)?;
            let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
            file.read_to_end(&mut bytes)?;
            Ok(Bytes::from(bytes))
        })
        .await
    }

    async fn read_ranges(&self, path: &str, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, IoError> {
        let (path, ranges) = (path.to_owned(), ranges.to_vec());
        blocking(move || read::read_ranges(&path, &ranges)).await
    }

    async fn open_local(&self, path: &str) -> Result<Option<OpenFile>, IoError> {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            return Ok(None);
        };
        on_path("read", path, |path| {
            let (file, length) = read::open(path)?;
            Ok(Some(OpenFile {
                file,
                length,
                place,
            }))
        })
        .await
    }

    async fn size(&self, path: &str) -> Result<u64, IoError> {
        on_path("stat", path, |path| {
            let meta = fs::metadata(path)?;
            if meta.is_dir() {
                Err(io::ErrorKind::IsADirectory.into())
            } else {
                Ok(meta.len())
            }
        })
        .await
    }

    async fn exists(&self, path: &str, sought: Sought) -> Result<bool, IoError> {
        on_path("stat", path, move |path| match fs::metadata(path) {
            Ok(meta) => Ok(sought == Sought::FileOrFolder || !meta.is_dir()),
            // A file where a parent folder should be leaves no room for the name either.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        })
        .await
    }

    async fn list(&self, dir: &str, depth: Depth) -> Result<Vec<FileStatus>, IoError> {
        let dir = dir.to_owned();
        blocking(move || list::list(dir, depth)).await
    }

    async fn write(&self, path: &str, bytes: Bytes) -> Result<(), IoError> {
        let publisher = self.publisher();
        on_path("write", path, move |path| publisher.write(path, &bytes)).await
    }

    async fn overwrite(&self, path: &str, bytes: Bytes, staging_id: &str) -> Result<(), IoError> {
        let (publisher, staging_id) = (self.publisher(), staging_id.to_owned());
        on_path("overwrite", path, move |path| {
            publisher.overwrite(path, &bytes, &staging_id)
        })
        .await
    }

    async fn put_if_absent(
        &self,
        path: &str,
        bytes: Bytes,
        staging_id: &str,
    ) -> Result<PutOutcome, IoError> {
        let (publisher, staging_id) = (self.publisher(), staging_id.to_owned());
        on_path("create", path, move |path| {
            publisher.put_if_absent(path, &bytes, &staging_id)
        })
        .await
    }

    async fn open_write(&self, path: &str) -> Result<Box<dyn Sink>, IoError> {
        let sink = LocalSink::open(
            path,
            self.options.local_write_buffer_bytes,
            self.publisher(),
        )
        .await?;
        Ok(Box::new(sink))
    }

    async fn delete(&self, path: &str) -> Result<(), IoError> {
        on_path("delete", path, |path| {
            missing_is_fine(fs::remove_file(path))
        })
        .await
    }

    async fn delete_dir(&self, dir: &str) -> Result<(), IoError> {
        on_path("delete", dir, |dir| {
            missing_is_fine(fs::remove_dir_all(dir))
        })
        .await
    }

    async fn rename_dir(&self, from: &str, to: &str) -> Result<(), IoError> {
        let (from, to, publisher) = (from.to_owned(), to.to_owned(), self.publisher());
        blocking(move || {
            let source = os_path(&from);
            if !source.is_dir() {
                return Err(IoError::NotFound { path: from });
            }
            publisher
                .rename_dir(&source, &os_path(&to))
                .map_err(|error| IoError::from_os("rename", to, error))
        })
        .await
    }

    async fn create_dir(&self, dir: &str) -> Result<(), IoError> {
        let publisher = self.publisher();
        on_path("create", dir, move |dir| publisher.create_dir(dir)).await
    }
}

/// Runs blocking file calls away from the runtime's threads. A dropped future does not stop them.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, IoError> + Send + 'static,
) -> Result<T, IoError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(answer) => answer,
        Err(error) if error.is_panic() => Err(IoError::TaskPanicked {
            message: error.to_string(),
        }),
        Err(_) => Err(IoError::TaskCancelled),
    }
}

/// As [`blocking`], for calls on one path whose errors only need its name.
async fn on_path<T: Send + 'static>(
    operation: &'static str,
    path: &str,
    work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
) -> Result<T, IoError> {
    let path = path.to_owned();
    blocking(move || {
        work(&os_path(&path)).map_err(|error| IoError::from_os(operation, path, error))
    })
    .await
}

/// The empty path is the root folder.
fn os_path(path: &str) -> PathBuf {
    PathBuf::from(if path.is_empty() { "/" } else { path })
}

fn missing_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
