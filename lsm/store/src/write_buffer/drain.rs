//! A write buffer being emptied: memory alone, or memory merged with what was spilled.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Int8Array, RecordBatch};
use arrow_select::filter::filter_record_batch;
use tidewater_io::{CpuPool, Reservation};
use tidewater_merge::{
    BatchSlot, GatherPlan, MergeBatch, MergeMode, MergeOptions, MergedChunk, SortMerge, Step,
    Versions,
};

use super::sorted::{SortedRows, Wanted};
use super::spill::{SpilledReader, SpilledRun};
use super::{Buffered, WriteBufferOptions};
use crate::error::{Result, StoreError};
use crate::folding::fold_file_rows;
use crate::key_value::KeyValueLayout;

/// Some rows that leave the buffer, as data files hold them, in key order.
#[derive(Debug, Default)]
pub struct DrainChunk {
    /// One row per key: for level 0.
    pub data: Option<RecordBatch>,
    /// Every row with its kind: for the changelog of `changelog-producer=input`.
    pub changelog: Option<RecordBatch>,
}

/// Hands out a buffer's rows chunk by chunk. Data and changelog each come in key order; they need not go in step.
pub struct Drained {
    state: Option<Box<State>>,
}

struct State {
    source: Source,
    /// Held until the last chunk: the rows are alive that long.
    _memory: Vec<Reservation>,
}

enum Source {
    Memory {
        rows: SortedRows,
        data_at: usize,
        changelog_at: usize,
        options: WriteBufferOptions,
    },
    Merge(Box<Merge>),
}

impl Drained {
    /// Sorts what is in memory; CPU work.
    pub(super) fn new(
        layout: Arc<KeyValueLayout>,
        options: WriteBufferOptions,
        batches: Vec<Buffered>,
        spilled: Vec<SpilledRun>,
        memory: Vec<Reservation>,
    ) -> Result<Self> {
        let rows = SortedRows::sort(Arc::clone(&layout), batches, &options)?;
        let source = if spilled.is_empty() {
            Source::Memory {
                rows,
                data_at: 0,
                changelog_at: 0,
                options,
            }
        } else {
            Source::Merge(Box::new(Merge::new(layout, options, rows, spilled)?))
        };
        Ok(Self {
            state: Some(Box::new(State {
                source,
                _memory: memory,
            })),
        })
    }

    /// The next rows, `None` at the end. Dropping the future in between ends the drain: the next call fails.
    pub async fn next(&mut self, cpu: &CpuPool) -> Result<Option<DrainChunk>> {
        let mut state = self.state.take().ok_or(StoreError::DrainCancelled)?;
        let (state, chunk) = cpu
            .run(move || {
                let chunk = state.source.next();
                (state, chunk)
            })
            .await?;
        self.state = Some(state);
        chunk
    }
}

impl Source {
    fn next(&mut self) -> Result<Option<DrainChunk>> {
        match self {
            Self::Merge(merge) => merge.next(),
            Self::Memory {
                rows,
                data_at,
                changelog_at,
                options,
            } => {
                if let Some(fold) = &options.fold {
                    if *data_at >= rows.len(Wanted::Everything) {
                        return Ok(None);
                    }
                    let (versions, group_ends) = rows.group_chunk(*data_at, options.chunk_rows)?;
                    *data_at += versions.num_rows();
                    let data = fold_file_rows(rows.layout(), fold, &versions, &group_ends)?;
                    return Ok(Some(DrainChunk {
                        data: Some(data),
                        changelog: options.keep_input.then_some(versions),
                    }));
                }
                let part = |wanted, at: &mut usize| -> Result<Option<RecordBatch>> {
                    if *at >= rows.len(wanted) {
                        return Ok(None);
                    }
                    let chunk = rows.chunk(wanted, *at, options.chunk_rows)?;
                    *at += chunk.num_rows();
                    Ok(Some(chunk))
                };
                let data = part(Wanted::Winners, data_at)?;
                let changelog = if options.keep_input {
                    part(Wanted::Everything, changelog_at)?
                } else {
                    None
                };
                Ok((data.is_some() || changelog.is_some())
                    .then_some(DrainChunk { data, changelog }))
            }
        }
    }
}

/// Where a run of the merge comes from. Run 0 is memory, then spilled runs, youngest first.
enum Run {
    Memory { rows: Box<SortedRows>, at: usize },
    Disk(Box<SpilledReader>),
}

struct Merge {
    layout: Arc<KeyValueLayout>,
    options: WriteBufferOptions,
    runs: Vec<Run>,
    merge: SortMerge,
    /// Batches that picks may still name.
    held: HashMap<BatchSlot, RecordBatch>,
}

