//! The Java process: one request a line in, one answer a line out.

use std::io::{BufRead, BufReader, Error, ErrorKind, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tidewater_testkit::parse_lines;

use crate::build::java_program;
use crate::error::{PeerError, Result};
use crate::play::Engine;

/// A running Java Paimon; ends when dropped.
#[derive(Debug)]
pub struct JavaPeer {
    process: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl JavaPeer {
    /// Builds the program if needed and starts it.
    ///
    /// # Errors
    /// As [`java_program`]; [`PeerError::Missing`] without `java`.
    pub fn start() -> Result<Self> {
        let jar = java_program()?;
        let mut process = Command::new("java")
            .args([
                "-Xmx1g",
                "-XX:+UseSerialGC",
                "-Duser.timezone=UTC",
                "-Dfile.encoding=UTF-8",
            ])
            .args([
                "--add-opens=java.base/java.nio=ALL-UNNAMED",
                "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
                "-jar",
            ])
            .arg(jar)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|source| PeerError::Missing {
                program: "java",
                package: "openjdk-17-jre-headless",
                source,
            })?;
        let gone = || PeerError::Gone(Error::from(ErrorKind::BrokenPipe));
        let requests = process.stdin.take().ok_or_else(gone)?;
        let answers = process.stdout.take().ok_or_else(gone)?;
        Ok(Self {
            process,
            requests: Some(requests),
            answers: BufReader::new(answers),
        })
    }

    /// Sends one request and waits for its answer.
    ///
    /// # Errors
    /// [`PeerError::Refused`] with Java's words, [`PeerError::Gone`] if the process ended.
    pub fn request(&mut self, request: &Value) -> Result<Vec<Value>> {
        let requests = self
            .requests
            .as_mut()
            .ok_or_else(|| PeerError::Gone(Error::from(ErrorKind::BrokenPipe)))?;
        writeln!(requests, "{request}")
            .and_then(|()| requests.flush())
            .map_err(PeerError::Gone)?;
        let mut line = String::new();
        if self.answers.read_line(&mut line).map_err(PeerError::Gone)? == 0 {
            return Err(PeerError::Gone(Error::from(ErrorKind::UnexpectedEof)));
        }
        let answer = parse_lines(&line)?.pop().unwrap_or_default();
        if answer.get("ok") == Some(&Value::Bool(true)) {
            return Ok(answer
                .get("lines")
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default());
        }
        let text = |member: &str| {
            answer
                .get(member)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let verb = request
            .get("verb")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        Err(PeerError::Refused {
            engine: "java",
            verb,
            message: text("message"),
        })
    }
}

impl Drop for JavaPeer {
    fn drop(&mut self) {
        // The program ends with its input.
        drop(self.requests.take());
        drop(self.process.wait());
    }
}

impl Engine for JavaPeer {
    fn name(&self) -> &'static str {
        "java"
    }

    fn create(&mut self, warehouse: &Path, table: &str, schema: &Value) -> Result<()> {
        self.request(
            &json!({"verb": "create", "warehouse": warehouse, "table": table, "schema": schema}),
        )
        .map(drop)
    }

    fn write(&mut self, warehouse: &Path, table: &str, lines: &[Value]) -> Result<()> {
        self.request(&json!({"verb": "write", "warehouse": warehouse, "table": table, "user": "java", "lines": lines})).map(drop)
    }

    fn compact(&mut self, warehouse: &Path, table: &str, mode: &str) -> Result<()> {
        self.request(&json!({"verb": "compact", "warehouse": warehouse, "table": table, "user": "java", "mode": mode})).map(drop)
    }

    fn read(&mut self, warehouse: &Path, table: &str, snapshot: Option<i64>) -> Result<Vec<Value>> {
        self.request(
            &json!({"verb": "read", "warehouse": warehouse, "table": table, "snapshot": snapshot}),
        )
    }

    fn stream(&mut self, warehouse: &Path, table: &str) -> Result<Vec<Value>> {
        self.request(&json!({"verb": "stream", "warehouse": warehouse, "table": table}))
    }

    fn verify(&mut self, warehouse: &Path, table: &str) -> Result<Vec<Value>> {
        self.request(&json!({"verb": "verify", "warehouse": warehouse, "table": table}))
    }
}
