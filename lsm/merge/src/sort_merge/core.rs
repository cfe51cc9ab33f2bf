//! The state of a merge over one kind of keys: runs, their batches, and when a batch may go.
//!
//! ```text
//!  push -> run queue -> current batch -> passed -> retired -> (mask out | chunk that releases it out) -> slot free
//! ```
//!
//! A batch that a run has passed stays until no open key refers to it. The heads of the runs are in
//! `heads.rs`, the loop over rows is in `play.rs`.

use std::collections::VecDeque;

use tidewater_types::Keys;

use crate::engine::PickRule;
use crate::error::{MergeError, Result};
use crate::sort_merge::Step;
use crate::sort_merge::batch::{Shape, Slot, check_order};
use crate::sort_merge::keys::RunKeys;
use crate::sort_merge::output::{BatchMask, ChunkBuilder, MergedChunk};
use crate::sort_merge::tournament::Tournament;

/// No run; runs are counted in `u32` and there are fewer of them.
pub(super) const NO_RUN: u32 = u32::MAX;

/// Batches waiting for release before a chunk is handed out early, beyond one per run.
const RETIRED_SLACK: usize = 8;

/// One sorted run.
#[derive(Debug)]
pub(super) struct Run<W> {
    /// Pushed batches that are not current yet.
    pub(super) queue: VecDeque<u32>,
    /// The batch of the head; meaningful while the run is in play.
    pub(super) slot: u32,
    /// Row of the head.
    pub(super) row: u32,
    /// Rows of the current batch.
    pub(super) rows: u32,
    pub(super) state: RunState,
    pushed: usize,
    pub(super) finished: bool,
    pub(super) expected_rows: u64,
    /// The last key pushed, to check the order across batches.
    last_key: Option<(W, Vec<u8>)>,
}

/// Whether a run has a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunState {
    /// Its next batch is not here yet.
    Waiting,
    /// It has a head.
    InPlay,
    /// It has given all its rows.
    Over,
}

/// One version of a key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Version<W> {
    pub(super) word: W,
    pub(super) run: u32,
    pub(super) slot: u32,
    pub(super) row: u32,
}

/// The versions of the key that is being looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group<W> {
    /// The best version so far.
    pub(super) best: Version<W>,
    /// Whether there was more than one.
    pub(super) contested: bool,
}

/// Where results go.
#[derive(Debug)]
pub(super) enum Sink {
    Winners(ChunkBuilder),
    AllVersions(ChunkBuilder),
    /// All versions with the ends of the groups, nothing picked.
    Groups(ChunkBuilder),
    Mask,
}

impl Sink {
    /// The chunk under construction; `None` for masks.
    #[inline]
    pub(super) fn chunk(&mut self) -> Option<&mut ChunkBuilder> {
        match self {
            Self::Winners(chunk) | Self::AllVersions(chunk) | Self::Groups(chunk) => Some(chunk),
            Self::Mask => None,
        }
    }

    /// Rows until the chunk is full; masks never are.
    #[inline]
    pub(super) fn room(&self) -> usize {
        match self {
            Self::Winners(chunk) | Self::AllVersions(chunk) | Self::Groups(chunk) => chunk.room(),
            Self::Mask => usize::MAX,
        }
    }

    /// Whether every version is handed out.
    #[inline]
    pub(super) fn keeps_versions(&self) -> bool {
        matches!(self, Self::AllVersions(_) | Self::Groups(_))
    }
}

/// Where a batch comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    pub(crate) run: usize,
    /// See [`SortMerge::push_from_level`](crate::SortMerge::push_from_level).
    pub(crate) level: i32,
}

/// A merge over one kind of keys.
#[derive(Debug)]
pub(crate) struct Core<K: RunKeys> {
    pub(super) runs: Vec<Run<K::Word>>,
    pub(super) slots: Vec<Option<Slot<K>>>,
    free: Vec<u32>,
    /// `None` until every run has shown its first row.
    pub(super) tree: Option<Tournament<K::Word>>,
    /// The run whose head is gone and whose next batch is not here.
    pub(super) blocked: Option<u32>,
    pub(super) group: Option<Group<K::Word>>,
    /// All versions of the group; only where the sink hands them out.
    pub(super) versions: Vec<Version<K::Word>>,
    /// The run that gave the last row: if it leads again, its stretch is looked for.
    pub(super) streak: u32,
    /// Passed batches that are not released, oldest first.
    pub(super) retired: Vec<u32>,
    pub(super) ready: VecDeque<BatchMask>,
    pub(super) sink: Sink,
    pub(super) rule: PickRule,
    pub(super) drop_retractions: bool,
    /// Whether any batch so far has a retraction.
    pub(super) any_retractions: bool,
    /// Whether any batch so far came from a level above 0.
    pub(super) any_upper: bool,
    /// Bytes that all keys of all current batches begin with: words begin behind them.
    pub(super) skip: usize,
    pub(super) shape: Option<Shape>,
}

