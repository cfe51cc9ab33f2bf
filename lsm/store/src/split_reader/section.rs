//! The merge of one section: files fetch and decode by themselves, what is compared is compared on the pool.
//!
//! ```text
//!  feed of run 0 --batch--\                                      /--> masks: rows of each batch that survive
//!  feed of run 1 --batch---> Worker::go (one job of the pool) --<
//!  feed of run k --batch--/        '- wants input of some runs   '--> picks: rows in key order
//! ```
//!
//! Source: spec 02b §4; Paimon `operation/MergeFileSplitRead.java`, `mergetree/MergeTreeReaders.java`.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::BooleanBuffer;
use futures::future::try_join_all;
use tidewater_io::CpuPool;
use tidewater_merge::{
    BatchMask, BatchSlot, FoldEngine, GatherPlan, GroupedRows, MergeBatch, MergeEngine, MergeMode,
    MergeOptions, MergedChunk, SortMerge, Step, Survivors,
};
use tidewater_types::Predicate;

use super::columns::ReadColumns;
use super::feed::{FileFeed, ReadBatch};
use super::output::RowOutput;
use crate::error::{Result, StoreError};
use crate::folding::note_wraps;
use crate::key_value::KeyValueLayout;

/// How the sections of a stream are merged.
#[derive(Debug)]
pub(super) struct MergeRules {
    pub(super) layout: Arc<KeyValueLayout>,
    pub(super) engine: MergeEngine,
    pub(super) mode: MergeMode,
    /// What folds versions, where the engine does; they are then picked as whole groups.
    pub(super) fold: Option<FoldEngine>,
    /// Whether a version above level 0 holds all that deeper ones do, so that only the newest such one is folded (spec 02b §4.4).
    pub(super) levels_are_complete: bool,
    /// What merged rows must match; only with masks and folds.
    pub(super) filter: Option<Predicate>,
}

/// A running merge of one section.
pub(super) struct SectionMerge {
    cpu: CpuPool,
    feeds: Vec<FileFeed>,
    /// Gone when the merge is over.
    worker: Option<Box<Worker>>,
    ready: VecDeque<RecordBatch>,
}

impl SectionMerge {
    /// A merge of runs, newest first as far as that is known.
    pub(super) fn start(
        cpu: CpuPool,
        rules: Arc<MergeRules>,
        output: Arc<RowOutput>,
        feeds: Vec<FileFeed>,
        expected_rows: &[u64],
    ) -> Result<Self> {
        let options = MergeOptions {
            engine: rules.engine,
            mode: rules.mode,
            drop_retractions: output.drop_retractions,
        };
        let worker = Worker {
            merge: SortMerge::new(expected_rows, options)?,
            rules,
            output,
            held: HashMap::new(),
        };
        Ok(Self {
            cpu,
            feeds,
            worker: Some(Box::new(worker)),
            ready: VecDeque::new(),
        })
    }

    /// The next rows; none at the end. Not to be called again once dropped in the middle.
    pub(super) async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            let Some(mut worker) = self.worker.take() else {
                return Ok(None);
            };
            let hungry = worker.merge.hungry_runs();
            let fed = self.feeds.iter_mut().enumerate();
            let fed = fed.filter(|(run, _)| hungry.contains(run));
            let fed = fed.map(|(run, feed)| async move {
                let mut batches = vec![(run, feed.next().await?)];
                // What is decoded already goes along: every job costs two changes of thread.
                let ready = std::iter::from_fn(|| feed.take_ready());
                batches.extend(ready.map(|batch| (run, Some(batch))));
                Ok::<_, StoreError>(batches)
            });
            let input: Vec<_> = try_join_all(fed).await?.into_iter().flatten().collect();
            let job = move || {
                let progress = worker.go(input);
                (worker, progress)
            };
            let (worker, progress) = self.cpu.run(job).await?;
            let Progress { batches, over } = progress?;
            self.ready = batches;
            if !over {
                self.worker = Some(worker);
            }
        }
    }
}

/// What one job came to.
struct Progress {
    batches: VecDeque<RecordBatch>,
    over: bool,
}

/// The part of a merge that computes.
struct Worker {
    rules: Arc<MergeRules>,
    output: Arc<RowOutput>,
    merge: SortMerge,
    /// Batches whose rows are not decided yet, or not gathered.
    held: HashMap<BatchSlot, ReadBatch>,
}

impl Worker {
    /// Takes the next batches of some runs, none for a run that is over, and goes on until more is wanted.
    fn go(&mut self, input: Vec<(usize, Option<ReadBatch>)>) -> Result<Progress> {
        for (run, batch) in input {
            match batch {
                Some(batch) => self.push(run, batch)?,
                None => self.merge.finish_run(run)?,
            }
        }
        let mut batches = VecDeque::new();
        let over = loop {
            let rows = match self.merge.step() {
                Step::NeedInput(_) => break false,
                Step::Done => break true,
                Step::Mask(mask) => self.survivors(&mask)?,
                Step::Output(chunk) => {
                    let rows = self.gather(&chunk)?;
                    for slot in &chunk.released {
                        self.held.remove(slot);
                    }
                    rows
                }
            };
            batches.extend(rows);
        };
        Ok(Progress { batches, over })
    }

