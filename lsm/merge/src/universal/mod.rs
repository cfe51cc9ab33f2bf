//! Universal compaction: which runs of a bucket to merge next.
//!
//! ```text
//!  runs newest first   r0  r1  r2 | r3  r4            the pick is always a prefix
//!                      '----v---' |
//!                       new run goes to level(r3) - 1, or to the top level if everything was picked
//! ```
//!
//! Tried in order: early full compaction (by time or small size), size amplification (all that is newer is large
//! against the oldest run), size ratio (the newest runs are of like size), number of runs. Pure decisions: the caller
//! brings sizes, the time and the hour.
//!
//! Source: spec 02b §3.1–§3.3; Paimon `mergetree/compact/UniversalCompaction.java`, `EarlyFullCompaction.java`,
//! `ForceUpLevel0Compaction.java`, `CompactStrategy.java`.

mod full;
mod options;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use tidewater_format::DataFileMeta;

pub use full::{FullPickOptions, full_pick};
pub use options::{ForceUpLevel0, OffPeak, PickRule, UniversalOptions};

use crate::levels::LevelSortedRun;

/// Files to compact together.
#[derive(Debug, Clone, PartialEq)]
pub struct CompactionUnit {
    /// The files, run by run, newest run first.
    pub files: Vec<Arc<DataFileMeta>>,
    /// The level of the result; never 0.
    pub output_level: i32,
    /// What to do with them.
    pub kind: UnitKind,
}

impl CompactionUnit {
    /// Whether it is more than one file that is on its output level already.
    fn has_work(&self) -> bool {
        !matches!(self.files.as_slice(), [only] if only.level == self.output_level)
    }
}

/// How a unit is worked off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitKind {
    /// Merge overlapping and small files, upgrade the others; see
    /// [`CompactionTaskPlan`](crate::CompactionTaskPlan).
    Compact,
    /// Rewrite each file by itself on the level it is on (spec 02b §3.7).
    RewriteEachFile,
}

/// What a pick needs to know of the moment.
#[derive(Debug, Clone, Copy)]
pub struct PickContext {
    /// The time, for the optimisation interval.
    pub now_millis: i64,
    /// The hour of the day, 0 to 23, in the zone that the off-peak options mean (local in Java).
    pub local_hour: u8,
}

/// Universal compaction of one bucket. Holds the two counters that one writer keeps; they start anew with each writer.
#[derive(Debug)]
pub struct UniversalCompaction {
    options: UniversalOptions,
    /// When everything was last compacted, as far as this writer knows.
    last_full_millis: Option<i64>,
    /// Triggers without a pick since level 0 was last forced up; [`ForceUpLevel0::Gentle`] only.
    idle_triggers: u32,
}

impl UniversalCompaction {
    /// A strategy for one bucket writer.
    pub fn new(options: UniversalOptions) -> Self {
        Self {
            options,
            last_full_millis: None,
            idle_triggers: 0,
        }
    }

    /// The options.
    pub fn options(&self) -> &UniversalOptions {
        &self.options
    }

    /// What to compact now, if anything. Call once per trigger: after each flush and when asked.
    ///
    /// `runs` are the non-empty runs newest first ([`Levels::runs`](crate::Levels::runs)), `top_level` the tree's
    /// [`top_level`](crate::Levels::top_level). A unit of one file that is already on its output level is not given.
    pub fn pick(
        &mut self,
        runs: &[LevelSortedRun],
        top_level: i32,
        context: PickContext,
    ) -> Option<CompactionUnit> {
        let picked = self.pick_runs(&Sizes::of(runs), top_level, context)?;
        let unit = CompactionUnit {
            files: runs
                .iter()
                .take(picked.runs)
                .flat_map(|run| run.run.files())
                .cloned()
                .collect(),
            output_level: picked.output_level,
            kind: UnitKind::Compact,
        };
        unit.has_work().then_some(unit)
    }

    fn pick_runs(
        &mut self,
        sizes: &Sizes,
        top_level: i32,
        context: PickContext,
    ) -> Option<PickedRuns> {
        if sizes.len() == 0 {
            return None;
        }
        let picker = Picker {
            options: &self.options,
            sizes,
            top_level,
            ratio_percent: self.options.ratio_percent(context.local_hour),
        };
        if self.options.rule == PickRule::V2 && self.last_full_millis.is_none() {
            self.last_full_millis = sizes.newest_creation_on(top_level);
        }
        let (mut picked, early) = match picker.early_full(self.last_full_millis, context.now_millis)
        {
            Some(reason) => (Some(picker.everything()), Some(reason)),
            None => (picker.by_shape(), None),
        };
        if picked.is_none() {
            picked = picker.force_up(&mut self.idle_triggers);
        }
        // Java 1.3.1 forgets to note a full compaction that a size threshold started.
        let noted = !matches!(early, Some(EarlyReason::Size)) || self.options.rule == PickRule::V2;
        if noted && picked.is_some_and(|picked| picked.runs == sizes.len()) {
            self.last_full_millis = Some(context.now_millis);
        }
        picked
    }
}

/// A prefix of the runs, and where it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PickedRuns {
    runs: usize,
    output_level: i32,
}

/// Why an early full compaction starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EarlyReason {
    Interval,
    Size,
}

/// What picking needs of the runs.
#[derive(Debug)]
struct Sizes {
    runs: Vec<RunSize>,
}

