//! Columns out of picks: the values of a merged chunk.
//!
//! A chunk of a compaction is mostly long stretches of one big run, a chunk of a busy key range is single rows from
//! everywhere. Stretches are copied as ranges, single rows are interleaved, and a chunk that is one stretch is a
//! slice. The choice is made once per chunk, not per column.

use arrow_array::{Array, ArrayRef, make_array};
use arrow_data::transform::{Capacities, MutableArrayData};

use crate::error::{MergeError, Result};
use crate::sort_merge::{BatchSlot, PickRange};

/// Average length of a range from which copying ranges beats picking single rows.
const RANGE_ROWS: usize = 4;

/// How to gather the rows of one chunk from any column.
#[derive(Debug)]
pub struct GatherPlan {
    slots: Vec<BatchSlot>,
    /// By slot: rows that its columns have at least.
    needed: Vec<usize>,
    rows: usize,
    how: How,
}

#[derive(Debug)]
enum How {
    /// Nothing picked.
    Empty,
    /// One range of one batch.
    Slice(std::ops::Range<usize>),
    /// (source, rows) in order.
    Ranges(Vec<(usize, std::ops::Range<usize>)>),
    /// (source, row) in order.
    Rows(Vec<(usize, usize)>),
}

impl GatherPlan {
    /// Plans for these picks, usually [`MergedChunk::picks`](crate::MergedChunk::picks).
    pub fn new(picks: &[PickRange]) -> Self {
        let mut slots: Vec<BatchSlot> = picks.iter().map(|pick| pick.slot).collect();
        slots.sort_unstable();
        slots.dedup();
        let rows = picks.iter().map(|pick| pick.len as usize).sum();
        let source = |pick: &PickRange| slots.binary_search(&pick.slot).unwrap_or_default();
        let mut needed = vec![0; slots.len()];
        for pick in picks {
            if let Some(needed) = needed.get_mut(source(pick)) {
                *needed = pick.rows().end.max(*needed);
            }
        }
        let how = match picks {
            [] => How::Empty,
            [only] => How::Slice(only.rows()),
            _ if rows >= picks.len() * RANGE_ROWS => How::Ranges(
                picks
                    .iter()
                    .map(|pick| (source(pick), pick.rows()))
                    .collect(),
            ),
            _ => {
                let mut single = Vec::with_capacity(rows);
                for pick in picks {
                    let source = source(pick);
                    single.extend(pick.rows().map(|row| (source, row)));
                }
                How::Rows(single)
            }
        };
        Self {
            slots,
            needed,
            rows,
            how,
        }
    }

    /// The batches that rows come from, ascending: the order in which [`GatherPlan::gather`] takes their columns.
    pub fn slots(&self) -> &[BatchSlot] {
        &self.slots
    }

