//! Where records and fields of CSV lie in the text, a piece of it at a time.

use std::borrow::Cow;
use std::io::Read;

use super::super::bad_rows::RowFault;
use super::super::error::{LoadError, Result};
use super::super::input::{ByteSource, Input};
use super::super::reader::PieceSize;
use super::CsvOptions;

/// Bytes asked for at once.
const CHUNK_BYTES: usize = 256 << 10;
/// Bytes that one record may have.
const RECORD_BYTES_MAX: usize = 64 << 20;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Records that stood next to each other, all with the same number of fields.
#[derive(Debug, Default)]
pub(in super::super) struct Records {
    text: Vec<u8>,
    fields: Vec<Field>,
    records: Vec<Record>,
    width: usize,
    /// Records that are none of `records`.
    pub(in super::super) broken: Vec<Broken>,
}

/// Where a field lies, without its quotes.
#[derive(Debug, Clone, Copy)]
struct Field {
    start: u32,
    end: u32,
    form: Form,
}

/// How a field is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Quoted,
    /// Quoted, with doubled quotes inside.
    Escaped,
}

#[derive(Debug, Clone, Copy)]
struct Record {
    line: u64,
    start: u32,
    end: u32,
}

/// A record that has no row's shape.
#[derive(Debug)]
pub(in super::super) struct Broken {
    pub(in super::super) line: u64,
    pub(in super::super) text: String,
    pub(in super::super) fault: RowFault,
}

/// One field of one record.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Cell<'a> {
    /// Its bytes, with quotes inside still doubled.
    bytes: &'a [u8],
    form: Form,
}

impl<'a> Cell<'a> {
    /// Whether it stood in quotes.
    pub(in super::super) fn is_quoted(self) -> bool {
        self.form != Form::Plain
    }

    /// Its value.
    pub(in super::super) fn text(self, quote: Option<u8>) -> Cow<'a, [u8]> {
        let Some(quote) = quote.filter(|_| self.form == Form::Escaped) else {
            return Cow::Borrowed(self.bytes);
        };
        let mut text = Vec::with_capacity(self.bytes.len());
        let mut second = false;
        for &byte in self.bytes {
            second = byte == quote && !second;
            if !second {
                text.push(byte);
            }
        }
        Cow::Owned(text)
    }
}

impl Records {
    /// Records of the right shape.
    pub(in super::super) fn rows(&self) -> usize {
        self.records.len()
    }

    /// All records, broken ones among them.
    pub(in super::super) fn rows_read(&self) -> u64 {
        u64::try_from(self.records.len() + self.broken.len()).unwrap_or(u64::MAX)
    }

    /// Fields of each record.
    pub(in super::super) fn width(&self) -> usize {
        self.width
    }

    /// The fields of one column.
    pub(in super::super) fn cells(&self, column: usize) -> impl Iterator<Item = Cell<'_>> {
        let fields = self.fields.iter().skip(column).step_by(self.width.max(1));
        fields.map(|field| Cell {
            bytes: self.slice(field.start, field.end),
            form: field.form,
        })
    }

    /// Line and text of a record.
    pub(in super::super) fn record(&self, row: usize) -> Option<(u64, String)> {
        let record = self.records.get(row)?;
        let text = String::from_utf8_lossy(self.slice(record.start, record.end));
        Some((record.line, text.into_owned()))
    }

    fn slice(&self, start: u32, end: u32) -> &[u8] {
        let range = usize::try_from(start).unwrap_or(usize::MAX)..usize::try_from(end).unwrap_or(0);
        self.text.get(range).unwrap_or_default()
    }

    fn clear(&mut self) {
        self.text.clear();
        self.fields.clear();
        self.records.clear();
        self.broken.clear();
    }
}

/// Reads records from bytes.
pub(in super::super) struct RecordReader {
    file: String,
    bytes: ByteSource,
    /// Read, but not part of a record yet.
    rest: Vec<u8>,
    at_end: bool,
    /// The line that comes next.
    line: u64,
    delimiter: u8,
    quote: Option<u8>,
}

impl RecordReader {
    pub(in super::super) fn open(input: Input, options: &CsvOptions) -> Result<Self> {
        let file = input.name();
        let delimiter = options.delimiter.or(input.delimiter()).unwrap_or(b',');
        let mut reader = Self {
            bytes: input.bytes()?,
            file,
            rest: Vec::new(),
            at_end: false,
            line: 1,
            delimiter,
            quote: options.quote,
        };
        let mut start = Vec::new();
        while start.len() < 4 && reader.read_chunk(&mut start)? {}
        if start.starts_with(BYTE_ORDER_MARK) {
            start.drain(..BYTE_ORDER_MARK.len());
        } else if start.starts_with(b"\xFF\xFE") || start.starts_with(b"\xFE\xFF") {
            return Err(LoadError::Header {
                file: reader.file,
                reason: "the text is UTF-16; convert it to UTF-8".to_owned(),
            });
        }
        reader.rest = start;
        Ok(reader)
    }

