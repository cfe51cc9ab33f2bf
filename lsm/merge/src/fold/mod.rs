//! Partial update and aggregation: all versions of a key become one row, column by column.
//!
//! ```text
//!  SortMerge (Versions::Groups), or sort_groups of a write buffer
//!      | whole groups, versions oldest first; the caller gathers the columns
//!      v
//!  kinds, sequence columns -> an op per version and set of columns        ops.rs, sequence_group.rs
//!      |
//!      v  per column: its function over the contested keys                ../aggregate/
//!  picks -> one take      values -> one interleave with the keys that have one version
//! ```
//!
//! A key with one version is its own result: no function is called for it, kind and values stay (spec 02b §4.3), unless
//! the caller is a lookup compaction and says so. There is always a result; a reader drops those of kind `-D` and `-U`.
//!
//! Source: spec 02b §4, §6.3, §6.4; Paimon `mergetree/compact/PartialUpdateMergeFunction.java`,
//! `aggregate/AggregateMergeFunction.java`.

mod ops;
mod plan;
mod sequence_group;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::ops::Range;

use arrow_array::{Array, ArrayRef, Int8Array, UInt32Array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_select::interleave::interleave;
use arrow_select::take::take;
use tidewater_format::TableSchema;
use tidewater_types::{Datum, KeyEncoder, text};

use crate::aggregate::{Contested, Failure, Fault, Folding, NO_ROW, Op};
use crate::engine::MergeEngine;
use crate::error::{MergeError, Result};
use crate::sort_merge::check_kinds;
use ops::{OpSets, Rules};
use plan::ColumnPlan;

/// Folds the versions of keys into rows, for tables whose [`MergeEngine::folds`].
///
/// Made once per table and set of columns, used for every chunk, by several threads if need be.
#[derive(Debug)]
pub struct FoldEngine {
    engine: MergeEngine,
    columns: Vec<ColumnPlan>,
    /// Positions in the schema, in the order of `columns`.
    positions: Vec<usize>,
    groups: Vec<SequenceGroup>,
    rules: Rules,
}

/// A sequence group: columns that are newer or older together.
#[derive(Debug)]
struct SequenceGroup {
    /// Its sequence columns, as positions in the engine's columns.
    columns: Vec<usize>,
    /// Whether each of them is NOT NULL.
    not_null: Vec<bool>,
    encoder: KeyEncoder,
    /// Whether a `-D` that is newer removes the row.
    removes: bool,
}

/// Versions of keys, as [`MergedChunk`](crate::MergedChunk) or [`sort_groups`](crate::sort_groups) order them.
#[derive(Debug, Clone, Copy)]
pub struct GroupedRows<'a> {
    /// A bit per row, set at the last version of each key.
    pub group_ends: &'a BooleanBuffer,
    /// `_VALUE_KIND`; `None` if every row is `+I`.
    pub kinds: Option<&'a Int8Array>,
    /// The columns that [`FoldEngine::columns`] lists, in its order and in their canonical Arrow types.
    pub columns: &'a [ArrayRef],
    /// Whether the functions are called for keys with one version too: true in lookup compactions (spec 02b §5.1).
    pub always_call: bool,
}

/// One row per key.
#[derive(Debug)]
pub struct Folded {
    /// The columns, as they came in.
    pub columns: Vec<ArrayRef>,
    /// Row kinds; `None` if every row is `+I`.
    pub kinds: Option<Int8Array>,
    /// For each key the row of the input whose `_SEQUENCE_NUMBER` the result has (spec 02b §4.6).
    pub sequence_rows: UInt32Array,
    /// Totals that left the range of their column and wrapped, because an option lets them: one per key and column.
    pub wraps: u64,
}

impl FoldEngine {
    /// An engine for all columns of the table.
    ///
    /// # Errors
    /// [`MergeError::Unsupported`] for a merge engine that picks, or options of later versions;
    /// [`MergeError::WrongType`] and [`MergeError::BadOption`] for options that do not fit the columns.
    pub fn new(schema: &TableSchema) -> Result<Self> {
        let all: Vec<usize> = (0..schema.fields.len()).collect();
        Self::for_columns(schema, &all)
    }

    /// An engine for some columns, given by their positions in the schema.
    ///
    /// [`FoldEngine::columns`] begins with these, in this order, and goes on with the ones that are needed besides: the
    /// sequence columns of their groups, and those of groups that can remove the row.
    ///
    /// # Errors
    /// As [`FoldEngine::new`], and [`MergeError::BadOption`] for positions that the schema does not have.
    pub fn for_columns(schema: &TableSchema, columns: &[usize]) -> Result<Self> {
        plan::build(schema, columns)
    }

    /// Positions in the schema of the columns to hand in; see [`FoldEngine::for_columns`].
    pub fn columns(&self) -> &[usize] {
        &self.positions
    }

