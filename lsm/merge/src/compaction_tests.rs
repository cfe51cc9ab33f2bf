//! A bucket in memory, written and compacted by the real decisions: no compaction changes what a reader sees.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{Int8Array, Int64Array};
use proptest::prelude::*;
use tidewater_format::DataFileMeta;
use tidewater_types::{DataType, Datum, RowKind};

use crate::MergeEngine;
use crate::interval::{Section, interval_partition};
use crate::levels::Levels;
use crate::model::{ModelBucket, ModelRow, ModelRules};
use crate::sort_merge::{
    MergeBatch, MergeMode, MergeOptions, SortMerge, Step, Survivors, Versions,
};
use crate::task_plan::{CompactionTaskPlan, TaskPlanOptions, TaskStep, drop_delete};
use crate::testing::{encode_keys, encode_seq_fields, file, int_keys, model_row};
use crate::universal::{
    CompactionUnit, ForceUpLevel0, FullPickOptions, PickContext, PickRule, UniversalCompaction,
    UniversalOptions, full_pick,
};

/// Bytes per row in the sizes of test files.
const ROW_BYTES: i64 = 10;

#[derive(Debug, Clone)]
enum Action {
    /// A flush of these rows: key, sequence fields, kind.
    Write(Vec<(u32, (u8, u8), i8)>),
    /// A trigger of the picker.
    Trigger,
    /// A full compaction.
    Full,
    /// A new writer.
    Restart,
}

fn action() -> impl Strategy<Value = Action> {
    let rows = prop::collection::vec((0u32..30, (0u8..4, 0u8..4), 0i8..4), 1..20);
    prop_oneof![
        5 => rows.prop_map(Action::Write),
        4 => Just(Action::Trigger),
        1 => Just(Action::Full),
        1 => Just(Action::Restart),
    ]
}

#[derive(Debug, Clone)]
struct Setup {
    rules: ModelRules,
    with_fields: bool,
    file_rows: usize,
    small_file_rows: u64,
    force_rewrite_all_files: bool,
    options: UniversalOptions,
    num_levels: usize,
}

fn setup() -> impl Strategy<Value = Setup> {
    let flags = (
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
    );
    (flags, 1usize..12, 0u64..12, 1usize..6, 2usize..7, 0u32..300).prop_map(
        |(flags, file_rows, small_file_rows, trigger_runs, num_levels, amplification)| {
            let (ignore_delete, descending, with_fields, force_rewrite_all_files, forced, older) =
                flags;
            Setup {
                rules: ModelRules {
                    ignore_delete,
                    descending,
                },
                with_fields,
                file_rows,
                small_file_rows,
                force_rewrite_all_files,
                options: UniversalOptions {
                    trigger_runs,
                    max_size_amplification_percent: amplification,
                    force_up_level0: if forced {
                        ForceUpLevel0::Radical
                    } else {
                        ForceUpLevel0::Never
                    },
                    rule: if older { PickRule::V1 } else { PickRule::V2 },
                    ..UniversalOptions::default()
                },
                num_levels,
            }
        },
    )
}

/// One bucket: files in memory and the tree over them.
struct Bucket {
    setup: Setup,
    levels: Levels,
    contents: BTreeMap<String, Vec<ModelRow>>,
    next_file: usize,
    buffer: ModelBucket,
    compaction: UniversalCompaction,
    /// Every row ever written, for the replay.
    history: Vec<ModelRow>,
}

impl Bucket {
    fn new(setup: Setup) -> Self {
        Self {
            levels: Levels::restore(Vec::new(), setup.num_levels, int_keys()).unwrap(),
            contents: BTreeMap::new(),
            next_file: 0,
            buffer: ModelBucket::new(setup.rules),
            compaction: UniversalCompaction::new(setup.options.clone()),
            history: Vec::new(),
            setup,
        }
    }

    fn engine(&self) -> MergeEngine {
        MergeEngine::Deduplicate {
            ignore_delete: self.setup.rules.ignore_delete,
        }
    }

    /// Rolls sorted rows into files of a level.
    fn roll(&mut self, rows: &[ModelRow], level: i32) -> Vec<Arc<DataFileMeta>> {
        let mut files = Vec::new();
        for rows in rows.chunks(self.setup.file_rows) {
            let key = |row: &ModelRow| match row.key[0] {
                Datum::Int(key) => key,
                _ => unreachable!("keys are INT"),
            };
            let name = format!("file-{}", self.next_file);
            self.next_file += 1;
            let size = i64::try_from(rows.len()).unwrap() * ROW_BYTES;
            let mut meta = file(&name, level, size, key(&rows[0]), key(rows.last().unwrap()));
            meta.row_count = i64::try_from(rows.len()).unwrap();
            meta.min_sequence_number = rows.iter().map(|row| row.sequence).min().unwrap();
            meta.max_sequence_number = rows.iter().map(|row| row.sequence).max().unwrap();
            let deletes = rows.iter().filter(|row| row.kind.is_retract()).count();
            meta.delete_row_count = Some(i64::try_from(deletes).unwrap());
            self.contents.insert(name, rows.to_vec());
            files.push(Arc::new(meta));
        }
        files
    }

