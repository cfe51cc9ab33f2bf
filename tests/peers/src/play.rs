//! One random table, written by two engines in turn.

use std::path::Path;

use serde_json::{Value, json};
use tidewater_testkit::{Workload, WorkloadOptions, compare_rows, compare_stream};

use crate::error::Result;

/// What an engine can do with a table.
pub trait Engine {
    /// The engine's name, also its commit user.
    fn name(&self) -> &'static str;
    /// Creates the table from a schema as the `create` verb takes it.
    ///
    /// # Errors
    /// When the engine refuses or does not answer; so for all others.
    fn create(&mut self, warehouse: &Path, table: &str, schema: &Value) -> Result<()>;
    /// Writes and commits as the input lines of `write` say.
    ///
    /// # Errors
    /// As [`Engine::create`].
    fn write(&mut self, warehouse: &Path, table: &str, lines: &[Value]) -> Result<()>;
    /// Compacts all buckets, `full` or `minor`.
    ///
    /// # Errors
    /// As [`Engine::create`].
    fn compact(&mut self, warehouse: &Path, table: &str, mode: &str) -> Result<()>;
    /// The rows of a snapshot, or of the latest.
    ///
    /// # Errors
    /// As [`Engine::create`].
    fn read(&mut self, warehouse: &Path, table: &str, snapshot: Option<i64>) -> Result<Vec<Value>>;
    /// All changes from the first snapshot to the latest.
    ///
    /// # Errors
    /// As [`Engine::create`].
    fn stream(&mut self, warehouse: &Path, table: &str) -> Result<Vec<Value>>;
    /// Faults of the table, if any, and a summary.
    ///
    /// # Errors
    /// As [`Engine::create`].
    fn verify(&mut self, warehouse: &Path, table: &str) -> Result<Vec<Value>>;
}

/// How a table ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Both engines agree, and the model with them.
    Equal {
        /// Writes and compactions made.
        steps: usize,
    },
    /// They do not; the lines say where and how.
    Different(Vec<String>),
}

const TABLE: &str = "peers.t";

/// Lets `one` and `other` write the table of `seed` in turn, and compares what they read after every step and stream at the end.
///
/// # Errors
/// When an engine refuses a request; which request it was stands in the error.
pub fn play<'a>(
    seed: u64,
    options: &WorkloadOptions,
    warehouse: &Path,
    one: &'a mut dyn Engine,
    other: &'a mut dyn Engine,
) -> Result<Outcome> {
    let mut workload = Workload::new(seed, options);
    let mut engines = [one, other];
    let creator = workload.random().below(2);
    for (index, engine) in engines.iter_mut().enumerate() {
        if index == creator {
            engine.create(warehouse, TABLE, &workload.schema)?;
        }
    }
    let mut commits = [0_i64; 2];
    let steps = workload.random().below(6) + 3;
    for step in 1..=steps {
        let turn = workload.random().below(2);
        let compaction = step > 1 && workload.random().chance(20);
        let mode = if workload.random().chance(50) {
            "full"
        } else {
            "minor"
        };
        let mut lines = Vec::new();
        if !compaction {
            for _ in 0..workload.random().between(1, 3) {
                let rows = workload.random().choose(&[1_usize, 5, 20, 60]);
                lines.extend(
                    workload
                        .rows(rows)
                        .iter()
                        .map(tidewater_testkit::Change::to_line),
                );
                if let Some(commit) = commits.get_mut(turn) {
                    *commit += 1;
                    lines.push(json!({"commit": *commit}));
                }
            }
        }
        let mut done = String::new();
        if let Some(engine) = engines.get_mut(turn) {
            if compaction {
                engine.compact(warehouse, TABLE, mode)?;
                // A compaction takes an identifier of its user too.
                commits.iter_mut().for_each(|commit| *commit += 1);
                done = format!("after step {step}, {mode} compaction by {}", engine.name());
            } else {
                engine.write(warehouse, TABLE, &lines)?;
                done = format!(
                    "after step {step}, {} lines written by {}",
                    lines.len(),
                    engine.name()
                );
            }
        }
        let differences = same_rows(&workload, warehouse, &mut engines)?;
        if !differences.is_empty() {
            return Ok(different(seed, &workload, done, differences));
        }
    }
    let [one, other] = &mut engines;
    let differences = compare_stream(
        &one.stream(warehouse, TABLE)?,
        &other.stream(warehouse, TABLE)?,
        &workload.primary_keys,
    )?;
    if !differences.is_empty() {
        return Ok(different(
            seed,
            &workload,
            "streams".to_owned(),
            differences,
        ));
    }
    Ok(Outcome::Equal { steps })
}

/// Differences between what both read, what was written, and what both find when they verify.
fn same_rows(
    workload: &Workload,
    warehouse: &Path,
    engines: &mut [&mut dyn Engine; 2],
) -> Result<Vec<String>> {
    let [one, other] = engines;
    let want = one.read(warehouse, TABLE, None)?;
    let got = other.read(warehouse, TABLE, None)?;
    let mut differences = named("read", compare_rows(&want, &got)?);
    if let Some(expected) = workload.expected() {
        differences.extend(named(
            "read against what was written",
            compare_rows(&expected, &got)?,
        ));
    }
    for engine in [one, other] {
        let lines = engine.verify(warehouse, TABLE)?;
        let faults = lines
            .iter()
            .filter(|line| line.get("fault").is_some())
            .map(Value::to_string)
            .take(4);
        differences.extend(named(
            &format!("verify by {}", engine.name()),
            faults.collect(),
        ));
        if !lines.iter().any(|line| line.get("summary").is_some()) {
            differences.push(format!("verify by {} has no summary", engine.name()));
        }
    }
    Ok(differences)
}

fn named(what: &str, differences: Vec<String>) -> Vec<String> {
    differences
        .into_iter()
        .map(|difference| format!("{what}: {difference}"))
        .collect()
}

fn different(seed: u64, workload: &Workload, at: String, differences: Vec<String>) -> Outcome {
    let mut lines = vec![format!("seed {seed}, {at}, table {}", workload.schema)];
    lines.extend(differences);
    Outcome::Different(lines)
}
