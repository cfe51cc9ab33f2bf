//! JSON lines as record batches.

use std::sync::Arc;

use arrow_array::{Int8Array, Int32Array, RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema, SchemaRef};
use serde_json::{Map, Value};
use tidewater_types::{RowKind, RowType, arrow_types::to_arrow_schema};

use super::column_builder::{Members, nullable};
use super::error::{Fault, JsonError};
use super::scanner::{Next, Scanner};

/// Rows that came as lines, as columns.
#[derive(Debug)]
pub struct DecodedRows {
    /// The rows. Every column is nullable here: whether the table takes a null is for the table to say.
    pub batch: RecordBatch,
    /// The kind of each row.
    pub kinds: Int8Array,
    /// The bucket that a line asked for, null where it asked for none; absent if no line did.
    pub buckets: Option<Int32Array>,
}

/// What a line was.
#[derive(Debug, PartialEq)]
pub enum InputLine {
    /// Nothing but blanks.
    Blank,
    /// A row; it is held by the decoder.
    Row,
    /// Something else for the caller to make sense of.
    Directive(Map<String, Value>),
}

/// Reads the lines of `write`; rows collect until [`RowDecoder::take`].
#[derive(Debug)]
pub struct RowDecoder {
    schema: SchemaRef,
    members: Members,
    kinds: Vec<i8>,
    buckets: Vec<Option<i32>>,
    text_bytes: usize,
}

/// What stands beside a row in its line.
#[derive(Debug, Default)]
struct Envelope {
    row: bool,
    kind: Option<RowKind>,
    bucket: Option<i32>,
}

impl RowDecoder {
    /// Reads rows of `row_type`.
    ///
    /// # Errors
    /// [`JsonError::Type`] if the type cannot be held in memory.
    pub fn new(row_type: &RowType) -> Result<Self, JsonError> {
        let arrow = to_arrow_schema(row_type);
        Ok(Self {
            schema: Arc::new(Schema::new(nullable(arrow.fields()))),
            members: Members::new(row_type)?,
            kinds: Vec::new(),
            buckets: Vec::new(),
            text_bytes: 0,
        })
    }

    /// Passes over members that are no column, instead of refusing their line.
    #[must_use]
    pub fn ignoring_unknown_members(mut self, ignores: bool) -> Self {
        self.members.ignores_unknown = ignores;
        self
    }

    /// Rows held.
    pub fn rows(&self) -> usize {
        self.kinds.len()
    }

    /// Bytes of text that the rows held came from; what they occupy is of that size.
    pub fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    /// Reads one line; `number` is for errors. After an error the rows held are of no use.
    ///
    /// # Errors
    /// [`JsonError::Syntax`], [`JsonError::Value`], [`JsonError::Name`] or [`JsonError::Line`], each naming the line.
    pub fn line(&mut self, number: u64, text: &str) -> Result<InputLine, JsonError> {
        if text.bytes().all(|byte| byte.is_ascii_whitespace()) {
            return Ok(InputLine::Blank);
        }
        match self.row_line(text) {
            Ok(true) => {
                self.text_bytes += text.len();
                Ok(InputLine::Row)
            }
            Ok(false) => match serde_json::from_str(text) {
                Ok(Value::Object(members)) => Ok(InputLine::Directive(members)),
                _ => Err(JsonError::Line {
                    line: number,
                    what: "not a json object".to_owned(),
                }),
            },
            Err(fault) => Err(fault.at_line(number, text)),
        }
    }

    /// Reads a bare row object, as in `{"id":1}`, of the kind `+I`.
    ///
    /// # Errors
    /// As [`RowDecoder::line`].
    pub fn bare_row(&mut self, number: u64, text: &str) -> Result<(), JsonError> {
        let mut scanner = Scanner::new(text);
        self.members
            .object(&mut scanner, false)
            .and_then(|()| scanner.end())
            .map_err(|fault| fault.at_line(number, text))?;
        self.text_bytes += text.len();
        self.kinds.push(RowKind::Insert.as_i8());
        Ok(())
    }

