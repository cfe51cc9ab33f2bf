//! 64-bit bitmaps in the layout of Java's `Roaring64Bitmap`: a radix tree over the upper 48 bits, then the containers.
//!
//! ```text
//!  0                                                                     the empty bitmap
//!  1 | leaves u64 | node | arrays of containers u32
//!    | each array: 0xfe | entries u32 | each entry: 0, or 1 | form u8 | values u32 | container
//!    | containers u64 | index of the last array i32 | index of the last container i32
//!
//!  node    type u8 | children u16 | length of the prefix u8 | prefix | body | children, in order of their bytes
//!  body    0: 4 key bytes as a u32   1: 16 key bytes as two u64   2: index of the child for each of 256 bytes
//!          3: 256 bits   4: a leaf: the 48 bits, big endian, and the place of its container as (array << 32 | entry)
//! ```
//!
//! Numbers are little endian; key bytes that are packed into a number are packed from its top, so they lie reversed.
//! Java writes the containers in the order they came; here they are in key order. A reader follows the leaves.
//!
//! Source: RoaringBitmap `longlong/HighLowContainer.java`, `art/Art.java`, `art/Node*.java`, `art/Containers.java`;
//! Paimon `utils/RoaringBitmap64.java`.

use super::container::Container;
use super::{BitmapError, Containers, Reader, Result};

const EMPTY: u8 = 0;
const NOT_EMPTY: u8 = 1;
const NODE_4: u8 = 0;
const NODE_16: u8 = 1;
const NODE_48: u8 = 2;
const NODE_256: u8 = 3;
const LEAF: u8 = 4;
const NOT_TRIMMED: u8 = 0xfe;
const RUNS: u8 = 0;
const BITS: u8 = 1;
const ARRAY: u8 = 2;
/// Bytes of a key: the upper 48 bits of a value.
const KEY_BYTES: usize = 6;

pub(super) fn decode(bytes: &[u8]) -> Result<Containers<u64>> {
    let mut reader = Reader::new(bytes);
    match reader.u8("tag")? {
        EMPTY => return Ok(Containers::default()),
        NOT_EMPTY => {}
        found => return Err(invalid("tag", found)),
    }
    reader.u64("number of leaves")?;
    let mut leaves = Vec::new();
    read_node(&mut reader, KEY_BYTES, &mut leaves)?;
    let mut arrays = read_containers(&mut reader)?;
    leaves.sort_unstable();
    let mut containers: Vec<(u64, Container)> = Vec::with_capacity(leaves.len());
    for (key, place) in leaves {
        if containers.last().is_some_and(|(last, _)| *last == key) {
            return Err(BitmapError::OutOfOrder {
                part: "keys of leaves",
            });
        }
        let (array, entry) = ((place >> 32) as usize, (place & 0xffff_ffff) as usize);
        let container = arrays
            .get_mut(array)
            .and_then(|array| array.get_mut(entry))
            .and_then(Option::take)
            .ok_or(BitmapError::Invalid {
                part: "place of a container",
                found: place,
            })?;
        if !container.is_empty() {
            containers.push((key, container));
        }
    }
    Ok(Containers(containers))
}

fn invalid(part: &'static str, found: impl Into<u64>) -> BitmapError {
    BitmapError::Invalid {
        part,
        found: found.into(),
    }
}

/// Reads a node and what is below it. Every inner node uses up a byte of the key, so the depth is bounded.
fn read_node(
    reader: &mut Reader<'_>,
    key_bytes_left: usize,
    leaves: &mut Vec<(u64, u64)>,
) -> Result<()> {
    let kind = reader.u8("type of a node")?;
    let children = reader.u16("number of children")?;
    let prefix = usize::from(reader.u8("length of a prefix")?);
    reader.take(prefix, "prefix")?;
    let (body, most_children) = match kind {
        NODE_4 => (4, 4),
        NODE_16 => (16, 16),
        NODE_48 => (256, 48),
        NODE_256 => (32, 256),
        LEAF => {
            let mut key = [0; 8];
            let stored = reader.take(KEY_BYTES, "key of a leaf")?;
            for (to, from) in key.iter_mut().skip(2).zip(stored) {
                *to = *from;
            }
            leaves.push((u64::from_be_bytes(key), reader.u64("place of a container")?));
            return Ok(());
        }
        other => return Err(invalid("type of a node", other)),
    };
    reader.take(body, "keys of a node")?;
    let key_bytes_left = key_bytes_left
        .checked_sub(prefix + 1)
        .ok_or_else(|| invalid("length of a prefix", prefix as u64))?;
    if children == 0 || children > most_children {
        return Err(invalid("number of children", children));
    }
    for _ in 0..children {
        read_node(reader, key_bytes_left, leaves)?;
    }
    Ok(())
}

fn read_containers(reader: &mut Reader<'_>) -> Result<Vec<Vec<Option<Container>>>> {
    let count = reader.u32("number of container arrays")? as usize;
    let mut arrays = Vec::new();
    for _ in 0..count {
        reader.u8("mark of a container array")?;
        let entries = reader.u32("number of containers")? as usize;
        // Every entry has at least one byte.
        let mut array = Vec::with_capacity(entries.min(reader.left()));
        for _ in 0..entries {
            array.push(match reader.u8("mark of a container")? {
                0 => None,
                1 => Some(read_container(reader)?),
                found => return Err(invalid("mark of a container", found)),
            });
        }
        arrays.push(array);
    }
    Ok(arrays)
}

