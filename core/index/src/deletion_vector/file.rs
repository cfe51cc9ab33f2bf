//! A file of many vectors: `byte 1`, then frame after frame, without anything between or behind them.
//!
//! Java loads a whole file without looking at the offsets of the index manifest: it takes frame after frame in the order of the manifest's
//! list. So the list must be in file order and without gaps ([`check_dv_layout`]). Reading here goes by the offsets.
//! Source: spec 02c §1.1, §1.2; Paimon `deletionvectors/DeletionVectorsIndexFile.java`, `DeletionVectorIndexFileWriter.java`.

use std::collections::HashMap;

use bytes::Bytes;
use tidewater_format::{DvMeta, IndexFileMeta};
use tidewater_io::FileIo;

use super::{DELETION_VECTORS, DeletionVector, entry};
use crate::error::{IndexError, Result};

/// The first byte of every file.
const VERSION: u8 = 1;

/// A vector and where it lies.
#[derive(Debug, Clone, PartialEq)]
pub struct DvEntry {
    /// The first byte of its frame.
    pub offset: u64,
    /// Its length as the index manifest has it.
    pub length: u64,
    /// The vector.
    pub vector: DeletionVector,
}

/// A file that is ready to be written, and what the index manifest says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodedDvFile {
    /// The bytes of the file.
    pub bytes: Bytes,
    /// Where the vector of each data file is, in file order.
    pub ranges: Vec<DvMeta>,
}

impl EncodedDvFile {
    /// What the index manifest says of the file under this name.
    pub fn meta(&self, file_name: String) -> IndexFileMeta {
        IndexFileMeta {
            index_type: DELETION_VECTORS.to_owned(),
            file_name,
            file_size: i64::try_from(self.bytes.len()).unwrap_or(i64::MAX),
            row_count: i64::try_from(self.ranges.len()).unwrap_or(i64::MAX),
            deletion_vectors: Some(self.ranges.clone()),
            external_path: None,
            global_index: None,
        }
    }
}

/// Puts the vectors of data files into files, in this order.
///
/// With a target size a file ends behind the vector that takes it over the target, as in tables without buckets; no vectors make no file.
/// Without one there is one file, also for no vectors, as in tables with buckets.
///
/// # Errors
/// [`IndexError::Position`] for positions that the kind cannot hold; [`IndexError::FileSize`] for a file of 2 GiB and more.
pub fn encode_dv_files<'a>(
    vectors: impl IntoIterator<Item = (&'a str, &'a DeletionVector)>,
    target_bytes: Option<u64>,
) -> Result<Vec<EncodedDvFile>> {
    let mut files = Vec::new();
    let mut open: Option<OpenFile> = target_bytes.is_none().then(OpenFile::new);
    for (data_file, vector) in vectors {
        let mut file = open.take().unwrap_or_else(OpenFile::new);
        file.append(data_file, vector)?;
        if target_bytes.is_some_and(|target| file.bytes.len() as u64 > target) {
            files.push(file.finish());
        } else {
            open = Some(file);
        }
    }
    files.extend(open.map(OpenFile::finish));
    Ok(files)
}

struct OpenFile {
    bytes: Vec<u8>,
    ranges: Vec<DvMeta>,
}

impl OpenFile {
    fn new() -> Self {
        Self {
            bytes: vec![VERSION],
            ranges: Vec::new(),
        }
    }

    fn append(&mut self, data_file: &str, vector: &DeletionVector) -> Result<()> {
        let frame = entry::encode(vector)?;
        let length = entry::manifest_length(vector.kind(), frame.len() as u64);
        let end = self.bytes.len() + frame.len();
        let (Ok(offset), Ok(length), true) = (
            i32::try_from(self.bytes.len()),
            i32::try_from(length),
            i32::try_from(end).is_ok(),
        ) else {
            return Err(IndexError::FileSize {
                limit: i32::MAX as u64,
            });
        };
        self.ranges.push(DvMeta {
            data_file_name: data_file.to_owned(),
            offset,
            length,
            cardinality: i64::try_from(vector.cardinality()).ok(),
        });
        self.bytes.extend_from_slice(&frame);
        Ok(())
    }

    fn finish(self) -> EncodedDvFile {
        EncodedDvFile {
            bytes: self.bytes.into(),
            ranges: self.ranges,
        }
    }
}

