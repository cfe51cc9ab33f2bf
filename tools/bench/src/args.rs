//! The call shape that all measured programs share: `OP --in INPUT --table DIR --threads 2 [--key value …]`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::error::{BenchError, Result};

/// Said with every refused call.
pub(crate) const USAGE: &str = "\
usage: tw-bench OP --in INPUT --table DIR [--threads 2] [--memory-mib 1024]
           one operation on a Tidewater table: load, upsert, scan_all, scan_proj, count, compact,
           append_load, append_scan, append_part, meta [--files 100000], meta_plan
       tw-bench limit OP --in INPUT --table DIR [--threads 2]
           the same work by arrow and parquet alone: what the machine can do
       tw-bench generate --data DIR [--rows 2000000]
           the input of all operations, the same bytes on every machine
       tw-bench compare --home DIR [--rows 2000000] [--rounds 5] [--ops load,upsert,…]
           generates, runs both interleaved in processes of their own and prints the ratios
An operation answers with one JSON object on its last line.";

/// One call.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// The operation.
    pub(crate) op: String,
    /// Whether the raw limit is measured.
    pub(crate) limit: bool,
    options: BTreeMap<String, String>,
}

impl Call {
    /// Reads the process's arguments, without the program's name.
    ///
    /// # Errors
    /// No operation, or an option without a value.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self> {
        let mut arguments = arguments.into_iter();
        let missing = || BenchError::Usage("no operation is named".to_owned());
        let mut op = arguments.next().ok_or_else(missing)?;
        let limit = op == "limit";
        if limit {
            op = arguments.next().ok_or_else(missing)?;
        }
        let mut options = BTreeMap::new();
        while let Some(key) = arguments.next() {
            let name = key
                .strip_prefix("--")
                .ok_or_else(|| BenchError::Usage(format!("{key:?} is no option")))?;
            let value = arguments
                .next()
                .ok_or_else(|| BenchError::Usage(format!("--{name} has no value")))?;
            options.insert(name.to_owned(), value);
        }
        Ok(Self { op, limit, options })
    }

    /// The folder of the table, or of the raw files.
    ///
    /// # Errors
    /// It is not given.
    pub(crate) fn table(&self) -> Result<PathBuf> {
        self.path("table")
    }

    /// Threads for CPU work.
    ///
    /// # Errors
    /// Not a number.
    pub(crate) fn threads(&self) -> Result<usize> {
        Ok(self.number("threads", 2)?.max(1))
    }

    /// A folder that has to be given.
    ///
    /// # Errors
    /// It is not given.
    pub(crate) fn path(&self, name: &str) -> Result<PathBuf> {
        let given = self.options.get(name).map(PathBuf::from);
        given.ok_or_else(|| BenchError::Usage(format!("--{name} is missing")))
    }

    /// A number, or its default.
    ///
    /// # Errors
    /// Not a number.
    pub(crate) fn number(&self, name: &str, default: usize) -> Result<usize> {
        match self.options.get(name) {
            None => Ok(default),
            Some(text) => text
                .parse()
                .map_err(|_| BenchError::Usage(format!("--{name} {text:?} is no number"))),
        }
    }

    /// A text, if given.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(text: &str) -> Result<Call> {
        Call::parse(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn a_call_names_operation_folders_and_options() {
        let call = call("limit load --in a --table b --threads 3").unwrap();
        assert!(call.limit && call.op == "load");
        assert_eq!(call.text("in"), Some("a"));
        assert_eq!(call.table().unwrap(), PathBuf::from("b"));
        assert_eq!(call.threads().unwrap(), 3);
        assert_eq!(call.number("memory-mib", 7).unwrap(), 7);
    }

    #[test]
    fn a_call_without_operation_value_or_number_is_refused() {
        assert!(call("").is_err() && call("limit").is_err());
        assert!(call("load --in").is_err() && call("load in").is_err());
        assert!(call("load --threads two").unwrap().threads().is_err());
    }
}