    /// Names of the fields: as the options or the first record say; none if neither does.
    pub(in super::super) fn header(&mut self, options: &CsvOptions) -> Result<Option<Vec<String>>> {
        let mut first = Records::default();
        if options.header {
            let size = PieceSize {
                rows: 1,
                bytes: usize::MAX,
            };
            self.fill(&mut first, None, size)?;
            if let Some(broken) = first.broken.first() {
                return Err(self.bad_header(broken.fault.to_string()));
            }
        }
        if !options.columns.is_empty() {
            return Ok(Some(options.columns.clone()));
        }
        if !options.header {
            return Ok(None);
        }
        let names: Vec<String> = first
            .fields
            .iter()
            .map(|field| {
                let cell = Cell {
                    bytes: first.slice(field.start, field.end),
                    form: field.form,
                };
                String::from_utf8_lossy(&cell.text(self.quote)).into_owned()
            })
            .collect();
        if names.is_empty() {
            return Err(self.bad_header("empty, without even a header".to_owned()));
        }
        match names.iter().position(String::is_empty) {
            Some(index) => {
                Err(self.bad_header(format!("field {} of the header has no name", index + 1)))
            }
            None => Ok(Some(names)),
        }
    }

    fn bad_header(&self, reason: String) -> LoadError {
        LoadError::Header {
            file: self.file.clone(),
            reason,
        }
    }

    /// Puts the next records into `records`, in place of what was there. `width` is the number of fields a record must have; the
    /// first record says if none.
    pub(in super::super) fn fill(
        &mut self,
        records: &mut Records,
        width: Option<usize>,
        size: PieceSize,
    ) -> Result<()> {
        records.clear();
        records.text.append(&mut self.rest);
        let mut width = width;
        let mut start = 0;
        while records.records.len() + records.broken.len() < size.rows && start < size.bytes {
            let first = records.fields.len();
            let scan = Scan {
                text: &records.text,
                at_end: self.at_end,
                delimiter: self.delimiter,
                quote: self.quote,
            };
            let found = scan.record(start, &mut records.fields);
            if !matches!(found, Found::Record { .. }) {
                records.fields.truncate(first);
            }
            match found {
                Found::Nothing => break,
                Found::Incomplete if self.bytes.ran_dry() && records.rows_read() > 0 => break,
                Found::Incomplete => {
                    if records.text.len() - start > RECORD_BYTES_MAX {
                        return Err(LoadError::RowTooLong {
                            file: self.file.clone(),
                            line: self.line,
                            limit_bytes: RECORD_BYTES_MAX,
                        });
                    }
                    // Longer records are scanned from their start again, so each try doubles what there is of them.
                    let wanted = records.text.len() + (records.text.len() - start);
                    while self.read_chunk(&mut records.text)? && records.text.len() < wanted {}
                }
                Found::Record { end, next, lines } => {
                    let count = records.fields.len() - first;
                    let line = self.line;
                    self.line += lines;
                    let blank = end == start;
                    let (from, to) = (start, end);
                    start = next;
                    if blank && width != Some(1) {
                        records.fields.truncate(first);
                        continue;
                    }
                    let expected = *width.get_or_insert(count);
                    if count == expected {
                        records.width = expected;
                        records.records.push(Record {
                            line,
                            start: offset(from),
                            end: offset(to),
                        });
                    } else {
                        records.fields.truncate(first);
                        let fault = RowFault::FieldCount {
                            found: count,
                            expected,
                        };
                        records
                            .broken
                            .push(broken(&records.text, from..to, line, fault));
                    }
                }
                Found::Malformed {
                    end,
                    next,
                    lines,
                    what,
                } => {
                    let fault = RowFault::Syntax {
                        what: what.to_owned(),
                    };
                    let broken = broken(&records.text, start..end, self.line, fault);
                    records.broken.push(broken);
                    self.line += lines;
                    start = next;
                }
            }
        }
        self.rest
            .extend_from_slice(records.text.get(start..).unwrap_or_default());
        records.text.truncate(start);
        Ok(())
    }

    /// Reads more; false at the end.
    fn read_chunk(&mut self, text: &mut Vec<u8>) -> Result<bool> {
        if self.at_end {
            return Ok(false);
        }
        let before = text.len();
        let full = before + CHUNK_BYTES;
        text.resize(full, 0);
        let mut end = before;
        // Pipes hand over little at a time: reads until the chunk is full or nothing more is there.
        while end < full {
            match self.bytes.read(text.get_mut(end..).unwrap_or_default()) {
                Ok(0) => {
                    self.at_end = true;
                    break;
                }
                Ok(read) => end += read,
                Err(source) if source.kind() == std::io::ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(LoadError::Read {
                        file: self.file.clone(),
                        source,
                    });
                }
            }
            if self.bytes.ran_dry() {
                break;
            }
        }
        text.truncate(end);
        Ok(text.len() > before)
    }
}

