//! Merge of sorted runs: columns in, positions out.
//!
//! ```text
//!  run 0 (newest)  [batch][batch]...   keys, sequence numbers, kinds
//!  run 1           [batch]...              |
//!  run k (oldest)  [batch]...              v
//!                            tournament of heads -> equal keys meet -> engine -> winner
//!                                                                          |
//!              Picks: chunks of (slot, start, len) in key order <----------+----------> Mask: per batch, who survives
//! ```
//!
//! The merge sees encoded keys and system columns only. Values stay with the caller, who gathers them by picks
//! ([`GatherPlan`](crate::GatherPlan)) or filters them by masks, and need not even read the pages where no row
//! survives. It is sync and without IO: [`SortMerge::step`] says which run needs its next batch.
//!
//! Source: spec 02b §4; Paimon `mergetree/compact/SortMergeReaderWithLoserTree.java`, `DeduplicateMergeFunction.java`,
//! `ReducerMergeFunctionWrapper.java`.

mod batch;
mod core;
mod heads;
mod keys;
mod output;
mod play;
#[cfg(test)]
mod tests;
mod tournament;

pub use batch::MergeBatch;
pub(crate) use batch::{check_kinds, is_retraction};
pub use output::{BatchMask, BatchSlot, MergeMode, MergedChunk, PickRange, Survivors, Versions};
use tidewater_types::Keys;

use crate::engine::{MergeEngine, PickRule};
use crate::error::{MergeError, Result};
use crate::sort_merge::core::{Core, NO_RUN, Origin, Sink};
use crate::sort_merge::output::ChunkBuilder;

/// What a merge does.
#[derive(Debug, Clone, Copy)]
pub struct MergeOptions {
    /// What becomes of several versions of a key.
    pub engine: MergeEngine,
    /// Picks or masks.
    pub mode: MergeMode,
    /// Whether results of kind `-U` and `-D` are left out: true for reads and for compactions that
    /// [`drop_delete`](crate::drop_delete), false where a retraction must live on. Means nothing for
    /// [`Versions::Groups`].
    pub drop_retractions: bool,
}

impl MergeOptions {
    fn rule(&self) -> Result<PickRule> {
        match self.mode {
            MergeMode::Picks {
                versions: Versions::Groups,
                ..
            } => Ok(PickRule::NONE),
            _ => self.engine.pick_rule(),
        }
    }
}

/// What a merge wants or has.
#[derive(Debug)]
#[must_use]
pub enum Step {
    /// Push the next batch of this run, or finish it.
    NeedInput(usize),
    /// The next rows of the result; only with [`MergeMode::Picks`].
    Output(MergedChunk),
    /// The verdict on a batch; only with [`MergeMode::Mask`].
    Mask(BatchMask),
    /// All runs are over and everything was handed out.
    Done,
}

/// Merges sorted runs; see the module.
///
/// Runs are numbered **newest first**, as [`Levels::runs`](crate::Levels::runs) lists them. Versions of a key are
/// ordered by sequence fields, then sequence number, then retractions before adds, then run (the older run is the
/// older version), then position in the run; the engine sees them in this order.
#[derive(Debug)]
pub struct SortMerge {
    options: MergeOptions,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Nothing pushed: the kind of keys is not known.
    Fresh {
        expected_rows: Vec<u64>,
        finished: Vec<bool>,
    },
    U64(Core<Vec<u64>>),
    U128(Core<Vec<u128>>),
    Bytes(Core<arrow_row::Rows>),
}

impl SortMerge {
    /// A merge of `expected_rows.len()` runs.
    ///
    /// `expected_rows` holds about how many rows each run has (the row counts of its files). It only steers speed:
    /// large runs are placed where they cost the fewest comparisons.
    ///
    /// # Errors
    /// [`MergeError::Unsupported`] for an engine that folds, unless [`Versions::Groups`] are asked for.
    pub fn new(expected_rows: &[u64], options: MergeOptions) -> Result<Self> {
        options.rule()?;
        if expected_rows.len() >= NO_RUN as usize {
            return Err(MergeError::TooLarge {
                what: "runs of a merge",
                found: expected_rows.len(),
                limit: NO_RUN as usize,
            });
        }
        Ok(Self {
            options,
            state: State::Fresh {
                expected_rows: expected_rows.to_vec(),
                finished: vec![false; expected_rows.len()],
            },
        })
    }

