//! Where encoded pages wait for their row group to end, and where each page gets its checksum.
//!
//! The Arrow encoder of the `parquet` crate hands each page over as header and body. It writes no checksum, so the header is taken
//! apart here and the CRC-32 of the (compressed) body is put in; the few bytes by which headers grow are added to the chunk's sizes
//! by [`super::assemble`].

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use parquet::arrow::arrow_writer::{PageKey, PageStore, PageStoreArgs, PageStoreFactory};
use parquet::errors::{ParquetError, Result};

/// One page as it goes into the file.
#[derive(Debug, Clone)]
pub(crate) struct StoredPage {
    pub(crate) header: Bytes,
    pub(crate) body: Bytes,
    /// Bytes that the header has more than the encoder knows of.
    pub(crate) growth: usize,
}

impl StoredPage {
    pub(crate) fn len(&self) -> usize {
        self.header.len() + self.body.len()
    }
}

/// The pages of one column chunk.
#[derive(Debug, Default, Clone)]
pub(crate) struct ChunkPages {
    pub(crate) dictionary: Option<StoredPage>,
    pub(crate) data: Vec<StoredPage>,
    header: Option<Bytes>,
    resident_bytes: usize,
}

/// Pages that the encoder fills and that the assembler takes.
#[derive(Debug, Default, Clone)]
pub(crate) struct SharedPages(Arc<Mutex<ChunkPages>>);

impl SharedPages {
    fn lock(&self) -> MutexGuard<'_, ChunkPages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The pages so far; none are left behind.
    pub(crate) fn take(&self) -> ChunkPages {
        std::mem::take(&mut *self.lock())
    }
}

struct SharedStore {
    pages: SharedPages,
    checksum: bool,
    puts: u64,
}

impl PageStore for SharedStore {
    fn put(&mut self, value: Bytes) -> Result<PageKey> {
        let mut pages = self.pages.lock();
        pages.resident_bytes += value.len();
        match pages.header.take() {
            None => pages.header = Some(value),
            Some(header) => {
                let fields = HeaderFields::of(&header)?;
                let page = if self.checksum {
                    let with_crc = fields.with_crc(&header, crc32fast::hash(&value))?;
                    StoredPage {
                        growth: with_crc.len() - header.len(),
                        header: with_crc.into(),
                        body: value,
                    }
                } else {
                    StoredPage {
                        growth: 0,
                        header,
                        body: value,
                    }
                };
                if fields.is_dictionary {
                    pages.dictionary = Some(page);
                } else {
                    pages.data.push(page);
                }
            }
        }
        self.puts += 1;
        Ok(PageKey::new(self.puts))
    }

    fn take(&mut self, _key: PageKey) -> Result<Bytes> {
        Err(ParquetError::General(
            "pages are taken from their chunk".to_owned(),
        ))
    }

    fn memory_size(&self) -> usize {
        self.pages.lock().resident_bytes
    }
}

/// Makes the stores of a row group's columns and keeps a handle to each, in column order.
#[derive(Debug)]
pub(crate) struct SharedStores {
    checksum: bool,
    made: Mutex<Vec<SharedPages>>,
}

impl SharedStores {
    pub(crate) fn new(checksum: bool) -> Self {
        Self {
            checksum,
            made: Mutex::default(),
        }
    }

    /// The handles of the stores made since the last call.
    pub(crate) fn take_handles(&self) -> Vec<SharedPages> {
        std::mem::take(&mut *self.made.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl PageStoreFactory for SharedStores {
    fn create(&self, _args: &PageStoreArgs<'_>) -> Result<Box<dyn PageStore>> {
        let pages = SharedPages::default();
        self.made
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(pages.clone());
        Ok(Box::new(SharedStore {
            pages,
            checksum: self.checksum,
            puts: 0,
        }))
    }
}

/// What is read off a page header: its type, and where the checksum belongs.
///
/// A header is a Thrift struct in the compact protocol: fields 1 (type), 2 and 3 (sizes) are required i32, 4 is the checksum, and the
/// encoder always has a struct among 5, 7 and 8 next.
struct HeaderFields {
    is_dictionary: bool,
    /// Offset behind field 3.
    crc_at: usize,
}

impl HeaderFields {
    const I32_NEXT_FIELD: u8 = 0x15;
    const DICTIONARY_PAGE: u64 = 2;

    fn of(header: &[u8]) -> Result<Self> {
        let (page_type, at) = i32_field(header, 0)?;
        let (_, at) = i32_field(header, at)?;
        let (_, at) = i32_field(header, at)?;
        // The type is written as zig-zag.
        Ok(Self {
            is_dictionary: page_type == Self::DICTIONARY_PAGE << 1,
            crc_at: at,
        })
    }

    fn with_crc(&self, header: &[u8], crc: u32) -> Result<Vec<u8>> {
        let (before, after) = header
            .split_at_checked(self.crc_at)
            .ok_or_else(bad_header)?;
        let (&next, rest) = after.split_first().ok_or_else(bad_header)?;
        // The high half is the distance to the field before, which is field 4 from now on.
        let delta = (next >> 4)
            .checked_sub(1)
            .filter(|&delta| delta > 0)
            .ok_or_else(bad_header)?;
        let mut made = Vec::with_capacity(header.len() + 6);
        made.extend_from_slice(before);
        made.push(Self::I32_NEXT_FIELD);
        let crc = i32::from_le_bytes(crc.to_le_bytes());
        let mut zigzag = u32::from_le_bytes(((crc << 1) ^ (crc >> 31)).to_le_bytes());
        while zigzag >= 0x80 {
            made.push(zigzag.to_le_bytes()[0] | 0x80);
            zigzag >>= 7;
        }
        made.push(zigzag.to_le_bytes()[0]);
        made.push((delta << 4) | (next & 0x0f));
        made.extend_from_slice(rest);
        Ok(made)
    }
}

/// Reads a required i32 field that follows the one before; the answer is the raw zig-zag number and the offset behind it.
fn i32_field(header: &[u8], at: usize) -> Result<(u64, usize)> {
    if header.get(at) != Some(&HeaderFields::I32_NEXT_FIELD) {
        return Err(bad_header());
    }
    let (mut value, mut shift, mut at) = (0_u64, 0, at + 1);
    loop {
        let byte = *header.get(at).ok_or_else(bad_header)?;
        at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok((value, at));
        }
        shift += 7;
        if shift > 35 {
            return Err(bad_header());
        }
    }
}

fn bad_header() -> ParquetError {
    ParquetError::General("the encoder made a page header of an unknown form".to_owned())
}
