//! What a measured operation answers, and what it cost the process.

use std::fs;
use std::path::Path;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value, json};

/// Figures of one operation: the clock starts with the first file opened and stops with the last row or commit.
#[derive(Debug, Default)]
pub(crate) struct Answer(Map<String, Value>);

impl Answer {
    /// An operation that took this long and gave, or took, so many rows.
    pub(crate) fn new(seconds: f64, rows: u64) -> Self {
        Self::default().with("seconds", seconds).with("rows", rows)
    }

    /// The answer to an operation that is not built.
    pub(crate) fn unsupported(why: &str) -> Self {
        Self::default().with("unsupported", why)
    }

    /// Adds a figure.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// Adds the size of the table's folder and what the process used, and gives the JSON text.
    pub(crate) fn finish(self, table: &Path) -> String {
        let answer = self
            .with("bytes", folder_bytes(table))
            .with("peak_rss_mb", peak_rss_mib())
            .with("process_cpu_s", process_cpu_seconds());
        json!(answer.0).to_string()
    }
}

/// CPU time of all threads so far, of user and system.
pub(crate) fn process_cpu_seconds() -> f64 {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9
}

/// Most memory that was resident at once, in MiB; 0 where the system does not tell.
fn peak_rss_mib() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().strip_suffix(" kB"))
        .and_then(|kib| kib.trim().parse::<f64>().ok());
    peak.unwrap_or(0.0) / 1024.0
}

/// Bytes of all files below a folder.
fn folder_bytes(folder: &Path) -> u64 {
    let Ok(listed) = fs::read_dir(folder) else {
        return 0;
    };
    listed
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(about) if about.is_dir() => folder_bytes(&entry.path()),
            Ok(about) => about.len(),
            Err(_) => 0,
        })
        .sum()
}
