//! Column statistics to the form manifests store, dense or not, and back.
//!
//! Source: Paimon `stats/SimpleStatsConverter.java`; spec 01c §5.1 and §5.4.

use tidewater_types::{BinaryRow, DataType, Datum};

use super::column::ColumnStats;
use super::simple::SimpleStats;
use crate::data_file_meta::ColumnNames;
use crate::error::Result;

/// Statistics of all columns of `types`, in order.
///
/// With `dense` (the columns' names; option `metadata.stats-dense-store`) columns of which nothing is known are left out, and
/// the second answer lists the others: `None` if none was left out. Without it all columns are stored and the list is `None`.
///
/// # Errors
/// A bound is not a value of its column's type.
pub fn stats_from_columns(
    columns: &[ColumnStats],
    types: &[DataType],
    dense: Option<&[String]>,
) -> Result<(SimpleStats, Option<ColumnNames>)> {
    let known: Vec<usize> = match dense {
        Some(_) => columns
            .iter()
            .enumerate()
            .filter(|(_, column)| !column.is_unknown())
            .map(|(i, _)| i)
            .collect(),
        None => (0..columns.len()).collect(),
    };
    let mut kept_types = Vec::with_capacity(known.len());
    let (mut min, mut max) = (
        Vec::with_capacity(known.len()),
        Vec::with_capacity(known.len()),
    );
    let mut null_counts = Vec::with_capacity(known.len());
    for (column, data_type) in known
        .iter()
        .filter_map(|index| columns.get(*index).zip(types.get(*index)))
    {
        kept_types.push(data_type.clone());
        min.push(column.min.clone());
        max.push(column.max.clone());
        null_counts.push(column.null_count);
    }
    let stats = SimpleStats {
        min_values: BinaryRow::from_datums(&min, &kept_types)?,
        max_values: BinaryRow::from_datums(&max, &kept_types)?,
        null_counts: null_counts.into(),
    };
    let names = dense.filter(|_| known.len() < columns.len()).map(|names| {
        known
            .iter()
            .filter_map(|index| names.get(*index).cloned())
            .collect()
    });
    Ok((stats, names))
}

/// Stored statistics as values again.
#[derive(Debug, Clone, PartialEq)]
pub struct StatsBounds {
    columns: Vec<ColumnStats>,
}

impl StatsBounds {
    /// The statistics of columns of these types. Columns that `stats` does not cover are unknown.
    ///
    /// # Errors
    /// The rows in `stats` cannot be of these types.
    pub fn of(stats: &SimpleStats, types: &[DataType]) -> Result<Self> {
        let bound = |row: &BinaryRow, index: usize, data_type: &DataType| -> Result<Datum> {
            // A null is a null whatever the type; values of nested types are never stored.
            if index >= row.arity() || row.is_null(index) {
                Ok(Datum::Null)
            } else {
                Ok(row.get(index, data_type)?)
            }
        };
        let columns = types
            .iter()
            .enumerate()
            .map(|(index, data_type)| {
                Ok(ColumnStats {
                    min: bound(&stats.min_values, index, data_type)?,
                    max: bound(&stats.max_values, index, data_type)?,
                    null_count: stats.null_counts.get(index).copied().flatten(),
                })
            })
            .collect::<Result<_>>()?;
        Ok(Self { columns })
    }

    /// The columns, in order.
    pub fn columns(&self) -> &[ColumnStats] {
        &self.columns
    }

    /// Whether a row with these values may be among those the statistics are of. False is certain, true is not.
    pub fn may_contain(&self, row: &[Datum]) -> bool {
        self.columns.iter().zip(row).all(|(column, value)| {
            if value.is_null() {
                return column.null_count != Some(0);
            }
            let below = value
                .compare(&column.min)
                .is_some_and(std::cmp::Ordering::is_lt);
            let above = value
                .compare(&column.max)
                .is_some_and(std::cmp::Ordering::is_gt);
            !below && !above
        })
    }
}
