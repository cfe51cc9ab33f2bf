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
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use tokio::sync::OwnedSemaphorePermit;

use crate::IoError;
use crate::metrics::LiveMetrics;
use crate::store::OpenFile;

/// An open file. It stays readable when its name is removed.
#[derive(Debug)]
pub struct LocalFile {
    file: File,
    path: String,
    length: u64,
    metrics: Arc<LiveMetrics>,
    _place: OwnedSemaphorePermit,
}

impl LocalFile {
    pub(crate) fn new(open: OpenFile, path: String, metrics: Arc<LiveMetrics>) -> Self {
        Self {
            file: open.file,
            path,
            length: open.length,
            metrics,
            _place: open.place,
        }
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
        if end > self.length {
            return Err(self.short(start, end, self.length));
        }
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            let offset = start + bytes.len() as u64;
            match rustix::io::pread(&self.file, spare_capacity(&mut bytes), offset) {
                // Somebody cut the file since it was opened.
                Ok(0) => return Err(self.short(start, end, offset)),
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(self.failed(errno)),
            }
        }
        // The allocator may have given more room than asked for, which the last read then filled.
        bytes.truncate(length);
        self.metrics.count_read(length);
        Ok(Bytes::from(bytes))
    }

    /// Fills as much of `buffer` as one read gives; 0 at the end of the file. Blocks.
    ///
    /// # Errors
    /// [`IoError::ShortRead`] if the file has been cut since it was opened; the operating system's.
    pub fn read_some(&self, start: u64, buffer: &mut [u8]) -> Result<usize, IoError> {
        loop {
            match rustix::io::pread(&self.file, &mut *buffer, start) {
                Ok(0) if start < self.length && !buffer.is_empty() => {
                    return Err(self.short(start, self.length, start));
                }
                Ok(read) => {
                    self.metrics.count_read(read);
                    return Ok(read);
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(self.failed(errno)),
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

    fn failed(&self, errno: Errno) -> IoError {
        IoError::from_os("read", &self.path, io::Error::from(errno))
    }

    fn short(&self, start: u64, end: u64, available: u64) -> IoError {
        IoError::ShortRead {
            path: self.path.clone(),
            start,
            end,
            available,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::FileIo;

    use super::*;

    #[tokio::test]
    async fn a_range_is_read_whole_or_told_to_be_missing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, b"0123456789").unwrap();
        let io = FileIo::local();
        let name = path.to_str().unwrap();
        let file = io.open_local(name).await.unwrap().unwrap();
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
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, b"0123456789").unwrap();
        let io = FileIo::local();
        let name = path.to_str().unwrap();
        let mut open = Vec::new();
        while let Some(file) = io.open_local(name).await.unwrap() {
            open.push(file);
        }
        assert_eq!(open.len(), 256);
        open.pop();
        assert!(io.open_local(name).await.unwrap().is_some());
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
}
