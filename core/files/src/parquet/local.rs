//! A local file as the decoder reads it: page by page, as it decodes them. Headers of pages are looked over first.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::FOOTER_SIZE;
use parquet::file::metadata::{FooterTail, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, Length};
use tidewater_io::{IoError, LocalFile};

use super::thrift_guard::{Fault, check_footer, check_page_header};

/// Bytes that are read to find a page's header; most are shorter.
const HEADER_BYTES: usize = 512;
/// Longest header of a page: it may hold the least and greatest value of a column.
const HEADER_BYTES_MAX: usize = 32 << 20;
/// How much more is read of a header that was not whole.
const HEADER_GROWTH: usize = 16;

/// An open file for the decoder. Clones share the fault.
#[derive(Debug, Clone)]
pub struct LocalChunks {
    file: Arc<LocalFile>,
    /// Whether pages are found by their index and read with their headers; otherwise headers are read by themselves.
    by_index: bool,
    /// Why a read failed: of the decoder's errors only the text is left.
    fault: Arc<Mutex<Option<IoError>>>,
}

impl LocalChunks {
    /// The file, for a decoder that was given this metadata.
    pub fn new(file: Arc<LocalFile>, metadata: &ParquetMetaData) -> Self {
        Self {
            file,
            by_index: metadata
                .offset_index()
                .is_some_and(|index| !index.is_empty()),
            fault: Arc::default(),
        }
    }

    /// The file and what its footer says, without page indexes. Blocks.
    ///
    /// # Errors
    /// A file that is no whole Parquet file, or whose footer is damaged; the disk's.
    pub fn open(file: Arc<LocalFile>) -> Result<(Self, ParquetMetaData)> {
        let length = file.length();
        let read = |start: u64, length: usize| {
            let read = file.read(start, length);
            read.map_err(|error| ParquetError::from(io::Error::other(error.to_string())))
        };
        let no_footer = || ParquetError::General("no footer of a Parquet file".to_owned());
        let tail_at = length
            .checked_sub(FOOTER_SIZE as u64)
            .ok_or_else(no_footer)?;
        let tail = read(tail_at, FOOTER_SIZE)?;
        let footer = FooterTail::try_from(tail.as_ref())?.metadata_length();
        let footer_at = tail_at.checked_sub(footer as u64).ok_or_else(no_footer)?;
        let footer = read(footer_at, footer)?;
        check_footer(&footer).map_err(|fault| ParquetError::General(format!("footer: {fault}")))?;
        let metadata = ParquetMetaDataReader::decode_metadata(&footer)?;
        Ok((Self::new(file, &metadata), metadata))
    }

    /// The fault that ended the decoder, if it was the disk's.
    pub fn take_fault(&self) -> Option<IoError> {
        self.fault
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    fn failed(&self, error: IoError) -> io::Error {
        let text = io::Error::other(error.to_string());
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        text
    }

    /// Checks the header at `start`, of which `read` are the first bytes.
    fn check_header(&self, start: u64, read: &[u8]) -> io::Result<()> {
        let mut fault = match check_page_header(read) {
            Ok(_) => return Ok(()),
            Err(fault) => fault,
        };
        let mut length = read.len();
        while matches!(fault, Fault::Ends(_)) && length < HEADER_BYTES_MAX {
            let left = self.file.length().saturating_sub(start);
            let left = usize::try_from(left).unwrap_or(usize::MAX);
            let more = length.saturating_mul(HEADER_GROWTH).min(left);
            if more <= length {
                break;
            }
            length = more;
            let bytes = self.file.read(start, length);
            let bytes = bytes.map_err(|error| self.failed(error))?;
            match check_page_header(&bytes) {
                Ok(_) => return Ok(()),
                Err(next) => fault = next,
            }
        }
        Err(bad_header(start, &fault))
    }
}

fn bad_header(start: u64, fault: &Fault) -> io::Error {
    let what = format!("header of the page at byte {start}: {fault}");
    io::Error::new(io::ErrorKind::InvalidData, what)
}

impl Length for LocalChunks {
    fn len(&self) -> u64 {
        self.file.length()
    }
}

impl ChunkReader for LocalChunks {
    type T = Ahead;

    fn get_read(&self, start: u64) -> Result<Ahead> {
        Ok(Ahead {
            chunks: self.clone(),
            start,
            next: start,
            buffer: [0; HEADER_BYTES],
            rest: 0..0,
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let read = self.file.read(start, length);
        let bytes = read.map_err(|error| ParquetError::from(self.failed(error)))?;
        if self.by_index && length > 0 {
            check_page_header(&bytes).map_err(|fault| bad_header(start, &fault))?;
        }
        Ok(bytes)
    }
}

/// Reads on from one place, a few bytes at a time: the header of a page, if anything.
#[derive(Debug)]
pub struct Ahead {
    chunks: LocalChunks,
    start: u64,
    next: u64,
    buffer: [u8; HEADER_BYTES],
    /// What of the buffer has not been given out.
    rest: std::ops::Range<usize>,
}

impl Read for Ahead {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() {
            let read = self.chunks.file.read_some(self.next, &mut self.buffer);
            let read = read.map_err(|error| self.chunks.failed(error))?;
            if self.next == self.start {
                let head = self.buffer.get(..read).unwrap_or_default();
                self.chunks.check_header(self.start, head)?;
            }
            if read == 0 && !out.is_empty() {
                // The decoder skips on behind the end as if there were bytes.
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.next += read as u64;
            self.rest = 0..read;
        }
        let rest = self.buffer.get(self.rest.clone()).unwrap_or_default();
        let length = rest.len().min(out.len());
        if let (Some(to), Some(from)) = (out.get_mut(..length), rest.get(..length)) {
            to.copy_from_slice(from);
        }
        self.rest.start += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header of a data page whose statistics hold a text of `length` bytes.
    fn header(length: usize) -> Vec<u8> {
        let length_varint = [
            0x80 | u8::try_from(length & 0x7f).unwrap(),
            u8::try_from(length >> 7).unwrap(),
        ];
        let numbers = [
            0x15, 0, 0x15, 0, 0x15, 0, 0x2c, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6,
        ];
        let text = [&[0x1c, 0x18][..], &length_varint, &vec![b'x'; length]].concat();
        [&numbers[..], &text, &[0, 0, 0]].concat()
    }

    fn chunks(bytes: &[u8]) -> (tempfile::NamedTempFile, LocalChunks) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let opened = LocalFile::opened(file.reopen().unwrap(), "f").unwrap();
        let chunks = LocalChunks {
            file: Arc::new(opened),
            by_index: false,
            fault: Arc::default(),
        };
        (file, chunks)
    }

    #[test]
    fn headers_longer_than_one_read_are_checked_whole() {
        for length in [200, 600, 10_000] {
            let bytes = header(length);
            let (_file, whole) = chunks(&bytes);
            let mut read = vec![0; bytes.len()];
            whole.get_read(0).unwrap().read_exact(&mut read).unwrap();
            assert_eq!(read, bytes);
            let (_file, cut) = chunks(&bytes[..bytes.len() - 2]);
            let error = cut.get_read(0).unwrap().read(&mut [0; 8]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{length}");
        }
    }

    #[test]
    fn behind_the_end_of_a_file_there_is_an_error_and_no_empty_read() {
        let bytes = header(200);
        let (_file, chunks) = chunks(&bytes);
        let mut reader = chunks.get_read(0).unwrap();
        reader.read_exact(&mut vec![0; bytes.len()]).unwrap();
        let error = reader.read(&mut [0; 1]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
