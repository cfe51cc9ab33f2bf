//! Rows as the caller wants them, out of what was read.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Int8Array, RecordBatch, RecordBatchOptions, UInt32Array,
};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::filter::{FilterBuilder, filter_record_batch};
use arrow_select::take::take;
use tidewater_types::RowKind;

use super::columns::{ReadColumns, Source};
use crate::error::{Result, StoreError};

/// The shape of the answer.
#[derive(Debug)]
pub(super) struct RowOutput {
    /// The schema of every batch.
    pub(super) schema: SchemaRef,
    /// Whether rows of kind `-U` and `-D` are left out.
    pub(super) drop_retractions: bool,
}

impl RowOutput {
    /// The answer's columns of these rows, without those that `kept` leaves out; nothing if no row is left.
    pub(super) fn rows(
        &self,
        columns: &ReadColumns,
        read: &[ArrayRef],
        rows: usize,
        kept: Option<BooleanBuffer>,
    ) -> Result<Option<RecordBatch>> {
        let mut out = Vec::with_capacity(columns.output.len());
        for source in &columns.output {
            out.push(match source {
                Source::Inserts => {
                    let insert = RowKind::Insert.as_i8();
                    Arc::new(Int8Array::from_value(insert, rows)) as ArrayRef
                }
                Source::Read(index) => read.get(*index).cloned().ok_or(StoreError::Bug {
                    what: "a column that was asked for was not read",
                })?,
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), out, &options)?;
        let batch = match kept {
            Some(kept) => keep_rows(&batch, kept)?,
            None => batch,
        };
        Ok((batch.num_rows() > 0).then_some(batch))
    }

    /// The answer's columns of rows that meet no other version of their key.
    pub(super) fn unmerged_rows(
        &self,
        columns: &ReadColumns,
        batch: &RecordBatch,
    ) -> Result<Option<RecordBatch>> {
        let read = batch.columns();
        let kept = match columns.kinds(read) {
            Some(kinds) => adds(&kinds)?.filter(|_| self.drop_retractions),
            None => None,
        };
        self.rows(columns, read, batch.num_rows(), kept)
    }
}

/// The rows that are no retractions, unless all are.
fn adds(kinds: &Int8Array) -> Result<Option<BooleanBuffer>> {
    if kinds.null_count() > 0 {
        return Err(StoreError::NullKind);
    }
    let values = kinds.values();
    // One pass without branches: the union of the bits shows both a bad kind and a retraction.
    let union = values.iter().fold(0, |union, kind| union | kind);
    if union & !3 != 0 {
        let bad = values.iter().find(|kind| **kind & !3 != 0);
        return Err(StoreError::UnknownKind {
            found: bad.copied().unwrap_or(union),
        });
    }
    Ok((union & 1 == 1).then(|| values.iter().map(|kind| kind & 1 == 0).collect()))
}

/// Rows between two that are left out, on average, from which on rows are copied stretch by stretch whatever their type.
const LONG_STRETCH: usize = 32;

/// The rows whose bit is set.
///
/// Survivors of a merge come in short stretches, of which copying a few numbers each costs more than moving number by number.
fn keep_rows(batch: &RecordBatch, kept: BooleanBuffer) -> Result<RecordBatch> {
    let rows = kept.count_set_bits();
    let stretches = kept.set_slices().count();
    if rows >= stretches.saturating_mul(LONG_STRETCH) {
        return Ok(filter_record_batch(batch, &BooleanArray::new(kept, None))?);
    }
    let indexes = UInt32Array::from_iter_values(kept.set_indices_u32());
    let mask = BooleanArray::new(kept, None);
    let filter = FilterBuilder::new(&mask).optimize().build();
    let columns = batch.columns().iter().map(|column| {
        if column.data_type().is_primitive() {
            take(column, &indexes, None)
        } else {
            filter.filter(column)
        }
    });
    let columns: std::result::Result<Vec<ArrayRef>, ArrowError> = columns.collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(
        batch.schema(),
        columns?,
        &options,
    )?)
}

#[cfg(test)]
mod tests {
    use arrow_array::{Decimal128Array, types::Int32Type};
    use arrow_array::{ListArray, StringArray, TimestampMicrosecondArray};
    use arrow_schema::{Field, Schema};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever the types and however short the stretches.
        #[test]
        fn the_rows_whose_bit_is_set_are_kept(rows in prop::collection::vec((any::<Option<i32>>(), 0..4_u8), 1..300)) {
            let numbers = || rows.iter().map(|row| row.0);
            let columns: Vec<ArrayRef> = vec![
                Arc::new(numbers().map(|n| n.map(i128::from)).collect::<Decimal128Array>()),
                Arc::new(numbers().map(|n| n.map(i64::from)).collect::<TimestampMicrosecondArray>()),
                Arc::new(numbers().map(|n| n.map(|n| n.to_string())).collect::<StringArray>()),
                Arc::new(numbers().map(|n| n.map(|n| n > 0)).collect::<BooleanArray>()),
                Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(numbers().map(|n| n.map(|n| vec![Some(n), None])))),
            ];
            let fields = columns.iter().enumerate();
            let fields: Vec<Field> = fields.map(|(n, column)| Field::new(format!("c{n}"), column.data_type().clone(), true)).collect();
            let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
            let kept: BooleanBuffer = rows.iter().map(|row| row.1 > 0).collect();
            let expected = filter_record_batch(&batch, &BooleanArray::new(kept.clone(), None)).unwrap();
            prop_assert_eq!(keep_rows(&batch, kept).unwrap(), expected);
        }
    }
}
