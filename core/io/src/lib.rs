//! Store access, time, CPU and memory: everything of Tidewater that touches the world.
//!
//! - **files**: [`FileIo`] → store (local folder or `object_store`) → [`PutOutcome`], [`FileSink`], [`FileStatus`]. A commit is one
//!   [`FileIo::put_if_absent`].
//! - **time and ids**: [`Env`], by the machine or by a seed.
//! - **work**: [`CpuPool`] computes, [`MemoryBudget`] says who may hold how much, [`ScratchDir`] takes what does not fit.
//!
//! With the feature `test-util` come seeded environments, an inline pool and `FaultyStore`, which delays, refuses and hides outcomes.

mod coalesce;
mod cpu_pool;
mod env;
mod error;
mod file_io;
mod local_file;
mod memory_budget;
mod metrics;
mod options;
mod retry;
mod scratch;
mod sink;
mod store;
mod uri;

pub use self::cpu_pool::{CpuPool, CpuTask};
#[cfg(any(test, feature = "test-util"))]
pub use self::env::ManualClock;
pub use self::env::{Env, EnvSource};
pub use self::error::{Cause, IoError};
pub use self::file_io::FileIo;
pub use self::local_file::LocalFile;
pub use self::memory_budget::{MemoryBudget, Reservation};
pub use self::metrics::{FileIoMetrics, IoOperation};
pub use self::options::{IoOptionDoc, IoOptions};
pub use self::scratch::ScratchDir;
pub use self::sink::FileSink;
#[cfg(any(test, feature = "test-util"))]
pub use self::store::faulty::{Fault, FaultHandle, FaultRates, FaultRule, FaultyStore};
pub use self::store::{FileStatus, PutOutcome};
