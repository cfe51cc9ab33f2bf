//! Options of universal compaction, taken from the table's options.

use tidewater_format::{LookupCompactMode, TableOptions};

/// Options of universal compaction (spec 02b §3, 02d §4).
#[derive(Debug, Clone, PartialEq)]
pub struct UniversalOptions {
    /// `num-sorted-run.compaction-trigger`: runs from which sizes are looked at.
    pub trigger_runs: usize,
    /// `compaction.max-size-amplification-percent`.
    pub max_size_amplification_percent: u32,
    /// `compaction.size-ratio`, in percent.
    pub size_ratio_percent: u32,
    /// `compaction.offpeak.*`.
    pub off_peak: Option<OffPeak>,
    /// `compaction.optimization-interval`: a full compaction when the last one is longer ago.
    pub optimization_interval_millis: Option<i64>,
    /// `compaction.total-size-threshold`: a full compaction at every trigger while the bucket is smaller.
    pub total_size_threshold: Option<u64>,
    /// `compaction.incremental-size-threshold`: a full compaction when what is not on the top level is larger.
    pub incremental_size_threshold: Option<u64>,
    /// Whether level 0 is compacted even if sizes do not ask for it.
    pub force_up_level0: ForceUpLevel0,
    /// Whose rule.
    pub rule: PickRule,
}

impl Default for UniversalOptions {
    /// The defaults of the table options.
    fn default() -> Self {
        Self {
            trigger_runs: 5,
            max_size_amplification_percent: 200,
            size_ratio_percent: 1,
            off_peak: None,
            optimization_interval_millis: None,
            total_size_threshold: None,
            incremental_size_threshold: None,
            force_up_level0: ForceUpLevel0::Never,
            rule: PickRule::V2,
        }
    }
}

impl UniversalOptions {
    /// What the table asks for, with the newer rule.
    pub fn from_table(options: &TableOptions) -> Self {
        // Negative numbers are refused when a table is created; in an old table they count as zero.
        let unsigned = |value: i32| u32::try_from(value).unwrap_or_default();
        let bytes = |size: tidewater_format::MemorySize| size.bytes();
        let millis =
            |time: std::time::Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        Self {
            trigger_runs: usize::try_from(options.compaction_trigger()).unwrap_or(1),
            max_size_amplification_percent: unsigned(
                options.compaction_max_size_amplification_percent,
            ),
            size_ratio_percent: unsigned(options.compaction_size_ratio),
            off_peak: OffPeak::from_table(options),
            optimization_interval_millis: options.compaction_optimization_interval.map(millis),
            total_size_threshold: options.compaction_total_size_threshold.map(bytes),
            incremental_size_threshold: options.compaction_incremental_size_threshold.map(bytes),
            force_up_level0: ForceUpLevel0::from_table(options),
            rule: PickRule::V2,
        }
    }

    /// How much larger, in percent, the next run may be and still be taken along.
    pub(super) fn ratio_percent(&self, local_hour: u8) -> f64 {
        let extra = match &self.off_peak {
            Some(off_peak) if off_peak.contains(local_hour) => off_peak.extra_ratio_percent,
            _ => 0,
        };
        f64::from(self.size_ratio_percent) + f64::from(extra)
    }
}

/// Hours in which more may be compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffPeak {
    /// `compaction.offpeak.start.hour`, 0 to 23.
    pub start_hour: u8,
    /// `compaction.offpeak.end.hour`, exclusive; may lie before the start, the window then spans midnight.
    pub end_hour: u8,
    /// `compaction.offpeak-ratio`, added to the size ratio.
    pub extra_ratio_percent: u32,
}

impl OffPeak {
    /// The table's window; `None` unless both hours are set and it does something.
    pub fn from_table(options: &TableOptions) -> Option<Self> {
        let hour = |hour: i32| u8::try_from(hour).ok().filter(|hour| *hour <= 24);
        let extra = u32::try_from(options.compaction_offpeak_ratio)
            .ok()
            .filter(|ratio| *ratio > 0);
        Some(Self {
            start_hour: hour(options.compaction_offpeak_start_hour)?,
            end_hour: hour(options.compaction_offpeak_end_hour)?,
            extra_ratio_percent: extra?,
        })
    }

    /// Whether the hour is in the window. An empty window (start = end) holds none.
    pub fn contains(&self, hour: u8) -> bool {
        if self.start_hour <= self.end_hour {
            self.start_hour <= hour && hour < self.end_hour
        } else {
            hour >= self.start_hour || hour < self.end_hour
        }
    }
}

/// When level 0 must go up although sizes do not ask for it (spec 02b §3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForceUpLevel0 {
    /// Never.
    Never,
    /// At every trigger: `compaction.force-up-level-0`, and lookup compaction with `lookup-compact=radical`.
    Radical,
    /// At every `interval`-th trigger that found nothing else: `lookup-compact=gentle`.
    Gentle {
        /// `lookup-compact.max-interval`.
        interval: u32,
    },
}

impl ForceUpLevel0 {
    /// What the table asks for: lookup compaction by its mode, `compaction.force-up-level-0` always.
    pub fn from_table(options: &TableOptions) -> Self {
        let interval = u32::try_from(options.lookup_compact_interval()).unwrap_or(1);
        match options.lookup_compact {
            LookupCompactMode::Gentle if options.needs_lookup() => Self::Gentle { interval },
            _ if options.needs_lookup() || options.compaction_force_up_level_0 => Self::Radical,
            _ => Self::Never,
        }
    }
}

/// Which version of Paimon to decide like. Both make legal tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PickRule {
    /// 1.3.1: a run that is too large always stops the pick, and the first trigger of every writer counts as
    /// overdue for the optimisation interval.
    V1,
    /// 2.x, the default: once a pick is triggered, runs of level 0 and 1 are taken along whatever their size, and
    /// the interval counts from the newest file on the top level.
    V2,
}
