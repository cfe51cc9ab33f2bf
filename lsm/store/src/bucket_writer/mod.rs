//! The writer of one bucket: rows in, files out, and the compactions that keep its tree in shape.
//!
//! ```text
//!  write -> buffer (keyed) | open file (append)
//!             | memory short: spill or flush         | prepare_commit: flush, wait, take
//!             v                                       v
//!          level 0 -> pick -> compaction beside     CommitMessage { data, compact }
//! ```
//!
//! Source: Paimon `mergetree/MergeTreeWriter.java`, `append/AppendOnlyWriter.java`; spec 02b §2, 02a §5.2.

mod append;
mod context;
mod keyed;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow_array::{Int8Array, RecordBatch};
use tidewater_format::DataFileMeta;
use tidewater_io::Reservation;

pub use self::append::AppendWriter;
pub use self::context::{BucketPlace, SchemasById, WriterContext};
pub(crate) use self::context::{CHUNK_ROWS, FileMaker};
pub use self::keyed::KeyedWriter;
use crate::commit_message::CommitMessage;
use crate::error::{Result, StoreError};

/// The writer of one bucket of a table with or without a primary key.
///
/// After an error only [`BucketWriter::abort`] is of use: rows may be missing from what it holds.
#[derive(Debug)]
pub enum BucketWriter {
    /// Of a primary-key table.
    Keyed(Box<KeyedWriter>),
    /// Of an append table.
    Append(Box<AppendWriter>),
}

impl BucketWriter {
    /// A writer that goes on behind `restored`, the live files of the bucket. `schemas` has those of the files.
    ///
    /// # Errors
    /// Files whose levels or keys contradict each other.
    pub fn open(
        context: Arc<WriterContext>,
        place: BucketPlace,
        restored: Vec<Arc<DataFileMeta>>,
        schemas: SchemasById,
    ) -> Result<Self> {
        if context.schema.is_keyed() {
            let writer = KeyedWriter::open(context, place, restored, schemas)?;
            return Ok(Self::Keyed(Box::new(writer)));
        }
        let writer = AppendWriter::open(context, place, restored, schemas);
        Ok(Self::Append(Box::new(writer)))
    }

    /// Takes rows with the table's columns. `memory` is what [`WriteBuffer::cost`](crate::WriteBuffer::cost) says of them.
    ///
    /// Append tables take only rows that are added: their caller has refused retractions.
    ///
    /// # Errors
    /// The store's; columns that do not fit.
    pub async fn write(
        &mut self,
        values: RecordBatch,
        kinds: Option<Int8Array>,
        memory: Reservation,
    ) -> Result<()> {
        match self {
            Self::Keyed(writer) => writer.write(values, kinds, memory),
            Self::Append(writer) => writer.write(&values, memory).await,
        }
    }

    /// Bytes of rows in memory.
    pub fn memory_bytes(&self) -> usize {
        match self {
            Self::Keyed(writer) => writer.memory_bytes(),
            Self::Append(writer) => writer.memory_bytes(),
        }
    }

    /// Gives memory back: rows go to the local disk or into a file of the table.
    ///
    /// # Errors
    /// The store's or the local disk's.
    pub async fn release_memory(&mut self) -> Result<()> {
        match self {
            Self::Keyed(writer) => writer.release_memory().await,
            Self::Append(writer) => writer.flush(false).await,
        }
    }

    /// Writes out what is held and starts a compaction, of everything or of what the rules pick.
    ///
    /// # Errors
    /// [`StoreError::WriteOnly`] if everything should be compacted and the table is write-only; the store's.
    pub async fn compact(&mut self, full: bool) -> Result<()> {
        match self {
            Self::Keyed(writer) => writer.compact(full).await,
            Self::Append(writer) => writer.compact(full).await,
        }
    }

    /// Writes out what is held and says what to commit since the last call. `wait` waits for compactions under way.
    ///
    /// # Errors
    /// The store's; a compaction that failed.
    pub async fn prepare_commit(&mut self, wait: bool) -> Result<CommitMessage> {
        match self {
            Self::Keyed(writer) => writer.prepare_commit(wait).await,
            Self::Append(writer) => writer.prepare_commit(wait).await,
        }
    }

    /// Stops and removes the files that no commit message has told of.
    pub async fn abort(self) {
        match self {
            Self::Keyed(writer) => writer.abort().await,
            Self::Append(writer) => writer.abort().await,
        }
    }
}

/// Guards a writer whose rows may be incomplete.
#[derive(Debug, Default)]
pub(crate) struct Health {
    failed: bool,
}

impl Health {
    /// Refuses work after a failure, and takes the outcome as failed until [`Health::end`] says otherwise.
    pub(crate) fn begin(&mut self) -> Result<()> {
        if self.failed {
            return Err(StoreError::WriterFailed);
        }
        self.failed = true;
        Ok(())
    }

    /// Notes the outcome of the work begun.
    pub(crate) fn end<T>(&mut self, outcome: Result<T>) -> Result<T> {
        self.failed = outcome.is_err();
        outcome
    }
}
