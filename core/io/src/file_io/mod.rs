//! The one door to storage: whole files, ranges, streams, listings and the exclusive put that commits rest on.
//!
//! ```text
//!  FileIo::read_ranges(path, ranges)
//!     |- resolve      own path, or full address of another store
//!     |- coalesce     near ranges -> one request
//!     |- retry        transient errors, with backoff from Env
//!     '- Store        local folder, or object_store
//! ```
//!
//! Paths are absolute paths of the store (`/warehouse/db.db/t`; for local folders those of the operating system) or full addresses
//! (`s3://bucket/x`, `file:/x`), as `_EXTERNAL_PATH` holds them. The futures need a tokio runtime.

mod resolve;

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use object_store::ObjectStore;
use tracing::Instrument;

use self::resolve::{Resolved, Resolver};
use crate::coalesce::{CoalesceLimits, ReadPlan};
use crate::metrics::{FileIoMetrics, IoOperation, LiveMetrics};
use crate::retry::RetryPolicy;
use crate::sink::FileSink;
use crate::store::{Depth, FileStatus, LocalStore, PutOutcome, RemoteStore, Sought};
use crate::uri::{Location, Place};
use crate::{Env, IoError, IoOptions, LocalFile};

/// Access to the files of one store; cheap to clone, clones share connections and counters.
#[derive(Clone)]
pub struct FileIo {
    inner: Arc<Inner>,
}

#[derive(Clone)]
struct Inner {
    resolver: Arc<Resolver>,
    options: IoOptions,
    retry: RetryPolicy,
    env: Env,
    metrics: Arc<LiveMetrics>,
}

impl FileIo {
    /// Opens the store that `uri` names and answers the path of `uri` in it, without a slash at the end: `format!("{root}/{name}")` is a path.
    ///
    /// Text without a scheme and `file:` is a folder of this machine (relative ones start at the working directory), `memory:` a new
    /// empty memory store, `s3://`, `gs://`, `az://` and `abfss://` object stores. Nothing is read or made. `options` holds
    /// the keys of [`IoOptions::all`] and [`IoOptions::store_options`]; other keys are left alone.
    ///
    /// # Errors
    /// [`IoError::InvalidUri`], [`IoError::InvalidPath`], [`IoError::InvalidOption`]; [`IoError::Unsupported`] for another scheme.
    pub fn from_uri(
        uri: &str,
        options: &BTreeMap<String, String>,
    ) -> Result<(Self, String), IoError> {
        let location = Location::parse(uri)?;
        let io_options = IoOptions::from_map(options)?;
        let store = resolve::open(&location.place, options, &io_options)?;
        let resolver = Resolver::new(location.place, store, options.clone(), io_options.clone());
        Ok((Self::new(resolver, io_options), location.path))
    }

    /// Files of this machine, with default options.
    pub fn local() -> Self {
        Self::local_with(IoOptions::default())
    }

    /// Files of this machine.
    pub fn local_with(options: IoOptions) -> Self {
        let store = Arc::new(LocalStore::new(options.clone()));
        Self::new(
            Resolver::new(Place::Local, store, BTreeMap::new(), options.clone()),
            options,
        )
    }

    /// A new, empty store in memory, with default options.
    pub fn memory() -> Self {
        let memory = Arc::new(object_store::memory::InMemory::new());
        Self::over(Place::Memory, memory, IoOptions::default())
    }

    /// A store that the host brings along; `name` stands for it in messages.
    pub fn from_object_store(
        name: &str,
        objects: Arc<dyn ObjectStore>,
        options: IoOptions,
    ) -> Self {
        Self::over(
            Place::Custom {
                name: name.to_owned(),
            },
            objects,
            options,
        )
    }

    fn over(place: Place, objects: Arc<dyn ObjectStore>, options: IoOptions) -> Self {
        let store = Arc::new(RemoteStore::new(objects, place.prefix(), options.clone()));
        Self::new(
            Resolver::new(place, store, BTreeMap::new(), options.clone()),
            options,
        )
    }

