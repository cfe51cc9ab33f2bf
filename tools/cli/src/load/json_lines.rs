//! JSON lines as a table's rows: one object a line, members matched to columns by name, values as the command-line contract has them.
//!
//! A piece is decoded at one go. Only if that fails are its lines tried one by one, to tell the bad ones from the good.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Int8Array, RecordBatch};
use tidewater_types::{DataField, DataType, RowType};

use super::bad_rows::{BadRow, Place, RowFault};
use super::error::{LoadError, Result};
use super::input::{ByteSource, Input};
use super::kinds::kinds_of_words;
use super::reader::{Piece, PieceSize, RowReader};
use super::target::Target;
use crate::json::{JsonError, RowDecoder};

/// Bytes that one line may have.
const LINE_BYTES_MAX: u64 = 64 << 20;
const READ_BYTES: usize = 256 << 10;

/// Lines of an input, blank ones passed over.
pub(super) struct LineReader {
    file: String,
    bytes: BufReader<ByteSource>,
    /// The number of the line read last.
    number: u64,
}

impl LineReader {
    pub(super) fn open(input: Input) -> Result<Self> {
        Ok(Self {
            file: input.name(),
            bytes: BufReader::with_capacity(READ_BYTES, input.bytes()?),
            number: 0,
        })
    }

    /// Whether the next line may be long in coming.
    fn must_wait(&self) -> bool {
        self.bytes.buffer().is_empty() && self.bytes.get_ref().ran_dry()
    }

    /// Appends the next line that is not blank, without its end; its number, or none at the end.
    pub(super) fn next_line(&mut self, text: &mut Vec<u8>) -> Result<Option<u64>> {
        let start = text.len();
        loop {
            let read = self
                .bytes
                .by_ref()
                .take(LINE_BYTES_MAX)
                .read_until(b'\n', text)
                .map_err(|source| LoadError::Read {
                    file: self.file.clone(),
                    source,
                })?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.number == 1
                && text
                    .get(start..)
                    .is_some_and(|line| line.starts_with(b"\xEF\xBB\xBF"))
            {
                text.drain(start..start + 3);
            }
            if text.last() == Some(&b'\n') {
                text.pop();
            } else if u64::try_from(read).unwrap_or(u64::MAX) >= LINE_BYTES_MAX {
                return Err(LoadError::RowTooLong {
                    file: self.file.clone(),
                    line: self.number,
                    limit_bytes: usize::try_from(LINE_BYTES_MAX).unwrap_or(usize::MAX),
                });
            }
            let line = text.get(start..).unwrap_or_default();
            if line.iter().all(u8::is_ascii_whitespace) {
                text.truncate(start);
                continue;
            }
            return Ok(Some(self.number));
        }
    }
}

/// Reads one input of JSON lines.
pub(super) struct JsonReader {
    lines: LineReader,
    target: Target,
    /// The table's columns, and the kind column behind them if it is not one of them.
    wanted: RowType,
    size: PieceSize,
    text: Vec<u8>,
    /// Number and end of each line of the piece.
    ends: Vec<(u64, usize)>,
}

impl JsonReader {
    pub(super) fn open(input: Input, target: Target, size: PieceSize) -> Result<Self> {
        let mut wanted = target.row_type.clone();
        if let Some(kind) = target
            .kind_column
            .as_deref()
            .filter(|name| target.is_only_kind(name))
        {
            let id = wanted.highest_field_id() + 1;
            wanted
                .fields
                .push(DataField::new(id, kind, DataType::string()));
        }
        Ok(Self {
            lines: LineReader::open(input)?,
            target,
            wanted,
            size,
            text: Vec::new(),
            ends: Vec::new(),
        })
    }

    fn json(&self, source: JsonError) -> LoadError {
        LoadError::Json {
            file: self.lines.file.clone(),
            source,
        }
    }

    fn decoder(&self) -> Result<RowDecoder> {
        let decoder = RowDecoder::new(&self.wanted).map_err(|source| self.json(source))?;
        Ok(decoder.ignoring_unknown_members(self.target.ignores_extra))
    }

