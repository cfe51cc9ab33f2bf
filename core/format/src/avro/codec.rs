//! Block compression of Avro containers: `null`, `deflate`, `snappy`, `bzip2`, `xz` and `zstandard`.
//!
//! A block is undone into a buffer that grows with what really comes out, never with a size the file claims, and
//! never beyond the limit that the reader gives.
//! Source: Avro specification 1.11, "Required codecs" and "Optional codecs"; spec 01b §4.1.

use std::io::{Read, Write};

use super::AvroError;

/// The most bytes a block of metadata may hold after decompression. Writers cut blocks near 64 kB; only one huge record makes a
/// larger one.
pub(crate) const MAX_BLOCK_BYTES: usize = 64 << 20;

/// Where the output buffer of a zstandard block starts: four times what writers put into a block.
const ZSTD_FIRST_CAPACITY: usize = 256 << 10;
/// Level of Java's xz blocks.
const XZ_LEVEL: u32 = 6;
/// What a decoder of xz may take for its dictionary: what the highest level needs.
const XZ_MEMORY_BYTES: u64 = 80 << 20;

/// How the blocks of an Avro container are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AvroCodec {
    /// Not compressed.
    Null,
    /// Raw deflate without a zlib head.
    Deflate,
    /// Snappy and a big-endian CRC-32 of the uncompressed bytes. Java needs an extra library for it.
    Snappy,
    /// One bzip2 stream.
    Bzip2,
    /// One xz stream. Java needs an extra library for it.
    Xz,
    /// One zstandard frame.
    Zstandard {
        /// Compression level of the writer; readers do not know it.
        level: i32,
    },
}

impl Default for AvroCodec {
    /// What Java writes unless told otherwise: zstandard level 1.
    fn default() -> Self {
        Self::Zstandard { level: 1 }
    }
}

impl AvroCodec {
    /// The codec with this name: the names of `avro.codec`, and `zstd`, the spelling of the option `manifest.compression`.
    /// `zstd_level` is used by zstandard only.
    ///
    /// # Errors
    /// [`AvroError::UnknownCodec`] for any other name; Java refuses `none`, `lz4` and `gzip` too.
    pub fn from_name(name: &str, zstd_level: i32) -> Result<Self, AvroError> {
        match name.to_ascii_lowercase().as_str() {
            "null" => Ok(Self::Null),
            "deflate" => Ok(Self::Deflate),
            "snappy" => Ok(Self::Snappy),
            "bzip2" => Ok(Self::Bzip2),
            "xz" => Ok(Self::Xz),
            "zstandard" | "zstd" => Ok(Self::Zstandard { level: zstd_level }),
            _ => Err(AvroError::UnknownCodec {
                name: name.to_owned(),
            }),
        }
    }

    /// The name written to `avro.codec`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Deflate => "deflate",
            Self::Snappy => "snappy",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Zstandard { .. } => "zstandard",
        }
    }
}

/// Compresses the blocks of one file.
pub(super) struct BlockCompressor {
    codec: AvroCodec,
    zstd: Option<zstd::bulk::Compressor<'static>>,
}

impl BlockCompressor {
    pub(super) fn new(codec: AvroCodec) -> Result<Self, AvroError> {
        let zstd = match codec {
            AvroCodec::Zstandard { level } => Some(
                zstd::bulk::Compressor::new(level)
                    .map_err(|source| compress_error(codec, source))?,
            ),
            _ => None,
        };
        Ok(Self { codec, zstd })
    }

    /// Appends a compressed block of `raw` to `out`.
    pub(super) fn compress(&mut self, raw: &[u8], out: &mut Vec<u8>) -> Result<(), AvroError> {
        let codec = self.codec;
        match codec {
            AvroCodec::Null => {
                out.extend_from_slice(raw);
                Ok(())
            }
            AvroCodec::Deflate => {
                let mut encoder =
                    flate2::write::DeflateEncoder::new(out, flate2::Compression::default());
                encoder
                    .write_all(raw)
                    .and_then(|()| encoder.finish().map(|_| ()))
            }
            AvroCodec::Snappy => snap::raw::Encoder::new()
                .compress_vec(raw)
                .map(|compressed| {
                    out.extend_from_slice(&compressed);
                    out.extend_from_slice(&crc32fast::hash(raw).to_be_bytes());
                })
                .map_err(std::io::Error::other),
            AvroCodec::Bzip2 => {
                let mut encoder = bzip2::write::BzEncoder::new(out, bzip2::Compression::default());
                encoder
                    .write_all(raw)
                    .and_then(|()| encoder.finish().map(|_| ()))
            }
            AvroCodec::Xz => {
                let mut encoder = liblzma::write::XzEncoder::new(out, XZ_LEVEL);
                encoder
                    .write_all(raw)
                    .and_then(|()| encoder.finish().map(|_| ()))
            }
            AvroCodec::Zstandard { .. } => match &mut self.zstd {
                Some(compressor) => compressor
                    .compress(raw)
                    .map(|compressed| out.extend_from_slice(&compressed)),
                None => Err(std::io::Error::other("no compression context")),
            },
        }
        .map_err(|source| compress_error(codec, source))
    }
}

