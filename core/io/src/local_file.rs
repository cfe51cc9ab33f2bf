//! A file of this machine that is read where and when its bytes are needed.
//!
//! The kernel keeps the pages of a file, so fetching a large part of it ahead only copies it to memory that has to be found first, and
//! is cold when it is decoded. Reads here block: they belong on the threads that compute, for files that [`LocalFile::will_need`] has
//! had loaded or that are read in order.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use rustix::io::Errno;
use tokio::sync::OwnedSemaphorePermit;

use crate::IoError;
use crate::metrics::LiveMetrics;
use crate::store::{OpenFile, read_at};

/// An open file. It stays readable when its name is removed.
#[derive(Debug)]
pub struct LocalFile {
    file: File,
    path: String,
    length: u64,
    metrics: Arc<LiveMetrics>,
    /// Of the places for files that the store keeps open.
    _place: Option<OwnedSemaphorePermit>,
}

impl LocalFile {
    pub(crate) fn new(open: OpenFile, path: String, metrics: Arc<LiveMetrics>) -> Self {
        Self {
            file: open.file,
            path,
            length: open.length,
            metrics,
            _place: Some(open.place),
        }
    }

    /// A file that somebody else opened; `name` is for messages.
    ///
    /// # Errors
    /// The operating system's, asked for the length.
    pub fn opened(file: File, name: impl Into<String>) -> io::Result<Self> {
        Ok(Self {
            length: file.metadata()?.len(),
            file,
            path: name.into(),
            metrics: Arc::default(),
            _place: None,
        })
    }

    /// Bytes that the file had when it was opened.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The bytes of a range. No memory is taken for bytes that the file does not have. Blocks.
    ///
    /// # Errors
    /// [`IoError::ShortRead`] if the file ends inside the range; the operating system's.
    pub fn read(&self, start: u64, length: usize) -> Result<Bytes, IoError> {
        let end = start.saturating_add(length as u64);
        let bytes = read_at(&self.file, self.length, &self.path, &(start..end))?;
        self.metrics.count_read(length);
        Ok(bytes)
    }

    /// Fills as much of `buffer` as one read gives; 0 at the end of the file. Blocks.
    ///
    /// # Errors
    /// [`IoError::ShortRead`] if the file has been cut since it was opened; the operating system's.
    pub fn read_some(&self, start: u64, buffer: &mut [u8]) -> Result<usize, IoError> {
        loop {
            match rustix::io::pread(&self.file, &mut *buffer, start) {
                Ok(0) if start < self.length && !buffer.is_empty() => {
                    return Err(IoError::ShortRead {
                        path: self.path.clone(),
                        start,
                        end: self.length,
                        available: start,
                    });
                }
                Ok(read) => {
                    self.metrics.count_read(read);
                    return Ok(read);
                }
                Err(Errno::INTR) => {}
                Err(errno) => {
                    let error = io::Error::from(errno);
                    return Err(IoError::from_os("read", &self.path, error));
                }
            }
        }
    }

    /// Asks the kernel to load these bytes, where it takes such advice. Blocks while it takes them down, not until they are there.
    pub fn will_need(&self, ranges: &[Range<u64>]) {
        #[cfg(target_os = "linux")]
        for range in ranges {
            let length = std::num::NonZeroU64::new(range.end.saturating_sub(range.start));
            let advice = rustix::fs::Advice::WillNeed;
            if let Err(error) = rustix::fs::fadvise(&self.file, range.start, length, advice) {
                tracing::debug!(path = self.path, %error, "no read-ahead");
                return;
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = ranges;
    }
}

#[cfg(test)]
mod tests {
    use crate::FileIo;

    use super::*;

    /// A file of ten bytes, and its path.
    fn ten_bytes() -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, b"0123456789").unwrap();
        let path = path.to_str().unwrap().to_owned();
        (folder, path)
    }

    #[tokio::test]
    async fn a_range_is_read_whole_or_told_to_be_missing() {
        let (_folder, path) = ten_bytes();
        let io = FileIo::local();
        let file = io.open_local(&path).await.unwrap().unwrap();
        assert_eq!(file.length(), 10);
        file.will_need(&[0..4, 4..10]);
        assert_eq!(file.read(2, 3).unwrap(), "234");
        let mut some = [0; 4];
        assert_eq!(file.read_some(8, &mut some).unwrap(), 2);
        assert_eq!(file.read_some(10, &mut some).unwrap(), 0);
        let beyond = file.read(8, usize::MAX).unwrap_err();
        assert!(
            matches!(beyond, IoError::ShortRead { available: 10, .. }),
            "{beyond}"
        );
        std::fs::remove_file(&path).unwrap();
        assert_eq!(file.read(0, 10).unwrap(), "0123456789");
        assert!(io.metrics().bytes_read >= 15);
    }

    #[tokio::test]
    async fn no_more_files_stay_open_than_the_process_can_spare() {
        let (_folder, path) = ten_bytes();
        let io = FileIo::local();
        let mut open = Vec::new();
        while let Some(file) = io.open_local(&path).await.unwrap() {
            open.push(file);
        }
        assert_eq!(open.len(), 256);
        open.pop();
        assert!(io.open_local(&path).await.unwrap().is_some());
    }

    #[tokio::test]
    async fn a_folder_or_nothing_is_no_file_and_a_remote_store_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let io = FileIo::local();
        let name = folder.path().to_str().unwrap();
        let error = io.open_local(name).await.unwrap_err();
        assert!(matches!(error, IoError::IsADirectory { .. }), "{error}");
        let error = io.open_local(&format!("{name}/f")).await.unwrap_err();
        assert!(matches!(error, IoError::NotFound { .. }), "{error}");
        assert!(FileIo::memory().open_local("f").await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_pipe_in_the_place_of_a_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let (io, name) = (FileIo::local(), path.to_str().unwrap());
        let error = io.open_local(name).await.unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
        let error = io.read_range(name, 0..1).await.unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
        let error = io.read(name).await.unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
}