/// All vectors of a file, one after the other, without the index manifest, which alone knows whose they are.
///
/// # Errors
/// Damage, with the offset.
pub fn decode_dv_entries(path: &str, bytes: &[u8]) -> Result<Vec<DvEntry>> {
    check_version(path, bytes)?;
    let mut entries = Vec::new();
    let mut offset = 1_u64;
    while let Some(rest) = rest_at(bytes, offset).filter(|rest| !rest.is_empty()) {
        let (vector, frame) = entry::decode(path, offset, rest)?;
        entries.push(DvEntry {
            offset,
            length: entry::manifest_length(vector.kind(), frame),
            vector,
        });
        offset += frame;
    }
    Ok(entries)
}

/// The vector of each data file that the index manifest lists for this file.
///
/// # Errors
/// Damage of the file or of the list, with the offset; a cardinality that is not the list's.
pub fn decode_dv_file(
    path: &str,
    bytes: &[u8],
    ranges: &[DvMeta],
) -> Result<HashMap<String, DeletionVector>> {
    check_version(path, bytes)?;
    let mut vectors = HashMap::with_capacity(ranges.len().min(bytes.len()));
    for range in ranges {
        let offset = u64::try_from(range.offset).ok();
        let placed = offset.and_then(|offset| Some((offset, rest_at(bytes, offset)?)));
        let Some((offset, rest)) = placed else {
            return Err(IndexError::Place {
                path: path.to_owned(),
                data_file: range.data_file_name.clone(),
                offset: i64::from(range.offset),
                length: i64::from(range.length),
            });
        };
        let (vector, frame) = entry::decode(path, offset, rest)?;
        check_against(
            path,
            offset,
            &vector,
            frame,
            i64::from(range.length),
            range.cardinality,
        )?;
        vectors.insert(range.data_file_name.clone(), vector);
    }
    Ok(vectors)
}

/// Whether a vector is what the index manifest says.
pub(super) fn check_against(
    path: &str,
    offset: u64,
    vector: &DeletionVector,
    frame_bytes: u64,
    length: i64,
    cardinality: Option<i64>,
) -> Result<()> {
    let found = entry::manifest_length(vector.kind(), frame_bytes);
    if u64::try_from(length).ok() != Some(found) {
        return Err(IndexError::Length {
            path: path.to_owned(),
            offset,
            expected: length,
            found: i64::try_from(found).unwrap_or(i64::MAX),
        });
    }
    match cardinality {
        Some(expected) if u64::try_from(expected).ok() != Some(vector.cardinality()) => {
            Err(IndexError::Cardinality {
                path: path.to_owned(),
                offset,
                expected,
                found: vector.cardinality(),
            })
        }
        _ => Ok(()),
    }
}

/// Whether the list is as Java needs it: in file order, without gaps, from the first byte to the last. `entries` are those of the file.
///
/// # Errors
/// [`IndexError::Layout`] with the first vector that is out of place; [`IndexError::Length`] if the file goes on behind the last one.
pub fn check_dv_layout(path: &str, entries: &[DvEntry], ranges: &[DvMeta]) -> Result<()> {
    let mut entries = entries.iter();
    for range in ranges {
        let expected = entries
            .next()
            .map_or(-1, |entry| i64::try_from(entry.offset).unwrap_or(i64::MAX));
        if i64::from(range.offset) != expected {
            return Err(IndexError::Layout {
                path: path.to_owned(),
                data_file: range.data_file_name.clone(),
                expected,
                found: i64::from(range.offset),
            });
        }
    }
    match entries.next() {
        Some(more) => Err(IndexError::Length {
            path: path.to_owned(),
            offset: more.offset,
            expected: 0,
            found: i64::try_from(more.length).unwrap_or(i64::MAX),
        }),
        None => Ok(()),
    }
}

/// Reads a whole file: the vector of each data file that the index manifest lists.
///
/// # Errors
/// As [`decode_dv_file`]; the store's.
pub async fn read_dv_file(
    io: &FileIo,
    path: &str,
    ranges: &[DvMeta],
) -> Result<HashMap<String, DeletionVector>> {
    decode_dv_file(path, &io.read(path).await?, ranges)
}

/// Writes a file; the answer goes into the index manifest.
///
/// # Errors
/// The store's, also if the path is taken.
pub async fn write_dv_file(
    io: &FileIo,
    path: &str,
    file_name: String,
    file: &EncodedDvFile,
) -> Result<IndexFileMeta> {
    io.write(path, file.bytes.clone()).await?;
    Ok(file.meta(file_name))
}

fn check_version(path: &str, bytes: &[u8]) -> Result<()> {
    let found = bytes.first().copied();
    if found == Some(VERSION) {
        return Ok(());
    }
    Err(IndexError::Version {
        path: path.to_owned(),
        found,
    })
}

fn rest_at(bytes: &[u8], offset: u64) -> Option<&[u8]> {
    bytes.get(usize::try_from(offset).ok()?..)
}
