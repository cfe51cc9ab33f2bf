//! Rows that are none of the table's: what is wrong with them, and where they go.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::json;

use super::error::{LoadError, Result};
use crate::json::JsonError;

/// Characters of a value shown in an error.
const SHOWN: usize = 60;

/// A row that cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRow {
    /// The input as it was named.
    pub file: String,
    /// Where in it.
    pub place: Place,
    /// What is wrong.
    pub fault: RowFault,
    /// The row's text, for inputs of text; bytes that are no UTF-8 are replaced in it.
    pub text: Option<String>,
}

/// Where a row stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Its first line, counted from 1.
    Line(u64),
    /// Its number, counted from 1, in files without lines.
    Row(u64),
}

/// What is wrong with a row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names each field")]
pub enum RowFault {
    /// A value is not of its column's type.
    #[error("column {column}: {value:?} is not {expected}")]
    Value {
        column: String,
        value: String,
        expected: String,
    },
    /// A column that is NOT NULL has no value.
    #[error("column {column}: null, but the column is NOT NULL")]
    Null { column: String },
    /// A CSV row with too many or too few fields.
    #[error("{found} fields, but the header has {expected}")]
    FieldCount { found: usize, expected: usize },
    /// Text that is no row at all.
    #[error("{what}")]
    Syntax { what: String },
}

impl RowFault {
    pub(super) fn value(column: &str, value: &[u8], expected: impl fmt::Display) -> Self {
        let text = String::from_utf8_lossy(value);
        let mut shown: String = text.chars().take(SHOWN).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        Self::Value {
            column: column.to_owned(),
            value: shown,
            expected: expected.to_string(),
        }
    }

    /// The fault of a JSON line, without the line's number.
    pub(super) fn of_json(error: &JsonError) -> Self {
        match error {
            JsonError::Value {
                column,
                value,
                expected,
                ..
            } => Self::Value {
                column: column.clone(),
                value: value.clone(),
                expected: expected.clone(),
            },
            JsonError::Syntax {
                position, expected, ..
            } => Self::Syntax {
                what: format!("character {position}: expected {expected}"),
            },
            JsonError::Name { what, name, .. } => Self::Syntax {
                what: format!("{what} {name:?}"),
            },
            JsonError::Line { what, .. } => Self::Syntax { what: what.clone() },
            other => Self::Syntax {
                what: other.to_string(),
            },
        }
    }
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Line(line) => write!(f, "{}, line {line}, {}", self.file, self.fault),
            Place::Row(row) => write!(f, "{}, row {row}, {}", self.file, self.fault),
        }
    }
}

impl std::error::Error for BadRow {}

/// What becomes of bad rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BadRowPolicy {
    /// The first one ends the load.
    #[default]
    Refuse,
    /// They are handed over with the batch they stood in; one more than `max` ends the load.
    HandOver {
        /// Bad rows allowed, those before a restart among them; any number if none.
        max: Option<u64>,
    },
}

/// The file that takes bad rows: a JSON line with file, line (or row), reason and text for each.
///
/// Lines are written when the rows around them are committed: [`DeadLetters::sync`] before the commit. After a restart the file
/// keeps the lines that the last commit knows of and no more, so that no row is there twice.
#[derive(Debug)]
pub struct DeadLetters {
    name: String,
    file: BufWriter<File>,
    lines: u64,
}

impl DeadLetters {
    /// Opens `path` with its first `keep` lines; what follows them is cut off. 0 begins a new file.
    ///
    /// # Errors
    /// [`LoadError::Write`], also if the file has fewer than `keep` lines: then it is not the one that the load wrote.
    pub fn open(path: &Path, keep: u64) -> Result<Self> {
        let name = path.display().to_string();
        let write = |source| LoadError::Write {
            file: name.clone(),
            source,
        };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(keep == 0)
            .open(path)
            .map_err(write)?;
        let mut bytes = 0_u64;
        let mut lines = 0;
        let mut reader = BufReader::new(&mut file);
        while lines < keep {
            let line = reader.skip_until(b'\n').map_err(write)?;
            if line == 0 {
                return Err(write(std::io::Error::other(format!(
                    "it has {lines} lines, but the load wrote {keep} into it"
                ))));
            }
            bytes += u64::try_from(line).unwrap_or_default();
            lines += 1;
        }
        file.set_len(bytes).map_err(write)?;
        file.seek(SeekFrom::End(0)).map_err(write)?;
        Ok(Self {
            name,
            file: BufWriter::new(file),
            lines: keep,
        })
    }

    /// Appends rows.
    ///
    /// # Errors
    /// [`LoadError::Write`].
    pub fn write(&mut self, rows: &[BadRow]) -> Result<()> {
        for row in rows {
            let (place, number) = match row.place {
                Place::Line(line) => ("line", line),
                Place::Row(number) => ("row", number),
            };
            let line = json!({"file": row.file, place: number, "reason": row.fault.to_string(), "text": row.text});
            writeln!(self.file, "{line}").map_err(|source| self.error(source))?;
            self.lines += 1;
        }
        Ok(())
    }

    /// Lines in the file; what the checkpoint keeps.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Brings everything written to the disk.
    ///
    /// # Errors
    /// [`LoadError::Write`].
    pub fn sync(&mut self) -> Result<()> {
        let done = self
            .file
            .flush()
            .and_then(|()| self.file.get_ref().sync_data());
        done.map_err(|source| self.error(source))
    }

    fn error(&self, source: std::io::Error) -> LoadError {
        LoadError::Write {
            file: self.name.clone(),
            source,
        }
    }
}
