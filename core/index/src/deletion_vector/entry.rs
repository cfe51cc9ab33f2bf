//! The frame around one vector: `int BE length | body | int BE CRC-32 of the body`.
//!
//! What the index manifest calls the length (`f2`) is that of the body for 32-bit vectors, and that of the whole frame for 64-bit ones.
//! Source: spec 02c §1.1; Paimon `deletionvectors/DeletionVector.java`, `DeletionFileWriter.java`.

use super::{DeletionVector, DvKind, body};
use crate::error::{IndexError, Result};

/// Bytes of a frame without its body.
pub(super) const FRAME_BYTES: u64 = 8;

/// A vector in its frame.
pub(super) fn encode(vector: &DeletionVector) -> Result<Vec<u8>> {
    let body = body::encode(vector)?;
    let Ok(length) = i32::try_from(body.len()) else {
        return Err(IndexError::FileSize {
            limit: i32::MAX as u64,
        });
    };
    let mut out = Vec::with_capacity(body.len() + 8);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(&body);
    out.extend_from_slice(&crc32fast::hash(&body).to_be_bytes());
    Ok(out)
}

/// What the index manifest calls the length of a frame of so many bytes.
pub(super) fn manifest_length(kind: DvKind, frame_bytes: u64) -> u64 {
    match kind {
        DvKind::Bits32 => frame_bytes.saturating_sub(FRAME_BYTES),
        DvKind::Bits64 => frame_bytes,
    }
}

/// The vector whose frame `bytes` begin with, and the bytes of the frame; the frame begins at `offset` of `path`.
pub(super) fn decode(path: &str, offset: u64, bytes: &[u8]) -> Result<(DeletionVector, u64)> {
    let truncated = |what, needed: u64, available: usize| IndexError::Truncated {
        path: path.to_owned(),
        what,
        offset,
        needed,
        available: available as u64,
    };
    let Some((length, rest)) = bytes.split_first_chunk::<4>() else {
        return Err(truncated("the length of a vector", 4, bytes.len()));
    };
    let said = i32::from_be_bytes(*length);
    let Ok(length) = usize::try_from(said) else {
        return Err(IndexError::Length {
            path: path.to_owned(),
            offset,
            expected: 0,
            found: i64::from(said),
        });
    };
    let parts = rest.split_at_checked(length).and_then(|(body, rest)| {
        let checksum = rest.first_chunk::<4>()?;
        Some((body, u32::from_be_bytes(*checksum)))
    });
    let Some((body, expected)) = parts else {
        return Err(truncated(
            "a vector",
            length as u64 + FRAME_BYTES,
            bytes.len(),
        ));
    };
    let found = crc32fast::hash(body);
    if found != expected {
        return Err(IndexError::Checksum {
            path: path.to_owned(),
            offset,
            expected,
            found,
        });
    }
    Ok((
        body::decode(path, offset, body)?,
        length as u64 + FRAME_BYTES,
    ))
}
