//! Tables that Java Paimon wrote, asked what Java was asked.
//!
//! Which cases are asked stands in `tests/fixtures/golden/CASES.md`; this test reads that page.

use std::path::Path;

use serde_json::Value;
use tidewater_testkit::{
    Expectation, GoldenCase, Question, compare_objects, compare_rows, compare_stream, golden_root,
    read_json_lines,
};

use crate::call::{Answer, call};

const COMMANDS: &[&str] = &["read", "stream", "plan", "verify"];
const UNSUPPORTED: u8 = 64;
const FAULTS: u8 = 3;

/// A line of the page.
struct Listed {
    case: String,
    /// The tables asked; none means all.
    tables: Option<Vec<String>>,
    waits: bool,
}

/// The cases that are asked, in whole or in part.
fn listed() -> Vec<Listed> {
    let page = std::fs::read_to_string(golden_root().join("CASES.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| ")).skip(2);
    rows.filter_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, case, asked, waits, ..] = cells[..] else {
            panic!("{line}")
        };
        let tables = match asked {
            "none" => return None,
            "all" => None,
            names => Some(
                names
                    .split(',')
                    .map(|name| name.trim().to_owned())
                    .collect(),
            ),
        };
        Some(Listed {
            case: case.to_owned(),
            tables,
            waits: !waits.is_empty(),
        })
    })
    .collect()
}

#[test]
fn the_list_names_every_case_that_lies_here_and_no_other() {
    let mut named: Vec<String> = listed().into_iter().map(|listed| listed.case).collect();
    let mut there: Vec<String> = std::fs::read_dir(golden_root())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    named.sort();
    there.sort();
    assert_eq!(named, there);
}

#[test]
fn every_question_is_answered_as_java_answers_it() {
    let only = std::env::var("TIDEWATER_GOLDEN").ok();
    let (mut equal, mut waiting, mut wrong) = (0, 0, Vec::new());
    for listed in listed() {
        if only
            .as_ref()
            .is_some_and(|only| !listed.case.contains(only.as_str()))
        {
            continue;
        }
        let case = GoldenCase::load(&golden_root(), &listed.case).unwrap();
        let folder = case.unpack().unwrap();
        for question in case.questions(COMMANDS).unwrap() {
            if listed
                .tables
                .as_ref()
                .is_some_and(|tables| !tables.contains(&question.table))
            {
                continue;
            }
            let answer = ask(&question, folder.path());
            if answer.status == UNSUPPORTED && listed.waits {
                waiting += 1;
                continue;
            }
            let differences = differences(&case, &question, &answer);
            if differences.is_empty() {
                equal += 1;
            } else {
                let asked = format!(
                    "{}: {} {} {}",
                    case.name,
                    question.command,
                    question.table,
                    question.args.join(" ")
                );
                wrong.push(format!("{asked}\n    {}", differences.join("\n    ")));
            }
        }
    }
    println!("{equal} equal, {waiting} waiting, {} wrong", wrong.len());
    assert!(
        wrong.is_empty(),
        "{} of {} questions:\n{}",
        wrong.len(),
        wrong.len() + equal,
        wrong.join("\n")
    );
    assert!(equal > 0);
}

fn ask(question: &Question, folder: &Path) -> Answer {
    let warehouse = folder.join("warehouse");
    let mut arguments = vec![
        question.command.as_str(),
        "--warehouse",
        warehouse.to_str().unwrap(),
        "--table",
        question.table.as_str(),
    ];
    arguments.extend(question.args.iter().map(String::as_str));
    call(&arguments, "")
}

/// Lines whose arrays stand in one order, in columns of which the page says that their order means nothing.
fn ordered(case: &GoldenCase, lines: &[Value]) -> Vec<Value> {
    let page = std::fs::read_to_string(golden_root().join("CASES.md")).unwrap();
    let said = page
        .lines()
        .find_map(|line| line.strip_prefix(&format!("- unordered: {} ", case.name)));
    let mut lines = lines.to_vec();
    for column in said.unwrap_or_default().split(", ") {
        for line in &mut lines {
            if let Some(Value::Array(items)) = line["row"].get_mut(column) {
                items.sort_by_cached_key(Value::to_string);
            }
        }
    }
    lines
}

