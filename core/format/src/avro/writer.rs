//! Writes an Avro object container, whose bytes can be taken as its blocks end.
//!
//! Blocks close near 64 000 bytes before compression, as Java's do. The sync marker is drawn from the first block's bytes
//! instead of from chance: the same records give the same file.
//! Source: Avro specification 1.11, "Object Container Files"; Java Avro `DataFileWriter`; spec 01b §4.1.

use std::borrow::Cow;

use super::codec::BlockCompressor;
use super::reader::{MAGIC, SYNC_LENGTH};
use super::{AvroCodec, AvroError, put};

/// Bytes of records after which a block is closed.
const BLOCK_BYTES: usize = 64_000;

/// One file in the making.
pub struct ContainerWriter {
    schema: Cow<'static, str>,
    codec: AvroCodec,
    compressor: BlockCompressor,
    /// Finished blocks; the header is put in front of the first because the marker depends on it.
    out: Vec<u8>,
    taken: usize,
    sync: Option<[u8; SYNC_LENGTH]>,
    block: Vec<u8>,
    block_records: usize,
    compressed: Vec<u8>,
}

impl ContainerWriter {
    /// A file of records of `schema`, the text of `avro.schema`.
    ///
    /// # Errors
    /// The codec's library refuses to start.
    pub fn new(schema: impl Into<Cow<'static, str>>, codec: AvroCodec) -> Result<Self, AvroError> {
        Ok(Self {
            schema: schema.into(),
            codec,
            compressor: BlockCompressor::new(codec)?,
            out: vec![],
            taken: 0,
            sync: None,
            block: Vec::with_capacity(BLOCK_BYTES + BLOCK_BYTES / 8),
            block_records: 0,
            compressed: vec![],
        })
    }

    /// Adds one record; `encode` appends its fields. A record that failed is no part of the file.
    ///
    /// # Errors
    /// `encode`'s, or the codec's.
    pub fn try_append<E: From<AvroError>>(
        &mut self,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = self.block.len();
        if let Err(error) = encode(&mut self.block) {
            self.block.truncate(start);
            return Err(error);
        }
        self.block_records += 1;
        if self.block.len() >= BLOCK_BYTES {
            self.close_block()?;
        }
        Ok(())
    }

    /// Adds one record; `encode` appends its fields.
    pub(crate) fn append(&mut self, encode: impl FnOnce(&mut Vec<u8>)) -> Result<(), AvroError> {
        self.try_append(|out| {
            encode(out);
            Ok(())
        })
    }

    /// Bytes of the file so far, taken ones too, without the block that is still open; 0 before the first block is closed.
    pub fn written_bytes(&self) -> usize {
        self.taken + self.out.len()
    }

    /// Bytes that are held in memory.
    pub fn memory_bytes(&self) -> usize {
        self.out.capacity() + self.block.capacity() + self.compressed.capacity()
    }

    /// Takes the bytes that are ready, which follow those taken before.
    pub fn take(&mut self) -> Vec<u8> {
        self.taken += self.out.len();
        std::mem::take(&mut self.out)
    }

    fn header_length(&self) -> usize {
        MAGIC.len() + SYNC_LENGTH + self.schema.len() + self.codec.name().len() + 28
    }

    fn close_block(&mut self) -> Result<(), AvroError> {
        if self.block_records == 0 {
            return Ok(());
        }
        let sync = match self.sync {
            Some(sync) => sync,
            None => self.write_header(),
        };
        self.compressed.clear();
        self.compressor
            .compress(&self.block, &mut self.compressed)?;
        put::length(&mut self.out, self.block_records);
        put::bytes(&mut self.out, &self.compressed);
        self.out.extend_from_slice(&sync);
        self.block.clear();
        self.block_records = 0;
        Ok(())
    }

    fn write_header(&mut self) -> [u8; SYNC_LENGTH] {
        let sync = marker(&[
            self.schema.as_bytes(),
            self.codec.name().as_bytes(),
            &self.block,
        ]);
        self.sync = Some(sync);
        self.out.reserve(self.header_length());
        self.out.extend_from_slice(MAGIC);
        put::length(&mut self.out, 2);
        put::string(&mut self.out, "avro.schema");
        put::string(&mut self.out, &self.schema);
        put::string(&mut self.out, "avro.codec");
        put::string(&mut self.out, self.codec.name());
        self.out.push(0);
        self.out.extend_from_slice(&sync);
        sync
    }

    /// Closes the last block and returns what was not taken of the file. Without records the file is a header alone.
    ///
    /// # Errors
    /// The codec's.
    pub fn finish(mut self) -> Result<Vec<u8>, AvroError> {
        self.close_block()?;
        if self.sync.is_none() {
            self.write_header();
        }
        Ok(self.out)
    }
}

/// Sixteen bytes that depend on every byte of `parts`. Not a secret and not a checksum: it only must not occur by chance.
fn marker(parts: &[&[u8]]) -> [u8; SYNC_LENGTH] {
    let mut lanes = [0x9e37_79b9_7f4a_7c15_u64, 0xc2b2_ae3d_27d4_eb4f_u64];
    let mut mix = |word: u64| {
        let [low, high] = &mut lanes;
        *low = (*low ^ word)
            .wrapping_mul(0xff51_afd7_ed55_8ccd)
            .rotate_left(31);
        *high = (*high ^ word.rotate_left(32) ^ *low)
            .wrapping_mul(0xc4ce_b9fe_1a85_ec53)
            .rotate_left(29);
    };
    for part in parts {
        mix(part.len() as u64);
        let (words, rest) = part.as_chunks::<8>();
        for word in words {
            mix(u64::from_le_bytes(*word));
        }
        let mut last = [0u8; 8];
        for (slot, byte) in last.iter_mut().zip(rest) {
            *slot = *byte;
        }
        mix(u64::from_le_bytes(last));
    }
    mix(0);
    mix(0);
    let mut out = [0u8; SYNC_LENGTH];
    for (slot, byte) in out
        .iter_mut()
        .zip(lanes.iter().flat_map(|lane| lane.to_le_bytes()))
    {
        *slot = byte;
    }
    out
}
