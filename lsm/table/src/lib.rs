//! One table: read at a snapshot, followed from one, written, committed and altered.
//!
//! ```text
//!  write   Table::new_write -> TableWrite -> CommitMessage -> TableCommit -> snapshot
//!  read    Table::new_scan  -> ScanBuilder -> RowStream
//!  follow  Table::new_stream -> StreamScan -> StreamPlan -> ChangeStream
//!  check   Table::verify -> VerifyReport
//! ```
//!
//! [`TableLog`] holds the histories below: [`SnapshotLog`] finds snapshots, [`SchemaStore`] schemas. [`TableCommit`] makes each snapshot
//! exactly once among any number of writers. [`verify()`] reads everything again.

mod commit;
mod error;
mod scan;
mod schema_store;
mod snapshot_log;
mod stream;
mod table;
mod table_log;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_conflicts;
#[cfg(test)]
mod tests_vectors;
mod verify;
mod write;

pub use commit::{
    CommitOutcome, Committable, CommittedSnapshot, FileSnapshotCommit, SnapshotCommit, TableCommit,
};
pub use error::{Result, TableError};
pub use scan::{DataSplit, RowStream, ScanBuilder, ScanPlan, ScanPlanner};
pub use schema_store::SchemaStore;
pub use snapshot_log::SnapshotLog;
pub use stream::{
    ChangeStream, StreamMode, StreamOptions, StreamPlan, StreamPlanKind, StreamPosition, StreamScan,
};
pub use table::{CommitOptions, Table, TableEnv};
pub use table_log::TableLog;
pub use verify::{Fault, VerifyOptions, VerifyReport, verify};
pub use write::{CompactScope, TableWrite, WriteOptions};