    fn push(&mut self, run: usize, batch: ReadBatch) -> Result<()> {
        let read = batch.rows.columns();
        let layout = &self.rules.layout;
        let seq_fields = match layout.version_encoder() {
            Some(encoder) => Some(encoder.encode(&batch.columns.versions(read))?),
            None => None,
        };
        let input = MergeBatch {
            keys: layout.key_encoder().encode(&batch.columns.keys(read))?,
            sequence: batch.columns.sequence(read),
            seq_fields,
            kinds: batch.columns.kinds(read),
            rows: batch.rows.num_rows(),
        };
        let slot = if self.rules.levels_are_complete {
            self.merge.push_from_level(run, batch.level, input)?
        } else {
            self.merge.push(run, input)?
        };
        self.held.insert(slot, batch);
        Ok(())
    }

    /// The rows of a batch that are in the result and match.
    fn survivors(&mut self, mask: &BatchMask) -> Result<Option<RecordBatch>> {
        let batch = self.held.remove(&mask.slot).ok_or(StoreError::Bug {
            what: "a mask names a batch that is gone",
        })?;
        let mut kept = match &mask.survivors {
            Survivors::None => return Ok(None),
            Survivors::All => None,
            Survivors::Some(kept) => Some(kept.clone()),
        };
        if let Some(filter) = &self.rules.filter {
            let matching = filter.eval(&batch.rows)?;
            kept = Some(match kept {
                Some(kept) => &kept & matching.values(),
                None => matching.values().clone(),
            });
        }
        let rows = batch.rows.num_rows();
        if let Some(mask) = &kept {
            match mask.count_set_bits() {
                0 => return Ok(None),
                all if all == rows => kept = None,
                _ => {}
            }
        }
        self.output
            .rows(&batch.columns, batch.rows.columns(), rows, kept)
    }

    /// The rows of a chunk, gathered column by column.
    fn gather(&self, chunk: &MergedChunk) -> Result<Option<RecordBatch>> {
        if chunk.rows == 0 {
            return Ok(None);
        }
        let plan = GatherPlan::new(&chunk.picks);
        let gone = || StoreError::Bug {
            what: "a pick names a batch or column that is gone",
        };
        let held = plan.slots().iter().map(|slot| self.held.get(slot));
        let parts: Vec<&ReadBatch> = held.collect::<Option<_>>().ok_or_else(gone)?;
        let columns = parts.first().map(|part| &part.columns).ok_or_else(gone)?;
        let mut gathered: Vec<ArrayRef> = Vec::with_capacity(columns.fields.len());
        for index in 0..columns.fields.len() {
            let column = |part: &&'_ ReadBatch| part.rows.columns().get(index).cloned();
            let arrays: Vec<ArrayRef> = parts
                .iter()
                .map(column)
                .collect::<Option<_>>()
                .ok_or_else(gone)?;
            let sources: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
            let like = arrays.first().ok_or_else(gone)?.data_type();
            gathered.push(plan.gather(&sources, like)?);
        }
        match (&self.rules.fold, &chunk.group_ends) {
            (Some(fold), Some(group_ends)) => self.fold(fold, columns, &gathered, group_ends),
            _ => self.output.rows(columns, &gathered, plan.rows(), None),
        }
    }

    /// One row per key of gathered versions, if it is wanted and matches.
    fn fold(
        &self,
        fold: &FoldEngine,
        columns: &ReadColumns,
        versions: &[ArrayRef],
        group_ends: &BooleanBuffer,
    ) -> Result<Option<RecordBatch>> {
        let kinds = columns.kinds(versions);
        let folded = fold.fold(GroupedRows {
            group_ends,
            kinds: kinds.as_ref(),
            columns: &columns.folded(versions),
            always_call: false,
        })?;
        note_wraps(folded.wraps);
        let rows = folded.sequence_rows.len();
        let read = columns.after_fold(versions, &folded)?;
        let mut kept = match &folded.kinds {
            Some(kinds) if self.output.drop_retractions => {
                Some(kinds.values().iter().map(|kind| kind & 1 == 0).collect())
            }
            _ => None,
        };
        if let Some(filter) = &self.rules.filter {
            let named = columns.fields.iter().zip(&read);
            let named = named.map(|(field, column)| (&field.name, Arc::clone(column), true));
            let matching = filter.eval(&RecordBatch::try_from_iter_with_nullable(named)?)?;
            let matching = matching.values();
            kept = Some(match kept {
                Some(kept) => &kept & matching,
                None => matching.clone(),
            });
        }
        self.output.rows(columns, &read, rows, kept)
    }
}
