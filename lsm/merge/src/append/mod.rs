//! Which files of an append table to put together. No keys, no levels: only sizes and order count.
//!
//! Bucketed tables keep rows in order, so a pick is a window of neighbours (`bucketed.rs`). Tables without buckets
//! have no order across files, so any small files of a partition may be packed together (`unaware.rs`).
//!
//! Source: spec 02a §5.2, §5.3.

mod bucketed;
#[cfg(test)]
mod tests;
mod unaware;

pub use bucketed::{BucketedAppendCompaction, BucketedAppendOptions};
pub use unaware::{AppendFile, DvRef, PartitionCandidates, UnawareOptions};
