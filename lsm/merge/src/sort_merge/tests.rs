//! The merge against the model, both ways of output, over random keys, runs and cuts into batches.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use arrow_array::{Int8Array, Int64Array};
use proptest::prelude::*;
use tidewater_types::{DataType, Datum, ErrorKind};

use super::*;
use crate::model::{ModelRow, ModelRules, compare_keys};
use crate::testing::{RawRow, encode_keys, encode_seq_fields, key_schemas, model_row, raw_row};

/// A table of runs, and how it is cut and merged.
#[derive(Debug, Clone)]
struct Case {
    types: Vec<DataType>,
    /// Newest first; each in key order.
    runs: Vec<Vec<ModelRow>>,
    batch_rows: usize,
    ahead: usize,
    chunk_rows: usize,
    has_sequence: bool,
    has_seq_fields: bool,
    has_kinds: bool,
    rules: ModelRules,
    drop_retractions: bool,
    /// Instead of deduplicate.
    engine: Option<MergeEngine>,
}

type Flags = (bool, bool, bool, bool, bool, bool, bool);

fn case() -> impl Strategy<Value = Case> {
    let shape = (0..key_schemas().len(), 1usize..9, 1usize..3, 1usize..40);
    let flags: [BoxedStrategy<bool>; 7] = std::array::from_fn(|_| any::<bool>().boxed());
    let [a, b, c, d, e, f, g] = flags;
    let runs = prop::collection::vec(prop::collection::vec(raw_row(), 0..60), 0..7);
    (shape, (a, b, c, d, e, f, g), runs).prop_map(|(shape, flags, runs)| build(shape, flags, runs))
}

fn build(shape: (usize, usize, usize, usize), flags: Flags, raw: Vec<Vec<RawRow>>) -> Case {
    let (schema, batch_rows, ahead, chunk_rows) = shape;
    let (
        has_sequence,
        has_seq_fields,
        has_kinds,
        ignore_delete,
        descending,
        drop_retractions,
        repeats,
    ) = flags;
    let types = key_schemas()[schema].clone();
    let rules = ModelRules {
        ignore_delete,
        descending,
    };
    let count = raw.len();
    let mut runs = Vec::new();
    for (run, raw) in raw.into_iter().enumerate() {
        let mut rows: Vec<ModelRow> = (0..)
            .zip(raw)
            .map(|(at, raw)| model_row(&types, raw, at))
            .collect();
        for row in &mut rows {
            if !has_seq_fields {
                row.seq_fields.clear();
            }
            if !has_kinds {
                row.kind = tidewater_types::RowKind::Insert;
            }
        }
        rows.sort_by(|left, right| compare_keys(&left.key, &right.key));
        if !repeats {
            rows.dedup_by(|left, right| compare_keys(&left.key, &right.key).is_eq());
        }
        for (at, row) in (0i64..).zip(&mut rows) {
            row.value = i64::try_from(run).unwrap() * 1000 + at;
            if !has_sequence {
                // What the caller vouches for: newer runs are newer, and so are later rows of a run.
                row.sequence = i64::try_from(count - run).unwrap() * 1000 + at;
            }
        }
        runs.push(rows);
    }
    Case {
        types,
        runs,
        batch_rows,
        ahead,
        chunk_rows,
        has_sequence,
        has_seq_fields,
        has_kinds,
        rules,
        drop_retractions,
        engine: None,
    }
}

/// The level of a run: three of level 0, then one of each.
fn level(run: usize) -> i32 {
    i32::try_from(run.saturating_sub(2)).unwrap()
}

impl Case {
    fn batch(&self, rows: &[ModelRow]) -> MergeBatch {
        let keys: Vec<Vec<Datum>> = rows.iter().map(|row| row.key.clone()).collect();
        let fields: Vec<Vec<Datum>> = rows.iter().map(|row| row.seq_fields.clone()).collect();
        MergeBatch {
            keys: encode_keys(&self.types, &keys),
            sequence: self
                .has_sequence
                .then(|| Int64Array::from_iter_values(rows.iter().map(|row| row.sequence))),
            seq_fields: self
                .has_seq_fields
                .then(|| encode_seq_fields(&fields, self.rules.descending)),
            kinds: self
                .has_kinds
                .then(|| Int8Array::from_iter_values(rows.iter().map(|row| row.kind.as_i8()))),
            rows: rows.len(),
        }
    }

