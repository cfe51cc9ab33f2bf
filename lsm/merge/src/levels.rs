//! The LSM tree of one bucket: which files are on which level.
//!
//! ```text
//!  level 0   [f9] [f8] [f7]      every file a run of its own, newest first, ranges may overlap
//!  level 1   [f5][f6]            one run
//!  ...
//!  level M   [f0][f1][f2][f3]    one run, the oldest data
//! ```
//!
//! Source: spec 02b §1; Paimon `mergetree/Levels.java`.

use std::sync::Arc;

use tidewater_format::DataFileMeta;

use crate::error::{MergeError, Result};
use crate::key_comparator::KeyComparator;
use crate::sorted_run::SortedRun;

/// Above every level a table has had; a manifest that claims more is corrupt, and believing it would cost memory.
const LEVEL_MAX: u16 = 4095;

/// A run and the level it is on.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelSortedRun {
    /// The level.
    pub level: i32,
    /// The files.
    pub run: SortedRun,
}

/// Live files of one bucket by level.
#[derive(Debug, Clone)]
pub struct Levels {
    /// Newest first.
    level0: Vec<Arc<DataFileMeta>>,
    /// Levels 1, 2, …; empty runs included.
    levels: Vec<SortedRun>,
    keys: KeyComparator,
}

impl Levels {
    /// The tree of a bucket with these live files.
    ///
    /// It has `num_levels` levels (option `num-levels`), or more if a file is on a higher one.
    ///
    /// # Errors
    /// Fewer than 2 levels, an impossible level, or files of a level above 0 that overlap.
    pub fn restore(
        files: Vec<Arc<DataFileMeta>>,
        num_levels: usize,
        keys: KeyComparator,
    ) -> Result<Self> {
        let mut top = num_levels.saturating_sub(1);
        if top > LEVEL_MAX as usize {
            return Err(MergeError::TooLarge {
                what: "num-levels",
                found: num_levels,
                limit: LEVEL_MAX as usize + 1,
            });
        }
        let mut level0 = Vec::new();
        let mut by_level: Vec<Vec<Arc<DataFileMeta>>> = Vec::new();
        for file in files {
            let level = checked_level(&file)?;
            top = top.max(level);
            match level.checked_sub(1) {
                None => level0.push(file),
                Some(place) => {
                    if by_level.len() <= place {
                        by_level.resize_with(place + 1, Vec::new);
                    }
                    by_level
                        .get_mut(place)
                        .into_iter()
                        .for_each(|files| files.push(Arc::clone(&file)));
                }
            }
        }
        if top < 1 {
            return Err(MergeError::TooFewLevels { found: top + 1 });
        }
        by_level.resize_with(top, Vec::new);
        sort_level0(&mut level0);
        let run = |(place, files)| SortedRun::from_level(files, place + 1, &keys);
        let levels = by_level
            .into_iter()
            .enumerate()
            .map(run)
            .collect::<Result<_>>()?;
        Ok(Self {
            level0,
            levels,
            keys,
        })
    }

    /// Number of levels, level 0 included.
    pub fn num_levels(&self) -> usize {
        self.levels.len() + 1
    }

    /// The highest level there can be, where full compactions end.
    pub fn top_level(&self) -> i32 {
        // At most LEVEL_MAX.
        i32::try_from(self.levels.len()).unwrap_or(i32::MAX)
    }

    /// Level 0, newest file first.
    pub fn level0(&self) -> &[Arc<DataFileMeta>] {
        &self.level0
    }

    /// The run of a level above 0; `None` if the tree has no such level.
    pub fn run_of_level(&self, level: i32) -> Option<&SortedRun> {
        let place = usize::try_from(level).ok()?.checked_sub(1)?;
        self.levels.get(place)
    }

    /// The non-empty runs, newest first.
    pub fn runs(&self) -> Vec<LevelSortedRun> {
        let level0 = self.level0.iter().map(|file| LevelSortedRun {
            level: 0,
            run: SortedRun::single(Arc::clone(file)),
        });
        let above = (1..).zip(&self.levels).filter(|(_, run)| !run.is_empty());
        level0
            .chain(above.map(|(level, run)| LevelSortedRun {
                level,
                run: run.clone(),
            }))
            .collect()
    }

    /// Number of non-empty runs, what `num-sorted-run.*` options count.
    pub fn num_runs(&self) -> usize {
        self.level0.len() + self.levels.iter().filter(|run| !run.is_empty()).count()
    }

    /// The highest level that has files; `None` for an empty tree.
    pub fn highest_non_empty(&self) -> Option<i32> {
        let above = (1..)
            .zip(&self.levels)
            .filter(|(_, run)| !run.is_empty())
            .last();
        match above {
            Some((level, _)) => Some(level),
            None if self.level0.is_empty() => None,
            None => Some(0),
        }
    }

