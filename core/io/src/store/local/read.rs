//! Positioned reads of a local file: one open, one stat, one `pread` per range.

use std::fs::File;
use std::io;
use std::ops::Range;

use bytes::Bytes;
use rustix::buffer::spare_capacity;

use super::os_path;
use crate::IoError;

/// Reads each range whole. No buffer is made for bytes that the file does not have.
pub(super) fn read_ranges(path: &str, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, IoError> {
    let failed = |error| IoError::from_os("read", path, error);
    let file = File::open(os_path(path)).map_err(failed)?;
    let meta = file.metadata().map_err(failed)?;
    if meta.is_dir() {
        return Err(IoError::IsADirectory {
            path: path.to_owned(),
        });
    }
    let short = |range: &Range<u64>, available| IoError::ShortRead {
        path: path.to_owned(),
        start: range.start,
        end: range.end,
        available,
    };
    let read_one = |range: &Range<u64>| {
        if range.end > meta.len() {
            return Err(short(range, meta.len()));
        }
        let length = usize::try_from(range.end.saturating_sub(range.start)).map_err(|_| {
            IoError::InvalidRange {
                path: path.to_owned(),
                start: range.start,
                end: range.end,
            }
        })?;
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            let offset = range.start + bytes.len() as u64;
            match rustix::io::pread(&file, spare_capacity(&mut bytes), offset) {
                // Somebody cut the file since the stat.
                Ok(0) => return Err(short(range, offset)),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(failed(io::Error::from(errno))),
            }
        }
        // The allocator may have given more room than asked for, which the last read then filled.
        bytes.truncate(length);
        Ok(Bytes::from(bytes))
    };
    ranges.iter().map(read_one).collect()
}
