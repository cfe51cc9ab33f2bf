//! Splits files into sections of overlapping keys, and each section into the fewest sorted runs.
//!
//! ```text
//!  keys    1        5   6         10   11      20
//!          [---f0---]   [----f3----]   [---f5---]
//!             [--f1------]
//!          |       section 1       |   | section 2 |      f0 f3 and f1 are the runs of section 1
//! ```
//!
//! Sections are in key order and share no key, so they are merged one after the other, and a section of one run
//! needs no merge. Source: spec 02b §4.1; Paimon `mergetree/compact/IntervalPartition.java`.

use std::collections::BinaryHeap;
use std::sync::Arc;

use std::cmp::{Ordering, Reverse};
use tidewater_format::DataFileMeta;
use tidewater_types::Datum;

use crate::error::{MergeError, Result};
use crate::key_comparator::{KeyComparator, KeyRanges};
use crate::sorted_run::SortedRun;

/// Files that overlap each other directly or through others.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// The fewest runs that hold the files. Which run a file is in has no meaning.
    pub runs: Vec<SortedRun>,
}

impl Section {
    /// All files, run by run.
    pub fn files(&self) -> impl Iterator<Item = &Arc<DataFileMeta>> {
        self.runs.iter().flat_map(SortedRun::files)
    }

    /// Bytes of all files.
    pub fn total_size(&self) -> u64 {
        self.runs
            .iter()
            .map(SortedRun::total_size)
            .fold(0, u64::saturating_add)
    }

    /// Rows of each run, for [`SortMerge::new`](crate::SortMerge::new).
    pub fn expected_rows(&self) -> Vec<u64> {
        self.runs.iter().map(SortedRun::row_count).collect()
    }

    /// Puts the runs in order of age, newest first, as far as the files' sequence numbers tell.
    ///
    /// Answers whether that settles every merge of the section by itself: the ranges of sequence numbers of the runs
    /// do not meet, so the sequence column need not be read (`MergeBatch::sequence = None`). Only for tables without
    /// `sequence.field`.
    pub fn newest_first(&mut self) -> bool {
        let mut ranges: Vec<(i64, i64, SortedRun)> = std::mem::take(&mut self.runs)
            .into_iter()
            .map(|run| {
                let files = run.files();
                let newest = files.iter().map(|file| file.max_sequence_number).max();
                let oldest = files.iter().map(|file| file.min_sequence_number).min();
                (newest.unwrap_or(i64::MIN), oldest.unwrap_or(i64::MIN), run)
            })
            .collect();
        ranges.sort_by_key(|(newest, _, _)| Reverse(*newest));
        let settled = ranges
            .windows(2)
            .all(|pair| matches!(pair, [(_, oldest, _), (newest, _, _)] if oldest > newest));
        self.runs = ranges.into_iter().map(|(_, _, run)| run).collect();
        settled
    }
}

/// The last key of a run, in a heap that gives the smallest; equal keys give the older run.
struct RunEnd<'a> {
    key: &'a [Datum],
    run: usize,
    ranges: &'a KeyRanges,
}

impl Ord for RunEnd<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        // Keys that do not compare were already refused while sorting.
        self.ranges
            .compare(self.key, other.key)
            .unwrap_or(Ordering::Equal)
            .then(self.run.cmp(&other.run))
    }
}

impl PartialOrd for RunEnd<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RunEnd<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for RunEnd<'_> {}