fn compress_error(codec: AvroCodec, source: std::io::Error) -> AvroError {
    AvroError::Compress {
        codec: codec.name(),
        source,
    }
}

/// Undoes the blocks of one file.
pub struct BlockDecompressor {
    codec: AvroCodec,
    limit: usize,
    zstd: Option<zstd::bulk::Decompressor<'static>>,
}

impl BlockDecompressor {
    /// A block that holds more than `limit` bytes is refused.
    ///
    /// # Errors
    /// The codec's library refuses to start.
    pub fn new(codec: AvroCodec, limit: usize) -> Result<Self, AvroError> {
        let zstd = match codec {
            AvroCodec::Zstandard { .. } => Some(
                zstd::bulk::Decompressor::new()
                    .map_err(|source| decompress_error(codec, 0, source))?,
            ),
            _ => None,
        };
        Ok(Self { codec, limit, zstd })
    }

    /// Replaces the content of `out` by what `block` holds. `offset` is the block's place in the file, for errors.
    ///
    /// # Errors
    /// [`AvroError::Decompress`], [`AvroError::BlockTooLarge`].
    pub fn decompress(
        &mut self,
        block: &[u8],
        offset: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), AvroError> {
        out.clear();
        let (codec, limit) = (self.codec, self.limit);
        match codec {
            AvroCodec::Null => {
                if block.len() > limit {
                    return Err(too_large(offset, limit));
                }
                out.extend_from_slice(block);
                Ok(())
            }
            AvroCodec::Deflate => {
                let source = flate2::read::DeflateDecoder::new(block);
                self.read_bounded(source, offset, out)
            }
            AvroCodec::Bzip2 => self.read_bounded(bzip2::read::BzDecoder::new(block), offset, out),
            AvroCodec::Xz => {
                let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY_BYTES, 0)
                    .map_err(|error| decompress_error(codec, offset, error.into()))?;
                let source = liblzma::read::XzDecoder::new_stream(block, stream);
                self.read_bounded(source, offset, out)
            }
            AvroCodec::Snappy => snappy(block, offset, limit, out),
            AvroCodec::Zstandard { .. } => match &mut self.zstd {
                Some(context) => zstandard(context, block, offset, limit, out),
                None => Err(decompress_error(
                    codec,
                    offset,
                    std::io::Error::other("no decompression context"),
                )),
            },
        }
    }

    fn read_bounded(
        &self,
        source: impl Read,
        offset: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), AvroError> {
        source
            .take(self.limit as u64 + 1)
            .read_to_end(out)
            .map_err(|source| decompress_error(self.codec, offset, source))?;
        if out.len() > self.limit {
            return Err(too_large(offset, self.limit));
        }
        Ok(())
    }
}

fn snappy(block: &[u8], offset: usize, limit: usize, out: &mut Vec<u8>) -> Result<(), AvroError> {
    let Some((body, crc)) = block.split_last_chunk::<4>() else {
        return Err(AvroError::Truncated {
            what: "snappy checksum",
            offset,
            needed: 4,
            available: block.len(),
        });
    };
    let bad = |source| decompress_error(AvroCodec::Snappy, offset, source);
    let length =
        snap::raw::decompress_len(body).map_err(|error| bad(std::io::Error::other(error)))?;
    // Three bytes of snappy make at most 64, so a larger claim is a lie.
    if length > limit || length / 64 > body.len() {
        return Err(too_large(offset, limit));
    }
    out.resize(length, 0);
    snap::raw::Decoder::new()
        .decompress(body, out)
        .map_err(|error| bad(std::io::Error::other(error)))?;
    if crc32fast::hash(out) != u32::from_be_bytes(*crc) {
        return Err(bad(std::io::Error::other("the checksum does not match")));
    }
    Ok(())
}

