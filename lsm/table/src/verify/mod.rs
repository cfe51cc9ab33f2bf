//! Reads again all that a table's snapshots, tags and changelogs reach, and tells what does not hold.
//!
//! ```text
//!  schemas, hints, snapshots, tags, changelogs            history.rs
//!     └─> lists ─> manifests: sizes, counts, bounds       reached.rs
//!            └─> states: adds and deletes, sums, levels   history.rs
//!                   ├─> index files against live files    index.rs
//!                   └─> data files, each once             data_file.rs, content.rs, bounds.rs
//!  the files in the table's folder that nothing named     orphans.rs
//! ```
//!
//! What is missing or damaged is a fault in the report; only a store that does not answer, and tables that this build cannot read, are errors.
//! Faults are named as the conformance oracle names them.

mod bounds;
mod content;
mod data_file;
mod history;
mod index;
mod orphans;
mod reached;

use tidewater_files::FilesContext;
use tidewater_format::ensure_readable;

use crate::error::Result;
use crate::table_log::TableLog;

/// What is looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VerifyOptions {
    /// Whether files that nothing names are listed.
    pub orphans: bool,
}

/// Something that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What kind of fault, such as `data-file-missing`.
    pub code: &'static str,
    /// Which snapshot and file, as names.
    pub place: String,
    /// What was expected and what is there.
    pub detail: String,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// What does not hold.
    pub faults: Vec<Fault>,
    /// What is odd, but harmless to readers.
    pub notes: Vec<Fault>,
    /// Files that nothing names, below the table's folder; empty unless asked for.
    pub orphans: Vec<String>,
    /// Snapshots that were looked at, with those that only tags or changelogs keep.
    pub snapshots: u64,
    /// Data and changelog files that were looked at.
    pub data_files: u64,
    /// Rows that were read.
    pub rows: u64,
}

impl VerifyReport {
    fn fault(&mut self, code: &'static str, place: &str, detail: impl Into<String>) {
        self.faults.push(fault(code, place, detail));
    }
}

fn fault(code: &'static str, place: &str, detail: impl Into<String>) -> Fault {
    Fault {
        code,
        place: place.to_owned(),
        detail: detail.into(),
    }
}

/// Checks a table. Reads every row of every file once.
///
/// # Errors
/// A store that does not answer; formats and features that this build does not have.
pub async fn verify(
    log: &TableLog,
    context: &FilesContext,
    options: VerifyOptions,
) -> Result<VerifyReport> {
    ensure_readable(log.schema())?;
    let mut history = history::History::new(log)?;
    history.check().await?;
    let (mut report, reached) = history.into_parts();
    data_file::check_all(log, context, &reached, &mut report).await?;
    if options.orphans {
        report.orphans = orphans::find(log, &reached).await?;
    }
    Ok(report)
}