    fn write(&mut self, rows: &[(u32, (u8, u8), i8)]) {
        for (n, fields, kind) in rows {
            let value = i64::try_from(self.history.len()).unwrap();
            let mut row = model_row(&[DataType::int()], (*n, value, *fields, *kind), value);
            if !self.setup.with_fields {
                row.seq_fields.clear();
            }
            self.buffer
                .write(row.kind, row.key.clone(), row.seq_fields.clone(), row.value);
            self.history.push(row);
        }
        let run = self.buffer.flush();
        for file in self.roll(&run, 0) {
            self.levels.add_level0(file).unwrap();
        }
    }

    fn rows_of(&self, run: &crate::SortedRun) -> Vec<ModelRow> {
        run.files()
            .iter()
            .flat_map(|file| self.contents[&file.file_name].clone())
            .collect()
    }

    /// Merges one section as a reader or a rewrite would; the sequence column is left out where files settle it.
    fn merge(&self, section: &Section, mode: MergeMode, drop_retractions: bool) -> Vec<ModelRow> {
        let mut section = section.clone();
        let settled = section.newest_first() && !self.setup.with_fields;
        let options = MergeOptions {
            engine: self.engine(),
            mode,
            drop_retractions,
        };
        let mut merge = SortMerge::new(&section.expected_rows(), options).unwrap();
        let mut runs: Vec<Vec<ModelRow>> = Vec::new();
        for (run, files) in section.runs.iter().enumerate() {
            let rows = self.rows_of(files);
            let keys: Vec<Vec<Datum>> = rows.iter().map(|row| row.key.clone()).collect();
            let fields: Vec<Vec<Datum>> = rows.iter().map(|row| row.seq_fields.clone()).collect();
            let batch = MergeBatch {
                keys: encode_keys(&[DataType::int()], &keys),
                sequence: (!settled)
                    .then(|| Int64Array::from_iter_values(rows.iter().map(|row| row.sequence))),
                seq_fields: self
                    .setup
                    .with_fields
                    .then(|| encode_seq_fields(&fields, self.setup.rules.descending)),
                kinds: Some(Int8Array::from_iter_values(
                    rows.iter().map(|row| row.kind.as_i8()),
                )),
                rows: rows.len(),
            };
            // One batch per run: slots are runs.
            assert_eq!(merge.push(run, batch).unwrap() as usize, run);
            merge.finish_run(run).unwrap();
            runs.push(rows);
        }
        let mut merged = Vec::new();
        loop {
            match merge.step() {
                Step::Output(chunk) => {
                    for pick in chunk.picks {
                        merged.extend_from_slice(&runs[pick.slot as usize][pick.rows()]);
                    }
                }
                Step::Mask(mask) => {
                    let rows = &runs[mask.run];
                    merged.extend(rows.iter().enumerate().filter_map(|(at, row)| {
                        let survives = match &mask.survivors {
                            Survivors::All => true,
                            Survivors::None => false,
                            Survivors::Some(bits) => bits.value(at),
                        };
                        survives.then(|| row.clone())
                    }));
                }
                Step::Done => return merged,
                Step::NeedInput(run) => unreachable!("run {run} is finished"),
            }
        }
    }

    /// What a reader sees, by key. Sections are in key order.
    fn visible(&self) -> Vec<(Datum, i64)> {
        let files: Vec<_> = self.levels.files().cloned().collect();
        let mut rows = Vec::new();
        for section in interval_partition(&files, &int_keys()).unwrap() {
            let mut merged = self.merge(&section, MergeMode::Mask, true);
            merged.sort_by(|left, right| crate::model::compare_keys(&left.key, &right.key));
            rows.extend(
                merged
                    .into_iter()
                    .map(|row| (row.key[0].clone(), row.value)),
            );
        }
        rows
    }

    /// What every row ever written leaves, without any tree.
    fn replayed(&self) -> Vec<(Datum, i64)> {
        let mut rows = self.setup.rules.merge(std::slice::from_ref(&self.history));
        rows.retain(|row| !row.kind.is_retract());
        rows.into_iter()
            .map(|row| (row.key[0].clone(), row.value))
            .collect()
    }

