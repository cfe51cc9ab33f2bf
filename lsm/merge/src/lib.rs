//! The LSM logic of Tidewater: which files overlap, what to compact next, and how versions of a key become one row.
//!
//! Everything here is a decision over values: no IO, no async, no clock.
//!
//! ```text
//!  write   rows buffered -> sort_fold -> level 0                        sort_fold/
//!  plan    DataFileMeta -> Levels -> UniversalCompaction -> unit        levels.rs, universal/
//!          unit -> CompactionTaskPlan: rewrite these, move those        task_plan.rs, interval.rs
//!  merge   runs of (keys, sequence, kind) -> SortMerge -> picks | masks sort_merge/, engine.rs, gather.rs
//!          groups of versions -> FoldEngine -> rows                     fold/, aggregate/, roaring/
//!  append  sizes -> files to concatenate                                append/
//! ```
//!
//! Deduplicate and first-row pick a version per key and never see values. Partial update and aggregation fold all versions,
//! column by column. `model` (feature `test-util`) is the slow reference that the fast paths are held against.

mod aggregate;
mod append;
#[cfg(test)]
mod compaction_tests;
#[cfg(test)]
mod directives;
mod engine;
mod error;
mod fold;
mod gather;
mod interval;
mod key_comparator;
mod levels;
#[cfg(any(test, feature = "test-util"))]
pub mod model;
mod roaring;
mod sort_fold;
mod sort_merge;
mod sorted_run;
mod task_plan;
#[cfg(test)]
mod testing;
mod universal;

pub use append::{
    AppendFile, BucketedAppendCompaction, BucketedAppendOptions, DvRef, PartitionCandidates,
    UnawareOptions,
};
pub use engine::MergeEngine;
pub use error::{MergeError, Result};
pub use fold::{FoldEngine, Folded, GroupedRows};
pub use gather::GatherPlan;
pub use interval::{Section, interval_partition};
pub use key_comparator::KeyComparator;
pub use levels::{LevelSortedRun, Levels};
pub use sort_fold::{FoldInput, FoldedRows, SortedGroups, sort_fold, sort_groups};
pub use sort_merge::{
    BatchMask, BatchSlot, MergeBatch, MergeMode, MergeOptions, MergedChunk, PickRange, SortMerge,
    Step, Survivors, Versions,
};
pub use sorted_run::SortedRun;
pub use task_plan::{CompactionTaskPlan, TaskPlanOptions, TaskStep, drop_delete, small_file_size};
pub use universal::{
    CompactionUnit, ForceUpLevel0, FullPickOptions, OffPeak, PickContext, PickRule, UnitKind,
    UniversalCompaction, UniversalOptions, full_pick,
};