/// Java's frames do not tell their content's size, so the output buffer grows until the content fits. One call with a large
/// enough buffer needs no window of its own, whatever window size the frame asks for.
fn zstandard(
    context: &mut zstd::bulk::Decompressor<'_>,
    block: &[u8],
    offset: usize,
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<(), AvroError> {
    let mut capacity = out.capacity().max(ZSTD_FIRST_CAPACITY);
    loop {
        out.clear();
        out.reserve_exact(capacity);
        match context.decompress_to_buffer(block, out) {
            Ok(_) if out.len() > limit => return Err(too_large(offset, limit)),
            Ok(_) => return Ok(()),
            Err(error) if output_is_full(&error) => {
                if capacity > limit {
                    return Err(too_large(offset, limit));
                }
                capacity = capacity.saturating_mul(4);
            }
            Err(error) => {
                return Err(decompress_error(
                    AvroCodec::Zstandard { level: 0 },
                    offset,
                    error,
                ));
            }
        }
    }
}

/// The zstd crate hands out error names only.
fn output_is_full(error: &std::io::Error) -> bool {
    error
        .to_string()
        .contains("Destination buffer is too small")
}

fn decompress_error(codec: AvroCodec, offset: usize, source: std::io::Error) -> AvroError {
    AvroError::Decompress {
        codec: codec.name(),
        offset,
        source,
    }
}

fn too_large(offset: usize, limit: usize) -> AvroError {
    AvroError::BlockTooLarge { offset, limit }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) const ALL: [AvroCodec; 6] = [
        AvroCodec::Null,
        AvroCodec::Deflate,
        AvroCodec::Snappy,
        AvroCodec::Bzip2,
        AvroCodec::Xz,
        AvroCodec::Zstandard { level: 1 },
    ];

    fn round_trip(codec: AvroCodec, raw: &[u8]) -> Vec<u8> {
        let mut compressed = vec![];
        BlockCompressor::new(codec)
            .unwrap()
            .compress(raw, &mut compressed)
            .unwrap();
        let mut out = vec![];
        BlockDecompressor::new(codec, MAX_BLOCK_BYTES)
            .unwrap()
            .decompress(&compressed, 0, &mut out)
            .unwrap();
        out
    }

    #[test]
    fn every_codec_gives_back_what_it_took() {
        let text: Vec<u8> = (0..100_000u32)
            .flat_map(|n| (n / 7).to_le_bytes())
            .collect();
        for codec in ALL {
            assert_eq!(round_trip(codec, &[]), Vec::<u8>::new(), "{codec:?}");
            assert_eq!(round_trip(codec, &text), text, "{codec:?}");
        }
    }

    #[test]
    fn a_zstandard_block_larger_than_the_first_buffer_is_read_whole() {
        let raw = vec![7u8; 5 << 20];
        assert_eq!(round_trip(AvroCodec::default(), &raw), raw);
    }

    #[test]
    fn a_zstandard_frame_without_content_size_is_read() {
        let mut encoder = zstd::stream::write::Encoder::new(vec![], 1).unwrap();
        encoder.write_all(&[42u8; 1000]).unwrap();
        let frame = encoder.finish().unwrap();
        let mut out = vec![];
        BlockDecompressor::new(AvroCodec::default(), MAX_BLOCK_BYTES)
            .unwrap()
            .decompress(&frame, 0, &mut out)
            .unwrap();
        assert_eq!(out, vec![42u8; 1000]);
    }

    #[test]
    fn a_bomb_is_refused_by_every_compressing_codec() {
        let raw = vec![0u8; MAX_BLOCK_BYTES + 1];
        for codec in [
            AvroCodec::Deflate,
            AvroCodec::Snappy,
            AvroCodec::Bzip2,
            AvroCodec::Xz,
            AvroCodec::default(),
        ] {
            let mut compressed = vec![];
            BlockCompressor::new(codec)
                .unwrap()
                .compress(&raw, &mut compressed)
                .unwrap();
            let error = BlockDecompressor::new(codec, MAX_BLOCK_BYTES)
                .unwrap()
                .decompress(&compressed, 5, &mut vec![])
                .unwrap_err();
            assert!(
                matches!(error, AvroError::BlockTooLarge { offset: 5, .. }),
                "{codec:?}: {error}"
            );
        }
    }

    #[test]
    fn a_snappy_block_with_a_wrong_checksum_is_refused() {
        let mut compressed = vec![];
        BlockCompressor::new(AvroCodec::Snappy)
            .unwrap()
            .compress(b"some bytes", &mut compressed)
            .unwrap();
        *compressed.last_mut().unwrap() ^= 1;
        let error = BlockDecompressor::new(AvroCodec::Snappy, MAX_BLOCK_BYTES)
            .unwrap()
            .decompress(&compressed, 0, &mut vec![])
            .unwrap_err();
        assert!(matches!(
            error,
            AvroError::Decompress {
                codec: "snappy",
                ..
            }
        ));
    }

    #[test]
    fn a_snappy_length_that_its_bytes_cannot_make_is_refused_before_allocating() {
        let mut block = vec![0x80, 0x80, 0x80, 0x10];
        block.extend_from_slice(&[0; 8]);
        let error = BlockDecompressor::new(AvroCodec::Snappy, MAX_BLOCK_BYTES)
            .unwrap()
            .decompress(&block, 0, &mut vec![])
            .unwrap_err();
        assert!(matches!(error, AvroError::BlockTooLarge { .. }));
    }

    #[test]
    fn names_of_the_option_and_of_the_file_are_read() {
        assert_eq!(
            AvroCodec::from_name("zstd", 3).unwrap(),
            AvroCodec::Zstandard { level: 3 }
        );
        assert_eq!(
            AvroCodec::from_name("zstandard", 1).unwrap(),
            AvroCodec::default()
        );
        for codec in ALL {
            assert_eq!(AvroCodec::from_name(codec.name(), 1).unwrap(), codec);
        }
        for name in ["none", "lz4", "gzip", ""] {
            let error = AvroCodec::from_name(name, 1).unwrap_err();
            assert!(matches!(error, AvroError::UnknownCodec { .. }), "{name}");
        }
    }
}