impl<K: RunKeys> Core<K> {
    pub(crate) fn new(
        expected_rows: &[u64],
        finished: &[bool],
        sink: Sink,
        rule: PickRule,
        drop_retractions: bool,
    ) -> Self {
        let run = |(expected_rows, finished): (&u64, &bool)| Run {
            queue: VecDeque::new(),
            slot: 0,
            row: 0,
            rows: 0,
            state: RunState::Waiting,
            pushed: 0,
            finished: *finished,
            expected_rows: *expected_rows,
            last_key: None,
        };
        Self {
            runs: expected_rows.iter().zip(finished).map(run).collect(),
            slots: Vec::new(),
            free: Vec::new(),
            tree: None,
            blocked: None,
            group: None,
            versions: Vec::new(),
            streak: NO_RUN,
            retired: Vec::new(),
            ready: VecDeque::new(),
            sink,
            rule,
            drop_retractions,
            any_retractions: false,
            any_upper: false,
            skip: 0,
            shape: None,
        }
    }

    /// Takes over a batch whose keys were already told apart.
    pub(crate) fn push(
        &mut self,
        origin: Origin,
        keys: K,
        rows: usize,
        sequence: Option<arrow_array::Int64Array>,
        seq_fields: Option<Keys>,
        kinds: Option<arrow_array::Int8Array>,
    ) -> Result<u32> {
        let Origin {
            run: run_number,
            level,
        } = origin;
        let runs = self.runs.len();
        let run = self.runs.get_mut(run_number).ok_or(MergeError::NoSuchRun {
            run: run_number,
            runs,
        })?;
        if run.finished {
            return Err(MergeError::RunFinished { run: run_number });
        }
        let shape = Shape {
            sequence: sequence.is_some(),
            seq_fields: seq_fields.is_some(),
        };
        if *self.shape.get_or_insert(shape) != shape {
            return Err(MergeError::MixedBatches {
                what: "having sequence numbers or sequence fields",
            });
        }
        let mut slot = Slot::new(
            run_number, run.pushed, keys, rows, sequence, seq_fields, kinds,
        )?;
        let out_of_order = |row| MergeError::OutOfOrder {
            run: run_number,
            batch: run.pushed,
            row,
        };
        slot.repeats = check_order(&slot.keys).map_err(out_of_order)?;
        slot.level = level;
        if self.rule.refuses_retractions() && slot.has_retractions() {
            return Err(MergeError::RetractRefused {
                engine: "first-row",
                remedy: "ignore-delete",
                key: format!("of run {run_number}"),
            });
        }
        if rows > 0 {
            let first = (slot.keys.word(0, 0), slot.keys.bytes(0));
            if let Some((word, bytes)) = &run.last_key
                && (first.0, first.1) < (*word, bytes.as_slice())
            {
                return Err(out_of_order(0));
            }
            run.last_key = Some((
                slot.keys.word(rows - 1, 0),
                slot.keys.bytes(rows - 1).to_vec(),
            ));
        }
        self.any_retractions |= slot.has_retractions();
        self.any_upper |= level > 0;
        let number = match self.free.pop() {
            Some(number) => number,
            None => {
                let number = u32::try_from(self.slots.len()).map_err(|_| MergeError::TooLarge {
                    what: "batches of a merge",
                    found: self.slots.len(),
                    limit: u32::MAX as usize,
                })?;
                self.slots.push(None);
                number
            }
        };
        if let Some(place) = self.slots.get_mut(number as usize) {
            *place = Some(slot);
        }
        run.queue.push_back(number);
        run.pushed += 1;
        Ok(number)
    }

    pub(crate) fn finish_run(&mut self, run: usize) -> Result<()> {
        let runs = self.runs.len();
        let run = self
            .runs
            .get_mut(run)
            .ok_or(MergeError::NoSuchRun { run, runs })?;
        run.finished = true;
        Ok(())
    }