    /// The lines of the piece with their numbers.
    fn piece_lines(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| *end));
        starts
            .zip(&self.ends)
            .map(|(start, (number, end))| (*number, self.text.get(start..*end).unwrap_or_default()))
    }

    fn decode(&self) -> Result<Piece> {
        let mut decoder = self.decoder()?;
        let all_good = self
            .piece_lines()
            .all(|(number, line)| read_line(&mut decoder, number, line).is_ok());
        let mut numbers: Vec<u64> = self.ends.iter().map(|(number, _)| *number).collect();
        let mut bad_rows = Vec::new();
        if !all_good {
            // A line that fails half way leaves its parts behind, so lines are tried on another decoder first.
            let mut probe = self.decoder()?;
            decoder = self.decoder()?;
            numbers.clear();
            for (number, line) in self.piece_lines() {
                let read = read_line(&mut probe, number, line)
                    .and_then(|()| read_line(&mut decoder, number, line));
                match read {
                    Ok(()) => numbers.push(number),
                    Err(fault) => {
                        probe = self.decoder()?;
                        bad_rows.push(self.bad_row(number, line, fault));
                    }
                }
            }
        }
        let rows_read = u64::try_from(self.ends.len()).unwrap_or(u64::MAX);
        let decoded = decoder.take().map_err(|source| self.json(source))?;
        let columns = decoded.map_or_else(
            || RecordBatch::new_empty(tidewater_types::arrow_types::to_arrow_schema(&self.wanted)),
            |decoded| decoded.batch,
        );
        let mut faults = Vec::new();
        let kinds = self.kinds(&columns, &mut faults);
        let mut columns: Vec<ArrayRef> = columns.columns().to_vec();
        columns.truncate(self.target.row_type.len());
        self.target
            .refuse_nulls(&columns, numbers.len(), &mut faults);
        let file = &self.lines.file;
        let (batch, kinds) = self
            .target
            .assemble(file, columns, kinds, numbers.len(), &faults)?;
        if !faults.is_empty() {
            faults.sort_by_key(|(row, _)| *row);
            faults.dedup_by_key(|(row, _)| *row);
            let lines: BTreeMap<u64, &[u8]> = self.piece_lines().collect();
            for (row, fault) in faults {
                let number = numbers.get(row).copied().unwrap_or_default();
                let line = lines.get(&number).copied().unwrap_or_default();
                bad_rows.push(self.bad_row(number, line, fault));
            }
            bad_rows.sort_by_key(|row| row.place);
        }
        Ok(Piece {
            batch,
            kinds,
            rows_read,
            bad_rows,
        })
    }

    fn kinds(
        &self,
        columns: &RecordBatch,
        faults: &mut Vec<(usize, RowFault)>,
    ) -> Option<Int8Array> {
        let name = self.target.kind_column.as_deref()?;
        let column = columns.column_by_name(name)?;
        match column.as_string_opt::<i32>() {
            Some(words) => Some(kinds_of_words(name, words, faults)),
            None => Some(super::kinds::kinds_of_column(name, column, faults)),
        }
    }

    fn bad_row(&self, number: u64, line: &[u8], fault: RowFault) -> BadRow {
        BadRow {
            file: self.lines.file.clone(),
            place: Place::Line(number),
            fault,
            text: Some(String::from_utf8_lossy(line).into_owned()),
        }
    }
}

fn read_line(decoder: &mut RowDecoder, number: u64, line: &[u8]) -> Result<(), RowFault> {
    let text = std::str::from_utf8(line).map_err(|_| RowFault::Syntax {
        what: "not UTF-8 text".to_owned(),
    })?;
    decoder
        .bare_row(number, text)
        .map_err(|error| RowFault::of_json(&error))
}

impl RowReader for JsonReader {
    fn skip(&mut self, rows: u64) -> Result<u64> {
        for skipped in 0..rows {
            self.text.clear();
            if self.lines.next_line(&mut self.text)?.is_none() {
                return Ok(skipped);
            }
        }
        Ok(rows)
    }

    fn next_piece(&mut self) -> Result<Option<Piece>> {
        self.text.clear();
        self.ends.clear();
        while self.ends.len() < self.size.rows && self.text.len() < self.size.bytes {
            let Some(number) = self.lines.next_line(&mut self.text)? else {
                break;
            };
            self.ends.push((number, self.text.len()));
            if self.lines.must_wait() {
                break;
            }
        }
        if self.ends.is_empty() {
            return Ok(None);
        }
        self.decode().map(Some)
    }
}