    /// Folds a chunk of whole groups.
    ///
    /// # Errors
    /// Parts of different length, bad kinds, retractions that the engine or a function refuses, totals beyond the range
    /// of their column, nulls for NOT NULL columns, bytes that are no bitmap or sketch: each names column and key.
    pub fn fold(&self, rows: GroupedRows<'_>) -> Result<Folded> {
        self.check(rows)?;
        let count = rows.group_ends.len();
        if !rows.always_call && rows.group_ends.count_set_bits() == count {
            return Ok(Folded {
                columns: rows.columns.to_vec(),
                kinds: rows.kinds.cloned(),
                sequence_rows: UInt32Array::from_iter_values((0..NO_ROW).take(count)),
                wraps: 0,
            });
        }
        let keys = keys_of(rows.group_ends);
        let contested: Vec<Range<usize>> = keys
            .iter()
            .filter(|key| key.len() > 1 || rows.always_call)
            .cloned()
            .collect();
        let sets = OpSets::build(self, rows, &contested)?;
        let layout = Layout::new(&keys, rows.always_call);
        let mut columns = Vec::with_capacity(self.columns.len());
        let mut wraps = 0;
        for (plan, column) in self.columns.iter().zip(rows.columns) {
            let contested = Contested {
                keys: &contested,
                ops: sets.of(plan.set),
                sequence: sets.sequence(plan.set),
            };
            let folding = plan.function.fold(column, contested, plan.rules);
            let folding = folding.map_err(|failure| self.explain(plan, failure, rows.columns))?;
            if let Folding::Values { wraps: more, .. } = &folding {
                wraps += *more;
            }
            let folded = layout.assemble(column, folding)?;
            if plan.rules.not_null
                && let Some(nulls) = folded.nulls()
                && let Some(key) = (0..nulls.len()).find(|key| nulls.is_null(*key))
            {
                let row = keys.get(key).map_or(0, |key| key.start);
                let failure = Failure::At(row, Fault::Null);
                return Err(self.explain(plan, failure, rows.columns));
            }
            columns.push(folded);
        }
        Ok(Folded {
            columns,
            kinds: layout.kinds(rows.kinds, &sets),
            sequence_rows: layout.sequence_rows(&sets),
            wraps,
        })
    }

    /// Checks the parts against each other.
    fn check(&self, rows: GroupedRows<'_>) -> Result<()> {
        let count = rows.group_ends.len();
        if rows.columns.len() != self.columns.len() {
            return Err(MergeError::LengthMismatch {
                part: "the columns",
                expected: self.columns.len(),
                found: rows.columns.len(),
            });
        }
        if count >= NO_ROW as usize {
            return Err(MergeError::TooLarge {
                what: "rows to fold",
                found: count,
                limit: NO_ROW as usize - 1,
            });
        }
        let lengths = rows.columns.iter().map(|column| ("a column", column.len()));
        let kinds = rows.kinds.map(|kinds| ("kinds", kinds.len()));
        for (part, found) in lengths.chain(kinds) {
            if found != count {
                return Err(MergeError::LengthMismatch {
                    part,
                    expected: count,
                    found,
                });
            }
        }
        if let Some(kinds) = rows.kinds {
            if kinds.null_count() > 0 {
                return Err(MergeError::NullSystemColumn {
                    column: "_VALUE_KIND",
                    run: 0,
                });
            }
            check_kinds(kinds.values())?;
        }
        if count > 0 && !rows.group_ends.value(count - 1) {
            return Err(MergeError::LengthMismatch {
                part: "the last group",
                expected: count,
                found: rows
                    .group_ends
                    .set_indices()
                    .last()
                    .map_or(0, |row| row + 1),
            });
        }
        Ok(())
    }

    /// What went wrong, with the names of column and key.
    fn explain(&self, plan: &ColumnPlan, failure: Failure, columns: &[ArrayRef]) -> MergeError {
        let (row, fault) = match failure {
            Failure::At(row, fault) => (row, fault),
            Failure::Arrow(error) => return error.into(),
            Failure::Type => {
                return MergeError::WrongType {
                    column: plan.name.clone(),
                    function: plan.function.name(),
                    expected: "the canonical Arrow type of its column",
                    found: plan.data_type.to_string(),
                };
            }
        };
        let column = plan.name.clone();
        let function = plan.function.name();
        let key = self.key_text(columns, row);
        match fault {
            Fault::Retract => MergeError::RetractUnsupported {
                column,
                function,
                key,
            },
            Fault::Overflow => MergeError::Overflow {
                column,
                function,
                key,
            },
            Fault::DivisionByZero => MergeError::DivisionByZero { column, key },
            Fault::EndlessQuotient => MergeError::EndlessQuotient { column, key },
            Fault::Null => MergeError::NullInNotNull { column, key },
            Fault::TooLong => MergeError::BadValue {
                column,
                what: "value that fits into a chunk",
                key,
                problem: "it is beyond 2 GiB".to_owned(),
            },
            Fault::Bytes { what, problem } => MergeError::BadValue {
                column,
                what,
                key,
                problem,
            },
        }
    }

