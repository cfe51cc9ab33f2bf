//! Arrow IPC files and streams as a table's rows.

use std::fs::File;
use std::io::{BufReader, Read, Seek};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};

use super::columnar::{names, piece, rows_for};
use super::error::{LoadError, Result};
use super::input::Input;
use super::reader::{Piece, PieceSize, RowReader};
use super::target::Target;

/// First bytes of the file format; a stream begins otherwise.
const FILE_MAGIC: &[u8] = b"ARROW1";

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// Reads one input of Arrow IPC.
pub(super) struct IpcReader {
    name: String,
    batches: Batches,
    target: Target,
    size: PieceSize,
    /// Rows before the next piece.
    row: u64,
    /// What is left of the batch read last, and the rows of a piece of it.
    rest: Option<(RecordBatch, usize)>,
}

/// The schema of an input of Arrow IPC.
pub(super) fn schema(input: Input) -> Result<SchemaRef> {
    let name = input.name();
    open(input, &name).map(|(schema, _)| schema)
}

fn open(input: Input, name: &str) -> Result<(SchemaRef, Batches)> {
    let read = |source| LoadError::Read {
        file: name.to_owned(),
        source,
    };
    if let Input::Stream(mut stream) = input {
        let start = first_bytes(&mut stream).map_err(read)?;
        let is_file = start == FILE_MAGIC;
        let stream = std::io::Cursor::new(start).chain(stream);
        return if is_file {
            // Such a file is read from its end.
            of_file(Input::Stream(Box::new(stream)).file()?, name)
        } else {
            of_stream(stream, name)
        };
    }
    let mut file = input.file()?;
    let start = first_bytes(&mut file).map_err(read)?;
    file.rewind().map_err(read)?;
    if start == FILE_MAGIC {
        of_file(file, name)
    } else {
        of_stream(file, name)
    }
}

fn first_bytes(bytes: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut start = vec![0; FILE_MAGIC.len()];
    let mut found = 0;
    while let Some(rest) = start.get_mut(found..).filter(|rest| !rest.is_empty()) {
        match bytes.read(rest)? {
            0 => break,
            read => found += read,
        }
    }
    start.truncate(found);
    Ok(start)
}

fn of_file(file: File, name: &str) -> Result<(SchemaRef, Batches)> {
    let reader = FileReader::try_new(BufReader::new(file), None);
    let reader = reader.map_err(|source| broken(name, source))?;
    Ok((reader.schema(), Box::new(reader)))
}

fn of_stream(stream: impl Read + Send + 'static, name: &str) -> Result<(SchemaRef, Batches)> {
    let reader = StreamReader::try_new(BufReader::new(stream), None);
    let reader = reader.map_err(|source| broken(name, source))?;
    Ok((reader.schema(), Box::new(reader)))
}

fn broken(name: &str, source: ArrowError) -> LoadError {
    LoadError::Arrow {
        file: name.to_owned(),
        row: 0,
        source,
    }
}

impl IpcReader {
    pub(super) fn open(input: Input, target: Target, size: PieceSize) -> Result<Self> {
        let name = input.name();
        let (schema, batches) = open(input, &name)?;
        target.check_columns(&name, &names(&schema))?;
        Ok(Self {
            name,
            batches,
            target,
            size,
            row: 0,
            rest: None,
        })
    }

    /// The next rows of the file, at most `limit` or what a piece holds.
    fn next_rows(&mut self, limit: usize) -> Result<Option<RecordBatch>> {
        let (batch, piece_rows) = match self.rest.take() {
            Some(rest) => rest,
            None => match self.batches.next() {
                None => return Ok(None),
                Some(batch) => {
                    let batch = batch.map_err(|source| LoadError::Arrow {
                        file: self.name.clone(),
                        row: self.row,
                        source,
                    })?;
                    let bytes = batch.get_array_memory_size();
                    let rows = rows_for(self.size.bytes, bytes, batch.num_rows());
                    (batch, rows.min(self.size.rows))
                }
            },
        };
        let rows = piece_rows.min(limit).min(batch.num_rows());
        if rows < batch.num_rows() {
            self.rest = Some((batch.slice(rows, batch.num_rows() - rows), piece_rows));
        }
        Ok(Some(batch.slice(0, rows)))
    }
}

impl RowReader for IpcReader {
    fn skip(&mut self, rows: u64) -> Result<u64> {
        while self.row < rows {
            let limit = usize::try_from(rows - self.row).unwrap_or(usize::MAX);
            let Some(batch) = self.next_rows(limit)? else {
                break;
            };
            self.row += u64::try_from(batch.num_rows()).unwrap_or_default();
        }
        Ok(self.row)
    }

    fn next_piece(&mut self) -> Result<Option<Piece>> {
        let Some(batch) = self.next_rows(usize::MAX)? else {
            return Ok(None);
        };
        let piece = piece(&self.name, self.row, &batch, &self.target)?;
        self.row += piece.rows_read;
        Ok(Some(piece))
    }
}
