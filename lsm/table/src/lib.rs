//! One table: the log of its snapshots, the store of its schemas, and commits.
//!
//! - [`SnapshotLog`] finds and reads snapshots, also by time.
//! - [`SchemaStore`] reads schemas, creates a table and alters it.
//! - [`TableCommit`] turns [`CommitMessage`](tidewater_store::CommitMessage)s into snapshots, each exactly once among any number of writers.
//!
//! - [`ScanBuilder`] plans and reads one snapshot, [`StreamScan`] follows the table from snapshot to snapshot.
//! - [`verify`] reads everything again and tells what does not hold.
//!
//! [`TableLog`] opens the histories over one folder.

mod commit;
mod error;
mod scan;
mod schema_store;
mod snapshot_log;
mod stream;
mod table_log;
#[cfg(test)]
mod tests;
mod verify;

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
pub use table_log::TableLog;
pub use verify::{Fault, VerifyOptions, VerifyReport, verify};
