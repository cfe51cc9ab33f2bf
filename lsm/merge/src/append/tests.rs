//! Text cases for append tables.

use std::sync::Arc;

use super::*;
use crate::directives::{Directives, run_cases};
use crate::testing::file;

fn number(text: &str) -> u64 {
    text.parse().unwrap()
}

/// `name:size[:deleted][@index]` with 100 rows each.
fn append_file(text: &str) -> AppendFile {
    let (text, index) = match text.split_once('@') {
        Some((text, index)) => (text, Some(index)),
        None => (text, None),
    };
    let mut parts = text.split(':');
    let name = parts.next().unwrap();
    let mut meta = file(
        name,
        0,
        i64::try_from(number(parts.next().unwrap())).unwrap(),
        0,
        0,
    );
    meta.row_count = 100;
    let dv = index.map(|index| DvRef {
        index_file: index.to_owned(),
        cardinality: parts.next().map(number),
    });
    AppendFile {
        file: Arc::new(meta),
        dv,
    }
}

fn unaware_names(files: &[AppendFile]) -> String {
    let names: Vec<&str> = files
        .iter()
        .map(|file| file.file.file_name.as_str())
        .collect();
    names.join(" ")
}

/// Directives: `options k=v…`, `files …` (new files of the partition), `plan [dv]`, `waiting`.
fn run_unaware(directives: &Directives<'_>) -> String {
    let mut options = UnawareOptions {
        target_file_size: 100,
        open_file_cost: 0,
        ..UnawareOptions::default()
    };
    let mut candidates = PartitionCandidates::default();
    let mut output = String::new();
    for (word, arguments) in directives {
        match *word {
            "options" => {
                for setting in arguments {
                    let (key, value) = setting.split_once('=').unwrap();
                    match key {
                        "target" => options.target_file_size = number(value),
                        "open-cost" => options.open_file_cost = number(value),
                        "min-files" => {
                            options.min_file_num = usize::try_from(number(value)).unwrap()
                        }
                        other => unreachable!("unknown option {other}"),
                    }
                }
            }
            "files" => candidates.add(arguments.iter().map(|text| append_file(text)), &options),
            "plan" => {
                let tasks = candidates.plan(arguments.contains(&"dv"), &options);
                let tasks: Vec<String> = tasks.iter().map(|task| unaware_names(task)).collect();
                let tasks = if tasks.is_empty() {
                    "nothing".to_owned()
                } else {
                    tasks.join(" | ")
                };
                let forgotten = if candidates.forgotten() {
                    " (forgotten)"
                } else {
                    ""
                };
                output.push_str(&format!("{tasks}{forgotten}\n"));
            }
            "waiting" => {
                output.push_str(&format!("waiting: {}\n", unaware_names(candidates.files())))
            }
            other => unreachable!("unknown directive {other}"),
        }
    }
    output
}

/// Directives: `options k=v…`, `files name:size…` (live files), `add name:size`, `auto`, `full [dv] [name…]` (names
/// of files with a deletion vector), `done name:size…`, `candidates`.
fn run_bucketed(directives: &Directives<'_>) -> String {
    let mut options = BucketedAppendOptions {
        target_file_size: 100,
        min_file_num: 5,
        force_rewrite_all_files: false,
    };
    let mut sequence = 0;
    let mut stamped = |text: &str| {
        let mut meta = append_file(text).file.as_ref().clone();
        meta.min_sequence_number = sequence;
        sequence += 100;
        Arc::new(meta)
    };
    let mut compaction: Option<BucketedAppendCompaction> = None;
    let mut output = String::new();
    let show = |files: Option<Vec<Arc<tidewater_format::DataFileMeta>>>| match files {
        None => "nothing\n".to_owned(),
        Some(files) => format!("{}\n", crate::testing::names(&files).join(" ")),
    };
    for (word, arguments) in directives {
        if *word == "options" {
            for setting in arguments {
                match setting.split_once('=').unwrap() {
                    ("target", value) => options.target_file_size = number(value),
                    ("min-files", value) => {
                        options.min_file_num = usize::try_from(number(value)).unwrap()
                    }
                    ("force", value) => options.force_rewrite_all_files = value == "true",
                    other => unreachable!("unknown option {other:?}"),
                }
            }
            continue;
        }
        if *word == "files" {
            let mut files: Vec<_> = arguments.iter().map(|text| stamped(text)).collect();
            files.reverse();
            compaction = Some(BucketedAppendCompaction::new(files, options));
            continue;
        }
        let compaction = compaction.as_mut().unwrap();
        match *word {
            "add" => arguments
                .iter()
                .for_each(|text| compaction.add(stamped(text))),
            "auto" => output.push_str(&show(compaction.auto_pick())),
            "full" => {
                let has_dv = |file: &tidewater_format::DataFileMeta| {
                    arguments.contains(&file.file_name.as_str())
                };
                output.push_str(&show(
                    compaction.full_pick(arguments.contains(&"dv"), &has_dv),
                ));
            }
            "done" => compaction.compacted(
                &arguments
                    .iter()
                    .map(|text| append_file(text).file)
                    .collect::<Vec<_>>(),
            ),
            "candidates" => {
                let files: Vec<_> = compaction.candidates().cloned().collect();
                output.push_str(&format!(
                    "candidates: {}\n",
                    crate::testing::names(&files).join(" ")
                ));
            }
            other => unreachable!("unknown directive {other}"),
        }
    }
    output
}

#[test]
fn unaware_text_cases() {
    run_cases(
        include_str!("../../tests/picking/append_unaware.txt"),
        run_unaware,
    );
}

#[test]
fn bucketed_text_cases() {
    run_cases(
        include_str!("../../tests/picking/append_bucketed.txt"),
        run_bucketed,
    );
}
