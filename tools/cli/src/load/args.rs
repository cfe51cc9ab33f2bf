//! Arguments of `load` and of `create --like`.

use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tidewater_format::SchemaDefinition;

use super::bad_rows::BadRowPolicy;
use super::csv::CsvOptions;
use super::infer::{InferOptions, infer_schema};
use super::input::{Input, InputFormat};
use super::pace::batch_rows_for;
use super::source::SourceOptions;
use crate::args::TableArgs;
use crate::error::{CliError, Result};

/// Arguments of `load`.
#[derive(Debug, Args)]
pub struct LoadArgs {
    #[expect(missing_docs, reason = "its own fields say what they are")]
    #[command(flatten)]
    pub table: TableArgs,
    #[expect(missing_docs, reason = "its own fields say what they are")]
    #[command(flatten)]
    pub source: SourceArgs,
    #[expect(missing_docs, reason = "its own fields say what they are")]
    #[command(flatten)]
    pub commit: CommitArgs,
    /// Create the table if it is missing, with the columns of the first file
    #[arg(long)]
    pub create: bool,
    #[expect(missing_docs, reason = "its own fields say what they are")]
    #[command(flatten)]
    pub shape: ShapeArgs,
}

/// What to load, and what to do with rows that do not fit.
#[derive(Debug, Args)]
pub struct SourceArgs {
    /// Files to load, in this order; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<String>,
    #[expect(missing_docs, reason = "its own fields say what they are")]
    #[command(flatten)]
    pub input: ReadInputArgs,
    /// Leave out columns that the table does not have, instead of refusing the file
    #[arg(long)]
    pub ignore_extra_columns: bool,
    /// Column that holds each row's kind: +I, -U, +U, -D, or I, U, D, insert, update, upsert, delete [default: all rows are inserts]
    #[arg(long, value_name = "COLUMN")]
    pub kind_column: Option<String>,
    /// Put rows of CSV and JSON that do not fit into this file, one JSON line each, and go on [default: the first one ends the load]
    #[arg(long, value_name = "FILE")]
    pub bad_rows: Option<PathBuf>,
    /// Bad rows allowed; one more ends the load [default: any number]
    #[arg(long, value_name = "N", requires = "bad_rows")]
    pub max_bad_rows: Option<u64>,
}

/// How files are written.
#[derive(Debug, Clone, Args)]
pub struct ReadInputArgs {
    /// What is in the files [default: by their extension]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<InputFormat>,
    #[expect(missing_docs, reason = "its own fields say what they are")]
    #[command(flatten)]
    pub csv: CsvArgs,
}

/// How CSV is written.
#[derive(Debug, Clone, Args)]
pub struct CsvArgs {
    /// CSV: one character between fields, or `\t` [default: a tab for .tsv, a bar for .psv, else a comma]
    #[arg(long, value_name = "CHAR")]
    pub delimiter: Option<CsvChar>,
    /// CSV: the character around fields; empty if quotes mean nothing
    #[arg(long, value_name = "CHAR", default_value = "\"")]
    pub quote: CsvChar,
    /// CSV: the first line is a row already; the fields are the table's columns in order unless --columns says otherwise
    #[arg(long)]
    pub no_header: bool,
    /// CSV: names of the fields, in place of those of the first line
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// CSV: text that stands for null when it is not in quotes; may be repeated [default: the empty text]
    #[arg(long = "null", value_name = "TEXT", allow_hyphen_values = true)]
    pub nulls: Vec<String>,
}

/// When a load commits, and who it is.
#[derive(Debug, Clone, Args)]
pub struct CommitArgs {
    /// Commit every N rows [default: no bound]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub commit_rows: Option<u64>,
    /// Commit every T seconds
    #[arg(long, value_name = "T", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    pub commit_seconds: u64,
    /// Name of this load: a later run with the same name goes on where it stopped [default: by the table and the files]
    #[arg(long, value_name = "NAME")]
    pub job: Option<String>,
    /// Load everything from the beginning, although these files are in the table already or have changed since
    #[arg(long)]
    pub again: bool,
}

