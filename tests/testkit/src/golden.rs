//! Whole tables that Java Paimon wrote, with the questions asked about them and Java's answers.
//!
//! ```text
//!  tests/fixtures/golden/CASE/case.json          purpose, tables, steps, questions
//!                             warehouse.tar.zst  -> unpack() -> TempDir/warehouse
//!                             input/             lines the steps were fed with
//!                             expected/          Java's answers, JSON lines
//! ```

use std::fs::File;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::error::{Result, TestkitError};
use crate::json_lines::{read_json_lines, read_text};

/// The folder of golden cases in this repository.
pub fn golden_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/golden")
}

/// One case of the corpus.
#[derive(Debug)]
pub struct GoldenCase {
    /// Name of the case, that of its folder.
    pub name: String,
    folder: PathBuf,
    document: Value,
}

/// One command of those that made the case.
#[derive(Debug)]
pub struct Step {
    /// The verb.
    pub command: String,
    /// `db.table`.
    pub table: String,
    /// Its further arguments.
    pub args: Vec<String>,
    /// What it was fed on standard input.
    pub stdin: Option<String>,
    /// Whether Java refused the step.
    pub refused: bool,
}

/// One question and what Java said.
#[derive(Debug)]
pub struct Question {
    /// The verb.
    pub command: String,
    /// `db.table`.
    pub table: String,
    /// Its further arguments.
    pub args: Vec<String>,
    /// What Java said.
    pub expectation: Expectation,
}

/// Java's answer to a question.
#[derive(Debug)]
pub enum Expectation {
    /// These lines.
    Lines(Vec<Value>),
    /// No answer but an error with this message.
    Refusal(String),
}

impl GoldenCase {
    /// Reads `case.json` of the case called `name`.
    ///
    /// # Errors
    /// [`TestkitError::Read`] if it is not there, [`TestkitError::Line`] if it is not JSON.
    pub fn load(root: &Path, name: &str) -> Result<Self> {
        let folder = root.join(name);
        let text = read_text(&folder.join("case.json"))?;
        let document = serde_json::from_str(&text).map_err(|source| TestkitError::Line {
            line: 1,
            text: format!("{name}/case.json"),
            source,
        })?;
        Ok(Self {
            name: name.to_owned(),
            folder,
            document,
        })
    }

    /// Unpacks the warehouse; it is the folder `warehouse` in the answer, which goes away when dropped.
    ///
    /// # Errors
    /// [`TestkitError::Read`] if the archive cannot be read or unpacked.
    pub fn unpack(&self) -> Result<TempDir> {
        let path = self.folder.join("warehouse.tar.zst");
        let failed = |source| TestkitError::Read {
            path: path.clone(),
            source,
        };
        let target = tempfile::tempdir().map_err(failed)?;
        let archive = File::open(&path)
            .and_then(zstd::Decoder::new)
            .map_err(failed)?;
        tar::Archive::new(archive)
            .unpack(target.path())
            .map_err(failed)?;
        Ok(target)
    }

    /// The folder of the case, for steps that name files in `input/`.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Primary key columns of a table at its creation.
    pub fn primary_keys(&self, table: &str) -> Vec<String> {
        self.document
            .get("tables")
            .and_then(|tables| tables.get(table))
            .and_then(|schema| schema.get("primaryKeys"))
            .map(strings)
            .unwrap_or_default()
    }

    /// The commands that made the case, in order.
    ///
    /// # Errors
    /// [`TestkitError::Read`] if an input file is missing.
    pub fn steps(&self) -> Result<Vec<Step>> {
        self.entries("steps")?
            .iter()
            .map(|entry| {
                let stdin = entry
                    .get("stdin")
                    .and_then(Value::as_str)
                    .map(|file| read_text(&self.present(&self.folder.join(file))))
                    .transpose()?;
                Ok(Step {
                    command: self.text(entry, "command")?,
                    table: self.text(entry, "table")?,
                    args: entry.get("args").map(strings).unwrap_or_default(),
                    stdin,
                    refused: entry.get("error").is_some(),
                })
            })
            .collect()
    }

    /// The questions whose verb is one of `commands`, in order, with the answers read in.
    ///
    /// # Errors
    /// [`TestkitError::Read`] and [`TestkitError::Line`] for answer files that are missing or torn.
    pub fn questions(&self, commands: &[&str]) -> Result<Vec<Question>> {
        let mut questions = Vec::new();
        for entry in self.entries("expected")? {
            let command = self.text(entry, "command")?;
            if !commands.contains(&command.as_str()) {
                continue;
            }
            let expectation = match entry.get("file").and_then(Value::as_str) {
                Some(file) => Expectation::Lines(read_json_lines(
                    &self.present(&self.folder.join("expected").join(file)),
                )?),
                None => Expectation::Refusal(
                    entry
                        .get("error")
                        .and_then(|error| error.get("message"))
                        .and_then(Value::as_str)
                        .unwrap_or_default()
                        .to_owned(),
                ),
            };
            questions.push(Question {
                command,
                table: self.text(entry, "table")?,
                args: entry.get("args").map(strings).unwrap_or_default(),
                expectation,
            });
        }
        Ok(questions)
    }

    fn entries(&self, name: &str) -> Result<&Vec<Value>> {
        self.document
            .get(name)
            .and_then(Value::as_array)
            .ok_or_else(|| self.lacks(name))
    }

    fn text(&self, entry: &Value, name: &str) -> Result<String> {
        entry
            .get(name)
            .and_then(Value::as_str)
            .map(str::to_owned)
            .ok_or_else(|| self.lacks(name))
    }

    fn lacks(&self, name: &str) -> TestkitError {
        TestkitError::Case {
            path: self.folder.join("case.json"),
            what: format!("lacks {name:?}"),
        }
    }

    /// `path`, or its compressed form if only that exists.
    fn present(&self, path: &Path) -> PathBuf {
        if path.exists() {
            return path.to_owned();
        }
        let mut packed = path.as_os_str().to_owned();
        packed.push(".zst");
        PathBuf::from(packed)
    }
}

fn strings(value: &Value) -> Vec<String> {
    value
        .as_array()
        .map(|items| {
            items
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        })
        .unwrap_or_default()
}