    /// Runs that have nothing queued and may still get something.
    pub(crate) fn hungry(&self) -> impl Iterator<Item = usize> + '_ {
        let hungry = |run: &Run<K::Word>| {
            !run.finished && run.queue.is_empty() && run.state != RunState::InPlay
        };
        self.runs
            .iter()
            .enumerate()
            .filter(move |(_, run)| hungry(run))
            .map(|(number, _)| number)
    }

    pub(crate) fn step(&mut self) -> Step {
        loop {
            if let Some(mask) = self.ready.pop_front() {
                return Step::Mask(mask);
            }
            if let Err(run) = self.feed() {
                if self.retired_too_many() {
                    return Step::Output(self.take_chunk());
                }
                self.retire_masks();
                if let Some(mask) = self.ready.pop_front() {
                    return Step::Mask(mask);
                }
                return Step::NeedInput(run as usize);
            }
            let over = self.play();
            if !self.ready.is_empty() {
                continue;
            }
            if over {
                let rows = self.sink.chunk().map(|chunk| chunk.rows());
                let left = rows.is_some_and(|rows| rows > 0 || !self.retired.is_empty());
                return if left {
                    Step::Output(self.take_chunk())
                } else {
                    Step::Done
                };
            }
            if self.blocked.is_none() {
                return Step::Output(self.take_chunk());
            }
        }
    }

    #[inline]
    pub(super) fn slot(&self, slot: u32) -> &Slot<K> {
        slot_in(&self.slots, slot)
    }

    /// Notes in mask mode that a row is not part of the result.
    #[inline]
    pub(super) fn lose(&mut self, version: Version<K::Word>) {
        if let Some(Some(slot)) = self.slots.get_mut(version.slot as usize) {
            slot.lose(version.row);
        }
    }

    /// Whether the open group still needs the batch.
    fn referenced(&self, slot: u32) -> bool {
        self.group.is_some_and(|group| group.best.slot == slot)
            || self.versions.iter().any(|v| v.slot == slot)
    }

    /// Whether so many passed batches are held that a chunk should go out early to release them.
    ///
    /// At least one can then be released: the open group refers to one batch per version.
    #[inline]
    pub(super) fn retired_too_many(&self) -> bool {
        !matches!(self.sink, Sink::Mask)
            && self.retired.len() > self.runs.len() + RETIRED_SLACK + self.versions.len() + 1
    }

    /// Turns passed batches into masks.
    pub(super) fn retire_masks(&mut self) {
        if !matches!(self.sink, Sink::Mask) || self.retired.is_empty() {
            return;
        }
        for number in std::mem::take(&mut self.retired) {
            // Batches of a run are answered in order, so an empty one waits for the one before it.
            let run = self.slot(number).run;
            if self.referenced(number)
                || self.retired.iter().any(|held| self.slot(*held).run == run)
            {
                self.retired.push(number);
                continue;
            }
            let Some(mut slot) = self.slots.get_mut(number as usize).and_then(Option::take) else {
                continue;
            };
            self.free.push(number);
            self.ready.push_back(BatchMask {
                run: slot.run as usize,
                ordinal: slot.ordinal,
                slot: number,
                survivors: slot.take_survivors(self.drop_retractions),
            });
        }
    }

    /// Hands out the picks so far and releases every passed batch but those of the open group.
    fn take_chunk(&mut self) -> MergedChunk {
        let (held, released): (Vec<u32>, Vec<u32>) = self
            .retired
            .iter()
            .partition(|slot| self.referenced(**slot));
        self.retired = held;
        for number in &released {
            if let Some(place) = self.slots.get_mut(*number as usize) {
                *place = None;
            }
            self.free.push(*number);
        }
        match self.sink.chunk() {
            Some(chunk) => chunk.finish(released),
            None => MergedChunk::default(),
        }
    }
}

/// The batch in a slot.
#[inline]
#[expect(
    clippy::indexing_slicing,
    clippy::expect_used,
    reason = "heads, versions and picks only name slots that are filled until retired and unreferenced"
)]
pub(super) fn slot_in<K>(slots: &[Option<Slot<K>>], slot: u32) -> &Slot<K> {
    slots[slot as usize].as_ref().expect("slot is filled")
}
