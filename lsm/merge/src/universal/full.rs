//! Full compaction: everything to the top level.

use crate::levels::LevelSortedRun;
use crate::universal::{CompactionUnit, UnitKind};
use tidewater_format::DataFileMeta;

/// What a full compaction does with a bucket that is one run on the top level already.
pub struct FullPickOptions<'a> {
    /// `compaction.force-rewrite-all-files`.
    pub force_rewrite_all_files: bool,
    /// Files that need work although nothing is to merge: they hold expired rows, or have a deletion vector.
    pub needs_rewrite: &'a dyn Fn(&DataFileMeta) -> bool,
}

impl std::fmt::Debug for FullPickOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FullPickOptions")
            .field("force_rewrite_all_files", &self.force_rewrite_all_files)
            .finish_non_exhaustive()
    }
}

/// The unit of a full compaction; `None` if there is nothing to do. Must not start while a task runs.
///
/// Source: spec 02b §3.3; Paimon `CompactStrategy.pickFullCompaction`.
pub fn full_pick(
    runs: &[LevelSortedRun],
    top_level: i32,
    options: &FullPickOptions<'_>,
) -> Option<CompactionUnit> {
    let all = || runs.iter().flat_map(|run| run.run.files()).cloned();
    let unit = match runs {
        [only] if only.level == top_level => CompactionUnit {
            files: all()
                .filter(|file| options.force_rewrite_all_files || (options.needs_rewrite)(file))
                .collect(),
            output_level: top_level,
            kind: UnitKind::RewriteEachFile,
        },
        _ => CompactionUnit {
            files: all().collect(),
            output_level: top_level,
            kind: UnitKind::Compact,
        },
    };
    (!unit.files.is_empty()).then_some(unit)
}