/// A byte that means something in CSV, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CsvChar(pub Option<u8>);

impl std::str::FromStr for CsvChar {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.as_bytes()) {
            (r"\t" | "tab", _) => Ok(Self(Some(b'\t'))),
            ("", _) => Ok(Self(None)),
            (_, [b'\n' | b'\r']) => Err("the end of a line cannot be it".to_owned()),
            (_, [byte]) if byte.is_ascii() => Ok(Self(Some(*byte))),
            _ => Err("one ASCII character, or \\t".to_owned()),
        }
    }
}

/// Arguments of `create --like`.
#[derive(Debug, Args)]
pub struct LikeArgs {
    /// Take the columns from this CSV, JSON lines, Parquet or Arrow file instead of a schema file; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub like: Option<String>,
    #[expect(missing_docs, reason = "its own fields say what they are")]
    #[command(flatten)]
    pub input: ReadInputArgs,
    #[expect(missing_docs, reason = "its own fields say what they are")]
    #[command(flatten)]
    pub shape: ShapeArgs,
}

/// What a table made of a file is like, beside the file's columns.
#[derive(Debug, Args)]
pub struct ShapeArgs {
    /// Rows of CSV and JSON that are looked at to tell the types
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub sample_rows: usize,
    /// Columns of the primary key [default: a table without one]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub primary_key: Vec<String>,
    /// Columns that rows are partitioned by [default: one partition]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub partition_by: Vec<String>,
}

impl CsvArgs {
    /// The options that these arguments say.
    ///
    /// # Errors
    /// [`CliError::Usage`] if delimiter and quote are the same, or there is no delimiter.
    pub fn options(&self) -> Result<CsvOptions> {
        let delimiter = match self.delimiter {
            Some(CsvChar(None)) => {
                return Err(CliError::usage("--delimiter needs a character"));
            }
            Some(CsvChar(delimiter)) => delimiter,
            None => None,
        };
        if delimiter.is_some() && delimiter == self.quote.0 {
            return Err(CliError::usage(
                "--delimiter and --quote are the same character",
            ));
        }
        let nulls = if self.nulls.is_empty() {
            vec![String::new()]
        } else {
            self.nulls.clone()
        };
        Ok(CsvOptions {
            delimiter,
            quote: self.quote.0,
            header: !self.no_header,
            columns: self.columns.clone(),
            nulls,
        })
    }
}

impl SourceArgs {
    /// The source that these arguments say; `-` reads `standard_input`.
    ///
    /// # Errors
    /// [`CliError::Usage`].
    pub fn options(
        &self,
        standard_input: impl Read + Send + 'static,
        commit: &CommitArgs,
    ) -> Result<SourceOptions> {
        let mut standard_input = Some(standard_input);
        let inputs = self
            .files
            .iter()
            .map(|file| input(file, &mut standard_input));
        let defaults = SourceOptions::new(inputs.collect::<Result<_>>()?);
        Ok(SourceOptions {
            format: self.input.format,
            csv: self.input.csv.options()?,
            ignore_extra_columns: self.ignore_extra_columns,
            kind_column: self.kind_column.clone(),
            bad_rows: match self.bad_rows {
                Some(_) => BadRowPolicy::HandOver {
                    max: self.max_bad_rows,
                },
                None => BadRowPolicy::Refuse,
            },
            batch_rows: batch_rows_for(commit.commit_rows, defaults.batch_rows),
            ..defaults
        })
    }
}

impl CommitArgs {
    /// The longest time between commits.
    pub fn every(&self) -> Duration {
        Duration::from_secs(self.commit_seconds)
    }
}

