//! One call of the command line in this process.

use std::io::{Cursor, Write};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tidewater_cli::Console;
use tidewater_testkit::parse_lines;

/// What a call printed and how it ended.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u8,
    pub(crate) output: String,
    pub(crate) errors: String,
}

impl Answer {
    /// The lines of standard output.
    pub(crate) fn lines(&self) -> Vec<Value> {
        parse_lines(&self.output).unwrap()
    }

    /// The last line of standard error, which is JSON on failure.
    pub(crate) fn error(&self) -> Value {
        serde_json::from_str(self.errors.trim_end().lines().last().unwrap()).unwrap()
    }
}

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Kept {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Calls with pipes on all sides.
pub(crate) fn call(arguments: &[&str], stdin: &str) -> Answer {
    call_at(arguments, stdin, None)
}

/// Calls with a terminal of `width` columns as standard output.
pub(crate) fn call_at(arguments: &[&str], stdin: &str, width: Option<usize>) -> Answer {
    let (output, errors) = (Kept::default(), Kept::default());
    let console = Console {
        input: Box::new(Cursor::new(stdin.as_bytes().to_vec())),
        output: Box::new(output.clone()),
        errors: Box::new(errors.clone()),
        output_width: width,
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
