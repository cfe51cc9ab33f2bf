//! What every reader and writer of data files needs: the store, the threads, the clock and the footers read before.

use std::sync::Arc;

use tidewater_io::{CpuPool, Env, FileIo};

use crate::parquet::{DEFAULT_UNIT_BYTES, FooterCache};

/// Bytes of footers that are kept by default.
const FOOTER_CACHE_BYTES: usize = 64 << 20;

/// Memory below which another read at the same time is not worth it.
const READ_BYTES: usize = 128 << 20;
/// Parts of the memory that one writer's open row group may be: flushes and compactions run side by side.
const ROW_GROUPS: usize = 16;
/// Smaller row groups are not worth their metadata.
const ROW_GROUP_BYTES_MIN: usize = 4 << 20;
/// Fewer bytes are not worth a request.
const UNIT_BYTES_MIN: u64 = 1 << 20;

/// Where units must be smaller, there is no memory for several at the same time.
const PARALLEL_UNIT_BYTES: u64 = 32 << 20;

/// Store, threads, clock and footer cache; cheap to clone, clones share all of them.
#[derive(Debug, Clone)]
pub struct FilesContext {
    pub(crate) io: FileIo,
    pub(crate) cpu: CpuPool,
    pub(crate) env: Env,
    pub(crate) footers: Arc<FooterCache>,
    unit_bytes: u64,
    row_group_bytes: usize,
    reads: usize,
}

impl FilesContext {
    /// A context whose clock and ids are those of `io`.
    pub fn new(io: FileIo, cpu: CpuPool) -> Self {
        let env = io.env().clone();
        // One more than threads: bytes are awaited while others decode.
        let reads = cpu.threads().saturating_add(1);
        Self {
            io,
            cpu,
            env,
            footers: Arc::new(FooterCache::new(FOOTER_CACHE_BYTES)),
            unit_bytes: DEFAULT_UNIT_BYTES,
            row_group_bytes: usize::MAX,
            reads,
        }
    }

    /// The same with a clock and ids of its own.
    #[must_use]
    pub fn with_env(self, env: Env) -> Self {
        Self { env, ..self }
    }

    /// The same with an empty footer cache of this many bytes; 0 keeps none.
    #[must_use]
    pub fn with_footer_cache_bytes(self, bytes: usize) -> Self {
        Self {
            footers: Arc::new(FooterCache::new(bytes)),
            ..self
        }
    }

    /// The same with bounds that keep reading below about `memory_bytes`: fewer splits at a time and fewer bytes of each, of which a
    /// read holds two units. Writers end their row groups, which wait in memory, before those are a sixteenth of it. Where memory is
    /// plenty nothing changes.
    #[must_use]
    pub fn within(self, memory_bytes: usize) -> Self {
        let reads = (memory_bytes / READ_BYTES).clamp(1, self.reads);
        // A third of it for bytes that wait to be decoded, the rest for what comes of them.
        let unit = u64::try_from(memory_bytes / (reads * 6)).unwrap_or(u64::MAX);
        Self {
            reads,
            unit_bytes: unit.clamp(UNIT_BYTES_MIN, DEFAULT_UNIT_BYTES),
            row_group_bytes: (memory_bytes / ROW_GROUPS).max(ROW_GROUP_BYTES_MIN),
            ..self
        }
    }

    /// Splits that are read at the same time.
    pub fn reads(&self) -> usize {
        self.reads
    }

    /// Most bytes of a file that are fetched and decoded together.
    pub fn unit_bytes(&self) -> u64 {
        self.unit_bytes
    }

    /// Parts of one file that are worth decoding at the same time while no other file is read: one where memory is short.
    pub fn parallel(&self) -> usize {
        if self.unit_bytes < PARALLEL_UNIT_BYTES {
            1
        } else {
            self.cpu.threads()
        }
    }

    /// Encoded bytes at which a writer ends its row group, whatever its options allow.
    pub(crate) fn row_group_bytes(&self) -> usize {
        self.row_group_bytes
    }

    /// The store.
    pub fn io(&self) -> &FileIo {
        &self.io
    }

    /// The threads that encode and decode.
    pub fn cpu(&self) -> &CpuPool {
        &self.cpu
    }

    /// Clock and ids.
    pub fn env(&self) -> &Env {
        &self.env
    }
}
