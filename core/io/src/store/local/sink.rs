//! A local file written piece by piece, with one write call running while the next buffer fills.
//!
//! ```text
//!  write(bytes) -> [pending pieces] --full--> blocking task: writev --> fdatasync once, at finish
//! ```
//!
//! The file has its own name from the start: data files mean nothing until a snapshot names them, and what a crash leaves behind is
//! an orphan. Memory is bounded by two buffers and the last piece.

use std::fs::{self, File};
use std::io::{self, IoSlice, Write};
use std::path::PathBuf;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::task::JoinHandle;

use super::super::Sink;
use super::publish::Publisher;
use super::{blocking, missing_is_fine, os_path};
use crate::IoError;

pub(super) struct LocalSink {
    path: String,
    state: State,
    pending: Vec<Bytes>,
    pending_bytes: usize,
    written_bytes: u64,
    buffer_bytes: usize,
    publisher: Publisher,
}

enum State {
    Idle(File),
    Writing(JoinHandle<io::Result<File>>),
    /// Finished, aborted, or broken by an error that the caller has seen.
    Closed,
}

impl LocalSink {
    pub(super) async fn open(
        path: &str,
        buffer_bytes: usize,
        publisher: Publisher,
    ) -> Result<Self, IoError> {
        let path = path.to_owned();
        blocking(move || {
            let opened = publisher.create_file(&os_path(&path));
            let file = opened.map_err(|error| IoError::from_os("create", path.as_str(), error))?;
            let state = State::Idle(file);
            Ok(Self {
                path,
                state,
                pending: Vec::new(),
                pending_bytes: 0,
                written_bytes: 0,
                buffer_bytes,
                publisher,
            })
        })
        .await
    }

    /// Waits for the running write, if any, and takes the file. Keeps the write's handle if this future is dropped meanwhile.
    async fn take_file(&mut self) -> Result<File, IoError> {
        if let State::Writing(task) = &mut self.state {
            let ended = task.await;
            self.state = State::Closed;
            let file = match ended {
                Ok(written) => {
                    written.map_err(|error| IoError::from_os("write", self.path.as_str(), error))?
                }
                Err(error) if error.is_panic() => {
                    return Err(IoError::TaskPanicked {
                        message: error.to_string(),
                    });
                }
                Err(_) => return Err(IoError::TaskCancelled),
            };
            return Ok(file);
        }
        match std::mem::replace(&mut self.state, State::Closed) {
            State::Idle(file) => Ok(file),
            _ => Err(IoError::SinkFailed {
                path: self.path.clone(),
            }),
        }
    }

    async fn flush(&mut self) -> Result<(), IoError> {
        let file = self.take_file().await?;
        let pieces = std::mem::take(&mut self.pending);
        self.pending_bytes = 0;
        self.state = State::Writing(tokio::task::spawn_blocking(move || {
            write_all(file, &pieces)
        }));
        Ok(())
    }

    fn target(&self) -> PathBuf {
        os_path(&self.path)
    }
}

#[async_trait]
impl Sink for LocalSink {
    async fn write(&mut self, bytes: Bytes) -> Result<(), IoError> {
        if matches!(self.state, State::Closed) {
            return Err(IoError::SinkFailed {
                path: self.path.clone(),
            });
        }
        if bytes.is_empty() {
            return Ok(());
        }
        self.written_bytes += bytes.len() as u64;
        self.pending_bytes += bytes.len();
        self.pending.push(bytes);
        if self.pending_bytes >= self.buffer_bytes {
            self.flush().await?;
        }
        Ok(())
    }

    async fn finish(&mut self) -> Result<u64, IoError> {
        let file = self.take_file().await?;
        let pieces = std::mem::take(&mut self.pending);
        let (path, publisher) = (self.path.clone(), self.publisher);
        blocking(move || {
            let sealed =
                write_all(file, &pieces).and_then(|file| publisher.seal(&file, &os_path(&path)));
            sealed.map_err(|error| IoError::from_os("write", path, error))
        })
        .await?;
        Ok(self.written_bytes)
    }

    async fn abort(&mut self) -> Result<(), IoError> {
        self.pending.clear();
        // The file goes in any case; why its last write failed no longer matters.
        drop(self.take_file().await);
        let path = self.path.clone();
        blocking(move || {
            missing_is_fine(fs::remove_file(os_path(&path)))
                .map_err(|error| IoError::from_os("delete", path, error))
        })
        .await
    }

    fn discard(&mut self) {
        let target = self.target();
        let remove = move || drop(fs::remove_file(target));
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(remove)),
            Err(_) => remove(),
        }
    }
}

fn write_all(mut file: File, pieces: &[Bytes]) -> io::Result<File> {
    let mut slices: Vec<IoSlice<'_>> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
    let mut rest = slices.as_mut_slice();
    while !rest.is_empty() {
        match file.write_vectored(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => IoSlice::advance_slices(&mut rest, count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLISHER: Publisher = Publisher { sync: true };

    #[tokio::test]
    async fn pieces_of_any_size_arrive_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bucket-0/data-1.parquet");
        let text = path.to_str().unwrap();
        let mut sink = LocalSink::open(text, 100, PUBLISHER).await.unwrap();
        let mut expected = Vec::new();
        for length in [0_usize, 1, 99, 100, 101, 7, 2500, 3]
            .into_iter()
            .cycle()
            .take(80)
        {
            let piece: Vec<u8> = (0..=250).cycle().take(length).collect();
            expected.extend_from_slice(&piece);
            sink.write(piece.into()).await.unwrap();
            assert!(sink.pending_bytes < 100);
        }
        assert_eq!(sink.finish().await.unwrap(), expected.len() as u64);
        assert_eq!(fs::read(&path).unwrap(), expected);
        let again = sink.write(Bytes::from_static(b"late")).await;
        assert!(matches!(again, Err(IoError::SinkFailed { .. })));
    }

    #[tokio::test]
    async fn more_pieces_than_one_call_takes_are_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let mut sink = LocalSink::open(path.to_str().unwrap(), 1 << 20, PUBLISHER)
            .await
            .unwrap();
        for _ in 0..5000 {
            sink.write(Bytes::from_static(b"ab")).await.unwrap();
        }
        sink.finish().await.unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"ab".repeat(5000));
    }

    #[tokio::test]
    async fn a_full_disk_is_reported_as_one_and_the_file_goes() {
        // The kernel's device that is always full, behind a name that may be removed.
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data-1.parquet");
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();
        let mut sink = LocalSink::open(path.to_str().unwrap(), 4, PUBLISHER)
            .await
            .unwrap();
        sink.write(Bytes::from_static(b"12345")).await.unwrap();
        let error = sink.finish().await.unwrap_err();
        assert!(
            matches!(&error, IoError::DiskFull { path: named } if named == path.to_str().unwrap()),
            "{error}"
        );
        sink.abort().await.unwrap();
        assert!(fs::symlink_metadata(&path).is_err());
    }
}