fn differences(case: &GoldenCase, question: &Question, answer: &Answer) -> Vec<String> {
    let want = match &question.expectation {
        Expectation::Lines(lines) => lines,
        Expectation::Refusal(message) if answer.status == 0 => {
            return vec![format!("java refuses ({message}), this was answered")];
        }
        Expectation::Refusal(_) => return Vec::new(),
    };
    let well = answer.status == 0 || (question.command == "verify" && answer.status == FAULTS);
    if !well {
        return vec![format!(
            "status {}: {}",
            answer.status,
            answer.errors.trim_end()
        )];
    }
    let (want, got) = (&ordered(case, want), ordered(case, &answer.lines()));
    match question.command.as_str() {
        "read" => compare_rows(want, &got).unwrap(),
        "stream" => compare_stream(want, &got, &case.primary_keys(&question.table)).unwrap(),
        _ => compare_objects(want, &got),
    }
}

/// Redoing the steps that made a case gives the rows that Java reads at the end, although files and snapshots may fall differently.
#[test]
fn redoing_the_steps_of_a_case_gives_its_latest_rows() {
    let only = std::env::var("TIDEWATER_GOLDEN").ok();
    let (mut redone, mut wrong) = (0, Vec::new());
    for listed in listed()
        .into_iter()
        .filter(|listed| listed.tables.is_none())
    {
        if only
            .as_ref()
            .is_some_and(|only| !listed.case.contains(only.as_str()))
        {
            continue;
        }
        let case = GoldenCase::load(&golden_root(), &listed.case).unwrap();
        match redo(&case) {
            Ok(true) => redone += 1,
            Ok(false) => {}
            Err(problem) => wrong.push(format!("{}: {problem}", case.name)),
        }
    }
    println!("{redone} cases redone");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(redone > 0);
}

/// Whether the steps could be redone; false if one needs what is not built yet.
fn redo(case: &GoldenCase) -> Result<bool, String> {
    let folder = tempfile::tempdir().unwrap();
    let warehouse = folder.path().join("warehouse");
    let steps = case.steps().unwrap();
    if steps.iter().any(|step| step.command == "flink-sql") {
        return Ok(false);
    }
    for step in &steps {
        let input = case.folder().join("input");
        let args: Vec<String> = step
            .args
            .iter()
            .map(|arg| match arg.strip_prefix("input/") {
                Some(file) => input.join(file).to_str().unwrap().to_owned(),
                None => arg.clone(),
            })
            .collect();
        let mut arguments = vec![
            step.command.as_str(),
            "--warehouse",
            warehouse.to_str().unwrap(),
            "--table",
            step.table.as_str(),
        ];
        arguments.extend(args.iter().map(String::as_str));
        let answer = call(&arguments, step.stdin.as_deref().unwrap_or_default());
        if answer.status == UNSUPPORTED {
            return Ok(false);
        }
        if (answer.status != 0) != step.refused {
            return Err(format!(
                "{} {}: status {} {}",
                step.command,
                step.table,
                answer.status,
                answer.errors.trim_end()
            ));
        }
    }
    let page = std::fs::read_to_string(golden_root().join("CASES.md")).unwrap();
    for question in case.questions(&["read"]).unwrap() {
        if page.contains(&format!("- not redone: {} {}\n", case.name, question.table)) {
            continue;
        }
        let Expectation::Lines(want) = &question.expectation else {
            continue;
        };
        if !question.args.is_empty() {
            continue;
        }
        let answer = ask(&question, folder.path());
        let verified = call(
            &[
                "verify",
                "--warehouse",
                warehouse.to_str().unwrap(),
                "--table",
                &question.table,
            ],
            "",
        );
        if verified.status != 0 {
            return Err(format!(
                "verify {}: {}{}",
                question.table, verified.output, verified.errors
            ));
        }
        let differences = if answer.status == 0 {
            compare_rows(&ordered(case, want), &ordered(case, &answer.lines())).unwrap()
        } else {
            vec![answer.errors]
        };
        if !differences.is_empty() {
            return Err(format!(
                "{}:\n    {}",
                question.table,
                differences.join("\n    ")
            ));
        }
    }
    Ok(true)
}

#[test]
fn fixtures_can_be_read() {
    let lines =
        read_json_lines(&golden_root().join("pk-dedup-level0/expected/read-latest.jsonl")).unwrap();
    assert!(!lines.is_empty());
}
