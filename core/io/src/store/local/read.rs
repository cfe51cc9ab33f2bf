//! Positioned reads of a local file: one open, one stat, one `pread` per range.

use std::fs::File;
use std::io;
use std::ops::Range;

use bytes::Bytes;
use memmap2::MmapMut;
use rustix::buffer::spare_capacity;
use rustix::io::Errno;

use super::os_path;
use crate::IoError;

/// Reads of this many bytes on go into pages of their own, which all ranges of the read share.
const MAPPED_BYTES: usize = 2 << 20;

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
    let mut lengths = Vec::with_capacity(ranges.len());
    for range in ranges {
        if range.end > meta.len() {
            return Err(short(range, meta.len()));
        }
        let length = usize::try_from(range.end.saturating_sub(range.start));
        lengths.push(length.map_err(|_| IoError::InvalidRange {
            path: path.to_owned(),
            start: range.start,
            end: range.end,
        })?);
    }
    let total: usize = lengths.iter().sum();
    if total >= MAPPED_BYTES {
        let mut pages = own_pages(total).map_err(failed)?;
        let mut rest: &mut [u8] = &mut pages;
        for (range, length) in ranges.iter().zip(&lengths) {
            let (buffer, behind) = rest.split_at_mut(*length);
            let found = fill(&file, buffer, range.start).map_err(failed)?;
            if found < *length {
                return Err(short(range, range.start + found as u64));
            }
            rest = behind;
        }
        let mut pages = Bytes::from_owner(pages);
        return Ok(lengths
            .iter()
            .map(|length| pages.split_to(*length))
            .collect());
    }
    let read_one = |(range, length): (&Range<u64>, &usize)| {
        let mut bytes = Vec::with_capacity(*length);
        while bytes.len() < *length {
            let offset = range.start + bytes.len() as u64;
            match rustix::io::pread(&file, spare_capacity(&mut bytes), offset) {
                // Somebody cut the file since the stat.
                Ok(0) => return Err(short(range, offset)),
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(failed(io::Error::from(errno))),
            }
        }
        // The allocator may have given more room than asked for, which the last read then filled.
        bytes.truncate(*length);
        Ok(Bytes::from(bytes))
    };
    ranges.iter().zip(&lengths).map(read_one).collect()
}

/// Memory for one long read. Fresh memory costs a fault for each page that is written first; with large pages that is one per 2 MiB
/// rather than one per 4 KiB, which would take longer than copying the bytes.
fn own_pages(length: usize) -> io::Result<MmapMut> {
    let pages = MmapMut::map_anon(length)?;
    #[cfg(target_os = "linux")]
    if let Err(error) = pages.advise(memmap2::Advice::HugePage) {
        // Kernels without large pages do with small ones.
        tracing::trace!(%error, "no large pages for a read");
    }
    Ok(pages)
}

/// Reads until the buffer is full or the file ends; the answer is how many bytes were read.
fn fill(file: &File, buffer: &mut [u8], start: u64) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match rustix::io::pread(file, rest, start + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(io::Error::from(errno)),
        }
    }
    Ok(filled)
}
