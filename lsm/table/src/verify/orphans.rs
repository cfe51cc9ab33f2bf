//! Files below a table's folder that nothing names.
//!
//! Tags, branches, consumers and changelogs are names themselves and never orphans; neither are hints. Files of a commit that is under way are
//! orphans until its snapshot appears.

use tidewater_format::{Unsupported, versioned_file_number};

use super::reached::Reached;
use crate::error::{Result, TableError};
use crate::table_log::TableLog;

/// Folders whose files name and are not named.
const NAMING_FOLDERS: [&str; 4] = ["tag", "branch", "consumer", "changelog"];

/// Paths relative to the table's folder, sorted.
pub(super) async fn find(log: &TableLog, reached: &Reached) -> Result<Vec<String>> {
    let root = log.paths().root();
    if !log.io().list(&log.paths().branch_dir()).await?.is_empty() {
        let what = "orphans of a table with branches, whose files lie among the table's";
        return Err(TableError::Format(Unsupported::other(what).into()));
    }
    let mut orphans = Vec::new();
    for file in log.io().list_recursive(root).await? {
        let relative = file.path.strip_prefix(root).unwrap_or(&file.path);
        let relative = relative.trim_start_matches('/');
        if !reached.paths.contains(&file.path) && !names_itself(relative) {
            orphans.push(relative.to_owned());
        }
    }
    orphans.sort_unstable();
    Ok(orphans)
}

fn names_itself(relative: &str) -> bool {
    match relative.split_once('/') {
        Some(("snapshot", name)) => {
            matches!(name, "LATEST" | "EARLIEST")
                || versioned_file_number(name, "snapshot-").is_some()
        }
        Some(("schema", name)) => versioned_file_number(name, "schema-").is_some(),
        Some((folder, _)) => NAMING_FOLDERS.contains(&folder),
        None => false,
    }
}
