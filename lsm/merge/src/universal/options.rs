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

#[cfg(test)]
mod tests {
    use super::*;

    fn table(values: &[(&str, &str)]) -> TableOptions {
        let values = values
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        TableOptions::from_map(&values.collect()).unwrap()
    }

    #[test]
    fn a_table_without_options_has_the_defaults() {
        assert_eq!(
            UniversalOptions::from_table(&table(&[])),
            UniversalOptions::default()
        );
    }

    #[test]
    fn every_option_of_a_table_arrives() {
        let options = UniversalOptions::from_table(&table(&[
            ("num-sorted-run.compaction-trigger", "3"),
            ("compaction.max-size-amplification-percent", "25"),
            ("compaction.size-ratio", "7"),
            ("compaction.offpeak.start.hour", "22"),
            ("compaction.offpeak.end.hour", "4"),
            ("compaction.offpeak-ratio", "50"),
            ("compaction.optimization-interval", "2 s"),
            ("compaction.total-size-threshold", "1 kb"),
            ("compaction.incremental-size-threshold", "2 kb"),
            ("compaction.force-up-level-0", "true"),
        ]));
        let expected = UniversalOptions {
            trigger_runs: 3,
            max_size_amplification_percent: 25,
            size_ratio_percent: 7,
            off_peak: Some(OffPeak {
                start_hour: 22,
                end_hour: 4,
                extra_ratio_percent: 50,
            }),
            optimization_interval_millis: Some(2000),
            total_size_threshold: Some(1024),
            incremental_size_threshold: Some(2048),
            force_up_level0: ForceUpLevel0::Radical,
            rule: PickRule::V2,
        };
        assert_eq!(options, expected);
    }

    #[test]
    fn lookup_compaction_forces_level_0_up_in_its_mode() {
        let force = |values: &[(&str, &str)]| ForceUpLevel0::from_table(&table(values));
        let lookup = ("changelog-producer", "lookup");
        let gentle = ("lookup-compact", "gentle");
        assert_eq!(force(&[]), ForceUpLevel0::Never);
        assert_eq!(force(&[gentle]), ForceUpLevel0::Never);
        assert_eq!(force(&[lookup]), ForceUpLevel0::Radical);
        assert_eq!(
            force(&[lookup, gentle]),
            ForceUpLevel0::Gentle { interval: 10 }
        );
        assert_eq!(
            force(&[lookup, gentle, ("lookup-compact.max-interval", "2")]),
            ForceUpLevel0::Gentle { interval: 5 }
        );
    }

    #[test]
    fn half_an_off_peak_window_is_none() {
        let window = |values: &[(&str, &str)]| OffPeak::from_table(&table(values));
        let (start, ratio) = (
            ("compaction.offpeak.start.hour", "3"),
            ("compaction.offpeak-ratio", "9"),
        );
        let end = ("compaction.offpeak.end.hour", "9");
        assert_eq!(window(&[start, ratio]), None);
        assert_eq!(window(&[start, end]), None);
        let window = window(&[start, end, ratio]).unwrap();
        assert_eq!(
            [2, 3, 8, 9].map(|hour| window.contains(hour)),
            [false, true, true, false]
        );
        let empty = OffPeak {
            end_hour: 3,
            ..window
        };
        assert!(!empty.contains(3));
    }
}
