//! Row groups and pages that cannot hold a matching row, by the statistics of the file.
//!
//! Statistics say "may match" only. A column whose type has changed since the file was written says nothing; a column that the file
//! does not have is null everywhere. Source: spec 02c §4.1.

use parquet::arrow::arrow_reader::RowSelection;
use parquet::file::metadata::RowGroupMetaData;
use tidewater_types::{ColumnStat, DataType, Predicate, StatsSource};

use super::bounds::{Bounds, FloatBounds, chunk_bounds, page_bounds};
use super::footer::Footer;
use super::rows::selection_of;
use crate::mapping::SchemaMapping;

/// Decides what to leave out of one file.
pub(crate) struct Pruner<'a> {
    footer: &'a Footer,
    floats: FloatBounds,
    predicate: &'a Predicate,
    /// The parts that must all hold, each with its column if it has one only.
    conjuncts: Vec<(&'a Predicate, Option<usize>)>,
    columns: Vec<Column>,
}

struct Column {
    name: String,
    data_type: DataType,
    source: Source,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Leaf(usize),
    /// The file does not have the column.
    AllNull,
    Unknown,
}

impl<'a> Pruner<'a> {
    /// `mapping` answers all columns of the predicate; others are unknown.
    pub(crate) fn new(
        footer: &'a Footer,
        predicate: &'a Predicate,
        mapping: &SchemaMapping,
    ) -> Self {
        let names = predicate.columns();
        let used = mapping
            .columns()
            .iter()
            .filter(|column| names.contains(column.asked.name.as_str()));
        let columns: Vec<Column> = used
            .map(|column| Column {
                name: column.asked.name.clone(),
                data_type: column.asked.data_type.clone(),
                source: match &column.stored {
                    None => Source::AllNull,
                    Some(stored) => stored.prunable_leaf.map_or(Source::Unknown, Source::Leaf),
                },
            })
            .collect();
        let conjuncts = predicate.split_and().into_iter().map(|conjunct| {
            let used = conjunct.columns();
            let only = used.first().filter(|_| used.len() == 1);
            let only = only.and_then(|name| columns.iter().position(|column| column.name == *name));
            (conjunct, only)
        });
        let conjuncts = conjuncts.collect();
        Self {
            footer,
            floats: FloatBounds::of(footer.metadata()),
            predicate,
            conjuncts,
            columns,
        }
    }

    /// None if no row of the row group can match; otherwise the rows in pages that may hold a match, none being all.
    pub(crate) fn row_group(&self, group: usize) -> Option<Option<RowSelection>> {
        let row_group = self.footer.metadata().row_groups().get(group)?;
        let rows = row_group.num_rows();
        let known = |column: &Column| match column.source {
            Source::Leaf(leaf) => chunk_bounds(row_group, leaf, &column.data_type, self.floats),
            Source::AllNull => Bounds {
                min: None,
                max: None,
                nulls: Some(rows),
            },
            Source::Unknown => Bounds::UNKNOWN,
        };
        let columns = self
            .columns
            .iter()
            .map(|column| (column.name.as_str(), known(column)))
            .collect();
        if !self.predicate.may_match(&Part { rows, columns }) {
            return None;
        }
        let mut selection: Option<RowSelection> = None;
        for (conjunct, column) in &self.conjuncts {
            let column = column.and_then(|column| self.columns.get(column));
            let Some(pages) =
                column.and_then(|column| self.pages(row_group, group, conjunct, column))
            else {
                continue;
            };
            selection = Some(match selection {
                None => pages,
                Some(selection) => selection.intersection(&pages),
            });
        }
        match selection {
            Some(selection) if !selection.selects_any() => None,
            selection => Some(selection),
        }
    }

    /// The rows in pages of one column that may match; none if nothing is known or nothing is left out.
    fn pages(
        &self,
        row_group: &RowGroupMetaData,
        group: usize,
        conjunct: &Predicate,
        column: &Column,
    ) -> Option<RowSelection> {
        let Source::Leaf(leaf) = column.source else {
            return None;
        };
        let metadata = self.footer.metadata();
        let locations = metadata
            .offset_index()?
            .get(group)?
            .get(leaf)?
            .page_locations();
        let index = metadata.column_index()?.get(group)?.get(leaf)?;
        let bounds = page_bounds(index, locations.len(), &column.data_type, self.floats)?;
        let total = usize::try_from(row_group.num_rows()).ok()?;
        let starts = locations
            .iter()
            .map(|location| usize::try_from(location.first_row_index).unwrap_or(total));
        let ends = starts.clone().skip(1).chain([total]);
        let mut kept = Vec::with_capacity(locations.len());
        let mut left_out = false;
        for ((start, end), bounds) in starts.zip(ends).zip(bounds) {
            let rows = i64::try_from(end.saturating_sub(start)).ok()?;
            if conjunct.may_match(&Part {
                rows,
                columns: vec![(column.name.as_str(), bounds)],
            }) {
                kept.push(start..end);
            } else {
                left_out = true;
            }
        }
        left_out.then(|| selection_of(kept.into_iter(), total))
    }
}

/// Statistics of some rows of the file.
struct Part<'a> {
    rows: i64,
    columns: Vec<(&'a str, Bounds)>,
}

impl StatsSource for Part<'_> {
    fn row_count(&self) -> i64 {
        self.rows
    }

    fn column(&self, _field: usize, name: &str) -> ColumnStat {
        let bounds = self
            .columns
            .iter()
            .find(|(column, _)| *column == name)
            .map(|(_, bounds)| bounds.clone());
        let Bounds { min, max, nulls } = bounds.unwrap_or(Bounds::UNKNOWN);
        ColumnStat {
            min,
            max,
            null_count: nulls,
        }
    }
}
