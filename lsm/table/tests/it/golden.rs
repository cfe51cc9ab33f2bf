//! Golden tables for this crate alone: unpacked, with Java's answers.
//!
//! The testkit has more of this, but arrows from lsm to tests are not for drawing.

use std::fs::File;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;
use tidewater_io::{CpuPool, FileIo};
use tidewater_table::TableLog;

/// A table that is asked about, with the questions.
pub(crate) struct GoldenTable {
    pub(crate) case: String,
    pub(crate) name: String,
    pub(crate) questions: Vec<Question>,
    warehouse: PathBuf,
}

/// A question that Java answered.
pub(crate) struct Question {
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    /// `None` if Java refused.
    pub(crate) answer: Option<Vec<Value>>,
}

impl Question {
    /// The argument of an option.
    pub(crate) fn arg(&self, option: &str) -> Option<&str> {
        let at = self.args.iter().position(|arg| arg == option)?;
        self.args.get(at + 1).map(String::as_str)
    }
}

impl GoldenTable {
    pub(crate) fn root(&self) -> String {
        let (database, table) = self.name.split_once('.').unwrap();
        let root = self
            .warehouse
            .join(format!("warehouse/{database}.db/{table}"));
        root.to_str().unwrap().to_owned()
    }

    pub(crate) async fn open(&self) -> TableLog {
        TableLog::open(FileIo::local(), CpuPool::new(2), &self.root())
            .await
            .unwrap()
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/golden")
}

/// Every table that `CASES.md` asks about, unpacked; the folders go with the answer.
pub(crate) fn tables() -> (Vec<TempDir>, Vec<GoldenTable>) {
    let page = std::fs::read_to_string(folder().join("CASES.md")).unwrap();
    let (mut folders, mut tables) = (Vec::new(), Vec::new());
    for line in page.lines().filter(|line| line.starts_with("| ")).skip(2) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let (case, asked) = (cells[1], cells[2]);
        if asked == "none" {
            continue;
        }
        let target = unpack(case);
        let text = std::fs::read_to_string(folder().join(case).join("case.json")).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        for name in document["tables"].as_object().unwrap().keys() {
            if asked != "all" && !asked.split(',').any(|table| table.trim() == name) {
                continue;
            }
            tables.push(GoldenTable {
                case: case.to_owned(),
                name: name.clone(),
                questions: questions(case, &document, name),
                warehouse: target.path().to_owned(),
            });
        }
        folders.push(target);
    }
    (folders, tables)
}

fn questions(case: &str, document: &Value, table: &str) -> Vec<Question> {
    let asked = document["expected"].as_array().unwrap().iter();
    let asked = asked.filter(|question| {
        let named = question["table"].as_str().unwrap();
        named == table || named.starts_with(&format!("{table}$"))
    });
    asked
        .map(|question| {
            let args = question["args"].as_array().into_iter().flatten();
            let system = question["table"].as_str().unwrap().split_once('$');
            Question {
                command: match system {
                    None => question["command"].as_str().unwrap().to_owned(),
                    Some((_, system)) => format!("${system}"),
                },
                args: args.map(|arg| arg.as_str().unwrap().to_owned()).collect(),
                answer: question["file"].as_str().map(|file| answer(case, file)),
            }
        })
        .collect()
}

fn answer(case: &str, file: &str) -> Vec<Value> {
    let path = folder().join(case).join("expected").join(file);
    let bytes = match std::fs::read(&path) {
        Ok(bytes) if file.ends_with(".zst") => zstd::decode_all(bytes.as_slice()).unwrap(),
        Ok(bytes) => bytes,
        Err(_) => {
            let packed = std::fs::read(format!("{}.zst", path.display())).unwrap();
            zstd::decode_all(packed.as_slice()).unwrap()
        }
    };
    let text = String::from_utf8(bytes).unwrap();
    text.split('\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn unpack(case: &str) -> TempDir {
    let target = tempfile::tempdir().unwrap();
    let archive = File::open(folder().join(case).join("warehouse.tar.zst")).unwrap();
    tar::Archive::new(zstd::Decoder::new(archive).unwrap())
        .unpack(target.path())
        .unwrap();
    target
}
