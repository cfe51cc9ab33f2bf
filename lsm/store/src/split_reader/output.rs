//! Rows as the caller wants them, out of what was read.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Int8Array, RecordBatch, RecordBatchOptions};
use arrow_buffer::BooleanBuffer;
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
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
            Some(kept) => filter_record_batch(&batch, &BooleanArray::new(kept, None))?,
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
