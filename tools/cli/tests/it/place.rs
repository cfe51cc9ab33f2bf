//! A warehouse of its own for a test, and calls about one of its tables.

use serde_json::Value;

use crate::call::{Answer, call};

/// A folder with a warehouse in it.
pub(crate) struct Place(tempfile::TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.file(name), text).unwrap();
        self.file(name)
    }

    pub(crate) fn ask(&self, verb: &str, table: &str, more: &[&str], stdin: &str) -> Answer {
        let warehouse = self.file("warehouse");
        let mut arguments = vec![verb, "--warehouse", &warehouse, "--table", table];
        arguments.extend(more);
        call(&arguments, stdin)
    }

    pub(crate) fn answer(&self, verb: &str, table: &str, more: &[&str]) -> Vec<Value> {
        let answer = self.ask(verb, table, more, "");
        assert_eq!(answer.status, 0, "{}", answer.errors);
        answer.lines()
    }

    /// The rows of a table, without what is around them.
    pub(crate) fn rows(&self, table: &str, more: &[&str]) -> Vec<Value> {
        let lines = self.answer("read", table, more);
        lines.into_iter().map(|line| line["row"].clone()).collect()
    }
}