    /// All files, level 0 newest first, then by level and key.
    pub fn files(&self) -> impl Iterator<Item = &Arc<DataFileMeta>> {
        self.level0
            .iter()
            .chain(self.levels.iter().flat_map(SortedRun::files))
    }

    /// The greatest sequence number of all files; `None` for an empty tree.
    pub fn max_sequence_number(&self) -> Option<i64> {
        self.files().map(|file| file.max_sequence_number).max()
    }

    /// Adds the file of a flush to level 0.
    ///
    /// # Errors
    /// [`MergeError::LevelOutOfRange`] for a file that is not on level 0.
    pub fn add_level0(&mut self, file: Arc<DataFileMeta>) -> Result<()> {
        if file.level != 0 {
            return Err(MergeError::LevelOutOfRange {
                file: file.file_name.clone(),
                level: file.level.into(),
                max: 0,
            });
        }
        self.level0.push(file);
        sort_level0(&mut self.level0);
        Ok(())
    }

    /// Replaces `before` by `after`, each on the level it names: the result of a compaction.
    ///
    /// All or nothing: after an error the tree is what it was.
    ///
    /// # Errors
    /// A file of `before` that is not on its level, a level the tree does not have, or an overlap.
    pub fn apply(
        &mut self,
        before: &[Arc<DataFileMeta>],
        after: &[Arc<DataFileMeta>],
    ) -> Result<()> {
        let mut level0 = self.level0.clone();
        let mut changed: Vec<Option<Vec<Arc<DataFileMeta>>>> = vec![None; self.levels.len()];
        for file in before {
            let files = self.level_mut(file, &mut level0, &mut changed)?;
            let place = files
                .iter()
                .position(|held| held.file_name == file.file_name);
            let place = place.ok_or_else(|| MergeError::NoSuchFile {
                file: file.file_name.clone(),
                level: file.level.into(),
            })?;
            files.remove(place);
        }
        for file in after {
            self.level_mut(file, &mut level0, &mut changed)?
                .push(Arc::clone(file));
        }
        let mut levels = self.levels.clone();
        for ((place, run), files) in levels.iter_mut().enumerate().zip(changed) {
            if let Some(files) = files {
                *run = SortedRun::from_level(files, place + 1, &self.keys)?;
            }
        }
        sort_level0(&mut level0);
        self.level0 = level0;
        self.levels = levels;
        Ok(())
    }

    fn level_mut<'a>(
        &self,
        file: &DataFileMeta,
        level0: &'a mut Vec<Arc<DataFileMeta>>,
        changed: &'a mut [Option<Vec<Arc<DataFileMeta>>>],
    ) -> Result<&'a mut Vec<Arc<DataFileMeta>>> {
        let Some(place) = checked_level(file)?.checked_sub(1) else {
            return Ok(level0);
        };
        match (changed.get_mut(place), self.levels.get(place)) {
            (Some(files), Some(run)) => Ok(files.get_or_insert_with(|| run.files().to_vec())),
            _ => Err(MergeError::LevelOutOfRange {
                file: file.file_name.clone(),
                level: file.level.into(),
                max: self.top_level().into(),
            }),
        }
    }
}

fn checked_level(file: &DataFileMeta) -> Result<usize> {
    let level = usize::try_from(file.level)
        .ok()
        .filter(|level| *level <= LEVEL_MAX as usize);
    level.ok_or_else(|| MergeError::LevelOutOfRange {
        file: file.file_name.clone(),
        level: file.level.into(),
        max: LEVEL_MAX.into(),
    })
}