fn read_container(reader: &mut Reader<'_>) -> Result<Container> {
    let form = reader.u8("form of a container")?;
    let values = reader.u32("values of a container")? as usize;
    match form {
        RUNS => Container::read_runs(reader),
        BITS => Container::read_bits(reader, values),
        ARRAY => Container::read_array(reader, values),
        found => Err(invalid("form of a container", found)),
    }
}

pub(super) fn encode(bitmap: &Containers<u64>) -> Vec<u8> {
    if bitmap.0.is_empty() {
        return vec![EMPTY];
    }
    let mut out = vec![NOT_EMPTY];
    out.extend((bitmap.0.len() as u64).to_le_bytes());
    let leaves: Vec<(u64, u64)> = bitmap.0.iter().map(|(key, _)| *key).zip(0..).collect();
    write_node(&mut out, &leaves, 0);
    // Java's arrays hold up to 2^31 entries; as many containers of a bitmap that came from memory fit in one.
    let count = u32::try_from(bitmap.0.len()).unwrap_or(u32::MAX);
    out.extend(1_u32.to_le_bytes());
    out.push(NOT_TRIMMED);
    out.extend(count.to_le_bytes());
    for (_, container) in &bitmap.0 {
        let container = container.clone().smallest();
        let form = match container {
            Container::Runs(_) => RUNS,
            Container::Bits(_) => BITS,
            Container::Array(_) => ARRAY,
        };
        out.extend([1, form]);
        // At most 65,536.
        let values = u32::try_from(container.count()).unwrap_or(1 << 16);
        out.extend(values.to_le_bytes());
        container.write(&mut out);
    }
    out.extend((bitmap.0.len() as u64).to_le_bytes());
    out.extend(0_u32.to_le_bytes());
    out.extend(count.saturating_sub(1).to_le_bytes());
    out
}

/// The byte of a key at a depth, 0 the first.
fn key_byte(key: u64, depth: usize) -> u8 {
    let [_, _, bytes @ ..] = key.to_be_bytes();
    bytes.get(depth).copied().unwrap_or_default()
}

/// Writes the node over leaves with ascending keys that are equal in the first `depth` bytes.
fn write_node(out: &mut Vec<u8>, leaves: &[(u64, u64)], depth: usize) {
    let (Some((first, place)), Some((last, _))) = (leaves.first(), leaves.last()) else {
        return;
    };
    if leaves.len() == 1 {
        out.extend([LEAF, 0, 0, 0]);
        let [_, _, key @ ..] = first.to_be_bytes();
        out.extend(key);
        out.extend(place.to_le_bytes());
        return;
    }
    // Keys ascend, so what the first and the last share is shared by all.
    let shared = (depth..KEY_BYTES)
        .take_while(|at| key_byte(*first, *at) == key_byte(*last, *at))
        .count();
    let branch = depth + shared;
    let children: Vec<&[(u64, u64)]> = leaves
        .chunk_by(|left, right| key_byte(left.0, branch) == key_byte(right.0, branch))
        .collect();
    let bytes: Vec<u8> = children
        .iter()
        .filter_map(|child| child.first())
        .map(|(key, _)| key_byte(*key, branch))
        .collect();
    out.push(match children.len() {
        0..=4 => NODE_4,
        5..=16 => NODE_16,
        17..=48 => NODE_48,
        _ => NODE_256,
    });
    // At most 256 children and 5 bytes of prefix.
    out.extend(u16::try_from(children.len()).unwrap_or(256).to_le_bytes());
    out.push(u8::try_from(shared).unwrap_or_default());
    out.extend((depth..branch).map(|at| key_byte(*first, at)));
    write_keys(out, &bytes);
    for child in children {
        write_node(out, child, branch + 1);
    }
}

/// The body of a node with these ascending bytes.
fn write_keys(out: &mut Vec<u8>, bytes: &[u8]) {
    match bytes.len() {
        0..=4 => write_reversed::<4>(out, bytes, 0),
        5..=16 => {
            let (low, high) = bytes.split_at(bytes.len().min(8));
            write_reversed::<8>(out, low, 0);
            write_reversed::<8>(out, high, 0);
        }
        17..=48 => {
            let mut places = [0xff; 256];
            for (place, byte) in (0..).zip(bytes) {
                if let Some(slot) = places.get_mut(usize::from(*byte)) {
                    *slot = place;
                }
            }
            for places in places.chunks(8) {
                write_reversed::<8>(out, places, 0);
            }
        }
        _ => {
            let mut bits = [0_u8; 32];
            for byte in bytes {
                if let Some(slot) = bits.get_mut(usize::from(byte / 8)) {
                    *slot |= 1 << (byte % 8);
                }
            }
            out.extend(bits);
        }
    }
}

/// Bytes packed from the top of a little-endian number, the rest filled.
fn write_reversed<const N: usize>(out: &mut Vec<u8>, bytes: &[u8], fill: u8) {
    let mut packed = [fill; N];
    for (to, from) in packed.iter_mut().zip(bytes) {
        *to = *from;
    }
    packed.reverse();
    out.extend(packed);
}
