//! The raw limit: what arrow and parquet alone need to move the same rows into the same kind of file and back.
//!
//! There is no catalog, no commit and no recovery, and everything is in memory. That is allowed for a floor, not for a product. Files are
//! named `…-bN.parquet` after their bucket; those of later commits sort behind those of earlier ones.

mod merge;
mod plan;
mod read;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tidewater_io::Env;

use crate::answer::Answer;
use crate::args::Call;
use crate::error::{BenchError, Result};
use crate::input::{Input, NARROW};

/// Buckets of the keyed workload.
const BUCKETS: usize = 4;

/// Runs one operation.
///
/// # Errors
/// Whatever ends it early: then there is no figure.
pub(crate) fn run(call: &Call) -> Result<Answer> {
    let folder = call.table()?;
    std::fs::create_dir_all(&folder).map_err(BenchError::file(&folder))?;
    let limit = Limit {
        input: Input::new(call.text("in").map(PathBuf::from).unwrap_or_default()),
        folder,
        threads: call.threads()?,
        env: Env::system(),
    };
    match call.op.as_str() {
        "load" => limit.load(),
        "upsert" => limit.upsert(),
        "append_load" => limit.append_load(),
        "scan_all" | "append_scan" => limit.scan(None, ".parquet"),
        "scan_proj" => limit.scan(Some(&NARROW), ".parquet"),
        "append_part" => limit.scan(None, "p07.parquet"),
        "count" => limit.count(),
        "compact" => limit.compact(),
        "meta_plan" => limit.meta_plan(),
        other => Ok(Answer::unsupported(&format!(
            "the raw limit has no operation {other}"
        ))),
    }
}

/// What all operations share.
struct Limit {
    input: Input,
    folder: PathBuf,
    threads: usize,
    env: Env,
}

impl Limit {
    fn since(&self, start: Duration) -> f64 {
        self.env.monotonic().saturating_sub(start).as_secs_f64()
    }

    /// The files whose names end so, oldest first.
    fn files(&self, suffix: &str) -> Result<Vec<PathBuf>> {
        let listed = std::fs::read_dir(&self.folder).map_err(BenchError::file(&self.folder))?;
        let mut files: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
        files.retain(|path| ends_with(path, suffix));
        files.sort();
        Ok(files)
    }

    /// Works on all items, as many at a time as there are threads. Answers come in no order.
    fn spread<I: Sync, T: Send>(
        &self,
        items: &[I],
        work: impl Fn(&I) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let (next, done) = (
            AtomicUsize::new(0),
            Mutex::new(Vec::with_capacity(items.len())),
        );
        std::thread::scope(|scope| {
            for _ in 0..self.threads {
                scope.spawn(|| {
                    while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let answer = work(item);
                        done.lock()
                            .unwrap_or_else(std::sync::PoisonError::into_inner)
                            .push(answer);
                    }
                });
            }
        });
        done.into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .into_iter()
            .collect()
    }
}

fn ends_with(path: &Path, suffix: &str) -> bool {
    path.file_name()
        .is_some_and(|name| name.to_string_lossy().ends_with(suffix))
}
