//! Arrow IPC files and streams as a table's rows.
//!
//! A file is a stream between its magic and its footer, so both are decoded as they come, also from standard input. Bytes are pushed into
//! the decoder: it holds what is there, and never what a length says should be there.

use std::io::Read;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::{ArrowError, SchemaRef};

use super::columnar::{names, piece, rows_for};
use super::error::{LoadError, Result};
use super::input::{ByteSource, Input};
use super::reader::{Piece, PieceSize, RowReader};
use super::target::Target;

/// First and last bytes of the file format; a stream begins otherwise.
const FILE_MAGIC: &[u8] = b"ARROW1";
/// The magic and what fills it up to a word.
const FILE_HEAD_BYTES: usize = 8;
const CHUNK_BYTES: u64 = 1 << 20;

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
    Batches::open(input)?.schema()
}

/// The batches of a file or stream.
struct Batches {
    name: String,
    bytes: ByteSource,
    is_file: bool,
    decoder: StreamDecoder,
    /// Read and not decoded yet.
    chunk: Buffer,
    /// Decoded while the schema was looked for.
    first: Option<RecordBatch>,
}

impl Batches {
    fn open(input: Input) -> Result<Self> {
        let name = input.name();
        let mut batches = Self {
            bytes: input.bytes()?,
            name,
            is_file: false,
            decoder: StreamDecoder::new(),
            chunk: Buffer::from_vec(Vec::<u8>::new()),
            first: None,
        };
        batches.read_chunk()?;
        if batches.chunk.starts_with(FILE_MAGIC) {
            batches.is_file = true;
            // Writers may align what follows the magic to more than a word, with zeros.
            let mut start = FILE_HEAD_BYTES;
            while batches.chunk.get(start..start + 8) == Some(&[0; 8]) {
                start += 8;
            }
            let start = start.min(batches.chunk.len());
            batches.chunk.advance(start);
        }
        Ok(batches)
    }

    fn schema(&mut self) -> Result<SchemaRef> {
        if self.first.is_none() && self.decoder.schema().is_none() {
            self.first = self.decode(0)?;
        }
        self.decoder
            .schema()
            .ok_or_else(|| self.broken(0, "it ends before its schema"))
    }

    /// The next batch; `row` is the number of rows before it, for errors.
    fn next_batch(&mut self, row: u64) -> Result<Option<RecordBatch>> {
        match self.first.take() {
            Some(batch) => Ok(Some(batch)),
            None => self.decode(row),
        }
    }

    fn decode(&mut self, row: u64) -> Result<Option<RecordBatch>> {
        loop {
            if self.chunk.is_empty() && !self.read_chunk()? {
                let finished = self.decoder.finish();
                return match finished {
                    Ok(()) if !self.is_file => Ok(None),
                    Ok(()) => Err(self.broken(row, "the file has no footer")),
                    Err(source) => Err(self.arrow(row, source)),
                };
            }
            match self.decoder.decode(&mut self.chunk) {
                Ok(None) => {}
                Ok(Some(batch)) => return Ok(Some(batch)),
                // Only what follows the end is an error that leaves nothing half decoded.
                Err(_) if self.decoder.finish().is_ok() => {
                    return self.end(row).map(|()| None);
                }
                Err(source) => return Err(self.arrow(row, source)),
            }
        }
    }

    /// Looks at what follows the end: a footer that is whole, and nothing in a stream.
    fn end(&mut self, row: u64) -> Result<()> {
        if !self.is_file {
            return Err(self.broken(row, "bytes follow the end of the stream"));
        }
        let mut tail = self.chunk.to_vec();
        while self.read_chunk()? {
            let kept = tail.len().saturating_sub(FILE_MAGIC.len());
            tail.drain(..kept);
            tail.extend_from_slice(&self.chunk);
        }
        self.chunk = Buffer::from_vec(Vec::<u8>::new());
        // Asked again, it has ended again: the decoder is at its end, and so are the bytes.
        self.is_file = false;
        if tail.ends_with(FILE_MAGIC) {
            Ok(())
        } else {
            Err(self.broken(row, "the footer of the file is torn"))
        }
    }

    /// Reads more; false at the end.
    fn read_chunk(&mut self) -> Result<bool> {
        let mut chunk = Vec::new();
        self.bytes
            .by_ref()
            .take(CHUNK_BYTES)
            .read_to_end(&mut chunk)
            .map_err(|source| LoadError::Read {
                file: self.name.clone(),
                source,
            })?;
        self.chunk = Buffer::from_vec(chunk);
        Ok(!self.chunk.is_empty())
    }

    fn broken(&self, row: u64, what: &str) -> LoadError {
        self.arrow(row, ArrowError::IpcError(what.to_owned()))
    }

    fn arrow(&self, row: u64, source: ArrowError) -> LoadError {
        LoadError::Arrow {
            file: self.name.clone(),
            row,
            source,
        }
    }
}

impl IpcReader {
    pub(super) fn open(input: Input, target: Target, size: PieceSize) -> Result<Self> {
        let name = input.name();
        let mut batches = Batches::open(input)?;
        target.check_columns(&name, &names(&*batches.schema()?))?;
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
            None => {
                let Some(batch) = self.batches.next_batch(self.row)? else {
                    return Ok(None);
                };
                let bytes = batch.get_array_memory_size();
                let rows = rows_for(self.size.bytes, bytes, batch.num_rows());
                (batch, rows.min(self.size.rows))
            }
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
