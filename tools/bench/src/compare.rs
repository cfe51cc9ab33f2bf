//! Tidewater against the raw limit, interleaved: for each operation both run once, each in a process of its own, then comes the next; then
//! the whole round again. Only ratios within a round count, and of those the median.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::args::Call;
use crate::error::{BenchError, Result};
use crate::generate::generate;
use crate::input::Input;

/// One operation of a round.
struct Step {
    /// What the table calls it.
    name: &'static str,
    op: &'static str,
    /// Folder of the raw files.
    files: &'static str,
    /// Facts that rows and checksum must equal: of both, or of Tidewater's answer only.
    rows: Option<&'static str>,
    checksum: Option<&'static str>,
    /// Whether the raw limit merges too.
    limit_merges: bool,
    /// Most time against the limit that is wanted.
    bar: Option<f64>,
}

const fn step(name: &'static str, op: &'static str, files: &'static str) -> Step {
    Step {
        name,
        op,
        files,
        rows: None,
        checksum: None,
        limit_merges: true,
        bar: None,
    }
}

impl Step {
    const fn facts(mut self, rows: &'static str, checksum: Option<&'static str>) -> Self {
        self.rows = Some(rows);
        self.checksum = checksum;
        self
    }

    /// The raw limit reads all versions of a row.
    const fn unmerged(mut self) -> Self {
        self.limit_merges = false;
        self
    }

    const fn bar(mut self, bar: f64) -> Self {
        self.bar = Some(bar);
        self
    }
}

const SUM: Option<&str> = Some("merged_sum_partkey");

/// A round, in order: each step finds what those before it left.
static STEPS: [Step; 12] = [
    step("load", "load", "t").facts("load_rows", None).bar(1.6),
    step("upsert", "upsert", "t").bar(1.6),
    step("scan_all", "scan_all", "t")
        .facts("merged_rows", SUM)
        .unmerged()
        .bar(1.6),
    step("scan_proj", "scan_proj", "t")
        .facts("merged_rows", None)
        .unmerged()
        .bar(4.0),
    step("count", "count", "t")
        .facts("merged_rows", None)
        .unmerged(),
    step("compact", "compact", "t")
        .facts("merged_rows", None)
        .bar(2.0),
    step("compacted scan_all", "scan_all", "t")
        .facts("merged_rows", SUM)
        .bar(1.15),
    step("compacted scan_proj", "scan_proj", "t").facts("merged_rows", None),
    step("append_load", "append_load", "ap").facts("append_rows", None),
    step("append_scan", "append_scan", "ap").facts("append_rows", Some("load_sum_partkey")),
    step("append_part", "append_part", "ap").facts("append_p7_rows", None),
    step("meta_plan", "meta_plan", "m"),
];

/// One run.
#[derive(Debug, Clone, Copy, Default)]
struct Figures {
    seconds: f64,
    cpu: f64,
    rss_mib: f64,
}

/// Generates the input, runs the rounds and prints the ratios.
///
/// # Errors
/// A program that fails or answers wrong rows.
pub(crate) fn compare(call: &Call) -> Result<()> {
    let home = call.path("home")?;
    let rounds = call.number("rounds", 5)?;
    let threads = call.threads()?.to_string();
    let input = generate(&home.join("data"), call.number("rows", 2_000_000)?)?;
    let facts = Input::new(input.clone()).facts()?;
    let wanted = |step: &&Step| match call.text("ops") {
        Some(ops) => ops.split(',').any(|op| op == step.op),
        None => true,
    };
    let steps: Vec<&Step> = STEPS.iter().filter(wanted).collect();
    let runs = Runs {
        input: &input,
        home: &home,
        threads: &threads,
        memory: call.text("memory-mib"),
    };
    let mut figures: Vec<Vec<(Figures, Figures)>> = vec![Vec::new(); steps.len()];
    if steps.iter().any(|step| step.op == "meta_plan") {
        runs.run("meta", false, &home.join("ours"))?;
    }
    for round in 0..rounds {
        for (step, figures) in steps.iter().zip(&mut figures) {
            let mut pair = [Figures::default(); 2];
            for (figures, limit) in pair.iter_mut().zip([true, false]) {
                let folder = match (limit, step.op) {
                    (true, "meta_plan") => home.join("ours/b.db/m"),
                    (true, _) => home.join("limit").join(step.files),
                    (false, _) => home.join("ours"),
                };
                if limit && step.op.ends_with("load") && folder.exists() {
                    std::fs::remove_dir_all(&folder).map_err(BenchError::file(&folder))?;
                }
                let answer = runs.run(step.op, limit, &folder)?;
                if !limit || step.limit_merges {
                    check(step, &answer, &facts)?;
                }
                *figures = of_answer(&answer);
            }
            let [limit, ours] = pair;
            eprintln!(
                "round {round} {:20} limit {:8.3} s, cpu {:7.2}; tidewater {:8.3} s, cpu {:7.2}",
                step.name, limit.seconds, limit.cpu, ours.seconds, ours.cpu
            );
            figures.push((limit, ours));
        }
    }
    print(&steps, &figures);
    Ok(())
}

