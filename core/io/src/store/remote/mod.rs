//! Object stores through `object_store`: memory, S3, GCS, Azure, and whatever a host brings.
//!
//! ```text
//!  put_if_absent:  PutMode::Create --ok--------------> Created
//!                    |- AlreadyExists --HEAD: there--> Exists
//!                    |                 --HEAD: absent-> Unknown   (S3 answers 409 for requests that race, too)
//!                    |- refused for certain ---------> error, nothing happened
//!                    '- timeout, 5xx, lost ----------> Unknown
//! ```
//!
//! Folders are what keys have in common: an empty one does not exist, and making one is no request.

mod config;
mod sink;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path as Key;
use object_store::{
    Error as StoreError, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutPayload,
};

pub(crate) use self::config::{STORE_OPTION_DOCS, open_remote};
use self::sink::RemoteSink;
use super::{Depth, FileStatus, PutOutcome, RangeHabits, Sink, Sought, Store, child, file_name};
use crate::error::RequestFate;
use crate::uri::tidy;
use crate::{IoError, IoOptions};

/// Copies and deletions of one folder operation that run at the same time.
const PARALLEL_OBJECTS: usize = 16;

#[derive(Clone)]
pub(crate) struct RemoteStore {
    objects: Arc<dyn ObjectStore>,
    /// What stands before a path in messages: `s3://bucket`.
    prefix: String,
    options: IoOptions,
}

impl RemoteStore {
    pub(crate) fn new(objects: Arc<dyn ObjectStore>, prefix: String, options: IoOptions) -> Self {
        Self {
            objects,
            prefix,
            options,
        }
    }

    /// The object's key. Percent signs and the like are kept as they are: `Path::parse` does not encode.
    fn key(&self, path: &str) -> Result<Key, IoError> {
        Key::parse(tidy(path)).map_err(|error| IoError::InvalidPath {
            path: self.address(path),
            reason: error.to_string(),
        })
    }

    fn failed(&self, operation: &'static str, path: &str, error: StoreError) -> IoError {
        IoError::from_object_store(operation, self.address(path), error)
    }

    async fn head(&self, operation: &'static str, path: &str) -> Result<ObjectMeta, IoError> {
        let key = self.key(path)?;
        self.objects
            .head(&key)
            .await
            .map_err(|error| self.failed(operation, path, error))
    }

    async fn put(&self, operation: &'static str, path: &str, bytes: Bytes) -> Result<(), IoError> {
        let key = self.key(path)?;
        let put = self.objects.put(&key, PutPayload::from_bytes(bytes)).await;
        put.map(drop)
            .map_err(|error| self.failed(operation, path, error))
    }

    async fn read_range(&self, path: &str, range: &Range<u64>) -> Result<Bytes, IoError> {
        let key = self.key(path)?;
        let asked = range.end.saturating_sub(range.start);
        let error = match self.objects.get_range(&key, range.clone()).await {
            Ok(bytes) if bytes.len() as u64 == asked => return Ok(bytes),
            Ok(bytes) => {
                let available = range.start + bytes.len() as u64;
                return Err(self.short(path, range, available));
            }
            Err(error) => self.failed("read", path, error),
        };
        // A range that begins behind the end is refused with a status of its own; find out whether that was it.
        if matches!(error, IoError::Failed { .. })
            && let Ok(meta) = self.head("read", path).await
            && meta.size < range.end
        {
            return Err(self.short(path, range, meta.size));
        }
        Err(error)
    }

    fn short(&self, path: &str, range: &Range<u64>, available: u64) -> IoError {
        IoError::ShortRead {
            path: self.address(path),
            start: range.start,
            end: range.end,
            available,
        }
    }

    /// All keys below a folder.
    async fn keys(&self, operation: &'static str, dir: &str) -> Result<Vec<Key>, IoError> {
        let prefix = self.key(dir)?;
        let listed = self
            .objects
            .list(Some(&prefix))
            .map_ok(|meta| meta.location)
            .try_collect()
            .await;
        listed.map_err(|error| self.failed(operation, dir, error))
    }
}

#[async_trait]
impl Store for RemoteStore {
    fn address(&self, path: &str) -> String {
        format!("{}{}", self.prefix, tidy(path))
    }

    fn range_habits(&self) -> RangeHabits {
        RangeHabits {
            gap_bytes: self.options.remote_gap_bytes,
            ranges_per_call: 1,
            parallel_calls: self.options.remote_read_parallelism,
        }
    }

    async fn read(&self, path: &str) -> Result<Bytes, IoError> {
        let key = self.key(path)?;
        let read = async { self.objects.get(&key).await?.bytes().await };
        read.await.map_err(|error| self.failed("read", path, error))
    }

