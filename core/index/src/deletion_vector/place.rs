//! Where the vector of a data file is, and reading that one.

use std::collections::HashMap;
use std::sync::Arc;

use tidewater_format::{DvMeta, IndexFileMeta};
use tidewater_io::FileIo;

use super::file::check_against;
use super::{DeletionVector, entry};
use crate::error::{IndexError, Result};

/// The type of index files that hold deletion vectors, as index manifests have it.
pub const DELETION_VECTORS: &str = "DELETION_VECTORS";

/// Where the deletion vector of one data file is. Source: Paimon `table/source/DeletionFile.java`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletionFile {
    /// The index file.
    pub path: Arc<str>,
    /// Bytes of the index file.
    pub file_bytes: u64,
    /// The first byte of the vector's frame.
    pub offset: u64,
    /// The vector's length as the index manifest has it.
    pub length: u64,
    /// Rows that it deletes; files of old writers do not say.
    pub cardinality: Option<u64>,
}

/// Where the deletion vectors of some data files are, by the names of the data files.
pub type DeletionFiles = HashMap<String, DeletionFile>;

/// Where the vectors of the index file at `path` are.
///
/// # Errors
/// [`IndexError::Place`] for places that no file has; [`IndexError::Unlisted`] if no place is said.
pub fn deletion_files(path: &str, file: &IndexFileMeta) -> Result<Vec<(String, DeletionFile)>> {
    let path: Arc<str> = Arc::from(path);
    let file_bytes = u64::try_from(file.file_size).unwrap_or(0);
    let place = |range: &DvMeta| {
        let damaged = || IndexError::Place {
            path: path.to_string(),
            data_file: range.data_file_name.clone(),
            offset: i64::from(range.offset),
            length: i64::from(range.length),
        };
        let unsigned = |number: i64| u64::try_from(number).map_err(|_| damaged());
        let place = DeletionFile {
            path: Arc::clone(&path),
            file_bytes,
            offset: unsigned(range.offset.into())?,
            length: unsigned(range.length.into())?,
            cardinality: range.cardinality.map(unsigned).transpose()?,
        };
        if place.offset.saturating_add(place.length) > file_bytes {
            return Err(damaged());
        }
        Ok((range.data_file_name.clone(), place))
    };
    match &file.deletion_vectors {
        Some(ranges) => ranges.iter().map(place).collect(),
        None if file.row_count == 0 => Ok(Vec::new()),
        None => Err(IndexError::Unlisted {
            path: path.to_string(),
        }),
    }
}

/// Reads one vector, with one request.
///
/// # Errors
/// Damage, with file and offset; a length or cardinality that is not that of the index manifest; the store's.
pub async fn read_deletion_vector(io: &FileIo, place: &DeletionFile) -> Result<DeletionVector> {
    let (path, offset) = (&*place.path, place.offset);
    // Whether the length is that of the frame depends on the kind, which is inside.
    let end = offset
        .saturating_add(place.length)
        .saturating_add(entry::FRAME_BYTES);
    let end = end.min(place.file_bytes);
    if offset >= end {
        return Err(IndexError::Truncated {
            path: path.to_owned(),
            what: "a vector",
            offset,
            needed: place.length,
            available: 0,
        });
    }
    let bytes = io.read_range(path, offset..end).await?;
    let (vector, frame) = entry::decode(path, offset, &bytes)?;
    let length = i64::try_from(place.length).unwrap_or(i64::MAX);
    let cardinality = place.cardinality.and_then(|rows| i64::try_from(rows).ok());
    check_against(path, offset, &vector, frame, length, cardinality)?;
    Ok(vector)
}
