//! Statistics of columns: collected, cut, stored in manifests, and asked when files are pruned.
//!
//! ```text
//!  arrow columns ─StatsCollector─┐                          ┌─> SimpleStats + column list   (stats_from_columns)
//!  parquet footer ───────────────┴─> ColumnStats ─StatsMode─┤
//!  SimpleStats ─StatsBounds─> ColumnStats                   └─> predicate: may it match?
//! ```
//!
//! Statistics prove absence only: a row they allow may still not be there.

mod collect;
mod column;
mod simple;
mod store;
mod truncate;
mod view;
mod widen;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod view_tests;

pub use collect::StatsCollector;
pub use column::ColumnStats;
pub use simple::{NullCounts, SimpleStats};
pub use store::{StatsBounds, stats_from_columns};
pub use truncate::{truncate_max, truncate_min};
pub use view::{
    FileStatsView, OwnedFileStatsView, PartitionStatsView, PartitionValues, StatsMapping,
    file_stats_view,
};
