//! Write buffer of one bucket: rows in memory until they become level-0 files.
//!
//! ```text
//!  append(batch) -> [ batch | batch | batch ]      as they came, sequence numbers given by position
//!                        | memory short: spill            | flush
//!                        v                                v
//!                   sorted run on disk  ---------->  merge of spilled runs and the sorted memory
//!                                                         |
//!                                       one row per key --+-- every row, if the changelog wants the input
//! ```
//!
//! Invariant: sequence numbers rise with arrival, so a younger spilled run is newer in every row than an older one.
//! Source: Paimon `mergetree/SortBufferWriteBuffer.java`; spec 02b §2.

mod drain;
mod sorted;
mod spill;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow_array::{Array, Int8Array, RecordBatch};
use tidewater_io::{CpuPool, Reservation, ScratchDir};
use tidewater_merge::{FoldEngine, MergeEngine};

pub use drain::{DrainChunk, Drained};
pub(crate) use sorted::SortedRows;
use sorted::Wanted;
pub use spill::SpillCompression;
use spill::SpilledRun;

use crate::error::Result;
use crate::key_value::{KeyValueLayout, batch_bytes};

/// What a buffer needs besides rows.
#[derive(Debug, Clone)]
pub struct WriteBufferOptions {
    /// How rows of one key become one.
    pub engine: MergeEngine,
    /// What folds them, where [`MergeEngine::folds`].
    pub fold: Option<Arc<FoldEngine>>,
    /// Whether every row is wanted besides the folded ones (`changelog-producer=input`).
    pub keep_input: bool,
    /// Rows of a batch that leaves the buffer.
    pub chunk_rows: usize,
    /// Codec of spilled runs (`spill-compression`).
    pub spill_compression: SpillCompression,
}

impl WriteBufferOptions {
    /// Which rows are kept until the end: every one for the changelog, or because only all versions of a key fold into what they should.
    fn wanted(&self) -> Wanted {
        if self.keep_input || self.fold.is_some() {
            Wanted::Everything
        } else {
            Wanted::Winners
        }
    }
}

/// Rows of one bucket that are not in a file yet.
#[derive(Debug)]
pub struct WriteBuffer {
    layout: Arc<KeyValueLayout>,
    options: WriteBufferOptions,
    batches: Vec<Buffered>,
    rows: usize,
    reserved: Vec<Reservation>,
    spilled: Vec<SpilledRun>,
}

/// One batch as it came.
#[derive(Debug, Clone)]
pub(crate) struct Buffered {
    pub(crate) values: RecordBatch,
    /// `None` if every row is `+I`.
    pub(crate) kinds: Option<Int8Array>,
    /// Sequence number of its first row; the others follow.
    pub(crate) first_sequence: i64,
}

impl WriteBuffer {
    /// An empty buffer.
    pub fn new(layout: Arc<KeyValueLayout>, options: WriteBufferOptions) -> Self {
        Self {
            layout,
            options,
            batches: Vec::new(),
            rows: 0,
            reserved: Vec::new(),
            spilled: Vec::new(),
        }
    }

    /// Bytes that [`append`](Self::append) will hold for these rows.
    pub fn cost(values: &RecordBatch, kinds: Option<&Int8Array>) -> usize {
        batch_bytes(values) + kinds.map_or(0, Array::get_array_memory_size)
    }

    /// Takes rows whose first has number `first_sequence`; the caller has reserved `memory` for them.
    pub fn append(
        &mut self,
        values: RecordBatch,
        kinds: Option<Int8Array>,
        first_sequence: i64,
        memory: Reservation,
    ) {
        if values.num_rows() == 0 {
            return;
        }
        self.rows += values.num_rows();
        self.batches.push(Buffered {
            values,
            kinds,
            first_sequence,
        });
        self.reserved.push(memory);
    }

    /// Bytes in memory.
    pub fn memory_bytes(&self) -> usize {
        self.reserved.iter().map(Reservation::size).sum()
    }

    /// Bytes on the local disk.
    pub fn spilled_bytes(&self) -> u64 {
        self.spilled.iter().map(SpilledRun::bytes).sum()
    }

    /// Whether it holds no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0 && self.spilled.is_empty()
    }

    /// Sorts what is in memory into a run on the local disk and lets go of the memory.
    ///
    /// # Errors
    /// A full disk or another fault of the scratch folder; the rows are then lost to this buffer, and the writer must fail.
    pub async fn spill(&mut self, scratch: &Arc<ScratchDir>, cpu: &CpuPool) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let (layout, options) = (Arc::clone(&self.layout), self.options.clone());
        let batches = std::mem::take(&mut self.batches);
        self.rows = 0;
        let memory = std::mem::take(&mut self.reserved);
        let scratch = Arc::clone(scratch);
        let run = cpu
            .run(move || {
                let sorted = SortedRows::sort(layout, batches, &options)?;
                let run = SpilledRun::write(&scratch, &sorted, &options);
                drop(memory);
                run
            })
            .await??;
        self.spilled.push(run);
        Ok(())
    }

    /// Empties the buffer into batches in key order, computed on `cpu` as the caller asks for them.
    ///
    /// The memory is given back to its budget as the last batch is handed out.
    pub async fn drain(&mut self, cpu: &CpuPool) -> Result<Drained> {
        let batches = std::mem::take(&mut self.batches);
        self.rows = 0;
        let memory = std::mem::take(&mut self.reserved);
        let spilled = std::mem::take(&mut self.spilled);
        let (layout, options) = (Arc::clone(&self.layout), self.options.clone());
        cpu.run(move || Drained::new(layout, options, batches, spilled, memory))
            .await?
    }
}
