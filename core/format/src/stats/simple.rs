//! Minimum, maximum and null count of columns, as manifests store them.
//!
//! Source: Paimon `stats/SimpleStats.java`; spec 01c §5.1.

use std::sync::Arc;

use tidewater_types::BinaryRow;

/// Null counts of columns in a fixed order. Most files of a table have the same ones, so they are shared.
pub type NullCounts = Arc<[Option<i64>]>;

/// Statistics of some columns: slot i of both rows and `null_counts[i]` belong to column i of those covered.
///
/// A null bound means unknown, or that the column has no non-null value when its null count says so.
#[derive(Debug, Clone, PartialEq)]
pub struct SimpleStats {
    /// Lower bounds.
    pub min_values: BinaryRow,
    /// Upper bounds.
    pub max_values: BinaryRow,
    /// Null counts; `None`, or no element for a column, means unknown.
    pub null_counts: NullCounts,
}

impl SimpleStats {
    /// Statistics of no column: two rows of no fields and no counts.
    pub fn empty() -> Self {
        Self {
            min_values: BinaryRow::empty(),
            max_values: BinaryRow::empty(),
            null_counts: NullCounts::default(),
        }
    }
}

impl Default for SimpleStats {
    fn default() -> Self {
        Self::empty()
    }
}
