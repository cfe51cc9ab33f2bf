//! Buffered rows, sorted and folded, and read out in chunks.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int8Array, Int64Array, RecordBatch, UInt32Array};
use arrow_buffer::BooleanBuffer;
use arrow_select::concat::concat;
use arrow_select::interleave::interleave;
use arrow_select::take::take;
use tidewater_merge::{FoldInput, FoldedRows, sort_fold, sort_groups};
use tidewater_types::RowKind;

use super::{Buffered, WriteBufferOptions};
use crate::error::{Result, StoreError};
use crate::key_value::KeyValueLayout;

/// The rows of a buffer in key order. Values are gathered only as chunks are asked for.
#[derive(Debug)]
pub(crate) struct SortedRows {
    layout: Arc<KeyValueLayout>,
    batches: Vec<Buffered>,
    /// Number of the first row of each batch, over all batches.
    starts: Vec<u32>,
    folded: FoldedRows,
    /// A bit per row in order, set at the last version of each key; only for engines that fold.
    group_ends: Option<BooleanBuffer>,
}

/// Which rows of a sorted buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// One per key.
    Winners,
    /// Every row; only if the sort kept them.
    Everything,
}

impl SortedRows {
    /// Sorts by key, then sequence fields, then arrival, and folds equal keys. CPU work.
    pub(crate) fn sort(
        layout: Arc<KeyValueLayout>,
        batches: Vec<Buffered>,
        options: &WriteBufferOptions,
    ) -> Result<Self> {
        let mut starts = Vec::with_capacity(batches.len());
        let mut rows = 0_u32;
        for batch in &batches {
            starts.push(rows);
            rows = u32::try_from(batch.values.num_rows())
                .ok()
                .and_then(|more| rows.checked_add(more))
                .ok_or(StoreError::TooManyRows {
                    limit: u32::MAX as usize,
                })?;
        }
        let whole = |columns: &[usize]| -> Result<Vec<ArrayRef>> {
            let width = layout.value_schema().fields().len();
            let mut out: Vec<ArrayRef> = layout
                .value_schema()
                .fields()
                .iter()
                .map(|field| arrow_array::new_empty_array(field.data_type()))
                .collect();
            for column in columns {
                let parts = batches
                    .iter()
                    .map(|batch| {
                        batch
                            .values
                            .columns()
                            .get(*column)
                            .map(AsRef::as_ref)
                            .ok_or(StoreError::ColumnCount {
                                expected: width,
                                found: batch.values.num_columns(),
                            })
                    })
                    .collect::<Result<Vec<&dyn Array>>>()?;
                if let (Some(slot), false) = (out.get_mut(*column), parts.is_empty()) {
                    *slot = concat(&parts)?;
                }
            }
            Ok(out)
        };
        let keys = layout.encode_keys(&whole(layout.key_columns())?)?;
        let versions = match layout.version_columns() {
            [] => None,
            columns => layout.encode_versions(&whole(columns)?)?,
        };
        let kinds = all_kinds(&batches, rows as usize)?;
        let input = FoldInput {
            keys: &keys,
            seq_fields: versions.as_ref(),
            kinds: kinds.as_ref(),
        };
        let (folded, group_ends) = if options.fold.is_some() {
            let groups = sort_groups(input)?;
            let every = FoldedRows {
                order: Some(groups.order),
                winners: Vec::new(),
            };
            (every, Some(groups.group_ends))
        } else {
            (sort_fold(input, options.engine, options.keep_input)?, None)
        };
        Ok(Self {
            layout,
            batches,
            starts,
            folded,
            group_ends,
        })
    }

    /// How its rows lie in a file.
    pub(crate) fn layout(&self) -> &KeyValueLayout {
        &self.layout
    }

    /// How many rows there are of this kind.
    pub(crate) fn len(&self, wanted: Wanted) -> usize {
        self.rows(wanted).len()
    }

    /// Rows `from..from + len` in key order, as a data file holds them; fewer at the end.
    pub(crate) fn chunk(&self, wanted: Wanted, from: usize, len: usize) -> Result<RecordBatch> {
        let rows = self.rows(wanted);
        let end = from.saturating_add(len).min(rows.len());
        let rows = rows.get(from.min(end)..end).unwrap_or_default();
        let mut at = Vec::with_capacity(rows.len());
        let mut sequence = Vec::with_capacity(rows.len());
        let mut kinds = Vec::with_capacity(rows.len());
        for row in rows {
            let batch = self
                .starts
                .partition_point(|start| start <= row)
                .saturating_sub(1);
            let (Some(buffered), Some(start)) = (self.batches.get(batch), self.starts.get(batch))
            else {
                continue;
            };
            let inside = (row - start) as usize;
            at.push((batch, inside));
            sequence.push(buffered.first_sequence + i64::from(row - start));
            kinds.push(
                buffered
                    .kinds
                    .as_ref()
                    .map_or(RowKind::Insert.as_i8(), |kinds| kinds.value(inside)),
            );
        }
        // Of one batch, rows are numbered as the buffer numbers them.
        let inside = UInt32Array::from(rows.to_vec());
        let width = self.layout.value_schema().fields().len();
        let mut values: Vec<ArrayRef> = Vec::with_capacity(width);
        for (column, field) in self.layout.value_schema().fields().iter().enumerate() {
            let parts: Vec<&dyn Array> = self
                .batches
                .iter()
                .filter_map(|batch| batch.values.columns().get(column).map(AsRef::as_ref))
                .collect();
            values.push(match parts.as_slice() {
                _ if at.is_empty() => arrow_array::new_empty_array(field.data_type()),
                [only] => take(*only, &inside, None)?,
                parts => interleave(parts, &at)?,
            });
        }
        self.layout
            .file_batch(&values, Int64Array::from(sequence), Int8Array::from(kinds))
    }

    /// All versions of about `len` rows from `from` on, whole keys, with a bit at the last version of each; only for engines that fold.
    pub(crate) fn group_chunk(
        &self,
        from: usize,
        len: usize,
    ) -> Result<(RecordBatch, BooleanBuffer)> {
        let group_ends = self.group_ends.as_ref().ok_or(StoreError::Bug {
            what: "groups of a buffer that picks",
        })?;
        let rows = group_ends.len();
        let least = from.saturating_add(len.max(1)).min(rows);
        // On to the end of the key that the last row belongs to.
        let mut end = least;
        while end > 0 && end < rows && !group_ends.value(end - 1) {
            end += 1;
        }
        let count = end.saturating_sub(from);
        let chunk = self.chunk(Wanted::Everything, from, count)?;
        Ok((chunk, group_ends.slice(from.min(rows), count)))
    }

    fn rows(&self, wanted: Wanted) -> &[u32] {
        match wanted {
            Wanted::Winners => &self.folded.winners,
            Wanted::Everything => self.folded.order.as_deref().unwrap_or_default(),
        }
    }
}

/// The kinds of all rows; `None` if no batch brought any.
fn all_kinds(batches: &[Buffered], rows: usize) -> Result<Option<Int8Array>> {
    if batches.iter().all(|batch| batch.kinds.is_none()) {
        return Ok(None);
    }
    let mut all = Vec::with_capacity(rows);
    for batch in batches {
        match &batch.kinds {
            Some(kinds) if kinds.null_count() > 0 => return Err(StoreError::NullKind),
            Some(kinds) => all.extend_from_slice(kinds.values()),
            None => all.resize(all.len() + batch.values.num_rows(), RowKind::Insert.as_i8()),
        }
    }
    Ok(Some(Int8Array::from(all)))
}
