//! Writing rows: checked, sent to their buckets, bounded in memory, prepared for a commit.
//!
//! ```text
//!  batch -> RowPreparer -> RowRouter -> BucketWriter per (partition, bucket) -> CommitMessage -> TableCommit
//! ```
//!
//! Source: Paimon `table/sink/TableWriteImpl.java`, `operation/AbstractFileStoreWrite.java`.

mod compact;
mod prepare;
mod restore;
mod route;
mod scope;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::{Int8Array, RecordBatch};
use futures::StreamExt;
use futures::future::join_all;
use tidewater_files::FileDirectory;
use tidewater_format::ensure_writable;
use tidewater_io::{MemoryBudget, Reservation};
use tidewater_store::{
    BucketPlace, BucketWriter, CommitMessage, SchemasById, WriteBuffer, WriterContext,
};
use tidewater_types::{BinaryRow, Bucket};

use self::prepare::RowPreparer;
use self::restore::{BucketKey, RestoredBuckets, restore_buckets};
use self::route::{RoutedRows, RowRouter};
pub use self::scope::CompactScope;
use crate::error::{Result, TableError};
use crate::table::Table;

/// Memory that a writer may take however little is left of the process's.
const MEMORY_MIN: usize = 4 << 20;

/// Memory of the process below which another compaction at the same time is not worth it.
const COMPACTION_BYTES: usize = 256 << 20;

/// How a table is written.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// Most bytes of rows in memory; `write-buffer-size` of the table if not given. The memory of the process bounds both.
    pub memory_bytes: Option<usize>,
}

/// Writes rows of one table. Nothing is visible before [`TableCommit::commit`](crate::TableCommit::commit) has its messages.
///
/// A writer that is dropped leaves files that nobody names; [`TableWrite::abort`] removes them.
#[derive(Debug)]
pub struct TableWrite {
    table: Table,
    context: Arc<WriterContext>,
    preparer: Arc<RowPreparer>,
    router: Arc<RowRouter>,
    writers: HashMap<BucketKey, BucketWriter>,
    memory: MemoryBudget,
    /// This writer's part of the memory of the process.
    _share: Reservation,
    /// Messages of compactions that no bucket writer ran.
    compacted: Vec<CommitMessage>,
    /// Rows were written that no message has told of.
    pending: bool,
}