    async fn read_ranges(&self, path: &str, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, IoError> {
        let mut answers = Vec::with_capacity(ranges.len());
        for range in ranges {
            answers.push(self.read_range(path, range).await?);
        }
        Ok(answers)
    }

    async fn size(&self, path: &str) -> Result<u64, IoError> {
        Ok(self.head("stat", path).await?.size)
    }

    async fn exists(&self, path: &str, sought: Sought) -> Result<bool, IoError> {
        if self.key(path)?.is_root() {
            return Ok(sought == Sought::FileOrFolder);
        }
        match self.head("stat", path).await {
            Ok(_) => return Ok(true),
            Err(error) if !error.is_not_found() => return Err(error),
            Err(_) if sought == Sought::File => return Ok(false),
            Err(_) => {}
        }
        let prefix = self.key(path)?;
        let first = self.objects.list(Some(&prefix)).next().await;
        first
            .transpose()
            .map(|first| first.is_some())
            .map_err(|error| self.failed("stat", path, error))
    }

    async fn list(&self, dir: &str, depth: Depth) -> Result<Vec<FileStatus>, IoError> {
        let key = self.key(dir)?;
        let prefix = Some(&key).filter(|key| !key.as_ref().is_empty());
        match depth {
            Depth::One => {
                let listed = self.objects.list_with_delimiter(prefix).await;
                let listed = listed.map_err(|error| self.failed("list", dir, error))?;
                let folders = listed
                    .common_prefixes
                    .iter()
                    .filter_map(|key| folder_status(dir, key));
                let files = listed
                    .objects
                    .iter()
                    .map(|meta| file_status(dir, &key, meta));
                Ok(folders.chain(files).collect())
            }
            Depth::All => {
                let listed = self
                    .objects
                    .list(prefix)
                    .map_ok(|meta| file_status(dir, &key, &meta));
                listed
                    .try_collect()
                    .await
                    .map_err(|error| self.failed("list", dir, error))
            }
        }
    }

    async fn write(&self, path: &str, bytes: Bytes) -> Result<(), IoError> {
        self.put("write", path, bytes).await
    }

    /// A put of an object store is atomic; nothing is staged.
    async fn overwrite(&self, path: &str, bytes: Bytes, _staging_id: &str) -> Result<(), IoError> {
        self.put("overwrite", path, bytes).await
    }

    async fn put_if_absent(
        &self,
        path: &str,
        bytes: Bytes,
        _staging_id: &str,
    ) -> Result<PutOutcome, IoError> {
        let key = self.key(path)?;
        let error = match self
            .objects
            .put_opts(&key, PutPayload::from_bytes(bytes), PutMode::Create.into())
            .await
        {
            Ok(_) => return Ok(PutOutcome::Created),
            Err(error) => error,
        };
        if matches!(error, StoreError::AlreadyExists { .. }) {
            return match self.objects.head(&key).await {
                Ok(_) => Ok(PutOutcome::Exists),
                Err(absent) => {
                    tracing::warn!(path = self.address(path), %error, %absent, "a name is taken, but cannot be read");
                    Ok(PutOutcome::Unknown)
                }
            };
        }
        match RequestFate::of(&error) {
            RequestFate::Rejected | RequestFate::NotSent => Err(self.failed("create", path, error)),
            RequestFate::Unknown { .. } => {
                tracing::warn!(path = self.address(path), %error, "the store did not say whether a file was made");
                Ok(PutOutcome::Unknown)
            }
        }
    }

    async fn open_write(&self, path: &str) -> Result<Box<dyn Sink>, IoError> {
        let key = self.key(path)?;
        Ok(Box::new(RemoteSink::new(
            Arc::clone(&self.objects),
            key,
            self.address(path),
            &self.options,
        )))
    }

    async fn delete(&self, path: &str) -> Result<(), IoError> {
        let key = self.key(path)?;
        match self.objects.delete(&key).await {
            Ok(()) | Err(StoreError::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed("delete", path, error)),
        }
    }

    async fn delete_dir(&self, dir: &str) -> Result<(), IoError> {
        let keys = self.keys("delete", dir).await?;
        let mut deleted = self
            .objects
            .delete_stream(stream::iter(keys.into_iter().map(Ok)).boxed());
        while let Some(answer) = deleted.next().await {
            match answer {
                Ok(_) | Err(StoreError::NotFound { .. }) => {}
                Err(error) => return Err(self.failed("delete", dir, error)),
            }
        }
        Ok(())
    }

    /// Copies every object, then deletes the old ones: not atomic, as with Java on such stores (spec 04 §3.3). Until the
    /// deletions begin a failure leaves the old folder whole.
    async fn rename_dir(&self, from: &str, to: &str) -> Result<(), IoError> {
        let (source, target) = (self.key(from)?, self.key(to)?);
        if self.exists(to, Sought::FileOrFolder).await? {
            return Err(IoError::AlreadyExists {
                path: self.address(to),
            });
        }
        let keys = self.keys("rename", from).await?;
        if keys.is_empty() {
            return Err(IoError::NotFound {
                path: self.address(from),
            });
        }
        let copies = keys.into_iter().map(|key| {
            let rest = key.prefix_match(&source).into_iter().flatten();
            let copied = target.parts().chain(rest).collect::<Key>();
            let objects = Arc::clone(&self.objects);
            async move { objects.copy(&key, &copied).await }
        });
        let copied = stream::iter(copies)
            .buffer_unordered(PARALLEL_OBJECTS)
            .try_collect::<()>()
            .await;
        copied.map_err(|error| self.failed("rename", to, error))?;
        self.delete_dir(from).await
    }

    async fn create_dir(&self, dir: &str) -> Result<(), IoError> {
        self.key(dir).map(drop)
    }
}

impl fmt::Debug for RemoteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteStore")
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

/// `dir` is the text that was asked for, `key` the same as a key: answers repeat the caller's spelling.
fn file_status(dir: &str, key: &Key, meta: &ObjectMeta) -> FileStatus {
    let location = meta.location.as_ref();
    let below = location
        .strip_prefix(key.as_ref())
        .unwrap_or(location)
        .trim_start_matches('/');
    FileStatus {
        path: child(dir, below),
        name: file_name(location).to_owned(),
        size: meta.size,
        is_dir: false,
        modified_millis: meta.last_modified.timestamp_millis(),
    }
}

fn folder_status(dir: &str, key: &Key) -> Option<FileStatus> {
    let name = key.filename()?.to_owned();
    Some(FileStatus {
        path: child(dir, &name),
        name,
        size: 0,
        is_dir: true,
        modified_millis: 0,
    })
}

#[cfg(test)]
mod tests;