    fn merge(&self, mode: MergeMode) -> SortMerge {
        let rows: Vec<u64> = self.runs.iter().map(|run| run.len() as u64).collect();
        let options = MergeOptions {
            engine: self.engine.unwrap_or(MergeEngine::Deduplicate {
                ignore_delete: self.rules.ignore_delete,
            }),
            mode,
            drop_retractions: self.drop_retractions,
        };
        SortMerge::new(&rows, options).unwrap()
    }

    /// The result in key order, by the model.
    fn expected(&self) -> Vec<ModelRow> {
        let mut rows = self.rules.merge(&self.runs);
        rows.retain(|row| !(self.drop_retractions && row.kind.is_retract()));
        rows
    }

    /// Cuts of every run: batches of varying size, empty ones among them.
    fn cuts(&self) -> Vec<VecDeque<(usize, usize)>> {
        let cut = |rows: &Vec<ModelRow>| {
            let mut cuts = VecDeque::new();
            let mut start = 0;
            while start < rows.len() {
                let len = (self.batch_rows + cuts.len() % 3).min(rows.len() - start);
                cuts.push_back((start, len));
                start += len;
                if cuts.len() % 4 == 2 {
                    cuts.push_back((start, 0));
                }
            }
            cuts
        };
        self.runs.iter().map(cut).collect()
    }
}