    fn compact(&mut self, unit: CompactionUnit) {
        assert!(unit.output_level > 0 && unit.output_level <= self.levels.top_level());
        self.check_prefix(&unit);
        let small = self.setup.small_file_rows * u64::try_from(ROW_BYTES).unwrap();
        let plan_options = TaskPlanOptions {
            top_level: self.levels.top_level(),
            small_file_size: small,
            force_rewrite_all_files: self.setup.force_rewrite_all_files,
            has_expired_rows: &|_| false,
        };
        let plan = CompactionTaskPlan::new(&unit, &plan_options, &int_keys()).unwrap();
        let drop = drop_delete(unit.output_level, self.levels.highest_non_empty(), false);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for step in plan.steps {
            match step {
                TaskStep::Upgrade(file) => {
                    after.push(Arc::new(file.upgraded(unit.output_level)));
                    before.push(file);
                }
                TaskStep::Rewrite(sections) => {
                    let mode = MergeMode::Picks {
                        chunk_rows: 5,
                        versions: Versions::Winners,
                    };
                    let rows: Vec<ModelRow> = sections
                        .iter()
                        .flat_map(|section| self.merge(section, mode, drop))
                        .collect();
                    before.extend(sections.iter().flat_map(Section::files).cloned());
                    after.extend(self.roll(&rows, unit.output_level));
                }
            }
        }
        self.levels.apply(&before, &after).unwrap();
    }

    /// A unit is a prefix of the runs, or part of the only run of the top level.
    fn check_prefix(&self, unit: &CompactionUnit) {
        let runs = self.levels.runs();
        let in_order: Vec<&str> = runs
            .iter()
            .flat_map(|run| crate::testing::names(run.run.files()))
            .collect();
        assert_eq!(
            in_order[..unit.files.len()],
            crate::testing::names(&unit.files)
        );
    }

    fn act(&mut self, action: &Action) {
        match action {
            Action::Write(rows) => self.write(rows),
            Action::Restart => self.buffer.restart(self.levels.max_sequence_number()),
            Action::Trigger => {
                let context = PickContext {
                    now_millis: 0,
                    local_hour: 0,
                };
                let unit =
                    self.compaction
                        .pick(&self.levels.runs(), self.levels.top_level(), context);
                unit.into_iter().for_each(|unit| self.compact(unit));
            }
            Action::Full => {
                let options = FullPickOptions {
                    force_rewrite_all_files: self.setup.force_rewrite_all_files,
                    needs_rewrite: &|_| false,
                };
                let unit = full_pick(&self.levels.runs(), self.levels.top_level(), &options);
                unit.into_iter().for_each(|unit| self.compact(unit));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever is written and compacted in whatever order, a compaction leaves the merged rows alone, and without
    /// sequence fields they are what replaying all writes gives. Restored from its files the tree is the same.
    #[test]
    fn compactions_do_not_change_what_readers_see(
        setup in setup(),
        actions in prop::collection::vec(action(), 1..25),
    ) {
        let mut bucket = Bucket::new(setup);
        for action in &actions {
            let before = bucket.visible();
            bucket.act(action);
            let visible = bucket.visible();
            if !matches!(action, Action::Write(_)) {
                prop_assert_eq!(&visible, &before, "{:?} changed the rows", action);
            }
            if !bucket.setup.with_fields {
                prop_assert_eq!(&visible, &bucket.replayed(), "after {:?}", action);
            }
            let files: Vec<_> = bucket.levels.files().cloned().collect();
            let restored = Levels::restore(files, bucket.setup.num_levels, int_keys()).unwrap();
            prop_assert_eq!(restored.runs(), bucket.levels.runs());
        }
    }
}

#[test]
fn a_full_compaction_leaves_no_retractions() {
    let setup = Setup {
        rules: ModelRules::default(),
        with_fields: false,
        file_rows: 3,
        small_file_rows: 0,
        force_rewrite_all_files: false,
        options: UniversalOptions::default(),
        num_levels: 6,
    };
    let mut bucket = Bucket::new(setup);
    bucket.write(&[(1, (0, 0), 0), (2, (0, 0), 0), (3, (0, 0), 0)]);
    bucket.write(&[
        (2, (0, 0), RowKind::Delete.as_i8()),
        (7, (0, 0), RowKind::UpdateBefore.as_i8()),
    ]);
    bucket.act(&Action::Full);
    let left: Vec<i64> = bucket
        .levels
        .files()
        .flat_map(|file| bucket.contents[&file.file_name].clone())
        .map(|row| row.value)
        .collect();
    assert_eq!(left.len(), 2);
    assert_eq!(bucket.levels.highest_non_empty(), Some(5));
}