    fn new(resolver: Resolver, options: IoOptions) -> Self {
        let inner = Inner {
            resolver: Arc::new(resolver),
            retry: RetryPolicy::new(&options),
            options,
            env: Env::system(),
            metrics: Arc::default(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// The same store with time and ids from `env`; counters are shared with `self`.
    #[must_use]
    pub fn with_env(&self, env: Env) -> Self {
        self.changed(|inner| inner.env = env)
    }

    /// The same store seen through `wrap`.
    #[cfg(any(test, feature = "test-util"))]
    pub(crate) fn with_store(
        &self,
        wrap: impl FnOnce(Arc<dyn crate::store::Store>, &Env) -> Arc<dyn crate::store::Store>,
    ) -> Self {
        let store = wrap(Arc::clone(self.inner.resolver.own()), &self.inner.env);
        self.changed(|inner| inner.resolver = Arc::new(inner.resolver.with_own(store)))
    }

    fn changed(&self, change: impl FnOnce(&mut Inner)) -> Self {
        let mut inner = Inner::clone(&self.inner);
        change(&mut inner);
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Where this store takes time and ids from.
    pub fn env(&self) -> &Env {
        &self.inner.env
    }

    /// How requests are cut, buffered and retried.
    pub fn options(&self) -> &IoOptions {
        &self.inner.options
    }

    /// What was asked of the store so far, by this handle and its clones.
    pub fn metrics(&self) -> FileIoMetrics {
        self.inner.metrics.snapshot()
    }

    /// Whether paths are those of the operating system.
    pub fn is_local(&self) -> bool {
        self.inner.resolver.own().is_local()
    }

    /// The operating system's path of a file, if it is local.
    pub fn local_path(&self, path: &str) -> Option<PathBuf> {
        let resolved = self.inner.resolver.resolve(path).ok()?;
        resolved
            .store
            .is_local()
            .then(|| PathBuf::from(resolved.path))
    }

    /// The full address of a path: `s3://bucket/…`; for local files the path itself.
    pub fn uri(&self, path: &str) -> String {
        match self.inner.resolver.resolve(path) {
            Ok(resolved) => resolved.store.address(&resolved.path),
            Err(_) => path.to_owned(),
        }
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// [`IoError::NotFound`], or the store's.
    pub async fn read(&self, path: &str) -> Result<Bytes, IoError> {
        let at = self.at(path)?;
        let bytes = self
            .attempt(IoOperation::Read, &at, || at.store.read(&at.path))
            .await?;
        self.inner.metrics.count_read(bytes.len());
        Ok(bytes)
    }

    /// The bytes of each of `ranges`, in their order, which may be any; ranges may overlap, repeat and be empty.
    ///
    /// Ranges that lie near each other share a request, so an answer may keep its neighbours' bytes alive. Costs no allocation for
    /// bytes that the file does not have.
    ///
    /// # Errors
    /// [`IoError::ShortRead`] if the file ends inside a range; [`IoError::InvalidRange`]; otherwise the store's.
    pub async fn read_ranges(
        &self,
        path: &str,
        ranges: &[Range<u64>],
    ) -> Result<Vec<Bytes>, IoError> {
        let at = &self.at(path)?;
        let habits = at.store.range_habits();
        let limits = CoalesceLimits {
            gap_bytes: habits.gap_bytes,
            request_bytes_max: self.inner.options.read_request_bytes_max,
        };
        let address = at.store.address(&at.path);
        let plan = ReadPlan::new(&address, ranges, limits)?;
        self.inner
            .metrics
            .count_ranges(ranges.len(), plan.requests.len());
        let calls = plan
            .requests
            .chunks(habits.ranges_per_call.clamp(1, plan.requests.len().max(1)));
        // Boxed and gathered, because a stream of borrowing closures makes a future that cannot be spawned.
        let calls: Vec<BoxFuture<'_, Result<Vec<Bytes>, IoError>>> = calls
            .map(|call| {
                self.attempt(IoOperation::ReadRanges, at, move || {
                    at.store.read_ranges(&at.path, call)
                })
                .boxed()
            })
            .collect();
        let answers: Vec<Vec<Bytes>> = stream::iter(calls)
            .buffered(habits.parallel_calls)
            .try_collect()
            .await?;
        let answers: Vec<Bytes> = answers.into_iter().flatten().collect();
        self.inner
            .metrics
            .count_read(answers.iter().map(Bytes::len).sum());
        plan.cut(&address, &answers)
    }

    /// The bytes of one range; see [`FileIo::read_ranges`].
    ///
    /// # Errors
    /// As [`FileIo::read_ranges`].
    pub async fn read_range(&self, path: &str, range: Range<u64>) -> Result<Bytes, IoError> {
        let mut answers = self.read_ranges(path, std::slice::from_ref(&range)).await?;
        Ok(answers.pop().unwrap_or_default())
    }

    /// Opens a file to be read in place, if the store is a disk of this machine and not too many are open.
    ///
    /// # Errors
    /// [`IoError::NotFound`], or the operating system's.
    pub async fn open_local(&self, path: &str) -> Result<Option<LocalFile>, IoError> {
        let at = self.at(path)?;
        let opened = self
            .attempt(IoOperation::ReadRanges, &at, || {
                at.store.open_local(&at.path)
            })
            .await?;
        Ok(opened
            .map(|open| LocalFile::new(open, at.path.clone(), Arc::clone(&self.inner.metrics))))
    }

    /// The length of a file in bytes.
    ///
    /// # Errors
    /// [`IoError::NotFound`], or the store's.
    pub async fn size(&self, path: &str) -> Result<u64, IoError> {
        let at = self.at(path)?;
        self.attempt(IoOperation::Size, &at, || at.store.size(&at.path))
            .await
    }

    /// Whether `path` is a file or a folder. On object stores a folder exists when something is in it, and asking for one costs a
    /// second request; use [`FileIo::file_exists`] for files.
    ///
    /// # Errors
    /// The store's.
    pub async fn exists(&self, path: &str) -> Result<bool, IoError> {
        let at = self.at(path)?;
        self.attempt(IoOperation::Exists, &at, || {
            at.store.exists(&at.path, Sought::FileOrFolder)
        })
        .await
    }

    /// Whether `path` is a file.
    ///
    /// # Errors
    /// The store's.
    pub async fn file_exists(&self, path: &str) -> Result<bool, IoError> {
        let at = self.at(path)?;
        self.attempt(IoOperation::Exists, &at, || {
            at.store.exists(&at.path, Sought::File)
        })
        .await
    }

    /// Files and folders in `dir`, sorted by path; names that begin with a dot are shown. A folder that does not exist is empty.
    ///
    /// # Errors
    /// [`IoError::NotADirectory`] on a local file, or the store's.
    pub async fn list(&self, dir: &str) -> Result<Vec<FileStatus>, IoError> {
        self.list_to(dir, Depth::One).await
    }

    /// Files below `dir` at any depth, sorted by path. Folders are not shown; symbolic links to folders are not followed.
    ///
    /// # Errors
    /// As [`FileIo::list`].
    pub async fn list_recursive(&self, dir: &str) -> Result<Vec<FileStatus>, IoError> {
        self.list_to(dir, Depth::All).await
    }

    async fn list_to(&self, dir: &str, depth: Depth) -> Result<Vec<FileStatus>, IoError> {
        let at = self.at(dir)?;
        let mut found = self
            .attempt(IoOperation::List, &at, || at.store.list(&at.path, depth))
            .await?;
        found.sort_unstable();
        Ok(found)
    }

    /// Writes a file whose name nobody reads yet, and makes it durable. Missing folders are made.
    ///
    /// Not atomic locally: a crash may leave a part of it under its name. An existing file is replaced.
    ///
    /// # Errors
    /// The store's; the file may then exist.
    pub async fn write(&self, path: &str, bytes: Bytes) -> Result<(), IoError> {
        let at = self.at(path)?;
        self.attempt(IoOperation::Write, &at, || {
            at.store.write(&at.path, bytes.clone())
        })
        .await?;
        self.inner.metrics.count_written(bytes.len());
        Ok(())
    }

    /// Replaces a file: readers see the old bytes or the new ones, never a mixture, also after a crash. Missing folders are made.
    ///
    /// # Errors
    /// The store's; which of the two it is is then open.
    pub async fn overwrite(&self, path: &str, bytes: Bytes) -> Result<(), IoError> {
        let (at, id) = (self.at(path)?, self.inner.env.new_uuid());
        self.attempt(IoOperation::Overwrite, &at, || {
            at.store.overwrite(&at.path, bytes.clone(), &id)
        })
        .await?;
        self.inner.metrics.count_written(bytes.len());
        Ok(())
    }

    /// Makes a file if the name is free: of all callers, in all processes, one is told [`PutOutcome::Created`].
    ///
    /// The file appears whole and stays after a power cut. Only attempts that are known to have done nothing are repeated. A dropped future leaves
    /// the outcome open.
    ///
    /// # Errors
    /// The store's; the file was then not made by this call.
    pub async fn put_if_absent(&self, path: &str, bytes: Bytes) -> Result<PutOutcome, IoError> {
        let (at, id) = (self.at(path)?, self.inner.env.new_uuid());
        let put = || at.store.put_if_absent(&at.path, bytes.clone(), &id);
        let outcome = self.attempt(IoOperation::PutIfAbsent, &at, put).await?;
        self.inner.metrics.count_put(outcome);
        if outcome == PutOutcome::Created {
            self.inner.metrics.count_written(bytes.len());
        }
        Ok(outcome)
    }

    /// Starts a file that is written piece by piece. Missing folders are made. On a local disk the name is taken at once; on object stores
    /// nothing is to be seen before [`FileSink::finish`].
    ///
    /// # Errors
    /// The store's.
    pub async fn open_write(&self, path: &str) -> Result<FileSink, IoError> {
        let at = self.at(path)?;
        let sink = self
            .attempt(IoOperation::OpenWrite, &at, || {
                at.store.open_write(&at.path)
            })
            .await?;
        Ok(FileSink::new(
            sink,
            path.to_owned(),
            Arc::clone(&self.inner.metrics),
        ))
    }

    /// Removes a file; that it is missing is no error.
    ///
    /// # Errors
    /// [`IoError::IsADirectory`] locally, or the store's.
    pub async fn delete(&self, path: &str) -> Result<(), IoError> {
        let at = self.at(path)?;
        self.attempt(IoOperation::Delete, &at, || at.store.delete(&at.path))
            .await
    }

    /// Removes a folder and all below it; that it is missing is no error.
    ///
    /// # Errors
    /// The store's; a part may then be gone.
    pub async fn delete_dir(&self, dir: &str) -> Result<(), IoError> {
        let at = self.at(dir)?;
        self.attempt(IoOperation::DeleteDir, &at, || {
            at.store.delete_dir(&at.path)
        })
        .await
    }

    /// Moves a folder to a free name of the same store. One step on a local disk; on object stores every object is copied and then
    /// deleted, so a reader may meet both names and a failure may leave both.
    ///
    /// # Errors
    /// [`IoError::NotFound`] if `from` is no folder; [`IoError::AlreadyExists`] if `to` is taken; [`IoError::Unsupported`] between
    /// two stores; otherwise the store's. Never repeated by itself.
    pub async fn rename_dir(&self, from: &str, to: &str) -> Result<(), IoError> {
        let (source, target) = (self.at(from)?, self.at(to)?);
        if !Arc::ptr_eq(&source.store, &target.store) {
            return Err(IoError::Unsupported {
                what: format!("moving {from} to another store"),
            });
        }
        self.inner.metrics.count_request(IoOperation::RenameDir);
        source.store.rename_dir(&source.path, &target.path).await
    }

    /// Makes a folder and its parents; that it exists is no error. Object stores have no empty folders: there, nothing happens.
    ///
    /// # Errors
    /// [`IoError::NotADirectory`] if a file is in the way, or the store's.
    pub async fn create_dir(&self, dir: &str) -> Result<(), IoError> {
        let at = self.at(dir)?;
        self.attempt(IoOperation::CreateDir, &at, || {
            at.store.create_dir(&at.path)
        })
        .await
    }

    fn at(&self, path: &str) -> Result<Resolved, IoError> {
        self.inner.resolver.resolve(path)
    }

    /// Sends a request, again while its errors are transient.
    async fn attempt<T, F, Fut>(
        &self,
        operation: IoOperation,
        at: &Resolved,
        call: F,
    ) -> Result<T, IoError>
    where
        F: Fn() -> Fut,
        Fut: Future<Output = Result<T, IoError>>,
    {
        let span = tracing::debug_span!(
            "store_request",
            operation = operation.name(),
            path = at.path
        );
        let Inner {
            env,
            metrics,
            retry,
            ..
        } = &*self.inner;
        retry
            .run(env, metrics, operation, call)
            .instrument(span)
            .await
    }
}

impl fmt::Debug for FileIo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileIo")
            .field("store", self.inner.resolver.own())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod contract;
#[cfg(test)]
mod race;