    /// Whether the line was a row and is read; if not, nothing is.
    fn row_line(&mut self, text: &str) -> Result<bool, Fault> {
        let mut scanner = Scanner::new(text);
        let mut envelope = Envelope::default();
        scanner.open(b'{')?;
        let mut first = true;
        while let Some(name) = scanner.member(&mut first)? {
            match name.as_ref() {
                "row" if envelope.row => {
                    return Err(Fault::Line {
                        what: "two rows in one line".to_owned(),
                    });
                }
                "row" => {
                    if scanner.next()? != Next::Object {
                        return Err(Fault::Line {
                            what: "\"row\" is not an object".to_owned(),
                        });
                    }
                    self.members.object(&mut scanner, false)?;
                    envelope.row = true;
                }
                "kind" => envelope.kind = Some(kind(&mut scanner)?),
                "bucket" => envelope.bucket = bucket(&mut scanner)?,
                other if envelope.row => {
                    return Err(Fault::Line {
                        what: format!("{other:?} has no meaning beside a row"),
                    });
                }
                _ if text.contains("\"row\"") => {
                    // Unlikely, and worth a clear word: a row behind a member that rows do not have.
                    let what = format!("{name:?} has no meaning beside a row");
                    scanner.skip()?;
                    if has_row(&mut scanner, &mut first)? {
                        return Err(Fault::Line { what });
                    }
                    return Ok(false);
                }
                _ => return Ok(false),
            }
        }
        if !envelope.row {
            return Ok(false);
        }
        scanner.end()?;
        self.kinds
            .push(envelope.kind.unwrap_or(RowKind::Insert).as_i8());
        if envelope.bucket.is_some() || !self.buckets.is_empty() {
            self.buckets.resize(self.kinds.len() - 1, None);
            self.buckets.push(envelope.bucket);
        }
        Ok(true)
    }

    /// The rows since the last call; none if there are none.
    ///
    /// # Errors
    /// [`JsonError::Arrow`] if Arrow refuses the columns.
    pub fn take(&mut self) -> Result<Option<DecodedRows>, JsonError> {
        let rows = self.kinds.len();
        if rows == 0 {
            return Ok(None);
        }
        self.text_bytes = 0;
        let columns = self.members.finish()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?;
        let kinds = Int8Array::from(std::mem::take(&mut self.kinds));
        let mut buckets = std::mem::take(&mut self.buckets);
        let buckets = (!buckets.is_empty()).then(|| {
            buckets.resize(rows, None);
            Int32Array::from(buckets)
        });
        Ok(Some(DecodedRows {
            batch,
            kinds,
            buckets,
        }))
    }
}

fn has_row(scanner: &mut Scanner<'_>, first: &mut bool) -> Result<bool, Fault> {
    while let Some(name) = scanner.member(first)? {
        if name == "row" {
            return Ok(true);
        }
        scanner.skip()?;
    }
    Ok(false)
}

fn kind(scanner: &mut Scanner<'_>) -> Result<RowKind, Fault> {
    let refuse = |text: &str| Fault::Line {
        what: format!("kind {text} is not one of \"+I\", \"-U\", \"+U\", \"-D\""),
    };
    if scanner.next()? != Next::String {
        return Err(refuse(scanner.skip()?));
    }
    let text = scanner.string()?;
    RowKind::from_short(&text).map_err(|_| refuse(&format!("{text:?}")))
}

fn bucket(scanner: &mut Scanner<'_>) -> Result<Option<i32>, Fault> {
    let text = scanner.skip()?;
    if text == "null" {
        return Ok(None);
    }
    match text.parse::<i32>() {
        Ok(bucket) if bucket >= 0 => Ok(Some(bucket)),
        _ => Err(Fault::Line {
            what: format!("bucket {text} is not a number from 0"),
        }),
    }
}