/// Runs a merge to its end; answers the steps, and the rows of every pushed batch by slot at the time of the step.
fn drive(
    case: &Case,
    mode: MergeMode,
    mut on_step: impl FnMut(&BTreeMap<u32, Vec<ModelRow>>, Step) -> Vec<u32>,
) {
    let mut merge = case.merge(mode);
    let mut left = case.cuts();
    let mut held: BTreeMap<u32, Vec<ModelRow>> = BTreeMap::new();
    for _ in 0..100_000 {
        match merge.step() {
            Step::NeedInput(run) => {
                assert!(merge.hungry_runs().contains(&run));
                for _ in 0..case.ahead {
                    match left[run].pop_front() {
                        Some((start, len)) => {
                            let rows = case.runs[run][start..start + len].to_vec();
                            let slot = merge
                                .push_from_level(run, level(run), case.batch(&rows))
                                .unwrap();
                            assert!(
                                held.insert(slot, rows).is_none(),
                                "slot {slot} was not released"
                            );
                        }
                        None => {
                            merge.finish_run(run).unwrap();
                            break;
                        }
                    }
                }
            }
            Step::Done => {
                assert!(
                    held.is_empty(),
                    "slots {:?} were never released",
                    held.keys()
                );
                assert!(matches!(merge.step(), Step::Done));
                assert!(merge.hungry_runs().is_empty());
                return;
            }
            step => {
                for slot in on_step(&held, step) {
                    assert!(
                        held.remove(&slot).is_some(),
                        "slot {slot} was released twice"
                    );
                }
            }
        }
    }
    unreachable!("the merge does not end");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// However rows are cut into runs and batches, the picks are the model's result in key order.
    #[test]
    fn picks_equal_the_model(case in case()) {
        let mut merged = Vec::new();
        drive(&case, MergeMode::Picks { chunk_rows: case.chunk_rows, versions: Versions::Winners }, |held, step| {
            let Step::Output(chunk) = step else { unreachable!("{step:?}") };
            assert!(chunk.rows <= case.chunk_rows);
            assert_eq!(chunk.rows, chunk.picks.iter().map(|pick| pick.len as usize).sum::<usize>());
            assert_eq!(chunk.winners, None);
            for pick in &chunk.picks {
                merged.extend_from_slice(&held[&pick.slot][pick.rows()]);
            }
            chunk.released
        });
        prop_assert_eq!(merged, case.expected());
    }

    /// With all versions the picks are every row in the model's order, and the winners are its result.
    #[test]
    fn all_versions_equal_the_model(case in case()) {
        let (mut all, mut winners) = (Vec::new(), Vec::new());
        drive(&case, MergeMode::Picks { chunk_rows: case.chunk_rows, versions: Versions::All }, |held, step| {
            let Step::Output(chunk) = step else { unreachable!("{step:?}") };
            let rows: Vec<ModelRow> = chunk.picks.iter().flat_map(|pick| held[&pick.slot][pick.rows()].to_vec()).collect();
            let mask = chunk.winners.unwrap();
            assert_eq!(mask.len(), rows.len());
            winners.extend(rows.iter().zip(&mask).filter(|(_, wins)| *wins).map(|(row, _)| row.clone()));
            all.extend(rows);
            chunk.released
        });
        prop_assert_eq!(all, case.rules.merge_versions(&case.runs).concat());
        prop_assert_eq!(winners, case.expected());
    }

    /// With groups the picks are every row in the model's order, whole keys in each chunk, and the ends are told; of the
    /// levels above 0 a key's newest counts alone.
    #[test]
    fn groups_equal_the_model(case in case()) {
        let case = Case { engine: Some(MergeEngine::Aggregation), ..case };
        let mut groups: Vec<Vec<ModelRow>> = Vec::new();
        drive(&case, MergeMode::Picks { chunk_rows: case.chunk_rows, versions: Versions::Groups }, |held, step| {
            let Step::Output(chunk) = step else { unreachable!("{step:?}") };
            let ends = chunk.group_ends.unwrap();
            assert_eq!((ends.len(), chunk.winners), (chunk.rows, None));
            let mut group = Vec::new();
            let rows = chunk.picks.iter().flat_map(|pick| held[&pick.slot][pick.rows()].to_vec());
            for (row, last) in rows.zip(&ends) {
                group.push(row);
                if last {
                    groups.push(std::mem::take(&mut group));
                }
            }
            assert!(group.is_empty(), "a key is cut in two");
            chunk.released
        });
        let mut expected = case.rules.merge_versions(&case.runs);
        for versions in &mut expected {
            let level = |row: &ModelRow| level(usize::try_from(row.value / 1000).unwrap());
            let newest = versions.iter().map(level).filter(|level| *level > 0).min();
            versions.retain(|row| level(row) == 0 || Some(level(row)) == newest);
        }
        prop_assert_eq!(groups, expected);
    }

    /// First-row takes the oldest version; with ignore-delete retractions are none.
    #[test]
    fn first_rows_are_the_oldest_adds(case in case()) {
        let case = Case { engine: Some(MergeEngine::FirstRow { ignore_delete: true }), ..case };
        let mut merged = Vec::new();
        drive(&case, MergeMode::Picks { chunk_rows: case.chunk_rows, versions: Versions::Winners }, |held, step| {
            let Step::Output(chunk) = step else { unreachable!("{step:?}") };
            for pick in &chunk.picks {
                merged.extend_from_slice(&held[&pick.slot][pick.rows()]);
            }
            chunk.released
        });
        let versions = case.rules.merge_versions(&case.runs);
        let first = |versions: &Vec<ModelRow>| versions.iter().find(|row| !row.kind.is_retract()).cloned();
        prop_assert_eq!(merged, versions.iter().filter_map(first).collect::<Vec<_>>());
        let mut survivors: BTreeSet<i64> = BTreeSet::new();
        drive(&case, MergeMode::Mask, |held, step| {
            let Step::Mask(mask) = step else { unreachable!("{step:?}") };
            let rows = held[&mask.slot].iter().enumerate();
            survivors.extend(rows.filter(|(at, _)| match &mask.survivors {
                Survivors::All => true,
                Survivors::None => false,
                Survivors::Some(bits) => bits.value(*at),
            }).map(|(_, row)| row.value));
            vec![mask.slot]
        });
        let expected: BTreeSet<i64> = versions.iter().filter_map(first).map(|row| row.value).collect();
        prop_assert_eq!(survivors, expected);
    }

    /// The masks leave exactly the model's rows, and every pushed batch gets one, in order within its run.
    #[test]
    fn masks_equal_the_model(case in case()) {
        let mut survivors: BTreeSet<i64> = BTreeSet::new();
        let mut answered = vec![0usize; case.runs.len()];
        drive(&case, MergeMode::Mask, |held, step| {
            let Step::Mask(mask) = step else { unreachable!("{step:?}") };
            assert_eq!(mask.ordinal, answered[mask.run]);
            answered[mask.run] += 1;
            let rows = &held[&mask.slot];
            let bits: Vec<bool> = match &mask.survivors {
                Survivors::All => vec![true; rows.len()],
                Survivors::None => vec![false; rows.len()],
                Survivors::Some(bits) => {
                    assert!(bits.len() == rows.len() && bits.iter().any(|bit| bit) && !bits.iter().all(|bit| bit));
                    bits.iter().collect()
                }
            };
            assert_eq!(mask.survivors.count(rows.len()), bits.iter().filter(|bit| **bit).count());
            survivors.extend(rows.iter().zip(bits).filter(|(_, survives)| *survives).map(|(row, _)| row.value));
            vec![mask.slot]
        });
        let expected: BTreeSet<i64> = case.expected().iter().map(|row| row.value).collect();
        prop_assert_eq!(survivors, expected);
        prop_assert_eq!(answered, case.cuts().iter().map(VecDeque::len).collect::<Vec<_>>());
    }
}

