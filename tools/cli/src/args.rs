//! Arguments that many verbs share, and how their values are read.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use tidewater_types::TypeError;

use crate::error::{CliError, Result};

/// Options of every verb.
#[derive(Debug, Clone, Args)]
pub struct GlobalArgs {
    /// Print JSON lines although standard output is a terminal [default: tables on a terminal, JSON lines otherwise]
    #[arg(long, global = true)]
    pub json: bool,
    /// Memory that write buffers and reads may hold together, such as 256MiB
    #[arg(long, global = true, value_name = "SIZE", default_value = "1GiB")]
    pub memory: ByteSize,
    /// Threads that compute, 1 to 1024 [default: one per core]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// Where tables lie.
#[derive(Debug, Clone, Args)]
pub struct WarehouseArgs {
    /// Folder, or `file:`, `s3:`, `gs:` or `az:` address, that holds the databases
    #[arg(long, value_name = "DIR")]
    pub warehouse: String,
    /// Option of the catalog or its store, such as the endpoint of an object store; may be repeated
    #[arg(
        long = "catalog-option",
        value_name = "KEY=VALUE",
        allow_hyphen_values = true
    )]
    pub catalog_options: Vec<KeyValue>,
}

/// Which table a verb is about.
#[derive(Debug, Clone, Args)]
pub struct TableArgs {
    // A doc comment here would become the help text of the whole verb.
    #[expect(missing_docs, reason = "its own fields say what they are")]
    #[command(flatten)]
    pub location: WarehouseArgs,
    /// The table
    #[arg(long, value_name = "DB.TABLE")]
    pub table: TableName,
    /// Branch of the table [default: main]
    #[arg(long, value_name = "BRANCH")]
    pub branch: Option<String>,
    /// Table option for this call only; may be repeated
    #[arg(long = "option", value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub options: Vec<KeyValue>,
}

impl TableArgs {
    /// Options given with `--option`; of several with one key the last counts.
    pub fn dynamic_options(&self) -> BTreeMap<String, String> {
        pairs(&self.options)
    }

    /// Refuses what only later builds know: branches and system tables.
    ///
    /// # Errors
    /// [`CliError::NotBuilt`].
    pub fn refuse_later_features(&self) -> Result<()> {
        if self
            .branch
            .as_deref()
            .is_some_and(|branch| branch != "main")
        {
            return Err(CliError::not_built(
                "reading and writing branches (--branch)",
            ));
        }
        if let Some((_, system)) = self.table.object.split_once('$') {
            return Err(CliError::not_built(format!("the system table ${system}")));
        }
        Ok(())
    }
}

/// The pairs as a map; of several with one key the last counts.
pub fn pairs(options: &[KeyValue]) -> BTreeMap<String, String> {
    options
        .iter()
        .map(|pair| (pair.key.clone(), pair.value.clone()))
        .collect()
}

/// `DB.TABLE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableName {
    /// The database.
    pub database: String,
    /// The table, with `$NAME` behind it for a system table.
    pub object: String,
}

impl FromStr for TableName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('.') {
            Some((database, object)) if !database.is_empty() && !object.is_empty() => Ok(Self {
                database: database.to_owned(),
                object: object.to_owned(),
            }),
            _ => Err("a table is named DB.TABLE".to_owned()),
        }
    }
}

impl std::fmt::Display for TableName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.database, self.object)
    }
}

/// `KEY=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyValue {
    /// Before the first `=`.
    pub key: String,
    /// After it; may be empty and may hold `=`.
    pub value: String,
}

impl FromStr for KeyValue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((key, value)) if !key.is_empty() => Ok(Self {
                key: key.to_owned(),
                value: value.to_owned(),
            }),
            _ => Err("an option is written KEY=VALUE".to_owned()),
        }
    }
}

/// A number of bytes with a unit: `256MiB`, `1g`, `4096`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteSize(pub usize);

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let unit: usize = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" | "bytes" => 1,
            "k" | "kb" | "kib" => 1 << 10,
            "m" | "mb" | "mib" => 1 << 20,
            "g" | "gb" | "gib" => 1 << 30,
            "t" | "tb" | "tib" => 1 << 40,
            _ => return Err("a size is a number and b, k, m, g or t".to_owned()),
        };
        let number: usize = number
            .parse()
            .map_err(|_| "a size begins with a number".to_owned())?;
        number
            .checked_mul(unit)
            .map(Self)
            .ok_or_else(|| "the size is too large".to_owned())
    }
}

/// Reads a length of time: `30 s`, `1 h`, `7 d`, as options of tables are written.
///
/// # Errors
/// What is wrong with it, for the usage.
pub fn duration(text: &str) -> Result<Duration, String> {
    let what = "a length of time is a number and ms, s, min, h or d, such as \"1 h\"";
    tidewater_format::parse_duration(text).ok_or_else(|| what.to_owned())
}

/// Reads JSON given on the command line.
///
/// # Errors
/// [`CliError::Usage`] naming the option if it is none.
pub fn json_argument(option: &str, text: &str) -> Result<serde_json::Value> {
    serde_json::from_str(text)
        .map_err(|error| CliError::usage(format!("{option}: not json ({error}): {text}")))
}

/// Positions of the columns that `--project a,b` names.
///
/// # Errors
/// [`TypeError::UnknownColumn`].
pub fn projection(project: &str) -> Vec<String> {
    project
        .split(',')
        .map(|name| name.trim().to_owned())
        .collect()
}

/// The error for a column that is not there.
pub fn unknown_column(name: &str) -> CliError {
    CliError::Type(TypeError::UnknownColumn {
        name: name.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_names_and_options() {
        assert_eq!("256MiB".parse(), Ok(ByteSize(256 << 20)));
        assert_eq!("4096".parse(), Ok(ByteSize(4096)));
        assert_eq!("1 g".parse(), Ok(ByteSize(1 << 30)));
        assert!("g".parse::<ByteSize>().is_err() && "1x".parse::<ByteSize>().is_err());
        assert!(
            "99999999999999999999".parse::<ByteSize>().is_err()
                && "99999999999t".parse::<ByteSize>().is_err()
        );
        assert_eq!(
            "a=b=c".parse(),
            Ok(KeyValue {
                key: "a".into(),
                value: "b=c".into()
            })
        );
        assert!("a".parse::<KeyValue>().is_err() && "=a".parse::<KeyValue>().is_err());
        assert_eq!(
            "db.t$files".parse::<TableName>().unwrap().to_string(),
            "db.t$files"
        );
        assert!("t".parse::<TableName>().is_err() && ".t".parse::<TableName>().is_err());
    }
}