    /// Rows of the result.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// One column of the result out of this column of each batch, given as [`GatherPlan::slots`] lists them.
    ///
    /// All have the same type. `like` gives the type when nothing was picked.
    ///
    /// # Errors
    /// What Arrow refuses: columns of different types, or strings beyond 2 GiB in one chunk.
    pub fn gather(
        &self,
        columns: &[&dyn Array],
        like: &arrow_schema::DataType,
    ) -> Result<ArrayRef> {
        let long_enough = |(column, needed): (&&dyn Array, &usize)| column.len() >= *needed;
        if columns.len() != self.slots.len() || !columns.iter().zip(&self.needed).all(long_enough) {
            return Err(MergeError::LengthMismatch {
                part: "a column to gather",
                expected: self.needed.iter().copied().max().unwrap_or_default(),
                found: columns
                    .iter()
                    .map(|column| column.len())
                    .min()
                    .unwrap_or_default(),
            });
        }
        match (&self.how, columns) {
            (How::Empty, _) | (_, []) => Ok(arrow_array::new_empty_array(like)),
            (How::Slice(rows), [only, ..]) => Ok(only.slice(rows.start, rows.len())),
            (How::Ranges(ranges), [first, rest @ ..]) => {
                if let Some(other) = rest
                    .iter()
                    .find(|other| other.data_type() != first.data_type())
                {
                    let what = format!(
                        "cannot gather {} and {} into one column",
                        first.data_type(),
                        other.data_type()
                    );
                    return Err(arrow_schema::ArrowError::InvalidArgumentError(what).into());
                }
                let data: Vec<_> = columns.iter().map(|column| column.to_data()).collect();
                let capacity = Capacities::Array(self.rows);
                let mut out =
                    MutableArrayData::with_capacities(data.iter().collect(), false, capacity);
                for (source, rows) in ranges {
                    out.try_extend(*source, rows.start, rows.end)?;
                }
                Ok(make_array(out.freeze()))
            }
            (How::Rows(rows), _) => Ok(arrow_select::interleave::interleave(columns, rows)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Int32Array, StringArray};
    use arrow_schema::DataType;

    use super::*;

    fn pick(slot: u32, start: u32, len: u32) -> PickRange {
        PickRange { slot, start, len }
    }

    fn gather_text(picks: &[PickRange]) -> Vec<String> {
        let batches: Vec<ArrayRef> = ["a", "b", "c"]
            .iter()
            .map(|name| {
                Arc::new(StringArray::from_iter_values(
                    (0..20).map(|row| format!("{name}{row}")),
                )) as ArrayRef
            })
            .collect();
        let plan = GatherPlan::new(picks);
        let columns: Vec<&dyn Array> = plan
            .slots()
            .iter()
            .map(|slot| batches[*slot as usize].as_ref())
            .collect();
        let gathered = plan.gather(&columns, &DataType::Utf8).unwrap();
        assert_eq!(gathered.len(), plan.rows());
        let text = gathered.as_any().downcast_ref::<StringArray>().unwrap();
        text.iter().map(|value| value.unwrap().to_owned()).collect()
    }

    #[test]
    fn stretches_single_rows_and_slices_give_the_picked_rows() {
        assert_eq!(gather_text(&[]), Vec::<String>::new());
        assert_eq!(gather_text(&[pick(2, 3, 2)]), ["c3", "c4"]);
        assert_eq!(
            gather_text(&[pick(2, 3, 1), pick(0, 9, 1), pick(2, 4, 1)]),
            ["c3", "a9", "c4"]
        );
        let long = gather_text(&[pick(1, 0, 10), pick(0, 19, 1), pick(1, 10, 10)]);
        assert_eq!(
            (
                long.len(),
                long[9].as_str(),
                long[10].as_str(),
                long[20].as_str()
            ),
            (21, "b9", "a19", "b19")
        );
    }

    #[test]
    fn picks_beyond_a_column_and_mixed_types_are_refused() {
        let short: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
        let text: ArrayRef = Arc::new(StringArray::from(vec!["a"; 20]));
        for picks in [
            vec![pick(0, 1, 2)],
            vec![pick(0, 1, 9), pick(1, 0, 9)],
            vec![pick(0, 5, 1), pick(1, 0, 1)],
        ] {
            let plan = GatherPlan::new(&picks);
            let columns: Vec<&dyn Array> = plan.slots().iter().map(|_| short.as_ref()).collect();
            assert!(matches!(
                plan.gather(&columns, &DataType::Int32),
                Err(MergeError::LengthMismatch { .. })
            ));
        }
        for picks in [
            vec![pick(0, 0, 9), pick(1, 0, 9)],
            vec![pick(0, 0, 1), pick(1, 0, 1)],
        ] {
            let long: ArrayRef = Arc::new(Int32Array::from(vec![7; 20]));
            let plan = GatherPlan::new(&picks);
            assert!(matches!(
                plan.gather(&[&long, &text], &DataType::Int32),
                Err(MergeError::Arrow(_))
            ));
        }
    }
}
