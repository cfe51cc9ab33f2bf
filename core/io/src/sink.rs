//! The writing end of a streamed file.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::IoError;
use crate::metrics::{IoOperation, LiveMetrics};
use crate::store::Sink;

/// A file that is being written; made by [`crate::FileIo::open_write`].
///
/// Writes return once the piece is buffered or handed on, so an error may show up at a later write or at [`FileSink::finish`]; after an
/// error only [`FileSink::abort`] is of use. A sink that is dropped unfinished removes what it wrote as well as that goes.
#[must_use = "a file that is not finished is removed"]
pub struct FileSink {
    sink: Box<dyn Sink>,
    path: String,
    written_bytes: u64,
    metrics: Arc<LiveMetrics>,
    ended: bool,
}

impl FileSink {
    pub(crate) fn new(sink: Box<dyn Sink>, path: String, metrics: Arc<LiveMetrics>) -> Self {
        Self {
            sink,
            path,
            written_bytes: 0,
            metrics,
            ended: false,
        }
    }

    /// The path it was opened with.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Bytes written so far, those in buffers included.
    pub fn written(&self) -> u64 {
        self.written_bytes
    }

    /// Appends `bytes`, which are kept, not copied, until they are on their way. Waits while the buffers are full.
    ///
    /// # Errors
    /// The error of an earlier piece that had been handed on, or of this one.
    pub async fn write(&mut self, bytes: Bytes) -> Result<(), IoError> {
        let length = bytes.len();
        self.metrics.count_request(IoOperation::SinkWrite);
        self.sink.write(bytes).await?;
        self.written_bytes += length as u64;
        self.metrics.count_written(length);
        Ok(())
    }

    /// Writes what is left, makes the file durable and visible, and answers its size in bytes.
    ///
    /// # Errors
    /// The store's. The file is then removed as well as that goes; it may exist when the store did not answer.
    pub async fn finish(mut self) -> Result<u64, IoError> {
        self.metrics.count_request(IoOperation::SinkFinish);
        match self.sink.finish().await {
            Ok(size) => {
                self.ended = true;
                Ok(size)
            }
            Err(error) => {
                self.ended = true;
                if let Err(left) = self.sink.abort().await {
                    tracing::debug!(path = self.path, error = %left, "could not remove an unfinished file");
                }
                Err(error)
            }
        }
    }

    /// Gives the file up and removes what was written.
    ///
    /// # Errors
    /// The store's, if the removal failed.
    pub async fn abort(mut self) -> Result<(), IoError> {
        self.ended = true;
        self.sink.abort().await
    }
}

impl Drop for FileSink {
    fn drop(&mut self) {
        if !self.ended {
            self.sink.discard();
        }
    }
}

impl fmt::Debug for FileSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileSink")
            .field("path", &self.path)
            .field("written", &self.written_bytes)
            .finish()
    }
}
