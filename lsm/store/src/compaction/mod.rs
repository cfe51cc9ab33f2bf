//! Compaction of one bucket: a unit of files becomes fewer files on one level.
//!
//! ```text
//!  keyed    unit -> CompactionTaskPlan -> rewrite (MergeStream -> RollingFileWriter) | upgrade     task.rs
//!  append   neighbours -> read one after the other -> RollingFileWriter                            concat.rs
//!  both     results between two commits add up to what the commit says                             increment.rs
//! ```
//!
//! A compaction runs beside its writer ([`Running`]) and touches nothing that a snapshot names: its files count when they are committed.

mod concat;
mod expiry;
mod increment;
mod running;
mod task;

pub use concat::concat_files;
pub(crate) use concat::{abort_files, finish_files, run_concat};
pub(crate) use expiry::RecordExpiry;
pub(crate) use increment::{CompactionResult, NetCompaction};
pub(crate) use running::Running;
pub(crate) use task::{KeyedTask, run_keyed};
