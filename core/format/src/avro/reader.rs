//! Reads an Avro object container that is wholly in memory, block by block.
//!
//! ```text
//!  "Obj" 1 | metadata map: avro.schema, avro.codec | sync marker (16)
//!  per block: record count | byte length | compressed records | sync marker
//! ```
//!
//! Source: Avro specification 1.11, "Object Container Files"; spec 01b §4.1.

use super::codec::BlockDecompressor;
use super::cursor::Cursor;
use super::{AvroCodec, AvroError};

pub(super) const MAGIC: &[u8; 4] = b"Obj\x01";
pub(super) const SYNC_LENGTH: usize = 16;

/// The blocks of one file.
pub(crate) struct ContainerReader<'a> {
    cursor: Cursor<'a>,
    schema: &'a [u8],
    sync: &'a [u8],
    decompressor: BlockDecompressor,
}

impl<'a> ContainerReader<'a> {
    /// Reads the header.
    pub(crate) fn open(file: &'a [u8]) -> Result<Self, AvroError> {
        let Some(body) = file.strip_prefix(MAGIC.as_slice()) else {
            return Err(AvroError::Magic {
                found: file.get(..MAGIC.len()).unwrap_or(file).to_vec(),
            });
        };
        // Offsets in errors count from the start of the file.
        let mut cursor = Cursor::new(file);
        cursor.take(file.len() - body.len(), "magic")?;
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
            cursor,
            schema,
            sync,
            decompressor: BlockDecompressor::new(codec)?,
        })
    }

    /// The text of `avro.schema`.
    pub(crate) fn schema_text(&self) -> &'a [u8] {
        self.schema
    }

    /// Replaces the content of `records` by the next block and tells how many records it holds; `None` after the last block.
    pub(crate) fn next_block(&mut self, records: &mut Vec<u8>) -> Result<Option<usize>, AvroError> {
        if self.cursor.is_empty() {
            return Ok(None);
        }
        let offset = self.cursor.offset();
        let count = self.cursor.length("block record count")?;
        let compressed = self.cursor.bytes("block")?;
        if self.cursor.take(SYNC_LENGTH, "sync marker")? != self.sync {
            return Err(AvroError::SyncMarker { offset });
        }
        self.decompressor.decompress(compressed, offset, records)?;
        // No record of ours is empty, so this bounds what a reader may reserve.
        if count > records.len() {
            return Err(AvroError::Invalid {
                what: "block record count",
                offset,
            });
        }
        Ok(Some(count))
    }
}

fn header(reason: &str) -> AvroError {
    AvroError::Header {
        reason: reason.to_owned(),
    }
}

/// Refuses bytes after a block's last record.
pub(crate) fn expect_block_end(cursor: &Cursor<'_>) -> Result<(), AvroError> {
    match cursor.remaining() {
        0 => Ok(()),
        left => Err(AvroError::TrailingBytes { left }),
    }
}
