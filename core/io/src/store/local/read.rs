//! Positioned reads of a local file: one open, one stat, one `pread` per range.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use bytes::Bytes;
use rustix::buffer::spare_capacity;
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::os_path;
use crate::IoError;

/// Opens a file for reading, and answers its length. What is no file is refused, and a pipe is not waited for.
pub(super) fn open(path: &Path) -> io::Result<(File, u64)> {
    let without_waiting = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options()
        .read(true)
        .custom_flags(without_waiting)
        .open(path)?;
    let meta = file.metadata()?;
    if meta.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !meta.is_file() {
        let what = "neither a file nor a folder";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    Ok((file, meta.len()))
}

/// Reads each range whole.
pub(super) fn read_ranges(path: &str, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, IoError> {
    let opened = open(&os_path(path));
    let (file, length) = opened.map_err(|error| IoError::from_os("read", path, error))?;
    let read = ranges
        .iter()
        .map(|range| read_at(&file, length, path, range));
    read.collect()
}

/// Reads a range of an open file of this length whole. No memory is taken for bytes that the file does not have.
pub(crate) fn read_at(
    file: &File,
    length: u64,
    path: &str,
    range: &Range<u64>,
) -> Result<Bytes, IoError> {
    let short = |available| IoError::ShortRead {
        path: path.to_owned(),
        start: range.start,
        end: range.end,
        available,
    };
    if range.end > length {
        return Err(short(length));
    }
    let wanted = usize::try_from(range.end.saturating_sub(range.start)).map_err(|_| {
        IoError::InvalidRange {
            path: path.to_owned(),
            start: range.start,
            end: range.end,
        }
    })?;
    let mut bytes = Vec::with_capacity(wanted);
    while bytes.len() < wanted {
        let offset = range.start + bytes.len() as u64;
        match rustix::io::pread(file, spare_capacity(&mut bytes), offset) {
            // Somebody cut the file since it was opened.
            Ok(0) => return Err(short(offset)),
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(IoError::from_os("read", path, io::Error::from(errno))),
        }
    }
    // The allocator may have given more room than asked for, which the last read then filled.
    bytes.truncate(wanted);
    Ok(Bytes::from(bytes))
}
