//! CSV as a table's rows.
//!
//! ```text
//!  bytes -- RecordReader --> Records (text of a piece, where each field lies) -- columns --> one Arrow array per column
//!                               |                                                  |
//!                          broken records                                    faults by row: taken out, with their text
//! ```
//!
//! Fields are found once and then converted column by column, so the loop over values knows its type; because each field's place in
//! the text is at hand, an error names line, column and value exactly without a second, slower reader.
//!
//! Rules: RFC 4180, with `\n` or `\r\n`, line feeds inside quotes, a byte order mark passed over, a quote inside an unquoted field
//! taken as it is. Each row has as many fields as the header. Blank lines are passed over, but are rows where there is one column
//! only. An unquoted null text (the empty text unless said) is null; quoted, it is null too, but for text and bytes.

mod columns;
mod records;

use std::collections::BTreeMap;

use arrow_array::Int8Array;

pub(super) use self::columns::{Conversion, trimmed};
pub(super) use self::records::{RecordReader, Records};

use super::bad_rows::{BadRow, Place, RowFault};
use super::error::{LoadError, Result};
use super::input::Input;
use super::kinds::kinds_of_words;
use super::reader::{Piece, PieceSize, RowReader};
use super::target::Target;

/// How CSV is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvOptions {
    /// Between fields; by the extension if none: a tab for `.tsv`, a bar for `.psv`, else a comma.
    pub delimiter: Option<u8>,
    /// Around fields; none if quotes mean nothing.
    pub quote: Option<u8>,
    /// Whether the first row names the columns.
    pub header: bool,
    /// Names of the fields, in place of a header; if it is empty and there is no header, the table's columns in order.
    pub columns: Vec<String>,
    /// Texts that stand for null.
    pub nulls: Vec<String>,
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self {
            delimiter: None,
            quote: Some(b'"'),
            header: true,
            columns: Vec::new(),
            nulls: vec![String::new()],
        }
    }
}

/// Reads one CSV input.
pub(super) struct CsvReader {
    file: String,
    records: RecordReader,
    target: Target,
    conversion: Conversion,
    /// Number of fields in a row.
    width: usize,
    /// Where each column of the table lies; none if the input lacks it.
    fields: Vec<Option<usize>>,
    kind_field: Option<usize>,
    size: PieceSize,
    piece: Records,
}

impl CsvReader {
    pub(super) fn open(
        input: Input,
        options: &CsvOptions,
        target: Target,
        size: PieceSize,
    ) -> Result<Self> {
        let file = input.name();
        let mut records = RecordReader::open(input, options)?;
        let names = match records.header(options)? {
            Some(names) => names,
            None => target.row_type.names().map(str::to_owned).collect(),
        };
        target.check_columns(&file, &names)?;
        let place = |name: &str| names.iter().position(|other| other == name);
        let fields = target.row_type.names().map(place).collect();
        let kind_field = target.kind_column.as_deref().and_then(place);
        Ok(Self {
            file,
            records,
            conversion: Conversion::new(options),
            width: names.len(),
            fields,
            kind_field,
            target,
            size,
            piece: Records::default(),
        })
    }

    /// The columns of the piece, and what is wrong with its rows.
    fn convert(&self) -> Result<Piece> {
        let (file, records) = (&self.file, &self.piece);
        let rows = records.rows();
        let mut faults = Vec::new();
        let mut columns = Vec::with_capacity(self.fields.len());
        for (field, place) in self.target.row_type.fields.iter().zip(&self.fields) {
            let column = match place {
                Some(place) => self
                    .conversion
                    .column(records.cells(*place), rows, field, &mut faults)
                    .map_err(|source| LoadError::Json {
                        file: file.clone(),
                        source,
                    })?,
                None => arrow_array::new_null_array(
                    &tidewater_types::arrow_types::to_arrow_type(&field.data_type),
                    rows,
                ),
            };
            columns.push(column);
        }
        self.target.refuse_nulls(&columns, rows, &mut faults);
        let kinds = self.kind_field.map(|place| self.kinds(place, &mut faults));
        let (batch, kinds) = self.target.assemble(file, columns, kinds, rows, &faults)?;
        Ok(Piece {
            batch,
            kinds,
            rows_read: records.rows_read(),
            bad_rows: self.bad_rows(faults),
        })
    }

    fn kinds(&self, place: usize, faults: &mut Vec<(usize, RowFault)>) -> Int8Array {
        let name = self.target.kind_column.as_deref().unwrap_or_default();
        let words = self.piece.cells(place).map(|cell| {
            let text = cell.text(self.conversion.quote);
            (!text.is_empty()).then(|| String::from_utf8_lossy(trimmed(&text)).into_owned())
        });
        let words = words.collect::<arrow_array::StringArray>();
        kinds_of_words(name, &words, faults)
    }

    /// The broken records and those with faults, by line.
    fn bad_rows(&self, faults: Vec<(usize, RowFault)>) -> Vec<BadRow> {
        let mut by_row = BTreeMap::new();
        for (row, fault) in faults {
            by_row.entry(row).or_insert(fault);
        }
        let faults = by_row.into_iter().filter_map(|(row, fault)| {
            let (line, text) = self.piece.record(row)?;
            Some((line, text, fault))
        });
        let broken = self
            .piece
            .broken
            .iter()
            .map(|broken| (broken.line, broken.text.clone(), broken.fault.clone()));
        let mut bad: Vec<BadRow> = faults
            .chain(broken)
            .map(|(line, text, fault)| BadRow {
                file: self.file.clone(),
                place: Place::Line(line),
                fault,
                text: Some(text),
            })
            .collect();
        bad.sort_by_key(|row| row.place);
        bad
    }
}

impl RowReader for CsvReader {
    fn skip(&mut self, rows: u64) -> Result<u64> {
        let mut left = rows;
        while left > 0 {
            let size = PieceSize {
                rows: usize::try_from(left).map_or(self.size.rows, |left| left.min(self.size.rows)),
                ..self.size
            };
            self.records.fill(&mut self.piece, Some(self.width), size)?;
            match self.piece.rows_read() {
                0 => break,
                read => left = left.saturating_sub(read),
            }
        }
        Ok(rows - left)
    }

    fn next_piece(&mut self) -> Result<Option<Piece>> {
        self.records
            .fill(&mut self.piece, Some(self.width), self.size)?;
        if self.piece.rows_read() == 0 {
            return Ok(None);
        }
        self.convert().map(Some)
    }
}