#[derive(Debug, Clone, Copy)]
struct RunSize {
    level: i32,
    bytes: u64,
    newest_creation_millis: Option<i64>,
}

impl Sizes {
    fn of(runs: &[LevelSortedRun]) -> Self {
        let size = |run: &LevelSortedRun| RunSize {
            level: run.level,
            bytes: run.run.total_size(),
            newest_creation_millis: run
                .run
                .files()
                .iter()
                .filter_map(|file| file.creation_time_millis)
                .max(),
        };
        Self {
            runs: runs.iter().map(size).collect(),
        }
    }

    fn len(&self) -> usize {
        self.runs.len()
    }

    fn total(&self) -> u64 {
        self.runs
            .iter()
            .map(|run| run.bytes)
            .fold(0, u64::saturating_add)
    }

    fn newest_creation_on(&self, level: i32) -> Option<i64> {
        let on_level = self.runs.iter().filter(|run| run.level == level);
        on_level.filter_map(|run| run.newest_creation_millis).max()
    }
}

/// One pick.
struct Picker<'a> {
    options: &'a UniversalOptions,
    sizes: &'a Sizes,
    top_level: i32,
    ratio_percent: f64,
}

impl Picker<'_> {
    fn early_full(&self, last_full_millis: Option<i64>, now_millis: i64) -> Option<EarlyReason> {
        if self.sizes.len() == 1 {
            return None;
        }
        if let Some(interval) = self.options.optimization_interval_millis
            && last_full_millis.is_none_or(|last| now_millis.saturating_sub(last) > interval)
        {
            return Some(EarlyReason::Interval);
        }
        if let Some(threshold) = self.options.total_size_threshold
            && self.sizes.total() < threshold
        {
            return Some(EarlyReason::Size);
        }
        if let Some(threshold) = self.options.incremental_size_threshold {
            let below = self
                .sizes
                .runs
                .iter()
                .filter(|run| run.level != self.top_level);
            if below.map(|run| run.bytes).fold(0, u64::saturating_add) > threshold {
                return Some(EarlyReason::Size);
            }
        }
        None
    }

    fn by_shape(&self) -> Option<PickedRuns> {
        let runs = self.sizes.len();
        let trigger = self.options.trigger_runs;
        if runs >= trigger {
            if self.amplified() {
                return Some(self.everything());
            }
            let similar = self.extend(1, false);
            if similar > 1 {
                return Some(self.unit(similar));
            }
        }
        if runs > trigger {
            let excess = self.extend(runs - trigger + 1, false);
            return (excess > 1).then(|| self.unit(excess));
        }
        None
    }

    fn force_up(&self, idle_triggers: &mut u32) -> Option<PickedRuns> {
        match self.options.force_up_level0 {
            ForceUpLevel0::Never => return None,
            ForceUpLevel0::Radical => {}
            ForceUpLevel0::Gentle { interval } => {
                *idle_triggers += 1;
                if *idle_triggers < interval {
                    return None;
                }
                *idle_triggers = 0;
            }
        }
        let level0 = self.sizes.runs.iter().filter(|run| run.level == 0).count();
        (level0 > 0).then(|| self.unit(self.extend(level0, true)))
    }

    /// Whether everything newer than the oldest run is too large against it.
    fn amplified(&self) -> bool {
        let Some((oldest, newer)) = self.sizes.runs.split_last() else {
            return false;
        };
        let newer: u128 = newer.iter().map(|run| u128::from(run.bytes)).sum();
        newer * 100
            > u128::from(self.options.max_size_amplification_percent) * u128::from(oldest.bytes)
    }

    fn everything(&self) -> PickedRuns {
        PickedRuns {
            runs: self.sizes.len(),
            output_level: self.top_level,
        }
    }

    /// How many runs to take if the first `taken` are taken anyway and like-sized ones follow.
    #[expect(
        clippy::cast_precision_loss,
        reason = "Java compares sizes as doubles, and so must we"
    )]
    fn extend(&self, mut taken: usize, forced: bool) -> usize {
        let mut bytes = self
            .sizes
            .runs
            .iter()
            .take(taken)
            .map(|run| run.bytes)
            .fold(0, u64::saturating_add);
        let mut triggered = forced || taken > 1;
        for next in self.sizes.runs.iter().skip(taken) {
            let too_large = bytes as f64 * (100.0 + self.ratio_percent) / 100.0 < next.bytes as f64;
            if too_large {
                let absorbed = self.options.rule == PickRule::V2 && triggered && next.level <= 1;
                if !absorbed {
                    break;
                }
            }
            bytes = bytes.saturating_add(next.bytes);
            taken += 1;
            triggered = true;
        }
        taken
    }

    /// The unit of the first `taken` runs: its result must not go to level 0.
    fn unit(&self, mut taken: usize) -> PickedRuns {
        let mut output_level = match self.sizes.runs.get(taken) {
            Some(next) => (next.level - 1).max(0),
            None => self.top_level,
        };
        if output_level == 0 {
            for next in self.sizes.runs.iter().skip(taken) {
                taken += 1;
                if next.level != 0 {
                    output_level = next.level;
                    break;
                }
            }
        }
        if taken == self.sizes.len() {
            return self.everything();
        }
        PickedRuns {
            runs: taken,
            output_level,
        }
    }
}