    /// Goes on as far as the pushed batches allow.
    pub fn step(&mut self) -> Step {
        match &mut self.state {
            State::Fresh { finished, .. } => match finished.iter().position(|finished| !finished) {
                Some(run) => Step::NeedInput(run),
                None => Step::Done,
            },
            State::U64(core) => core.step(),
            State::U128(core) => core.step(),
            State::Bytes(core) => core.step(),
        }
    }

    /// Hands in the next batch of a run. More than one may be pushed ahead.
    ///
    /// The answer names the batch in [`PickRange::slot`] and [`BatchMask::slot`] until it is released. The caller
    /// keeps the value columns under that number. Checks that keys ascend: about 1 ns per row for native keys.
    ///
    /// # Errors
    /// Parts of different length, nulls or bad kinds in system columns, keys out of order, another kind of keys than
    /// before, a finished or unknown run.
    pub fn push(&mut self, run: usize, batch: MergeBatch) -> Result<BatchSlot> {
        self.push_from_level(run, 0, batch)
    }

    /// As [`SortMerge::push`], for tables with lookup compaction: says which level the rows come from.
    ///
    /// Of the versions of a key from levels above 0, [`Versions::Groups`] then hands out the one of the smallest level
    /// only; it is complete, and folding deeper ones again would count them twice (spec 02b §4.4, §5.1). Rows found
    /// by a lookup are pushed as a run of the level they were found on.
    ///
    /// # Errors
    /// As [`SortMerge::push`].
    pub fn push_from_level(
        &mut self,
        run: usize,
        level: i32,
        batch: MergeBatch,
    ) -> Result<BatchSlot> {
        self.start(&batch.keys)?;
        let origin = Origin { run, level };
        let MergeBatch {
            keys,
            sequence,
            seq_fields,
            kinds,
            rows,
        } = batch;
        match (&mut self.state, keys) {
            (State::U64(core), Keys::U64(keys)) => {
                core.push(origin, keys, rows, sequence, seq_fields, kinds)
            }
            (State::U128(core), Keys::U128(keys)) => {
                core.push(origin, keys, rows, sequence, seq_fields, kinds)
            }
            (State::Bytes(core), Keys::Rows(keys)) => {
                core.push(origin, keys, rows, sequence, seq_fields, kinds)
            }
            _ => Err(MergeError::MixedBatches {
                what: "their kind of keys",
            }),
        }
    }

    /// Declares that a run has no more batches.
    ///
    /// # Errors
    /// [`MergeError::NoSuchRun`].
    pub fn finish_run(&mut self, run: usize) -> Result<()> {
        match &mut self.state {
            State::Fresh { finished, .. } => {
                let runs = finished.len();
                *finished
                    .get_mut(run)
                    .ok_or(MergeError::NoSuchRun { run, runs })? = true;
                Ok(())
            }
            State::U64(core) => core.finish_run(run),
            State::U128(core) => core.finish_run(run),
            State::Bytes(core) => core.finish_run(run),
        }
    }

    /// All runs that have no rows left and are not finished, so that a caller can fetch for several at once.
    ///
    /// [`Step::NeedInput`] names one of them at a time.
    pub fn hungry_runs(&self) -> Vec<usize> {
        match &self.state {
            State::Fresh { finished, .. } => (0..finished.len())
                .zip(finished)
                .filter(|(_, finished)| !**finished)
                .map(|(run, _)| run)
                .collect(),
            State::U64(core) => core.hungry().collect(),
            State::U128(core) => core.hungry().collect(),
            State::Bytes(core) => core.hungry().collect(),
        }
    }

    /// Fixes the kind of keys on the first batch.
    fn start(&mut self, keys: &Keys) -> Result<()> {
        let State::Fresh {
            expected_rows,
            finished,
        } = &self.state
        else {
            return Ok(());
        };
        let rule = self.options.rule()?;
        let sink = match self.options.mode {
            MergeMode::Picks {
                chunk_rows,
                versions,
            } => {
                let chunk = ChunkBuilder::new(chunk_rows, versions);
                match versions {
                    Versions::Winners => Sink::Winners(chunk),
                    Versions::All => Sink::AllVersions(chunk),
                    Versions::Groups => Sink::Groups(chunk),
                }
            }
            MergeMode::Mask => Sink::Mask,
        };
        let drop = self.options.drop_retractions || rule.drops_retractions();
        self.state = match keys {
            Keys::U64(_) => State::U64(Core::new(expected_rows, finished, sink, rule, drop)),
            Keys::U128(_) => State::U128(Core::new(expected_rows, finished, sink, rule, drop)),
            Keys::Rows(_) => State::Bytes(Core::new(expected_rows, finished, sink, rule, drop)),
        };
        Ok(())
    }
}
