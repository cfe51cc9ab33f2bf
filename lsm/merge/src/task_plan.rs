//! What one compaction task does with the files of its unit: which it rewrites together, which it only moves.
//!
//! ```text
//!  key order   [small][small]  [big]  [overlapping a|b|c]  [small]
//!              '--- rewrite -'   |    '------- rewrite ----------'
//!                             upgrade: same file, new level
//! ```
//!
//! Small files and overlapping sections gather until a big file that overlaps nothing interrupts them. A gathering
//! that turns out to be a single file is upgraded as well.
//!
//! Source: spec 02b §3.4, §3.6; Paimon `mergetree/compact/MergeTreeCompactTask.java`.

use std::sync::Arc;

use tidewater_format::{DataFileMeta, TableOptions};

use crate::error::Result;
use crate::interval::{Section, interval_partition};
use crate::key_comparator::KeyComparator;
use crate::sorted_run::{SortedRun, file_size};
use crate::universal::{CompactionUnit, UnitKind};

/// The steps of a compaction task, in key order.
#[derive(Debug, Clone, PartialEq)]
pub struct CompactionTaskPlan {
    /// What to do, one after the other.
    pub steps: Vec<TaskStep>,
    /// The level of the results.
    pub output_level: i32,
}

/// One step of a task.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskStep {
    /// Merge the sections, in order, into one row of rolling files.
    Rewrite(Vec<Section>),
    /// Give the file its new level without touching its bytes.
    Upgrade(Arc<DataFileMeta>),
}

/// What decides between rewriting and upgrading.
pub struct TaskPlanOptions<'a> {
    /// The tree's top level.
    pub top_level: i32,
    /// Files below this size are worth merging with their neighbours: [`small_file_size`].
    pub small_file_size: u64,
    /// `compaction.force-rewrite-all-files`.
    pub force_rewrite_all_files: bool,
    /// Files that hold rows beyond their expire time.
    pub has_expired_rows: &'a dyn Fn(&DataFileMeta) -> bool,
}

impl std::fmt::Debug for TaskPlanOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TaskPlanOptions")
            .field("top_level", &self.top_level)
            .field("small_file_size", &self.small_file_size)
            .field("force_rewrite_all_files", &self.force_rewrite_all_files)
            .finish_non_exhaustive()
    }
}

/// The size below which a file counts as small: seven tenths of `target-file-size` in integers as Java 1.3.1 has it,
/// or what `compaction.small-file-ratio` says. `keyed` is whether the table has a primary key.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a size, given as a float; casts of floats saturate"
)]
pub fn small_file_size(options: &TableOptions, keyed: bool) -> u64 {
    let target = options.target_file_size_bytes(keyed);
    if options.compaction_small_file_ratio == 0.7 {
        target / 10 * 7
    } else {
        (target as f64 * options.compaction_small_file_ratio) as u64
    }
}

/// Whether a task that writes to `output_level` may leave out retractions (spec 02b §3.6).
///
/// `highest_non_empty` is the tree's [`highest_non_empty`](crate::Levels::highest_non_empty) level before the task.
/// Under deletion vectors older versions are already marked, so nothing is left for a retraction to hide.
pub fn drop_delete(
    output_level: i32,
    highest_non_empty: Option<i32>,
    deletion_vectors: bool,
) -> bool {
    output_level != 0
        && (deletion_vectors || highest_non_empty.is_none_or(|highest| output_level >= highest))
}

impl CompactionTaskPlan {
    /// Plans a unit.
    ///
    /// # Errors
    /// Keys that do not decode.
    pub fn new(
        unit: &CompactionUnit,
        options: &TaskPlanOptions<'_>,
        keys: &KeyComparator,
    ) -> Result<Self> {
        let mut planner = Planner {
            options,
            output_level: unit.output_level,
            candidate: Vec::new(),
            steps: Vec::new(),
        };
        match unit.kind {
            UnitKind::RewriteEachFile => {
                unit.files.iter().for_each(|file| planner.rewrite_one(file))
            }
            UnitKind::Compact => {
                for section in interval_partition(&unit.files, keys)? {
                    planner.add(section);
                }
                planner.flush();
            }
        }
        Ok(Self {
            steps: planner.steps,
            output_level: unit.output_level,
        })
    }
}

struct Planner<'a> {
    options: &'a TaskPlanOptions<'a>,
    output_level: i32,
    /// Sections that will be rewritten together.
    candidate: Vec<Section>,
    steps: Vec<TaskStep>,
}

impl Planner<'_> {
    fn add(&mut self, section: Section) {
        let [only] = section.runs.as_slice() else {
            self.candidate.push(section);
            return;
        };
        for file in only.files() {
            if file_size(file) < self.options.small_file_size {
                self.candidate.push(section_of(file));
            } else {
                self.flush();
                self.upgrade(file);
            }
        }
    }

    fn flush(&mut self) {
        let candidate = std::mem::take(&mut self.candidate);
        match candidate.as_slice() {
            [] => {}
            [only] if only.runs.len() == 1 => only.files().for_each(|file| self.upgrade(file)),
            _ => self.steps.push(TaskStep::Rewrite(candidate)),
        }
    }

    fn upgrade(&mut self, file: &Arc<DataFileMeta>) {
        let may_hold_deletes = file.delete_row_count.is_none_or(|deletes| deletes > 0);
        if (self.output_level == self.options.top_level && may_hold_deletes)
            || self.options.force_rewrite_all_files
            || (self.options.has_expired_rows)(file)
        {
            self.rewrite_one(file);
        } else if file.level != self.output_level {
            self.steps.push(TaskStep::Upgrade(Arc::clone(file)));
        }
    }

    fn rewrite_one(&mut self, file: &Arc<DataFileMeta>) {
        self.steps.push(TaskStep::Rewrite(vec![section_of(file)]));
    }
}