impl Merge {
    fn new(
        layout: Arc<KeyValueLayout>,
        options: WriteBufferOptions,
        rows: SortedRows,
        spilled: Vec<SpilledRun>,
    ) -> Result<Self> {
        let wanted = options.wanted();
        let mut expected = vec![rows.len(wanted) as u64];
        let mut runs = vec![Run::Memory {
            rows: Box::new(rows),
            at: 0,
        }];
        for run in spilled.into_iter().rev() {
            expected.push(run.rows());
            runs.push(Run::Disk(Box::new(run.open(Arc::clone(&layout))?)));
        }
        let versions = match (&options.fold, options.keep_input) {
            (Some(_), _) => Versions::Groups,
            (None, true) => Versions::All,
            (None, false) => Versions::Winners,
        };
        let merge = SortMerge::new(
            &expected,
            MergeOptions {
                engine: options.engine,
                mode: MergeMode::Picks {
                    chunk_rows: options.chunk_rows,
                    versions,
                },
                drop_retractions: false,
            },
        )?;
        Ok(Self {
            layout,
            options,
            runs,
            merge,
            held: HashMap::new(),
        })
    }

    fn next(&mut self) -> Result<Option<DrainChunk>> {
        loop {
            match self.merge.step() {
                Step::Done => return Ok(None),
                Step::NeedInput(run) => self.feed(run)?,
                Step::Output(chunk) => {
                    let out = self.gather(&chunk)?;
                    for slot in &chunk.released {
                        self.held.remove(slot);
                    }
                    if let Some(out) = out {
                        return Ok(Some(out));
                    }
                }
                Step::Mask(_) => {
                    return Err(StoreError::Bug {
                        what: "a merge of picks answered with a mask",
                    });
                }
            }
        }
    }

    fn feed(&mut self, run: usize) -> Result<()> {
        let wanted = self.options.wanted();
        let next = match self.runs.get_mut(run) {
            None => None,
            Some(Run::Disk(reader)) => reader.next()?,
            Some(Run::Memory { rows, at }) => {
                let chunk = rows.chunk(wanted, *at, self.options.chunk_rows)?;
                *at += chunk.num_rows();
                (chunk.num_rows() > 0).then_some(chunk)
            }
        };
        let Some(batch) = next else {
            self.merge.finish_run(run)?;
            return Ok(());
        };
        let values = batch
            .columns()
            .get(self.layout.values_at()..)
            .unwrap_or_default();
        let kinds = batch
            .columns()
            .get(self.layout.values_at().saturating_sub(1))
            .and_then(|column| column.as_any().downcast_ref::<Int8Array>())
            .cloned();
        let input = MergeBatch {
            keys: self.layout.encode_keys(values)?,
            // A younger run is newer in every row.
            sequence: None,
            seq_fields: self.layout.encode_versions(values)?,
            kinds,
            rows: batch.num_rows(),
        };
        let slot = self.merge.push(run, input)?;
        self.held.insert(slot, batch);
        Ok(())
    }

    fn gather(&self, chunk: &MergedChunk) -> Result<Option<DrainChunk>> {
        if chunk.rows == 0 {
            return Ok(None);
        }
        let plan = GatherPlan::new(&chunk.picks);
        let schema = self.layout.file_schema();
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
        for (index, field) in schema.fields().iter().enumerate() {
            let mut parts: Vec<&dyn Array> = Vec::with_capacity(plan.slots().len());
            for slot in plan.slots() {
                let column = self
                    .held
                    .get(slot)
                    .and_then(|batch| batch.columns().get(index));
                parts.push(column.map(AsRef::as_ref).ok_or(StoreError::Bug {
                    what: "a pick names a batch that is gone",
                })?);
            }
            columns.push(plan.gather(&parts, field.data_type())?);
        }
        let rows = RecordBatch::try_new(Arc::clone(schema), columns)?;
        if let (Some(fold), Some(group_ends)) = (&self.options.fold, &chunk.group_ends) {
            return Ok(Some(DrainChunk {
                data: Some(fold_file_rows(&self.layout, fold, &rows, group_ends)?),
                changelog: self.options.keep_input.then_some(rows),
            }));
        }
        Ok(Some(match &chunk.winners {
            None => DrainChunk {
                data: Some(rows),
                changelog: None,
            },
            Some(winners) => {
                let data = filter_record_batch(&rows, &BooleanArray::new(winners.clone(), None))?;
                DrainChunk {
                    data: Some(data),
                    changelog: Some(rows),
                }
            }
        }))
    }
}
