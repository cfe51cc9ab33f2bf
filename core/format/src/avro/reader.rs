//! Reads an Avro object container block by block.
//!
//! ```text
//!  "Obj" 1 | metadata map: avro.schema, avro.codec | sync marker (16)
//!  per block: record count | byte length | compressed records | sync marker
//! ```
//!
//! Source: Avro specification 1.11, "Object Container Files"; spec 01b §4.1.

use super::codec::{BlockDecompressor, MAX_BLOCK_BYTES};
use super::cursor::Cursor;
use super::{AvroCodec, AvroError};

pub(super) const MAGIC: &[u8; 4] = b"Obj\x01";
/// Bytes of the marker behind each block.
pub(super) const SYNC_LENGTH: usize = 16;

/// What a file says before its blocks.
#[derive(Debug, Clone)]
pub struct Header {
    /// The text of `avro.schema`.
    pub schema: Vec<u8>,
    /// How blocks are compressed.
    pub codec: AvroCodec,
    /// What stands behind each block.
    pub sync: [u8; SYNC_LENGTH],
    /// Bytes of the header.
    pub length: usize,
}

impl Header {
    /// Reads the header at the start of `file`.
    ///
    /// # Errors
    /// [`AvroError::Truncated`] if more of the file is needed.
    pub fn parse(file: &[u8]) -> Result<Self, AvroError> {
        let mut cursor = Cursor::new(file);
        if !file.starts_with(MAGIC) {
            return Err(AvroError::Magic {
                found: file.get(..MAGIC.len()).unwrap_or(file).to_vec(),
            });
        }
        cursor.take(MAGIC.len(), "magic")?;
        let (mut schema, mut codec) = (None, None);
        while let Some(block) = cursor.array_block("header")? {
            for _ in 0..block.count {
                let key = cursor.bytes("header key")?;
                let value = cursor.bytes("header value")?;
                match key {
                    b"avro.schema" => schema = Some(value),
                    b"avro.codec" => codec = Some(value),
                    _ => {}
                }
            }
        }
        let schema = schema.ok_or_else(|| header("avro.schema is missing"))?;
        let codec = match codec {
            None => AvroCodec::Null,
            Some(name) => AvroCodec::from_name(
                std::str::from_utf8(name).map_err(|_| header("avro.codec is not text"))?,
                0,
            )?,
        };
        let sync = cursor.take(SYNC_LENGTH, "sync marker")?;
        Ok(Self {
            schema: schema.to_vec(),
            codec,
            sync: sync.try_into().map_err(|_| header("no sync marker"))?,
            length: cursor.offset(),
        })
    }

    /// Takes the next block, whole with its marker. `start` is where `cursor` began in the file, for errors.
    ///
    /// # Errors
    /// [`AvroError::Truncated`] if the cursor ends inside the block; [`AvroError::SyncMarker`].
    pub fn block<'a>(&self, cursor: &mut Cursor<'a>, start: usize) -> Result<Block<'a>, AvroError> {
        let offset = start.saturating_add(cursor.offset());
        let count = cursor.length("block record count")?;
        let compressed = cursor.bytes("block")?;
        if cursor.take(SYNC_LENGTH, "sync marker")? != self.sync {
            return Err(AvroError::SyncMarker { offset });
        }
        Ok(Block {
            offset,
            count,
            compressed,
        })
    }
}

/// A block as it lies in the file.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    /// Where it begins in the file.
    pub offset: usize,
    /// Records that it claims to hold.
    pub count: usize,
    /// Its content.
    pub compressed: &'a [u8],
}

impl Block<'_> {
    /// Replaces the content of `records` by the block's records.
    ///
    /// # Errors
    /// The codec's; [`AvroError::Invalid`] if the block cannot hold as many records as it claims: none is empty, so what a reader
    /// reserves for them is bounded by their bytes.
    pub fn decompress(
        &self,
        decompressor: &mut BlockDecompressor,
        records: &mut Vec<u8>,
    ) -> Result<(), AvroError> {
        decompressor.decompress(self.compressed, self.offset, records)?;
        if self.count > records.len() {
            return Err(AvroError::Invalid {
                what: "block record count",
                offset: self.offset,
            });
        }
        Ok(())
    }
}

/// The blocks of one file.
pub(crate) struct ContainerReader<'a> {
    cursor: Cursor<'a>,
    header: Header,
    decompressor: BlockDecompressor,
}

impl<'a> ContainerReader<'a> {
    /// Reads the header.
    pub(crate) fn open(file: &'a [u8]) -> Result<Self, AvroError> {
        let header = Header::parse(file)?;
        // Offsets in errors count from the start of the file.
        let mut cursor = Cursor::new(file);
        cursor.take(header.length, "header")?;
        Ok(Self {
            cursor,
            decompressor: BlockDecompressor::new(header.codec, MAX_BLOCK_BYTES)?,
            header,
        })
    }

    /// The text of `avro.schema`.
    pub(crate) fn schema_text(&self) -> &[u8] {
        &self.header.schema
    }

    /// Replaces the content of `records` by the next block and tells how many records it holds; `None` after the last block.
    pub(crate) fn next_block(&mut self, records: &mut Vec<u8>) -> Result<Option<usize>, AvroError> {
        if self.cursor.is_empty() {
            return Ok(None);
        }
        let block = self.header.block(&mut self.cursor, 0)?;
        block.decompress(&mut self.decompressor, records)?;
        Ok(Some(block.count))
    }
}

fn header(reason: &str) -> AvroError {
    AvroError::Header {
        reason: reason.to_owned(),
    }
}

/// Refuses bytes after a block's last record.
///
/// # Errors
/// [`AvroError::TrailingBytes`].
pub fn expect_block_end(cursor: &Cursor<'_>) -> Result<(), AvroError> {
    match cursor.remaining() {
        0 => Ok(()),
        left => Err(AvroError::TrailingBytes { left }),
    }
}