impl TableWrite {
    pub(crate) fn open(table: &Table, options: WriteOptions) -> Result<Self> {
        let schema = table.schema();
        ensure_writable(schema)?;
        let context = WriterContext::new(
            table.files().clone(),
            Arc::clone(schema),
            table.env().scratch.clone(),
        )?
        .with_compactions(table.env().memory.limit() / COMPACTION_BYTES);
        let table_options = context.options();
        let asked = options.memory_bytes.unwrap_or_else(|| {
            usize::try_from(table_options.write_buffer_size.bytes()).unwrap_or(usize::MAX)
        });
        // A third of what is left: sorting, merging spilled runs and encoding need as much again, and allocators keep some of it.
        let process = &table.env().memory;
        let bytes = asked.min((process.available() / 3).max(MEMORY_MIN));
        Ok(Self {
            preparer: Arc::new(RowPreparer::new(schema, table_options)?),
            router: Arc::new(RowRouter::new(schema, table_options)?),
            memory: MemoryBudget::new(bytes),
            _share: process.reserve_forced(bytes),
            context: Arc::new(context),
            table: table.clone(),
            writers: HashMap::new(),
            compacted: Vec::new(),
            pending: false,
        })
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Bytes of rows in memory.
    pub fn memory_bytes(&self) -> usize {
        self.memory.used()
    }

    /// Writes rows. Columns go by name and are converted where that loses nothing; columns that are not there are null.
    /// A column `_VALUE_KIND` (Int8: 0 `+I`, 1 `-U`, 2 `+U`, 3 `-D`) brings kinds, otherwise every row is `+I`.
    ///
    /// # Errors
    /// A value that does not fit, a null where none may be: then nothing of the batch was written. The store's and the local disk's: then
    /// the writer is good for [`TableWrite::abort`] only.
    pub async fn write(&mut self, batch: RecordBatch) -> Result<()> {
        self.write_rows(batch, None, None).await
    }

    /// Writes rows with their kinds.
    ///
    /// # Errors
    /// As [`TableWrite::write`].
    pub async fn write_with_kinds(&mut self, batch: RecordBatch, kinds: Int8Array) -> Result<()> {
        self.write_rows(batch, Some(kinds), None).await
    }

    /// Writes rows to a bucket that the caller has worked out.
    ///
    /// # Errors
    /// As [`TableWrite::write`]; [`TableError::NoSuchBucket`].
    pub async fn write_to_bucket(
        &mut self,
        batch: RecordBatch,
        kinds: Int8Array,
        bucket: Bucket,
    ) -> Result<()> {
        self.write_rows(batch, Some(kinds), Some(bucket.0)).await
    }

    async fn write_rows(
        &mut self,
        batch: RecordBatch,
        kinds: Option<Int8Array>,
        bucket: Option<i32>,
    ) -> Result<()> {
        if kinds
            .as_ref()
            .is_some_and(|kinds| kinds.len() != batch.num_rows())
        {
            return Err(TableError::KindCount {
                rows: batch.num_rows(),
                kinds: kinds.map_or(0, |kinds| kinds.len()),
            });
        }
        let (preparer, router) = (Arc::clone(&self.preparer), Arc::clone(&self.router));
        let job = move || {
            let rows = preparer.prepare(&batch, kinds)?;
            router.route(rows, bucket)
        };
        let routed = self.context_cpu().run(job).await??;
        self.open_missing(&routed).await?;
        self.hand_over(routed).await
    }

    /// Gives rows to their writers; as many as there are threads encode at the same time.
    async fn hand_over(&mut self, routed: Vec<RoutedRows>) -> Result<()> {
        let mut parcels = HashMap::with_capacity(routed.len());
        for rows in routed {
            let cost = WriteBuffer::cost(&rows.values, rows.kinds.as_ref());
            let memory = self.reserve(cost).await?;
            let key = (rows.partition, rows.bucket);
            parcels.insert(key, (rows.values, rows.kinds, memory));
        }
        if parcels.is_empty() {
            return Ok(());
        }
        self.pending = true;
        let at_once = self.context_cpu().threads().max(1);
        let mut writes = Vec::with_capacity(parcels.len());
        for (key, writer) in &mut self.writers {
            if let Some((values, kinds, memory)) = parcels.remove(key) {
                writes.push(writer.write(values, kinds, memory));
            }
        }
        if !parcels.is_empty() {
            return Err(TableError::Bug {
                what: "rows were routed to a bucket without a writer",
            });
        }
        let written: Vec<_> = futures::stream::iter(writes)
            .buffer_unordered(at_once)
            .collect()
            .await;
        written.into_iter().try_for_each(|written| Ok(written?))
    }

    /// Memory for rows; the buckets with the most give theirs back while it is short.
    async fn reserve(&mut self, bytes: usize) -> Result<Reservation> {
        let threads = self.context_cpu().threads().max(1);
        loop {
            if let Some(memory) = self.memory.try_reserve(bytes) {
                return Ok(memory);
            }
            let mut holding: Vec<&mut BucketWriter> = self
                .writers
                .values_mut()
                .filter(|writer| writer.memory_bytes() > 0)
                .collect();
            if holding.is_empty() {
                // One batch above the limit is all there is.
                return Ok(self.memory.reserve_forced(bytes));
            }
            holding.sort_by_key(|writer| std::cmp::Reverse(writer.memory_bytes()));
            // As many as sort and encode at the same time.
            holding.truncate(threads);
            let releases = holding.into_iter().map(|writer| writer.release_memory());
            // All end, also when one fails: what they wrote must be known to be removed.
            for released in join_all(releases).await {
                released?;
            }
        }
    }

    async fn open_missing(&mut self, routed: &[RoutedRows]) -> Result<()> {
        let missing: HashSet<BucketKey> = routed
            .iter()
            .map(|rows| (rows.partition.clone(), rows.bucket))
            .filter(|key| !self.writers.contains_key(key))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        // Without buckets nothing is continued: each writer counts from 0.
        let mut restored = if self.total_buckets()? > 0 {
            restore_buckets(self.table.log(), Some(&missing)).await?
        } else {
            RestoredBuckets::default()
        };
        for key in missing {
            let files = restored.files.remove(&key).unwrap_or_default();
            self.open_writer(key, files, Arc::clone(&restored.schemas))?;
        }
        Ok(())
    }

    fn open_writer(
        &mut self,
        key: BucketKey,
        files: Vec<Arc<tidewater_format::DataFileMeta>>,
        schemas: SchemasById,
    ) -> Result<()> {
        let place = self.place(&key.0, key.1)?;
        let writer = BucketWriter::open(Arc::clone(&self.context), place, files, schemas)?;
        self.writers.insert(key, writer);
        Ok(())
    }

    fn place(&self, partition: &BinaryRow, bucket: i32) -> Result<BucketPlace> {
        let partition_type = self.table.schema().partition_type();
        let paths = self.table.log().paths();
        let path = paths.bucket_dir(partition, bucket, &partition_type)?;
        let outside = paths.external_paths();
        let turn = self.writers.len() % outside.len().max(1);
        let directory = match outside.get(turn) {
            None => FileDirectory::of_bucket(&path),
            Some(outside) => FileDirectory::external(paths.external_bucket_dir(
                outside,
                partition,
                bucket,
                &partition_type,
            )?),
        };
        Ok(BucketPlace {
            partition: partition.clone(),
            bucket,
            total_buckets: self.total_buckets()?,
            directory,
            path,
        })
    }

    fn total_buckets(&self) -> Result<i32> {
        Ok(self.table.schema().bucket_mode()?.total_buckets())
    }

    fn context_cpu(&self) -> tidewater_io::CpuPool {
        self.table.env().cpu.clone()
    }

    /// Writes out what is held and answers what to commit since the last call, in a fixed order. `wait` waits for compactions under way.
    ///
    /// # Errors
    /// The store's; a compaction that failed. Then the writer is good for [`TableWrite::abort`] only.
    pub async fn prepare_commit(&mut self, wait: bool) -> Result<Vec<CommitMessage>> {
        // One more than threads: while the bytes of one are forced to the disk, others encode.
        let at_once = self.context_cpu().threads().saturating_add(1);
        // Not by `map`: with a closure over borrowed writers the compiler cannot see that this future may be sent to another thread.
        let mut prepare = Vec::with_capacity(self.writers.len());
        for writer in self.writers.values_mut() {
            prepare.push(writer.prepare_commit(wait));
        }
        let mut prepared = futures::stream::iter(prepare).buffer_unordered(at_once);
        let mut messages = std::mem::take(&mut self.compacted);
        let mut fault = None;
        while let Some(message) = prepared.next().await {
            match message {
                Ok(message) => messages.push(message),
                // The others end first: what they wrote must be known to be removed.
                Err(error) => fault = Some(error),
            }
        }
        drop(prepared);
        self.pending = false;
        if let Some(error) = fault {
            self.compacted = messages;
            return Err(error.into());
        }
        messages.retain(|message| !message.is_empty());
        messages.sort_by(|left, right| {
            let place =
                |message: &CommitMessage| (message.partition.to_serialized(), message.bucket);
            place(left).cmp(&place(right))
        });
        Ok(messages)
    }

    /// Stops, and removes the files that no commit has told of.
    ///
    /// # Errors
    /// A table that cannot be committed to.
    pub async fn abort(self) -> Result<()> {
        for (_, writer) in self.writers {
            writer.abort().await;
        }
        if !self.compacted.is_empty() {
            let commit = self.table.new_commit(crate::CommitOptions::default())?;
            commit.abort(&self.compacted).await?;
        }
        Ok(())
    }
}