fn broken(text: &[u8], range: std::ops::Range<usize>, line: u64, fault: RowFault) -> Broken {
    let text = text.get(range).unwrap_or_default();
    Broken {
        line,
        text: String::from_utf8_lossy(text).into_owned(),
        fault,
    }
}

/// Pieces stay far below 4 GiB: the limits above see to it.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// What stands at a place in the text.
enum Found {
    /// A record up to `end`; the next one begins at `next`.
    Record { end: usize, next: usize, lines: u64 },
    /// Not CSV up to `end`.
    Malformed {
        end: usize,
        next: usize,
        lines: u64,
        what: &'static str,
    },
    /// The text ends before the record does.
    Incomplete,
    /// The end.
    Nothing,
}

struct Scan<'a> {
    text: &'a [u8],
    at_end: bool,
    delimiter: u8,
    quote: Option<u8>,
}

impl Scan<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    /// The record at `start`; its fields are appended.
    fn record(&self, start: usize, fields: &mut Vec<Field>) -> Found {
        if start >= self.text.len() {
            return if self.at_end {
                Found::Nothing
            } else {
                Found::Incomplete
            };
        }
        let mut at = start;
        let mut lines = 1;
        loop {
            if self.quote.is_some() && self.byte(at) == self.quote {
                let Some((close, form)) = self.closing_quote(at + 1) else {
                    return if self.at_end {
                        self.malformed(start, start, "a quote is opened and never closed")
                    } else {
                        Found::Incomplete
                    };
                };
                let inside = self.text.get(at + 1..close).unwrap_or_default();
                lines += line_feeds(inside);
                fields.push(field(at + 1, close, form));
                at = close + 1;
                match (self.byte(at), self.byte(at + 1)) {
                    (Some(byte), _) if byte == self.delimiter => at += 1,
                    (Some(b'\n'), _) => return record(at, at + 1, lines),
                    (Some(b'\r'), Some(b'\n')) => return record(at, at + 2, lines),
                    (None, _) if self.at_end => return record(at, at, lines),
                    (Some(b'\r'), None) if self.at_end => return record(at, at + 1, lines),
                    (None, _) | (Some(b'\r'), None) => return Found::Incomplete,
                    _ => return self.malformed(start, at, "text follows a closing quote"),
                }
                continue;
            }
            let rest = self.text.get(at..).unwrap_or_default();
            let stop = rest
                .iter()
                .position(|&byte| byte == self.delimiter || byte == b'\n');
            match stop {
                None if !self.at_end => return Found::Incomplete,
                Some(length) if self.byte(at + length) == Some(self.delimiter) => {
                    fields.push(field(at, at + length, Form::Plain));
                    at += length + 1;
                }
                stop => {
                    let line_end = at + stop.unwrap_or(rest.len());
                    let end = self.without_return(at, line_end);
                    fields.push(field(at, end, Form::Plain));
                    let next = if stop.is_some() {
                        line_end + 1
                    } else {
                        line_end
                    };
                    return record(end, next, lines);
                }
            }
        }
    }

    /// Where the quote is that closes the field whose text begins at `from`.
    fn closing_quote(&self, from: usize) -> Option<(usize, Form)> {
        let quote = self.quote?;
        let mut at = from;
        let mut form = Form::Quoted;
        loop {
            let rest = self.text.get(at..)?;
            let found = at + rest.iter().position(|&byte| byte == quote)?;
            match self.byte(found + 1) {
                Some(next) if next == quote => {
                    form = Form::Escaped;
                    at = found + 2;
                }
                None if !self.at_end => return None,
                _ => return Some((found, form)),
            }
        }
    }

    /// Gives up the lines from `start` to the one that holds `at`.
    fn malformed(&self, start: usize, at: usize, what: &'static str) -> Found {
        let rest = self.text.get(at..).unwrap_or_default();
        let feed = rest.iter().position(|&byte| byte == b'\n');
        if feed.is_none() && !self.at_end {
            return Found::Incomplete;
        }
        let line_end = at + feed.unwrap_or(rest.len());
        let given_up = self.text.get(start..line_end).unwrap_or_default();
        Found::Malformed {
            end: self.without_return(start, line_end),
            next: (line_end + 1).min(self.text.len()),
            lines: line_feeds(given_up) + 1,
            what,
        }
    }

    fn without_return(&self, start: usize, end: usize) -> usize {
        match end.checked_sub(1).filter(|last| *last >= start) {
            Some(last) if self.byte(last) == Some(b'\r') => last,
            _ => end,
        }
    }
}

fn line_feeds(text: &[u8]) -> u64 {
    let feeds = text.iter().filter(|&&byte| byte == b'\n').count();
    u64::try_from(feeds).unwrap_or(u64::MAX)
}

fn record(end: usize, next: usize, lines: u64) -> Found {
    Found::Record { end, next, lines }
}

fn field(start: usize, end: usize, form: Form) -> Field {
    Field {
        start: offset(start),
        end: offset(end),
        form,
    }
}
