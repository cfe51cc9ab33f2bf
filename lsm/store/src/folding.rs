//! Rows of data files, several versions of a key among them, folded into one row per key.
//!
//! Source: spec 02b §4.2 to §4.6.

use arrow_array::{Array, Int8Array, Int64Array, RecordBatch};
use arrow_buffer::BooleanBuffer;
use arrow_select::take::take;
use tidewater_format::TableSchema;
use tidewater_merge::{FoldEngine, GroupedRows, MergeEngine};
use tidewater_types::RowKind;

use crate::error::{Result, StoreError};
use crate::key_value::KeyValueLayout;

/// What folds all columns of the table, if its engine folds.
///
/// # Errors
/// Options that do not fit the columns.
pub(crate) fn fold_engine(engine: MergeEngine, schema: &TableSchema) -> Result<Option<FoldEngine>> {
    Ok(if engine.folds() {
        Some(FoldEngine::new(schema)?)
    } else {
        None
    })
}

/// One row per key of `rows`, which lie as in a data file and are whole groups of versions, oldest first; `group_ends` has a bit at the last
/// version of each key. Retractions stay.
///
/// # Errors
/// What a merge function refuses, with column and key.
pub(crate) fn fold_file_rows(
    layout: &KeyValueLayout,
    fold: &FoldEngine,
    rows: &RecordBatch,
    group_ends: &BooleanBuffer,
) -> Result<RecordBatch> {
    if group_ends.count_set_bits() == rows.num_rows() {
        return Ok(rows.clone());
    }
    let first = layout.values_at();
    let column = |back: usize| {
        first
            .checked_sub(back)
            .and_then(|at| rows.columns().get(at))
    };
    let system = || StoreError::Bug {
        what: "rows of a data file without system columns",
    };
    let kinds = column(1).and_then(|kinds| kinds.as_any().downcast_ref::<Int8Array>());
    let sequence = column(2).ok_or_else(system)?;
    let folded = fold.fold(GroupedRows {
        group_ends,
        kinds: Some(kinds.ok_or_else(system)?),
        columns: rows.columns().get(first..).unwrap_or_default(),
        always_call: false,
    })?;
    note_wraps(folded.wraps);
    let sequence = take(sequence, &folded.sequence_rows, None)?;
    let sequence = sequence.as_any().downcast_ref::<Int64Array>();
    layout.file_batch(
        &folded.columns,
        sequence.ok_or_else(system)?.clone(),
        kinds_or_inserts(folded.kinds, folded.sequence_rows.len()),
    )
}

/// The kinds of folded rows as a column.
pub(crate) fn kinds_or_inserts(kinds: Option<Int8Array>, rows: usize) -> Int8Array {
    kinds.unwrap_or_else(|| Int8Array::from_value(RowKind::Insert.as_i8(), rows))
}

/// Tells of totals that wrapped because the table lets them.
pub(crate) fn note_wraps(wraps: u64) {
    if wraps > 0 {
        tracing::warn!(
            wraps,
            "totals left the range of their columns and wrapped, as fail-on-overflow=false allows"
        );
    }
}