    /// The key of a row as far as its columns are read, as `k=1, l=a`.
    fn key_text(&self, columns: &[ArrayRef], row: usize) -> String {
        let mut parts = Vec::new();
        for (plan, column) in self.columns.iter().zip(columns) {
            if plan.is_key
                && let Ok(datum) = Datum::from_array(column, row, &plan.data_type)
            {
                let value = text::format_datum(&datum, &plan.data_type);
                parts.push(format!("{}={value}", plan.name));
            }
        }
        if parts.is_empty() {
            "not read".to_owned()
        } else {
            parts.join(", ")
        }
    }
}

/// The rows of each key.
fn keys_of(group_ends: &BooleanBuffer) -> Vec<Range<usize>> {
    let mut keys = Vec::with_capacity(group_ends.count_set_bits());
    let mut start = 0;
    for last in group_ends.set_indices() {
        keys.push(start..last + 1);
        start = last + 1;
    }
    keys
}

/// Where the results of the contested keys lie among those of all keys.
struct Layout {
    /// The row of each key that has one version; anything for contested keys.
    rows: Vec<u32>,
    /// The contested keys, ascending.
    contested: Vec<usize>,
    /// (0, row) of keys that have one version, (1, number) of contested ones; made when a column needs it.
    places: OnceCell<Vec<(usize, usize)>>,
}

impl Layout {
    fn new(keys: &[Range<usize>], always_call: bool) -> Self {
        let contested = keys
            .iter()
            .enumerate()
            .filter(|(_, key)| key.len() > 1 || always_call)
            .map(|(at, _)| at)
            .collect();
        // Rows were counted in `check`.
        let row = |key: &Range<usize>| u32::try_from(key.start).unwrap_or(NO_ROW);
        Self {
            rows: keys.iter().map(row).collect(),
            contested,
            places: OnceCell::new(),
        }
    }

    /// All results of a column.
    fn assemble(&self, column: &ArrayRef, folding: Folding) -> Result<ArrayRef> {
        match folding {
            Folding::Picks(picks) => {
                let mut rows = self.with_contested(&picks);
                let nulls = picks.contains(&NO_ROW).then(|| {
                    let valid = BooleanBuffer::collect_bool(rows.len(), |at| {
                        rows.get(at).is_some_and(|row| *row != NO_ROW)
                    });
                    rows.iter_mut()
                        .filter(|row| **row == NO_ROW)
                        .for_each(|row| *row = 0);
                    NullBuffer::new(valid)
                });
                let rows = UInt32Array::new(rows.into(), nulls);
                Ok(take(column, &rows, None)?)
            }
            Folding::Values { values, .. } => {
                if self.contested.len() == self.rows.len() {
                    return Ok(values);
                }
                let places = self.places.get_or_init(|| self.places());
                Ok(interleave(&[column.as_ref(), values.as_ref()], places)?)
            }
        }
    }

    fn places(&self) -> Vec<(usize, usize)> {
        let mut places: Vec<(usize, usize)> =
            self.rows.iter().map(|row| (0, *row as usize)).collect();
        for (at, key) in self.contested.iter().enumerate() {
            if let Some(place) = places.get_mut(*key) {
                *place = (1, at);
            }
        }
        places
    }

    /// A row per key: those of the contested keys are given.
    fn with_contested(&self, contested: &[u32]) -> Vec<u32> {
        let mut rows = self.rows.clone();
        for (key, row) in self.contested.iter().zip(contested) {
            if let Some(place) = rows.get_mut(*key) {
                *place = *row;
            }
        }
        rows
    }

    fn kinds(&self, kinds: Option<&Int8Array>, sets: &OpSets) -> Option<Int8Array> {
        let kinds = kinds?;
        let mut folded: Vec<i8> = self
            .rows
            .iter()
            .map(|row| {
                kinds
                    .values()
                    .get(*row as usize)
                    .copied()
                    .unwrap_or_default()
            })
            .collect();
        for (key, kind) in self.contested.iter().zip(sets.kinds()) {
            if let Some(place) = folded.get_mut(*key) {
                *place = *kind;
            }
        }
        folded
            .iter()
            .any(|kind| *kind != 0)
            .then(|| Int8Array::from(folded))
    }

    fn sequence_rows(&self, sets: &OpSets) -> UInt32Array {
        UInt32Array::from(self.with_contested(sets.sequence_rows()))
    }
}

/// The number of the set of columns that stand outside sequence groups.
const PLAIN_SET: usize = 0;

/// No op yet.
const NO_OP: Op = Op::Skip;