const KEEP: MergeOptions = MergeOptions {
    engine: MergeEngine::Deduplicate {
        ignore_delete: false,
    },
    mode: MergeMode::Picks {
        chunk_rows: 100,
        versions: Versions::Winners,
    },
    drop_retractions: false,
};

fn ints(keys: &[u64], sequence: &[i64], kinds: &[i8]) -> MergeBatch {
    MergeBatch {
        keys: Keys::U64(keys.to_vec()),
        sequence: Some(Int64Array::from(sequence.to_vec())),
        seq_fields: None,
        kinds: Some(Int8Array::from(kinds.to_vec())),
        rows: keys.len(),
    }
}

/// Merges runs of one batch each; answers (run, row) pairs, slots being runs then.
fn merge_once(runs: Vec<MergeBatch>, options: MergeOptions) -> Vec<(u32, u32)> {
    let mut merge = SortMerge::new(&vec![1; runs.len()], options).unwrap();
    for (run, batch) in runs.into_iter().enumerate() {
        assert_eq!(merge.push(run, batch).unwrap() as usize, run);
        merge.finish_run(run).unwrap();
    }
    let mut picked = Vec::new();
    loop {
        match merge.step() {
            Step::Output(chunk) => {
                for pick in chunk.picks {
                    picked.extend((pick.start..pick.start + pick.len).map(|row| (pick.slot, row)));
                }
            }
            Step::Done => return picked,
            other => unreachable!("{other:?}"),
        }
    }
}

#[test]
fn the_greater_sequence_number_wins_wherever_its_run_stands() {
    let picks = merge_once(
        vec![
            ints(&[1, 2], &[5, 6], &[0, 0]),
            ints(&[1, 2], &[9, 1], &[0, 0]),
        ],
        KEEP,
    );
    assert_eq!(picks, [(1, 0), (0, 1)]);
}

#[test]
fn an_add_wins_against_a_retraction_of_the_same_sequence_number() {
    for (newer, older, winner) in [(3, 2, 1), (2, 3, 0), (1, 0, 1), (0, 0, 0), (3, 3, 0)] {
        let picks = merge_once(
            vec![ints(&[1], &[5], &[newer]), ints(&[1], &[5], &[older])],
            KEEP,
        );
        assert_eq!(
            picks,
            [(winner, 0)],
            "{newer} in the newer run, {older} in the older one"
        );
    }
}

#[test]
fn a_single_retraction_passes_through_even_under_ignore_delete() {
    let options = MergeOptions {
        engine: MergeEngine::Deduplicate {
            ignore_delete: true,
        },
        ..KEEP
    };
    assert_eq!(
        merge_once(vec![ints(&[1, 2], &[5, 6], &[3, 0])], options),
        [(0, 0), (0, 1)]
    );
    let two = || vec![ints(&[1], &[5], &[3]), ints(&[1], &[4], &[1])];
    assert_eq!(merge_once(two(), options), []);
    assert_eq!(merge_once(two(), KEEP), [(0, 0)]);
    assert_eq!(
        merge_once(
            vec![ints(&[1], &[5], &[3]), ints(&[1], &[4], &[0])],
            options
        ),
        [(1, 0)]
    );
}

