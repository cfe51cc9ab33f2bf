//! A local file as the decoder reads it: page by page, as it decodes them.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use tidewater_io::{IoError, LocalFile};

/// Bytes that are read to find a page's header; most are shorter.
const HEADER_BYTES: usize = 512;

/// An open file for the decoder. Clones share the fault.
#[derive(Debug, Clone)]
pub(crate) struct LocalChunks {
    file: Arc<LocalFile>,
    /// Why a read failed: of the decoder's errors only the text is left.
    fault: Arc<Mutex<Option<IoError>>>,
}

impl LocalChunks {
    pub(crate) fn new(file: Arc<LocalFile>) -> Self {
        Self {
            file,
            fault: Arc::default(),
        }
    }

    /// The fault that ended the decoder, if it was the disk's.
    pub(crate) fn take_fault(&self) -> Option<IoError> {
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
            next: start,
            buffer: [0; HEADER_BYTES],
            rest: 0..0,
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let read = self.file.read(start, length);
        read.map_err(|error| ParquetError::from(self.failed(error)))
    }
}

/// Reads on from one place, a few bytes at a time.
#[derive(Debug)]
pub(crate) struct Ahead {
    chunks: LocalChunks,
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
