//! 32-bit bitmaps in the portable format.
//!
//! ```text
//!  no runs  | 12346 u32 | containers u32 | (key u16, values - 1 u16)* | offset u32 * | containers
//!  runs     | 12347 u16 | containers - 1 u16 | a bit per container: is it runs | (key, values - 1)*
//!           | offset u32 *, from 4 containers on | containers
//! ```
//!
//! Source: the published format specification of the roaring libraries; Paimon `utils/RoaringBitmap32.java`.

use super::container::{ARRAY_MAX, Container};
use super::{BitmapError, Containers, Reader, Result};

const COOKIE_NO_RUNS: u32 = 12346;
const COOKIE_RUNS: u32 = 12347;
/// Bitmaps with runs and fewer containers have no offsets.
const OFFSETS_FROM: usize = 4;

pub(super) fn decode(bytes: &[u8]) -> Result<Containers<u16>> {
    const COUNT: &str = "number of containers";
    let mut reader = Reader::new(bytes);
    let cookie = reader.u32("cookie")?;
    let (count, run_bits) = if cookie & 0xffff == COOKIE_RUNS {
        let count = (cookie >> 16) as usize + 1;
        (count, Some(reader.take(count.div_ceil(8), "run marks")?))
    } else if cookie == COOKIE_NO_RUNS {
        (reader.u32(COUNT)? as usize, None)
    } else {
        return Err(BitmapError::Invalid {
            part: "cookie",
            found: u64::from(cookie),
        });
    };
    if count > 1 << 16 {
        return Err(BitmapError::Invalid {
            part: COUNT,
            found: count as u64,
        });
    }
    let headers = reader.take(count * 4, "container headers")?;
    if run_bits.is_none() || count >= OFFSETS_FROM {
        reader.take(count * 4, "container offsets")?;
    }
    let mut containers: Vec<(u16, Container)> = Vec::with_capacity(count);
    for (at, header) in headers.as_chunks::<4>().0.iter().enumerate() {
        let [a, b, c, d] = *header;
        let key = u16::from_le_bytes([a, b]);
        let values = usize::from(u16::from_le_bytes([c, d])) + 1;
        if containers.last().is_some_and(|(last, _)| *last >= key) {
            return Err(BitmapError::OutOfOrder {
                part: "keys of containers",
            });
        }
        let marks = run_bits.and_then(|bits| bits.get(at / 8));
        let container = if marks.is_some_and(|marks| marks >> (at % 8) & 1 == 1) {
            Container::read_runs(&mut reader)?
        } else if values <= ARRAY_MAX {
            Container::read_array(&mut reader, values)?
        } else {
            Container::read_bits(&mut reader, values)?
        };
        if !container.is_empty() {
            containers.push((key, container));
        }
    }
    Ok(Containers(containers))
}

pub(super) fn encode(bitmap: &Containers<u16>) -> Vec<u8> {
    let containers: Vec<(u16, Container)> = bitmap
        .0
        .iter()
        .map(|(key, container)| (*key, container.clone().smallest()))
        .collect();
    let runs = |container: &Container| matches!(container, Container::Runs(_));
    let any_runs = containers.iter().any(|(_, container)| runs(container));
    // Keys are u16 and unique.
    let count = u32::try_from(containers.len()).unwrap_or(1 << 16);
    let mut out = Vec::new();
    if any_runs {
        out.extend((COOKIE_RUNS | count.saturating_sub(1) << 16).to_le_bytes());
        for containers in containers.chunks(8) {
            let marks = containers
                .iter()
                .enumerate()
                .map(|(at, (_, container))| u8::from(runs(container)) << at);
            out.push(marks.fold(0, |byte, mark| byte | mark));
        }
    } else {
        out.extend(COOKIE_NO_RUNS.to_le_bytes());
        out.extend(count.to_le_bytes());
    }
    for (key, container) in &containers {
        out.extend(key.to_le_bytes());
        // 1 to 65,536 values.
        let values = u16::try_from(container.count().saturating_sub(1)).unwrap_or(u16::MAX);
        out.extend(values.to_le_bytes());
    }
    if !any_runs || containers.len() >= OFFSETS_FROM {
        let mut offset = out.len() + containers.len() * 4;
        for (_, container) in &containers {
            // 65,536 containers of 8 KiB stay below 4 GiB.
            out.extend(u32::try_from(offset).unwrap_or(u32::MAX).to_le_bytes());
            offset += container.written_len();
        }
    }
    for (_, container) in &containers {
        container.write(&mut out);
    }
    out
}
