//! Loads that are killed at any moment and started again.
//!
//! A run ends by SIGKILL when it has printed so many commits, or when so many files have come into the table's folder: those come at every
//! step, so kills fall between any two of them. What must hold after each: the table reads, and holds exactly the rows of the source in
//! front of the position that its newest snapshot names, which is not in front of what was acknowledged.
//!
//! `TIDEWATER_KILLS=200` is the whole; the share that is always run is small.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use serde_json::Value;
use tidewater_testkit::SeededRandom;

use crate::call::call;

const KILLS_DEFAULT: usize = 10;
const ROWS: usize = 12_000;
const COMMIT_ROWS: usize = 300;
/// Keys come again, so that files overlap and compactions run.
const KEYS: usize = 5_000;
/// Runs of one load that may be killed; the next one is left alone, so that a load ends.
const KILLS_OF_A_LOAD: usize = 25;

/// The rows of the source, as `read` prints them.
struct Source {
    file: PathBuf,
    keys: Vec<usize>,
    lines: Vec<String>,
}

impl Source {
    fn make(folder: &Path, random: &mut SeededRandom) -> Self {
        let mut text = "id,turn,note\n".to_owned();
        let (mut keys, mut lines) = (Vec::new(), Vec::new());
        for turn in 0..ROWS {
            let id = random.below(KEYS);
            text.push_str(&format!("{id},{turn},note {}\n", turn % 97));
            lines.push(format!(
                "{{\"row\":{{\"id\":{id},\"turn\":{turn},\"note\":\"note {}\"}}}}\n",
                turn % 97
            ));
            keys.push(id);
        }
        let file = folder.join("source.csv");
        std::fs::write(&file, text).unwrap();
        Self { file, keys, lines }
    }

    /// What a table holds after the first `rows` rows.
    fn state(&self, rows: usize, keyed: bool) -> String {
        let mut lines: Vec<&str> = if keyed {
            let last: BTreeMap<usize, &str> = self.keys[..rows]
                .iter()
                .zip(&self.lines)
                .map(|(key, line)| (*key, line.as_str()))
                .collect();
            last.into_values().collect()
        } else {
            self.lines[..rows].iter().map(String::as_str).collect()
        };
        lines.sort_unstable();
        lines.concat()
    }
}

/// When a run is killed.
#[derive(Debug)]
enum Moment {
    Commits(usize),
    Files(usize),
    Never,
}

/// A load as a process of its own.
struct Run {
    child: Child,
    commits: Arc<AtomicUsize>,
    /// Answers the rows that were acknowledged.
    listener: JoinHandle<usize>,
}

impl Run {
    fn start(warehouse: &str, source: &Path) -> Self {
        let rows = COMMIT_ROWS.to_string();
        let mut child = Command::new(env!("CARGO_BIN_EXE_tidewater"))
            .args(["load", source.to_str().unwrap(), "--commit-rows", &rows])
            .args(["--warehouse", warehouse, "--table", "db.t"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let commits = Arc::new(AtomicUsize::new(0));
        let (counter, output) = (Arc::clone(&commits), child.stdout.take().unwrap());
        let listener = std::thread::spawn(move || {
            let mut acknowledged = 0;
            for line in BufReader::new(output).lines() {
                // A line that was cut by the kill acknowledges nothing.
                let Ok(line) = serde_json::from_str::<Value>(&line.unwrap()) else {
                    break;
                };
                if line.get("commit").is_some() {
                    acknowledged = usize::try_from(line["rows"].as_u64().unwrap()).unwrap();
                    counter.fetch_add(1, Ordering::Release);
                }
            }
            acknowledged
        });
        Self {
            child,
            commits,
            listener,
        }
    }

    /// Waits for the moment or the end; whether it was killed, and the rows it has acknowledged.
    fn end(mut self, moment: &Moment, folder: &Path) -> (bool, usize) {
        let before = count_files(folder);
        let killed = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                assert!(status.success(), "{status}");
                break false;
            }
            let now = match moment {
                Moment::Commits(commits) => self.commits.load(Ordering::Acquire) >= *commits,
                Moment::Files(files) => count_files(folder) >= before + files,
                Moment::Never => false,
            };
            if now {
                self.child.kill().unwrap();
                // It may have ended by itself in the meantime.
                break !self.child.wait().unwrap().success();
            }
            std::thread::yield_now();
        };
        (killed, self.listener.join().unwrap())
    }
}

