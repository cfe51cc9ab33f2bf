//! The bitmaps of one vector as bytes.
//!
//! ```text
//!  32-bit   int BE 1581511376 | roaring
//!  64-bit   int LE 1681511377 | long LE k | k x ( int LE high 32 bits | roaring )
//! ```
//!
//! Roaring is the portable form of the RoaringBitmap libraries. Of the 64-bit kind Java stores each bitmap from 0 to the last one that is
//! used, empty or not; readers take gaps too. Source: spec 02c §1.1, §1.3; Paimon `utils/OptimizedRoaringBitmap64.java`.

use roaring::RoaringBitmap;

use super::{DeletionVector, DvKind};
use crate::error::{IndexError, Result};

/// Begins a 32-bit vector, big endian.
const MAGIC_32: u32 = 1_581_511_376;
/// Begins a 64-bit vector, little endian.
const MAGIC_64: u32 = 1_681_511_377;

/// A bitmap without positions.
const EMPTY: [u8; 8] = [0x3a, 0x30, 0, 0, 0, 0, 0, 0];

/// The bytes of a vector.
pub(super) fn encode(vector: &DeletionVector) -> Result<Vec<u8>> {
    let limit = vector.kind().last_position();
    if let Some(position) = vector.last().filter(|last| *last > limit) {
        return Err(IndexError::Position { position, limit });
    }
    let mut out = Vec::new();
    match vector.kind() {
        DvKind::Bits32 => {
            out.extend_from_slice(&MAGIC_32.to_be_bytes());
            // Positions end below 2^31, so there is one bitmap at most.
            match vector.bitmaps().next() {
                Some((_, bitmap)) => put(&mut out, bitmap),
                None => out.extend_from_slice(&EMPTY),
            }
        }
        DvKind::Bits64 => {
            out.extend_from_slice(&MAGIC_64.to_le_bytes());
            let highs = vector.last().map_or(0, |last| (last >> 32) + 1);
            out.extend_from_slice(&highs.to_le_bytes());
            let mut next = 0_u32;
            for (high, bitmap) in vector.bitmaps() {
                for empty in next..high {
                    out.extend_from_slice(&empty.to_le_bytes());
                    out.extend_from_slice(&EMPTY);
                }
                out.extend_from_slice(&high.to_le_bytes());
                put(&mut out, bitmap);
                next = high.saturating_add(1);
            }
        }
    }
    Ok(out)
}

fn put(out: &mut Vec<u8>, bitmap: &RoaringBitmap) {
    let mut bitmap = bitmap.clone();
    bitmap.optimize();
    out.reserve(bitmap.serialized_size());
    // Writing to memory does not fail.
    let _ = bitmap.serialize_into(out);
}

/// The vector in `body`, which lies in `path`; `offset` is where its frame begins.
pub(super) fn decode(path: &str, offset: u64, body: &[u8]) -> Result<DeletionVector> {
    let damaged = |reason: String| IndexError::Bitmap {
        path: path.to_owned(),
        offset,
        reason,
    };
    let Some((magic, mut rest)) = body.split_first_chunk::<4>() else {
        return Err(IndexError::Truncated {
            path: path.to_owned(),
            what: "the kind of a vector",
            offset: offset + 4,
            needed: 4,
            available: body.len() as u64,
        });
    };
    let vector = if u32::from_be_bytes(*magic) == MAGIC_32 {
        let bitmap = take(&mut rest).map_err(damaged)?;
        DeletionVector::from_bitmaps(DvKind::Bits32, vec![(0, bitmap)])
    } else if u32::from_le_bytes(*magic) == MAGIC_64 {
        let bitmaps = take_all(&mut rest).map_err(damaged)?;
        DeletionVector::from_bitmaps(DvKind::Bits64, bitmaps)
    } else {
        return Err(IndexError::Magic {
            path: path.to_owned(),
            offset,
            found: u32::from_be_bytes(*magic),
        });
    };
    if !rest.is_empty() {
        return Err(damaged(format!("{} bytes follow it", rest.len())));
    }
    Ok(vector)
}

fn take_all(rest: &mut &[u8]) -> Result<Vec<(u32, RoaringBitmap)>, String> {
    let count = split::<8>(rest).map(u64::from_le_bytes);
    let count = count.ok_or("it ends before the number of its bitmaps")?;
    // Not reserved: each bitmap must be there first.
    let mut bitmaps: Vec<(u32, RoaringBitmap)> = Vec::new();
    for number in 0..count {
        let high = split::<4>(rest).map(u32::from_le_bytes);
        let high = high.ok_or_else(|| format!("it ends before bitmap {number} of {count}"))?;
        if i32::try_from(high).is_err() {
            return Err(format!("bitmap {number} holds negative positions"));
        }
        if bitmaps.last().is_some_and(|(before, _)| *before >= high) {
            return Err(format!("bitmap {number} is out of order"));
        }
        bitmaps.push((high, take(rest)?));
    }
    Ok(bitmaps)
}

fn take(rest: &mut &[u8]) -> Result<RoaringBitmap, String> {
    RoaringBitmap::deserialize_from(rest).map_err(|error| error.to_string())
}

fn split<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*head)
}
