//! Where a read starts, from the `scan.` options that are set.
//!
//! Each startup mode takes some of the options that name a starting point and refuses all others; without a mode the
//! option that is set decides. Source: spec 03 §2, Paimon `schema/SchemaValidation.java`, `CoreOptions.java`.

use super::{StartupMode, TableOptions};
use crate::error::{FormatError, Result};

/// The options that name a starting point, with the modes that take them.
const STARTING_POINTS: [(&str, &[StartupMode]); 10] = [
    ("scan.timestamp-millis", &[StartupMode::FromTimestamp]),
    ("scan.timestamp", &[StartupMode::FromTimestamp]),
    (
        "scan.snapshot-id",
        &[StartupMode::FromSnapshot, StartupMode::FromSnapshotFull],
    ),
    ("scan.tag-name", &[StartupMode::FromSnapshot]),
    ("scan.watermark", &[StartupMode::FromSnapshot]),
    ("scan.version", &[StartupMode::FromSnapshot]),
    (
        "scan.file-creation-time-millis",
        &[StartupMode::FromFileCreationTime],
    ),
    ("incremental-between", &[StartupMode::Incremental]),
    ("incremental-between-timestamp", &[StartupMode::Incremental]),
    ("incremental-to-auto-tag", &[StartupMode::Incremental]),
];

impl TableOptions {
    /// The mode that reads go by: as set, or as the starting point that is set asks for, or the latest snapshot in full.
    pub fn startup_mode(&self) -> StartupMode {
        match self.scan_mode {
            StartupMode::Default => {
                let set = STARTING_POINTS.iter().find(|(key, _)| self.is_set(key));
                let mode = set.and_then(|(_, modes)| modes.first().copied());
                mode.unwrap_or(if self.is_set("scan.creation-time-millis") {
                    StartupMode::FromCreationTimestamp
                } else {
                    StartupMode::LatestFull
                })
            }
            StartupMode::Full => StartupMode::LatestFull,
            mode => mode,
        }
    }
}

/// Checks that the starting point fits the mode.
pub(crate) fn validate_startup(options: &TableOptions) -> Result<()> {
    let mode = options.startup_mode();
    let taken = STARTING_POINTS
        .iter()
        .filter(|(_, modes)| modes.contains(&mode));
    let taken: Vec<_> = taken.map(|(key, _)| *key).collect();
    for (key, modes) in STARTING_POINTS {
        if options.is_set(key) && !modes.contains(&mode) {
            return Err(FormatError::option_conflict(
                key,
                format!("scan.mode is {mode}"),
                "remove one of the two",
            ));
        }
    }
    let set: Vec<_> = taken
        .iter()
        .copied()
        .filter(|key| options.is_set(key))
        .collect();
    if !taken.is_empty() && set.len() != 1 {
        let found = if set.is_empty() {
            "none of them is set".to_owned()
        } else {
            format!("{} are set", set.join(" and "))
        };
        return Err(FormatError::option_conflict(
            "scan.mode",
            format!(
                "{mode} needs exactly one of {}, and {found}",
                taken.join(", ")
            ),
            "set one of them",
        ));
    }
    Ok(())
}
