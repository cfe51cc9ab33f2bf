//! A table's definition from a file of rows.
//!
//! Parquet and Arrow files say their types; those of CSV and JSON are guessed from the first rows: a type is taken only if every value
//! seen is written as one. A number with leading zeros or a plus is a name that happens to be digits, so it stays STRING.

mod json;
mod text;

use std::collections::BTreeMap;

use tidewater_format::SchemaDefinition;
use tidewater_types::arrow_types::from_arrow_schema;
use tidewater_types::{DataField, DataType, RowType};

use self::json::ObjectGuess;
use self::text::TextGuess;
use super::bad_rows::{BadRow, Place, RowFault};
use super::csv::{Conversion, CsvOptions, RecordReader, Records};
use super::error::{LoadError, Result};
use super::guard::guarded;
use super::input::{Input, InputFormat};
use super::json_lines::LineReader;
use super::reader::PieceSize;

/// Buckets of a keyed table for which nobody says a number; without one it would be dynamic.
const BUCKETS_DEFAULT: &str = "4";
const BUCKET_OPTION: &str = "bucket";
/// Bytes of text looked at together.
const SAMPLE_BYTES: usize = 8 << 20;

/// How to make a table of a file.
#[derive(Debug, Clone)]
pub struct InferOptions {
    /// What is in the file; by its name if none.
    pub format: Option<InputFormat>,
    /// How CSV is written.
    pub csv: CsvOptions,
    /// Rows of CSV and JSON that are looked at.
    pub sample_rows: usize,
    /// Columns of the primary key; NOT NULL in the table.
    pub primary_key: Vec<String>,
    /// Partition columns.
    pub partition_by: Vec<String>,
    /// Options of the table.
    pub options: BTreeMap<String, String>,
}

/// The definition of a table that takes the rows of `input`. Reads no more of it than the sample.
///
/// # Errors
/// [`LoadError::NoSchema`] if there are no rows to guess from, a column has no type that holds its values, or a key names no column;
/// [`LoadError::BadRow`] for a row in the sample that is no row.
pub fn infer_schema(input: Input, options: &InferOptions) -> Result<SchemaDefinition> {
    let file = input.name();
    let mut row_type = match input.format(options.format)? {
        InputFormat::Parquet => {
            of_arrow(&file, &*guarded(&file, || super::parquet::schema(input))?)?
        }
        InputFormat::Arrow => of_arrow(&file, &*guarded(&file, || super::ipc::schema(input))?)?,
        InputFormat::Csv => of_csv(input, options)?,
        InputFormat::Json => of_json(input, options)?,
    };
    let no_schema = |reason: String| LoadError::NoSchema {
        file: file.clone(),
        reason,
    };
    if row_type.is_empty() {
        return Err(no_schema("there are no columns".to_owned()));
    }
    for key in options.primary_key.iter().chain(&options.partition_by) {
        if row_type.index_of(key).is_none() {
            let names: Vec<&str> = row_type.names().collect();
            let names = names.join(", ");
            return Err(no_schema(format!(
                "no column {key:?} to be a key; there are {names}"
            )));
        }
    }
    for field in &mut row_type.fields {
        if options.primary_key.contains(&field.name) {
            field.data_type = field.data_type.clone().not_null();
        }
    }
    let mut table_options = options.options.clone();
    if !options.primary_key.is_empty() {
        table_options
            .entry(BUCKET_OPTION.to_owned())
            .or_insert_with(|| BUCKETS_DEFAULT.to_owned());
    }
    Ok(SchemaDefinition {
        fields: row_type.fields,
        primary_keys: options.primary_key.clone(),
        partition_keys: options.partition_by.clone(),
        options: table_options,
        comment: None,
    })
}

fn of_arrow(file: &str, schema: &arrow_schema::Schema) -> Result<RowType> {
    from_arrow_schema(schema).map_err(|source| LoadError::Columns {
        file: file.to_owned(),
        source,
    })
}

fn of_csv(input: Input, options: &InferOptions) -> Result<RowType> {
    let file = input.name();
    let mut reader = RecordReader::open(input, &options.csv)?;
    let mut names = reader.header(&options.csv)?;
    let conversion = Conversion::new(&options.csv);
    let mut guesses: Vec<TextGuess> = Vec::new();
    let mut records = Records::default();
    let mut left = options.sample_rows.max(1);
    while left > 0 {
        let size = PieceSize {
            rows: left,
            bytes: SAMPLE_BYTES,
        };
        let width = names.as_ref().map(Vec::len);
        reader.fill(&mut records, width, size)?;
        if let Some(broken) = records.broken.first() {
            return Err(bad_line(&file, broken.line, broken.fault.clone()));
        }
        if records.rows() == 0 {
            break;
        }
        left -= records.rows();
        let width = names
            .get_or_insert_with(|| (1..=records.width()).map(|n| format!("c{n}")).collect())
            .len();
        guesses.resize_with(width, TextGuess::of_csv);
        for (index, guess) in guesses.iter_mut().enumerate() {
            for cell in records.cells(index) {
                if let Some(value) = conversion.value(cell, false) {
                    guess.add(&String::from_utf8_lossy(&value));
                }
            }
        }
    }
    let names = names.unwrap_or_default();
    guesses.resize_with(names.len(), TextGuess::of_csv);
    let columns = names.into_iter().zip(guesses);
    Ok(row_type(
        columns.map(|(name, guess)| (name, guess.data_type())),
    ))
}

fn of_json(input: Input, options: &InferOptions) -> Result<RowType> {
    let file = input.name();
    let mut reader = LineReader::open(input)?;
    let mut guess = ObjectGuess::default();
    let mut line = Vec::new();
    for _ in 0..options.sample_rows.max(1) {
        line.clear();
        let Some(number) = reader.next_line(&mut line)? else {
            break;
        };
        let bad = |what: String| bad_line(&file, number, RowFault::Syntax { what });
        match serde_json::from_slice(&line) {
            Ok(serde_json::Value::Object(members)) => guess.add(&members),
            Ok(_) => return Err(bad("not a json object".to_owned())),
            Err(error) => return Err(bad(format!("not json: {error}"))),
        }
    }
    let columns = guess.columns().map_err(|reason| LoadError::NoSchema {
        file: file.clone(),
        reason,
    })?;
    Ok(row_type(columns.into_iter()))
}

fn row_type(columns: impl Iterator<Item = (String, DataType)>) -> RowType {
    let fields = (0..).zip(columns);
    RowType::new(
        fields
            .map(|(id, (name, data_type))| DataField::new(id, name, data_type))
            .collect(),
    )
}

fn bad_line(file: &str, line: u64, fault: RowFault) -> LoadError {
    LoadError::BadRow(Box::new(BadRow {
        file: file.to_owned(),
        place: Place::Line(line),
        fault,
        text: None,
    }))
}
