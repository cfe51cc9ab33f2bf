//! The `tidewater` command line, called in this process with streams of its own.

use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tidewater_cli::Console;
use tidewater_testkit::parse_lines;

use crate::error::{PeerError, Result};
use crate::play::Engine;

/// Exit status of `verify` when it found faults.
const FAULTS: u8 = 3;

/// The command line.
#[derive(Debug, Default)]
pub struct Tidewater;

/// What a command printed and how it ended.
#[derive(Debug)]
pub struct Answer {
    /// Exit status.
    pub status: u8,
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub errors: String,
}

/// A stream that keeps what is written to it.
#[derive(Debug, Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Kept {
    fn text(&self) -> String {
        self.0
            .lock()
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0
            .lock()
            .map_err(|_| std::io::Error::other("poisoned"))?
            .extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Tidewater {
    /// Runs one command with `stdin` as its input.
    pub fn run(&self, arguments: &[&str], stdin: &str) -> Answer {
        let (output, errors) = (Kept::default(), Kept::default());
        let console = Console {
            input: Box::new(Cursor::new(stdin.as_bytes().to_vec())),
            output: Box::new(output.clone()),
            errors: Box::new(errors.clone()),
            output_width: None,
            errors_width: None,
        };
        let status = tidewater_cli::run(
            std::iter::once("tidewater").chain(arguments.iter().copied()),
            console,
        );
        Answer {
            status,
            output: output.text(),
            errors: errors.text(),
        }
    }

    fn lines(
        &self,
        verb: &str,
        warehouse: &Path,
        table: &str,
        arguments: &[&str],
        stdin: &str,
    ) -> Result<Vec<Value>> {
        let warehouse = warehouse.to_string_lossy();
        let mut all = vec![
            verb,
            "--warehouse",
            &warehouse,
            "--table",
            table,
            "--threads",
            "2",
        ];
        all.extend_from_slice(arguments);
        let answer = self.run(&all, stdin);
        if answer.status != 0 && !(verb == "verify" && answer.status == FAULTS) {
            let message = format!("status {}: {}", answer.status, answer.errors);
            return Err(PeerError::Refused {
                engine: "tidewater",
                verb: verb.to_owned(),
                message,
            });
        }
        Ok(parse_lines(&answer.output)?)
    }
}

impl Engine for Tidewater {
    fn name(&self) -> &'static str {
        "tidewater"
    }

    fn create(&mut self, warehouse: &Path, table: &str, schema: &Value) -> Result<()> {
        self.lines(
            "create",
            warehouse,
            table,
            &["--schema", &schema.to_string()],
            "",
        )
        .map(drop)
    }

    fn write(&mut self, warehouse: &Path, table: &str, lines: &[Value]) -> Result<()> {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        self.lines(
            "write",
            warehouse,
            table,
            &["--commit-user", "tidewater"],
            &text,
        )
        .map(drop)
    }

    fn compact(&mut self, warehouse: &Path, table: &str, mode: &str) -> Result<()> {
        self.lines(
            "compact",
            warehouse,
            table,
            &["--commit-user", "tidewater", "--mode", mode],
            "",
        )
        .map(drop)
    }

    fn read(&mut self, warehouse: &Path, table: &str, snapshot: Option<i64>) -> Result<Vec<Value>> {
        let snapshot = snapshot.map(|snapshot| format!("--snapshot={snapshot}"));
        let arguments: Vec<&str> = snapshot.iter().map(String::as_str).collect();
        self.lines("read", warehouse, table, &arguments, "")
    }

    fn stream(&mut self, warehouse: &Path, table: &str) -> Result<Vec<Value>> {
        self.lines("stream", warehouse, table, &[], "")
    }

    fn verify(&mut self, warehouse: &Path, table: &str) -> Result<Vec<Value>> {
        self.lines("verify", warehouse, table, &[], "")
    }
}
