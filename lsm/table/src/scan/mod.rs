//! Batch reads: which files of a snapshot hold the rows that are asked for, and reading them in parallel.
//!
//! ```text
//!  ScanBuilder ── travel ──> snapshot, schema
//!              ── ScanPlanner (filter, manifests, prune, splits) ──> ScanPlan
//!              ── rows ──> batches
//! ```

mod builder;
mod deletions;
mod filter;
mod manifests;
mod planner;
mod prune;
mod rows;
mod splits;
mod travel;

pub use builder::ScanBuilder;
pub(crate) use filter::{PartitionTest, bucket_function, only_partitions};
pub(crate) use planner::read_schemas;
pub use planner::{ScanPlan, ScanPlanner};
pub use rows::RowStream;
pub use splits::DataSplit;

pub(crate) use manifests::{ManifestKind, ManifestReader, manifests_by_list};
pub(crate) use rows::RowRequest;
pub(crate) use splits::SplitPurpose;