impl LikeArgs {
    /// The definition of a table for the rows of the file; none without `--like`. `options` are the table's.
    ///
    /// # Errors
    /// [`CliError::Usage`], or what [`infer_schema`] says.
    pub fn definition(
        &self,
        standard_input: impl Read + Send + 'static,
        options: std::collections::BTreeMap<String, String>,
    ) -> Result<Option<SchemaDefinition>> {
        let Some(like) = &self.like else {
            return Ok(None);
        };
        let input = input(like, &mut Some(standard_input))?;
        self.shape.infer(input, &self.input, options).map(Some)
    }
}

impl LoadArgs {
    /// The definition of a table for the rows of the first file, without the column of kinds.
    ///
    /// # Errors
    /// As [`LikeArgs::definition`]; [`CliError::Usage`] for standard input, which can be read only once.
    pub fn definition(&self) -> Result<SchemaDefinition> {
        let Some(file) = self.source.files.first().filter(|file| *file != "-") else {
            return Err(CliError::usage(
                "--create needs a file in front: standard input can be read only once",
            ));
        };
        let input = Input::Path(PathBuf::from(file));
        let options = self.table.dynamic_options();
        let mut definition = self.shape.infer(input, &self.source.input, options)?;
        if let Some(kinds) = &self.source.kind_column {
            definition.fields.retain(|field| field.name != *kinds);
        }
        Ok(definition)
    }
}

impl ShapeArgs {
    fn infer(
        &self,
        input: Input,
        read: &ReadInputArgs,
        options: std::collections::BTreeMap<String, String>,
    ) -> Result<SchemaDefinition> {
        let infer = InferOptions {
            format: read.format,
            csv: read.csv.options()?,
            sample_rows: self.sample_rows,
            primary_key: self.primary_key.clone(),
            partition_by: self.partition_by.clone(),
            options,
        };
        Ok(infer_schema(input, &infer)?)
    }
}

fn input<R: Read + Send + 'static>(file: &str, standard_input: &mut Option<R>) -> Result<Input> {
    if file != "-" {
        return Ok(Input::Path(PathBuf::from(file)));
    }
    match standard_input.take() {
        Some(bytes) => Ok(Input::Stream(Box::new(bytes))),
        None => Err(CliError::usage("standard input (-) is named twice")),
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use clap::{CommandFactory, Parser};

    use super::*;

    #[derive(Debug, Parser)]
    struct Load {
        #[command(flatten)]
        args: LoadArgs,
    }

    #[derive(Debug, Parser)]
    struct Create {
        #[command(flatten)]
        args: LikeArgs,
    }

    #[test]
    fn arguments_are_sound_and_say_what_they_do() {
        for command in [Load::command(), Create::command()] {
            command.clone().debug_assert();
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{}", argument.get_id());
            }
        }
    }

    #[test]
    fn options_of_a_load_are_read() {
        let load = Load::try_parse_from([
            "load",
            "a.csv",
            "-",
            "--warehouse",
            "w",
            "--table",
            "d.t",
            "--delimiter",
            r"\t",
            "--quote",
            "",
            "--null",
            "NA",
            "--null",
            "",
            "--commit-rows",
            "100000",
            "--bad-rows",
            "bad",
            "--max-bad-rows",
            "3",
        ])
        .unwrap();
        let options = load
            .args
            .source
            .options(std::io::empty(), &load.args.commit)
            .unwrap();
        assert_eq!(
            options.csv,
            CsvOptions {
                delimiter: Some(b'\t'),
                quote: None,
                header: true,
                columns: Vec::new(),
                nulls: vec!["NA".to_owned(), String::new()],
            }
        );
        assert_eq!(options.bad_rows, BadRowPolicy::HandOver { max: Some(3) });
        assert_eq!(options.batch_rows, 50_000);
        assert_eq!(options.inputs.len(), 2);
        let twice = Load::try_parse_from(["load", "-", "-", "--warehouse", "w", "--table", "d.t"]);
        let twice = twice.unwrap().args;
        assert!(
            twice
                .source
                .options(std::io::empty(), &twice.commit)
                .is_err()
        );
        assert!(CsvChar::from_str("ä").is_err() && CsvChar::from_str("\n").is_err());
    }
}