fn section_of(file: &Arc<DataFileMeta>) -> Section {
    Section {
        runs: vec![SortedRun::single(Arc::clone(file))],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{arcs, file, int_keys, names, vector};

    fn int(value: &Value) -> i64 {
        value.as_i64().unwrap()
    }

    fn small_int(value: &Value) -> i32 {
        i32::try_from(int(value)).unwrap()
    }

    /// A step in the words of the vector; runs are ordered as Java prints them.
    fn shown(step: &TaskStep, output_level: i32) -> Value {
        match step {
            TaskStep::Upgrade(file) => {
                json!({"op": "upgrade", "output_level": output_level, "file": file.file_name})
            }
            TaskStep::Rewrite(sections) => {
                let section = |section: &Section| {
                    let mut runs: Vec<Vec<&str>> =
                        section.runs.iter().map(|run| names(run.files())).collect();
                    runs.sort_by_key(|run| format!("[{}]", run.join(", ")));
                    json!(runs)
                };
                let sections: Vec<Value> = sections.iter().map(section).collect();
                json!({"op": "rewrite", "output_level": output_level, "sections": sections})
            }
        }
    }

    #[test]
    fn plans_equal_those_of_java() {
        let vectors = vector("02-compact-task-plan.json");
        let cases = vectors["cases"].as_array().unwrap();
        assert_eq!(cases.len(), 46);
        for case in cases {
            let files = case["files_name_level_size_min_max_deletes"]
                .as_array()
                .unwrap();
            let meta = |f: &Value| {
                let name = f[0].as_str().unwrap();
                let mut meta = file(
                    name,
                    small_int(&f[1]),
                    int(&f[2]),
                    small_int(&f[3]),
                    small_int(&f[4]),
                );
                meta.delete_row_count = Some(int(&f[5])).filter(|deletes| *deletes >= 0);
                meta
            };
            let unit = CompactionUnit {
                files: arcs(files.iter().map(meta)),
                output_level: small_int(&case["output_level"]),
                kind: UnitKind::Compact,
            };
            let options = TaskPlanOptions {
                top_level: small_int(&case["max_level"]),
                small_file_size: case["min_file_size"].as_u64().unwrap(),
                force_rewrite_all_files: case["force_rewrite_all"].as_bool().unwrap(),
                has_expired_rows: &|_| false,
            };
            let plan = CompactionTaskPlan::new(&unit, &options, &int_keys()).unwrap();
            let shown: Vec<Value> = plan
                .steps
                .iter()
                .map(|step| shown(step, plan.output_level))
                .collect();
            assert_eq!(json!(shown), case["ops"], "{case}");
        }
    }

    fn plan(kind: UnitKind, files: Vec<DataFileMeta>, expired: &str) -> Vec<Value> {
        let unit = CompactionUnit {
            files: arcs(files),
            output_level: 5,
            kind,
        };
        let options = TaskPlanOptions {
            top_level: 5,
            small_file_size: 70,
            force_rewrite_all_files: false,
            has_expired_rows: &|file| file.file_name == expired,
        };
        let plan = CompactionTaskPlan::new(&unit, &options, &int_keys()).unwrap();
        plan.steps
            .iter()
            .map(|step| shown(step, plan.output_level))
            .collect()
    }

    #[test]
    fn a_file_with_expired_rows_is_rewritten_instead_of_upgraded() {
        let steps = plan(
            UnitKind::Compact,
            vec![file("a", 4, 100, 1, 2), file("b", 4, 100, 3, 4)],
            "a",
        );
        assert_eq!(
            steps,
            [
                json!({"op": "rewrite", "output_level": 5, "sections": [[["a"]]]}),
                json!({"op": "upgrade", "output_level": 5, "file": "b"}),
            ]
        );
    }

    #[test]
    fn a_file_rewrite_unit_rewrites_each_file_alone() {
        let steps = plan(
            UnitKind::RewriteEachFile,
            vec![file("a", 5, 1, 1, 2), file("b", 5, 1, 3, 4)],
            "",
        );
        assert_eq!(
            steps,
            [
                json!({"op": "rewrite", "output_level": 5, "sections": [[["a"]]]}),
                json!({"op": "rewrite", "output_level": 5, "sections": [[["b"]]]}),
            ]
        );
    }

    #[test]
    fn retractions_are_dropped_only_where_nothing_older_is_left_below() {
        assert!(drop_delete(5, Some(5), false));
        assert!(drop_delete(5, Some(0), false));
        assert!(drop_delete(5, None, false));
        assert!(!drop_delete(4, Some(5), false));
        assert!(drop_delete(4, Some(5), true));
        assert!(!drop_delete(0, Some(0), false));
        assert!(!drop_delete(0, Some(0), true));
    }

    #[test]
    fn the_small_file_limit_is_computed_in_integers() {
        let limit = |values: &[(&str, &str)]| {
            let values = values
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
            small_file_size(&TableOptions::from_map(&values.collect()).unwrap(), true)
        };
        assert_eq!(limit(&[]), 93_952_404);
        assert_eq!(limit(&[("target-file-size", "109 b")]), 70);
        assert_eq!(
            limit(&[
                ("target-file-size", "109 b"),
                ("compaction.small-file-ratio", "0.5")
            ]),
            54
        );
    }
}