#[test]
fn a_lone_update_before_deletes_for_readers() {
    let options = MergeOptions {
        drop_retractions: true,
        ..KEEP
    };
    assert_eq!(
        merge_once(
            vec![ints(&[1], &[5], &[1]), ints(&[1, 2], &[4, 3], &[0, 0])],
            options
        ),
        [(1, 1)]
    );
}

#[test]
fn no_runs_and_empty_runs_are_done_at_once() {
    assert!(matches!(
        SortMerge::new(&[], KEEP).unwrap().step(),
        Step::Done
    ));
    let mut merge = SortMerge::new(&[0, 0], KEEP).unwrap();
    assert!(matches!(merge.step(), Step::NeedInput(0)));
    assert_eq!(merge.hungry_runs(), [0, 1]);
    merge.finish_run(0).unwrap();
    assert!(matches!(merge.step(), Step::NeedInput(1)));
    merge.finish_run(1).unwrap();
    assert!(matches!(merge.step(), Step::Done));
}

#[test]
fn a_run_of_losers_releases_its_batches_before_a_chunk_is_full() {
    let mut merge = SortMerge::new(&[1, 1], KEEP).unwrap();
    let mut key = 0;
    let mut held: usize = 0;
    let mut most = 0;
    loop {
        match merge.step() {
            Step::NeedInput(run) => {
                key += u64::from(run == 0);
                if key > 300 {
                    merge.finish_run(run).unwrap();
                    continue;
                }
                // Every key is deleted by run 0, and the result drops nothing yet writes few rows per batch.
                let _ = merge
                    .push(run, ints(&[key], &[if run == 0 { 2 } else { 1 }], &[0]))
                    .unwrap();
                held += 1;
                most = most.max(held);
            }
            Step::Output(chunk) => held -= chunk.released.len(),
            Step::Done => break,
            other => unreachable!("{other:?}"),
        }
    }
    assert_eq!(held, 0);
    assert!(most < 20, "{most} batches were held at once");
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let fresh = || SortMerge::new(&[1, 1], KEEP).unwrap();
    let kind = |result: Result<BatchSlot>| result.unwrap_err().kind();
    let good = || ints(&[1, 2], &[1, 2], &[0, 0]);

    assert_eq!(kind(fresh().push(2, good())), ErrorKind::Invalid);
    assert_eq!(
        kind(fresh().push(0, MergeBatch { rows: 3, ..good() })),
        ErrorKind::Invalid
    );
    let short = MergeBatch {
        sequence: Some(Int64Array::from(vec![1])),
        ..good()
    };
    assert_eq!(kind(fresh().push(0, short)), ErrorKind::Invalid);
    let null = MergeBatch {
        sequence: Some(Int64Array::from(vec![Some(1), None])),
        ..good()
    };
    assert_eq!(kind(fresh().push(0, null)), ErrorKind::Corrupt);
    for bad in [-1, 4, 127, -128] {
        assert_eq!(
            kind(fresh().push(0, ints(&[1, 2], &[1, 2], &[0, bad]))),
            ErrorKind::Corrupt
        );
    }
    assert_eq!(
        kind(fresh().push(0, ints(&[2, 1], &[1, 2], &[0, 0]))),
        ErrorKind::Corrupt
    );

    let mut merge = fresh();
    let _ = merge.push(0, good()).unwrap();
    assert_eq!(
        kind(merge.push(0, ints(&[1], &[1], &[0]))),
        ErrorKind::Corrupt
    );
    assert_eq!(
        kind(merge.push(
            1,
            MergeBatch {
                sequence: None,
                ..good()
            }
        )),
        ErrorKind::Invalid
    );
    assert_eq!(
        kind(merge.push(
            1,
            MergeBatch {
                keys: Keys::U128(vec![1, 2]),
                ..good()
            }
        )),
        ErrorKind::Invalid
    );
    merge.finish_run(0).unwrap();
    assert_eq!(
        kind(merge.push(0, ints(&[3], &[1], &[0]))),
        ErrorKind::Invalid
    );
    assert!(merge.finish_run(7).is_err());
}

#[test]
fn engines_that_fold_have_no_winners() {
    for engine in [MergeEngine::PartialUpdate, MergeEngine::Aggregation] {
        let error = SortMerge::new(&[1], MergeOptions { engine, ..KEEP }).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains(engine.name()), "{error}");
    }
}
