//! What every reader and writer of data files needs: the store, the threads, the clock and the footers read before.

use std::sync::Arc;

use tidewater_io::{CpuPool, Env, FileIo};

use crate::parquet::{DEFAULT_UNIT_BYTES, FooterCache};

/// Bytes of footers that are kept by default.
const FOOTER_CACHE_BYTES: usize = 64 << 20;

/// Store, threads, clock and footer cache; cheap to clone, clones share all of them.
#[derive(Debug, Clone)]
pub struct FilesContext {
    pub(crate) io: FileIo,
    pub(crate) cpu: CpuPool,
    pub(crate) env: Env,
    pub(crate) footers: Arc<FooterCache>,
    unit_bytes: u64,
}

impl FilesContext {
    /// A context whose clock and ids are those of `io`.
    pub fn new(io: FileIo, cpu: CpuPool) -> Self {
        let env = io.env().clone();
        Self {
            io,
            cpu,
            env,
            footers: Arc::new(FooterCache::new(FOOTER_CACHE_BYTES)),
            unit_bytes: DEFAULT_UNIT_BYTES,
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

    /// The same with another bound for the bytes of a file that are fetched and decoded together; a read holds two such units.
    #[must_use]
    pub fn with_unit_bytes(self, unit_bytes: u64) -> Self {
        Self { unit_bytes, ..self }
    }

    /// Most bytes of a file that are fetched and decoded together.
    pub fn unit_bytes(&self) -> u64 {
        self.unit_bytes
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