/// Splits files of one bucket into sections, in key order.
///
/// Costs one decoding of each file's keys and a sort. With FLOAT or DOUBLE in the key, where ranges cannot be
/// believed ([`KeyComparator::trusts_ranges`]), everything is one section with a run per file.
///
/// # Errors
/// Keys that do not decode as the table's key, or a smallest key above the greatest.
pub fn interval_partition(
    files: &[Arc<DataFileMeta>],
    keys: &KeyComparator,
) -> Result<Vec<Section>> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    if files.len() == 1 || !keys.trusts_ranges() {
        let runs = files
            .iter()
            .map(|file| SortedRun::single(Arc::clone(file)))
            .collect();
        return Ok(vec![Section { runs }]);
    }
    let ranges = keys.key_ranges(files.iter().map(Arc::as_ref))?;
    let mut sections = Vec::new();
    let mut members: Vec<usize> = Vec::new();
    let mut bound: &[Datum] = &[];
    for number in ranges.sorted()? {
        if !members.is_empty() && ranges.compare(ranges.min(number), bound)?.is_gt() {
            sections.push(section(files, &members, &ranges)?);
            members.clear();
        }
        if members.is_empty() || ranges.compare(ranges.max(number), bound)?.is_gt() {
            bound = ranges.max(number);
        }
        members.push(number);
    }
    sections.push(section(files, &members, &ranges)?);
    Ok(sections)
}

