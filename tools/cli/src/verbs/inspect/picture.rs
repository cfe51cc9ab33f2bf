//! The tree of one bucket as lines of text: runs from top to bottom, keys from left to right.
//!
//! ```text
//!  L0  ├──────────────────────┤        1 file       12 rows    3.1 KiB
//!  L0     ├───────────────────────┤    1 file       15 rows    3.2 KiB
//!  L5  ├───────┤├───────┤├────────┤    3 files   1,204 rows   98.0 KiB
//! ```
//!
//! A bar reaches from its file's first key to its last. Keys stand where their order puts them, not where their values would.

use std::sync::Arc;

use tidewater_format::DataFileMeta;
use tidewater_merge::{KeyComparator, LevelSortedRun};
use tidewater_types::BinaryRow;

use crate::error::Result;
use crate::output::grouped;

/// Runs of level 0 that are drawn; more are counted.
const LEVEL0_RUNS_MAX: usize = 12;
/// Least columns for the bars.
const BAR_COLUMNS_MIN: usize = 16;
/// Columns of what stands beside the bars.
const TEXT_COLUMNS: usize = 46;

/// Draws the runs, newest first, in `width` columns.
pub(crate) fn draw(
    runs: &[LevelSortedRun],
    keys: &KeyComparator,
    width: usize,
) -> Result<Vec<String>> {
    let columns = width.saturating_sub(TEXT_COLUMNS).max(BAR_COLUMNS_MIN);
    let axis = Axis::new(runs, keys, columns)?;
    let mut lines = Vec::new();
    let level0 = runs.iter().filter(|run| run.level == 0).count();
    for (number, run) in runs.iter().enumerate() {
        if run.level == 0 && number >= LEVEL0_RUNS_MAX {
            if number == LEVEL0_RUNS_MAX {
                lines.push(format!("  L0  … and {} runs more", level0 - number));
            }
            continue;
        }
        let files = run.run.files();
        let sums = Sums::of(files);
        lines.push(format!(
            "  L{:<2} {}  {:>4} {:<5} {:>13} rows {:>10}",
            run.level,
            axis.bars(files, keys)?,
            files.len(),
            if files.len() == 1 { "file" } else { "files" },
            grouped(sums.rows),
            bytes_text(sums.bytes),
        ));
    }
    Ok(lines)
}

/// Rows and bytes of some files.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums {
    pub(crate) rows: u64,
    pub(crate) deletes: u64,
    pub(crate) bytes: u64,
}

impl Sums {
    pub(crate) fn of<'a>(files: impl IntoIterator<Item = &'a Arc<DataFileMeta>>) -> Self {
        let unsigned = |value: i64| u64::try_from(value).unwrap_or_default();
        files.into_iter().fold(Self::default(), |sums, file| Self {
            rows: sums.rows.saturating_add(unsigned(file.row_count)),
            deletes: sums
                .deletes
                .saturating_add(unsigned(file.delete_row_count.unwrap_or(0))),
            bytes: sums.bytes.saturating_add(unsigned(file.file_size)),
        })
    }
}

/// Bytes with a unit.
#[expect(clippy::cast_precision_loss, reason = "one digit behind the point")]
pub(crate) fn bytes_text(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let name = UNITS.get(unit).copied().unwrap_or("B");
    if unit == 0 {
        format!("{bytes} B")
    } else {
        format!("{value:.1} {name}")
    }
}

/// Where the first and last keys of files stand.
struct Axis {
    /// All of them, ascending, each once.
    bounds: Vec<BinaryRow>,
    columns: usize,
}

impl Axis {
    fn new(runs: &[LevelSortedRun], keys: &KeyComparator, columns: usize) -> Result<Self> {
        let mut bounds: Vec<BinaryRow> = runs
            .iter()
            .flat_map(|run| run.run.files())
            .flat_map(|file| [file.min_key.clone(), file.max_key.clone()])
            .collect();
        let mut fault = None;
        bounds.sort_by(|left, right| {
            keys.compare(left, right).unwrap_or_else(|error| {
                fault = Some(error);
                std::cmp::Ordering::Equal
            })
        });
        if let Some(error) = fault {
            return Err(tidewater_table::TableError::from(error).into());
        }
        bounds.dedup();
        Ok(Self { bounds, columns })
    }

    /// The column of a key.
    fn column(&self, key: &BinaryRow, keys: &KeyComparator) -> Result<usize> {
        let mut fault = None;
        let rank = self.bounds.partition_point(|bound| {
            keys.compare(bound, key).map_or_else(
                |error| {
                    fault = Some(error);
                    false
                },
                std::cmp::Ordering::is_lt,
            )
        });
        if let Some(error) = fault {
            return Err(tidewater_table::TableError::from(error).into());
        }
        let last = self.bounds.len().saturating_sub(1).max(1);
        Ok(rank * (self.columns - 1) / last)
    }

    fn bars(&self, files: &[Arc<DataFileMeta>], keys: &KeyComparator) -> Result<String> {
        let mut cells = vec![' '; self.columns];
        for file in files {
            let (from, to) = (
                self.column(&file.min_key, keys)?,
                self.column(&file.max_key, keys)?,
            );
            for (column, cell) in cells.iter_mut().enumerate() {
                if column == from && column == to {
                    *cell = if *cell == ' ' { '│' } else { '┼' };
                } else if column == from {
                    *cell = if *cell == ' ' { '├' } else { '┼' };
                } else if column == to {
                    *cell = '┤';
                } else if (from..to).contains(&column) {
                    *cell = '─';
                }
            }
        }
        Ok(cells.into_iter().collect())
    }
}
