//! The heads of the runs: from a run's next batch to its place in the tournament.

use crate::sort_merge::batch::Slot;
use crate::sort_merge::core::{Core, NO_RUN, Run, RunState, slot_in};
use crate::sort_merge::keys::{RunKeys, common_prefix};
use crate::sort_merge::tournament::{Entry, Tournament};

impl<K: RunKeys> Core<K> {
    /// Gives every run that needs one a head.
    ///
    /// # Errors
    /// The run whose next batch must be pushed first.
    pub(super) fn feed(&mut self) -> Result<(), u32> {
        if self.tree.is_none() {
            for run in 0..self.run_count() {
                if self.state(run) == RunState::Waiting {
                    self.load(run);
                }
                if self.state(run) == RunState::Waiting {
                    return Err(run);
                }
            }
            self.rebuild();
            return Ok(());
        }
        let Some(run) = self.blocked else {
            return Ok(());
        };
        self.load(run);
        match self.state(run) {
            RunState::Waiting => return Err(run),
            RunState::InPlay => self.enter(run),
            RunState::Over => self.rebuild(),
        }
        self.blocked = None;
        Ok(())
    }

    fn run_count(&self) -> u32 {
        // Checked when the merge is made.
        u32::try_from(self.runs.len()).unwrap_or(NO_RUN)
    }

    fn state(&self, run: u32) -> RunState {
        self.runs
            .get(run as usize)
            .map_or(RunState::Over, |run| run.state)
    }

    /// Makes the next batch of the run current, if it is here.
    fn load(&mut self, run: u32) {
        let Some(run) = self.runs.get_mut(run as usize) else {
            return;
        };
        run.state = RunState::Waiting;
        while let Some(slot) = run.queue.pop_front() {
            let rows = self
                .slots
                .get(slot as usize)
                .and_then(Option::as_ref)
                .map_or(0, |slot| slot.rows);
            if rows > 0 {
                run.slot = slot;
                run.row = 0;
                run.rows = rows;
                run.state = RunState::InPlay;
                return;
            }
            self.retired.push(slot);
        }
        if run.finished {
            run.state = RunState::Over;
        }
    }

    /// Moves the head of a run on by `rows` and lets it play again.
    #[inline]
    pub(super) fn advance(&mut self, run_number: u32, rows: u32) {
        let Some(run) = self.runs.get_mut(run_number as usize) else {
            return;
        };
        run.row += rows;
        if run.row < run.rows {
            self.replay(run_number);
            return;
        }
        self.retired.push(run.slot);
        self.load(run_number);
        match self.state(run_number) {
            RunState::InPlay => self.enter(run_number),
            RunState::Waiting => self.blocked = Some(run_number),
            RunState::Over => self.rebuild(),
        }
    }

    #[inline]
    fn replay(&mut self, run_number: u32) {
        let (runs, slots) = (&self.runs, &self.slots);
        let (Some(tree), Some(run)) = (&mut self.tree, runs.get(run_number as usize)) else {
            return;
        };
        let next = Entry {
            word: slot_in(slots, run.slot)
                .keys
                .word(run.row as usize, self.skip),
            run: run_number,
        };
        tree.replay(next, |left, right| less(runs, slots, left, right));
    }

    /// Lets a run with a new batch play.
    fn enter(&mut self, run_number: u32) {
        if K::EXACT || !self.move_words() {
            self.replay(run_number);
        } else {
            self.rebuild();
        }
    }

    /// Finds the bytes that all current batches share. Answers whether that changed, so that all words are stale.
    ///
    /// Batches are sorted, so what the smallest head and the greatest last key share is in every key between.
    fn move_words(&mut self) -> bool {
        let current = || {
            let in_play = self.runs.iter().filter(|run| run.state == RunState::InPlay);
            in_play.map(|run| (slot_in(&self.slots, run.slot), run.row as usize))
        };
        let smallest = current().map(|(slot, row)| slot.keys.bytes(row)).min();
        let greatest = current()
            .map(|(slot, _)| slot.keys.bytes(slot.rows as usize - 1))
            .max();
        let (Some(smallest), Some(greatest)) = (smallest, greatest) else {
            return false;
        };
        let skip = common_prefix(smallest, greatest);
        if skip == self.skip {
            return false;
        }
        self.skip = skip;
        // The open key may lie before all heads. Its word then says nothing, but equal words are never trusted.
        if let Some(mut group) = self.group {
            let best = &mut group.best;
            best.word = self.slot(best.slot).keys.word(best.row as usize, skip);
            self.group = Some(group);
        }
        true
    }

    fn rebuild(&mut self) {
        if !K::EXACT {
            self.move_words();
        }
        let (runs, slots) = (&self.runs, &self.slots);
        let heads: Vec<Entry<K::Word>> = (0..self.run_count())
            .zip(runs)
            .filter(|(_, run)| run.state == RunState::InPlay)
            .map(|(number, run)| Entry {
                word: slot_in(slots, run.slot)
                    .keys
                    .word(run.row as usize, self.skip),
                run: number,
            })
            .collect();
        let weight = |run: u32| runs.get(run as usize).map_or(0, |run| run.expected_rows);
        self.tree = Some(Tournament::build(
            runs.len(),
            &heads,
            weight,
            |left, right| less(runs, slots, left, right),
        ));
    }

    /// The smallest head of the other runs.
    #[inline]
    pub(super) fn challenger(&self) -> Option<Entry<K::Word>> {
        let (runs, slots) = (&self.runs, &self.slots);
        self.tree
            .as_ref()?
            .challenger(|left, right| less(runs, slots, left, right))
    }
}

/// Orders heads by key, then newer run first, so that of equal keys the newest run's is seen first.
#[inline]
fn less<K: RunKeys>(
    runs: &[Run<K::Word>],
    slots: &[Option<Slot<K>>],
    left: &Entry<K::Word>,
    right: &Entry<K::Word>,
) -> bool {
    if K::EXACT || left.word != right.word {
        return (left.word < right.word) | ((left.word == right.word) & (left.run < right.run));
    }
    let bytes = |entry: &Entry<K::Word>| match runs.get(entry.run as usize) {
        Some(run) => slot_in(slots, run.slot).keys.bytes(run.row as usize),
        None => &[],
    };
    (bytes(left), left.run) < (bytes(right), right.run)
}