/// Distributes the files of a section, sorted by smallest key, over the fewest runs.
fn section(files: &[Arc<DataFileMeta>], members: &[usize], ranges: &KeyRanges) -> Result<Section> {
    let mut runs: Vec<SortedRun> = Vec::new();
    let mut ends: BinaryHeap<Reverse<RunEnd<'_>>> = BinaryHeap::new();
    for number in members {
        let Some(file) = files.get(*number) else {
            continue;
        };
        let reusable = match ends.peek() {
            Some(Reverse(end)) => ranges.compare(ranges.min(*number), end.key)?.is_gt(),
            None => false,
        };
        let run = match ends.pop() {
            Some(Reverse(end)) if reusable => end.run,
            popped => {
                ends.extend(popped);
                runs.push(SortedRun::default());
                runs.len() - 1
            }
        };
        if let Some(run) = runs.get_mut(run) {
            run.push(Arc::clone(file));
        }
        ends.push(Reverse(RunEnd {
            key: ranges.max(*number),
            run,
            ranges,
        }));
    }
    Ok::<_, MergeError>(Section { runs })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::testing::{arcs, file, int_keys, names, vector};

    fn int(value: &Value) -> i32 {
        i32::try_from(value.as_i64().unwrap()).unwrap()
    }

    /// Sections as the vectors write them: runs by name, because their order has no meaning.
    fn shown(sections: &[Section]) -> Vec<Vec<Vec<String>>> {
        let section = |section: &Section| {
            let run = |run: &SortedRun| names(run.files()).into_iter().map(str::to_owned).collect();
            let mut runs: Vec<Vec<String>> = section.runs.iter().map(run).collect();
            runs.sort();
            runs
        };
        sections.iter().map(section).collect()
    }

    #[test]
    fn sections_equal_those_of_java() {
        let vectors = vector("02-interval-partition.json");
        let cases = vectors["cases"].as_array().unwrap();
        assert_eq!(cases.len(), 12);
        for case in cases {
            let files = case["files_name_min_max"].as_array().unwrap();
            let files = arcs(
                files
                    .iter()
                    .map(|f| file(f[0].as_str().unwrap(), 0, 1, int(&f[1]), int(&f[2]))),
            );
            let expected: Vec<Vec<Vec<String>>> =
                serde_json::from_value(case["sections"].clone()).unwrap();
            assert_eq!(
                shown(&interval_partition(&files, &int_keys()).unwrap()),
                expected,
                "{case}"
            );
        }
    }

    #[test]
    fn no_files_make_no_section() {
        assert_eq!(interval_partition(&[], &int_keys()).unwrap(), []);
    }

    #[test]
    fn keys_whose_ranges_cannot_be_believed_make_one_section() {
        let double = tidewater_types::DataType::double().not_null();
        let key = |value| {
            tidewater_types::BinaryRow::from_datums(
                &[Datum::Double(value)],
                std::slice::from_ref(&double),
            )
            .unwrap()
        };
        let files = arcs([
            crate::testing::file_with_keys("a", 0, 1, key(1.0), key(2.0)),
            crate::testing::file_with_keys("b", 0, 1, key(f64::NAN), key(0.0)),
        ]);
        let keys = KeyComparator::new(vec![double.clone()]);
        assert_eq!(
            shown(&interval_partition(&files, &keys).unwrap()),
            [[["a"], ["b"]]]
        );
    }

    #[test]
    fn corrupt_keys_are_errors() {
        let inverted = arcs([file("a", 0, 1, 5, 1), file("b", 0, 1, 5, 6)]);
        let error = interval_partition(&inverted, &int_keys()).unwrap_err();
        assert_eq!(error.kind(), tidewater_types::ErrorKind::Corrupt);
        let mut without_key = file("b", 0, 1, 5, 6);
        without_key.max_key = tidewater_types::BinaryRow::empty();
        let error = interval_partition(&arcs([file("a", 0, 1, 1, 2), without_key]), &int_keys())
            .unwrap_err();
        assert_eq!(error.kind(), tidewater_types::ErrorKind::Corrupt);
    }

    fn with_sequences(name: &str, min: i64, max: i64) -> DataFileMeta {
        let mut file = file(name, 0, 1, 1, 2);
        (file.min_sequence_number, file.max_sequence_number) = (min, max);
        file
    }

    #[test]
    fn runs_with_separate_sequence_numbers_settle_every_merge() {
        let section = |ranges: &[(i64, i64)]| Section {
            runs: (0..)
                .zip(ranges)
                .map(|(at, (min, max)): (usize, _)| {
                    SortedRun::single(Arc::new(with_sequences(&at.to_string(), *min, *max)))
                })
                .collect(),
        };
        for (ranges, order, settled) in [
            (vec![(0, 9), (20, 29), (10, 19)], ["1", "2", "0"], true),
            (vec![(0, 10), (20, 29), (10, 19)], ["1", "2", "0"], false),
            (vec![(0, 29), (5, 6), (7, 8)], ["0", "2", "1"], false),
        ] {
            let mut section = section(&ranges);
            assert_eq!(section.newest_first(), settled, "{ranges:?}");
            let files: Vec<_> = section.files().cloned().collect();
            assert_eq!(names(&files), order);
        }
    }

    proptest! {
        /// Sections share no key and ascend, runs ascend without overlap, no file is lost, and there are as many runs
        /// as files overlap at the worst place.
        #[test]
        fn sections_and_runs_do_not_overlap(ranges in prop::collection::vec((0i32..60, 0i32..12), 1..25)) {
            let files = arcs(ranges.iter().enumerate().map(|(at, (min, len))| file(&at.to_string(), 0, 1, *min, min + len)));
            let range = |file: &DataFileMeta| {
                let int = tidewater_types::DataType::int();
                match (file.min_key.get(0, &int).unwrap(), file.max_key.get(0, &int).unwrap()) {
                    (Datum::Int(min), Datum::Int(max)) => (min, max),
                    other => unreachable!("{other:?}"),
                }
            };
            let sections = interval_partition(&files, &int_keys()).unwrap();
            let mut seen = 0;
            let mut bound = i32::MIN;
            for section in &sections {
                let all: Vec<(i32, i32)> = section.files().map(|file| range(file)).collect();
                seen += all.len();
                prop_assert!(all.iter().all(|(min, _)| *min > bound));
                bound = all.iter().map(|(_, max)| *max).max().unwrap();
                for run in &section.runs {
                    for pair in run.files().windows(2) {
                        prop_assert!(range(&pair[0]).1 < range(&pair[1]).0);
                    }
                }
                let overlaps = |at: i32| all.iter().filter(|(min, max)| *min <= at && at <= *max).count();
                let worst = all.iter().map(|(min, _)| overlaps(*min)).max().unwrap();
                prop_assert_eq!(section.runs.len(), worst);
            }
            prop_assert_eq!(seen, files.len());
        }
    }
}