/// Runs this very program.
struct Runs<'a> {
    input: &'a Path,
    home: &'a Path,
    threads: &'a str,
    memory: Option<&'a str>,
}

impl Runs<'_> {
    fn run(&self, op: &str, limit: bool, folder: &Path) -> Result<Value> {
        let program = std::env::current_exe().map_err(BenchError::file(self.home))?;
        // What the run before has written must not be written back at the cost of this one.
        rustix::fs::sync();
        let mut command = Command::new(&program);
        if limit {
            command.arg("limit");
        }
        command.arg(op).arg("--in").arg(self.input);
        command
            .arg("--table")
            .arg(folder)
            .args(["--threads", self.threads]);
        if let Some(memory) = self.memory {
            command.args(["--memory-mib", memory]);
        }
        let output = command.output().map_err(BenchError::file(&program))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(BenchError::Wrong(format!("{op}: {}", said.trim())));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(serde_json::from_str(
            text.lines().last().unwrap_or_default(),
        )?)
    }
}

fn check(
    step: &Step,
    answer: &Value,
    facts: &std::collections::BTreeMap<String, i64>,
) -> Result<()> {
    for (figure, fact) in [("rows", step.rows), ("checksum", step.checksum)] {
        let Some(fact) = fact else {
            continue;
        };
        let found = answer.get(figure).and_then(Value::as_i64);
        let wanted = facts.get(fact).copied();
        if found != wanted {
            return Err(BenchError::Wrong(format!(
                "{}: {figure} is {found:?} and must be {wanted:?}",
                step.name
            )));
        }
    }
    Ok(())
}

fn of_answer(answer: &Value) -> Figures {
    let figure = |name: &str| answer.get(name).and_then(Value::as_f64).unwrap_or_default();
    Figures {
        // The raw limit tells the reading of its input apart; Tidewater reads as it writes.
        seconds: figure("seconds") + figure("input_seconds"),
        cpu: figure("process_cpu_s"),
        rss_mib: figure("peak_rss_mb"),
    }
}

fn print(steps: &[&Step], figures: &[Vec<(Figures, Figures)>]) {
    println!("| operation | limit s | tidewater s | time × limit | CPU × limit | bar | peak MiB |");
    println!("|---|---|---|---|---|---|---|");
    for (step, rounds) in steps.iter().zip(figures) {
        let middle = |of: &dyn Fn(&(Figures, Figures)) -> f64| median(rounds.iter().map(of));
        println!(
            "| {} | {:.3} | {:.3} | {:.2} | {:.2} | {} | {:.0} |",
            step.name,
            middle(&|(limit, _)| limit.seconds),
            middle(&|(_, ours)| ours.seconds),
            middle(&|(limit, ours)| ours.seconds / limit.seconds),
            middle(&|(limit, ours)| ours.cpu / limit.cpu),
            step.bar
                .map_or_else(|| "–".to_owned(), |bar| bar.to_string()),
            middle(&|(_, ours)| ours.rss_mib),
        );
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