fn count_files(folder: &Path) -> usize {
    // Files may go while we look.
    let Ok(entries) = std::fs::read_dir(folder) else {
        return 0;
    };
    let entries = entries.filter_map(Result::ok).map(|entry| entry.path());
    entries
        .map(|path| if path.is_dir() { count_files(&path) } else { 1 })
        .sum()
}

/// Rows of the source that the newest snapshot says are in the table.
fn position(table: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(table.join("snapshot")) else {
        return 0;
    };
    let newest = entries
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.strip_prefix("snapshot-")?.parse::<u64>().ok()
        })
        .max();
    let Some(newest) = newest else {
        return 0;
    };
    let text = std::fs::read_to_string(table.join(format!("snapshot/snapshot-{newest}"))).unwrap();
    let snapshot: Value = serde_json::from_str(&text).unwrap();
    snapshot["properties"]["tidewater.load.rows"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap()
}

/// One load, killed until it is done or `kills` are used up; how often it was.
fn load_under_fire(random: &mut SeededRandom, keyed: bool, kills: usize) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let warehouse = folder.path().join("warehouse").to_str().unwrap().to_owned();
    let table = folder.path().join("warehouse/db.db/t");
    let ask = |verb: &str, more: &[&str]| {
        let mut arguments = vec![verb, "--warehouse", &warehouse, "--table", "db.t"];
        arguments.extend(more);
        call(&arguments, "")
    };
    let source = Source::make(folder.path(), random);
    let file = source.file.to_str().unwrap();
    let mut create = vec![
        "--like",
        file,
        "--option",
        "num-sorted-run.compaction-trigger=3",
    ];
    create.extend(if keyed {
        ["--primary-key", "id", "--option", "bucket=2"]
    } else {
        [
            "--option",
            "bucket=-1",
            "--option",
            "compaction.min.file-num=5",
        ]
    });
    assert_eq!(ask("create", &create).status, 0);
    let (mut killed, mut acknowledged) = (0, 0);
    loop {
        let moment = match random.below(2) {
            _ if killed >= kills => Moment::Never,
            0 => Moment::Commits(random.below(5)),
            _ => Moment::Files(1 + random.below(40)),
        };
        let (was_killed, heard) = Run::start(&warehouse, &source.file).end(&moment, &table);
        acknowledged = heard.max(acknowledged);
        let there = position(&table);
        assert!(
            there >= acknowledged,
            "{moment:?}: {acknowledged} rows acknowledged, {there} there"
        );
        let read = ask("read", &[]);
        assert_eq!(read.status, 0, "{moment:?}: {}", read.errors);
        let same = read.output == source.state(there, keyed);
        assert!(
            same,
            "{moment:?}: the rows are not the first {there} of the source"
        );
        if !was_killed {
            break;
        }
        killed += 1;
    }
    assert_eq!(acknowledged.max(position(&table)), ROWS);
    let verified = ask("verify", &["--orphans", "true"]);
    assert_eq!(verified.status, 0, "{}{}", verified.output, verified.errors);
    for line in verified.lines() {
        assert!(
            line.get("orphan").or(line.get("summary")).is_some(),
            "{line}"
        );
    }
    killed
}

#[test]
fn a_load_that_is_killed_again_and_again_loses_and_doubles_no_row() {
    let wanted =
        std::env::var("TIDEWATER_KILLS").map_or(KILLS_DEFAULT, |kills| kills.parse().unwrap());
    let mut random = SeededRandom::new(0x6b69_6c6c);
    let (mut kills, mut loads) = (0, 0);
    while kills < wanted {
        let share = 1 + random.below(KILLS_OF_A_LOAD);
        // The share that always runs has both kinds of tables in it.
        let share = share.min(wanted - kills).min(wanted.div_ceil(2));
        kills += load_under_fire(&mut random, loads % 2 == 0, share);
        loads += 1;
    }
    println!("{kills} kills in {loads} loads");
}