/// Newest first: by greatest sequence number, never by name or time unless all else is equal.
fn sort_level0(files: &mut [Arc<DataFileMeta>]) {
    files.sort_by(|left, right| {
        let by_age = right.max_sequence_number.cmp(&left.max_sequence_number);
        by_age
            .then_with(|| left.min_sequence_number.cmp(&right.min_sequence_number))
            .then_with(|| left.creation_time_millis.cmp(&right.creation_time_millis))
            .then_with(|| left.file_name.cmp(&right.file_name))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{arcs, file, int_keys, names};
    use tidewater_types::ErrorKind;

    fn sequenced(name: &str, level: i32, min: i64, max: i64) -> DataFileMeta {
        let mut file = file(name, level, 1, 1, 9);
        (file.min_sequence_number, file.max_sequence_number) = (min, max);
        file
    }

    fn shown(levels: &Levels) -> Vec<(i32, Vec<String>)> {
        let runs = levels.runs();
        let run = |run: &LevelSortedRun| {
            (
                run.level,
                names(run.run.files())
                    .into_iter()
                    .map(str::to_owned)
                    .collect(),
            )
        };
        runs.iter().map(run).collect()
    }

    fn run(level: i32, names: &[&str]) -> (i32, Vec<String>) {
        (level, names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn level_0_is_ordered_by_sequence_numbers_not_by_names_or_times() {
        let mut late = sequenced("late", 0, 5, 9);
        late.creation_time_millis = Some(7);
        let mut early = sequenced("early", 0, 5, 9);
        early.creation_time_millis = Some(3);
        let files = arcs([
            sequenced("a", 0, 0, 3),
            late,
            sequenced("z", 0, 10, 12),
            early,
            sequenced("y", 0, 4, 9),
        ]);
        let levels = Levels::restore(files, 6, int_keys()).unwrap();
        assert_eq!(names(levels.level0()), ["z", "y", "early", "late", "a"]);
        assert_eq!(levels.max_sequence_number(), Some(12));
    }

    #[test]
    fn runs_go_from_level_0_to_the_top_and_leave_out_empty_levels() {
        let files = arcs([
            file("top2", 5, 1, 10, 19),
            file("top1", 5, 1, 0, 9),
            file("mid", 2, 1, 0, 99),
            sequenced("new", 0, 8, 9),
        ]);
        let levels = Levels::restore(files, 6, int_keys()).unwrap();
        assert_eq!(
            shown(&levels),
            [
                run(0, &["new"]),
                run(2, &["mid"]),
                run(5, &["top1", "top2"])
            ]
        );
        assert_eq!(
            (levels.num_runs(), levels.num_levels(), levels.top_level()),
            (3, 6, 5)
        );
        assert_eq!(levels.highest_non_empty(), Some(5));
        assert_eq!(levels.run_of_level(2).map(|run| run.files().len()), Some(1));
        assert_eq!(levels.run_of_level(1).map(|run| run.files().len()), Some(0));
        assert_eq!(
            (
                levels.run_of_level(0),
                levels.run_of_level(6),
                levels.run_of_level(-1)
            ),
            (None, None, None)
        );
    }

    #[test]
    fn a_tree_has_as_many_levels_as_its_files_need() {
        let levels = Levels::restore(arcs([file("a", 8, 1, 0, 1)]), 3, int_keys()).unwrap();
        assert_eq!((levels.num_levels(), levels.top_level()), (9, 8));
        let empty = Levels::restore(Vec::new(), 3, int_keys()).unwrap();
        assert_eq!(
            (
                empty.num_levels(),
                empty.highest_non_empty(),
                empty.num_runs()
            ),
            (3, None, 0)
        );
        let flat = Levels::restore(arcs([file("a", 0, 1, 0, 1)]), 3, int_keys()).unwrap();
        assert_eq!(flat.highest_non_empty(), Some(0));
    }

    #[test]
    fn impossible_trees_are_refused() {
        let kind = |files: Vec<DataFileMeta>, num_levels| {
            Levels::restore(arcs(files), num_levels, int_keys())
                .unwrap_err()
                .kind()
        };
        assert_eq!(kind(vec![file("a", 0, 1, 0, 1)], 1), ErrorKind::Invalid);
        assert_eq!(kind(vec![], usize::MAX), ErrorKind::Invalid);
        assert_eq!(kind(vec![file("a", -1, 1, 0, 1)], 6), ErrorKind::Corrupt);
        assert_eq!(
            kind(vec![file("a", i32::MAX, 1, 0, 1)], 6),
            ErrorKind::Corrupt
        );
        assert_eq!(
            kind(vec![file("a", 1, 1, 0, 5), file("b", 1, 1, 5, 9)], 6),
            ErrorKind::Corrupt
        );
    }

    #[test]
    fn a_compaction_result_replaces_its_inputs_or_nothing() {
        let files = arcs([
            sequenced("n1", 0, 0, 1),
            sequenced("n2", 0, 2, 3),
            file("old", 5, 1, 0, 50),
        ]);
        let mut levels = Levels::restore(files.clone(), 6, int_keys()).unwrap();
        levels
            .apply(&files[..1], &arcs([files[0].upgraded(4)]))
            .unwrap();
        assert_eq!(
            shown(&levels),
            [run(0, &["n2"]), run(4, &["n1"]), run(5, &["old"])]
        );

        let before = shown(&levels);
        let missing = levels
            .apply(&arcs([file("n2", 3, 1, 0, 1)]), &[])
            .unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::Internal);
        let overlap = levels
            .apply(&files[1..2], &arcs([file("x", 5, 1, 50, 60)]))
            .unwrap_err();
        assert_eq!(overlap.kind(), ErrorKind::Corrupt);
        let too_high = levels
            .apply(&files[1..2], &arcs([file("x", 6, 1, 50, 60)]))
            .unwrap_err();
        assert_eq!(too_high.kind(), ErrorKind::Corrupt);
        assert_eq!(shown(&levels), before);

        levels
            .add_level0(Arc::new(sequenced("n3", 0, 9, 9)))
            .unwrap();
        assert!(levels.add_level0(Arc::new(file("n4", 1, 1, 0, 1))).is_err());
        assert_eq!(names(levels.level0()), ["n3", "n2"]);
        assert_eq!(levels.files().count(), 4);
    }
}
