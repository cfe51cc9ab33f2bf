//! A file of key hashes: big-endian integers, one after the other.

use bytes::Bytes;
use tidewater_format::IndexFileMeta;
use tidewater_io::FileIo;

use crate::error::{IndexError, Result};

/// The type of hash index files, as index manifests have it.
pub const HASH: &str = "HASH";

/// The hashes of one bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashFile {
    /// The bucket.
    pub bucket: i32,
    /// The hashes of its keys, in no order.
    pub hashes: Vec<i32>,
}

/// The bytes of a file with these hashes.
pub fn encode_hashes(hashes: &[i32]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| hash.to_be_bytes()).collect()
}

/// The hashes of the file at `path`, in file order.
///
/// # Errors
/// [`IndexError::HashBytes`] if the file ends inside a hash.
pub fn decode_hashes(path: &str, bytes: &[u8]) -> Result<Vec<i32>> {
    let (hashes, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(IndexError::HashBytes {
            path: path.to_owned(),
            bytes: bytes.len() as u64,
        });
    }
    Ok(hashes
        .iter()
        .map(|hash| i32::from_be_bytes(*hash))
        .collect())
}

/// Reads the file at `path`, which has the number of hashes that `file` says.
///
/// # Errors
/// Damage; another number of hashes; the store's.
pub async fn read_hash_file(io: &FileIo, path: &str, file: &IndexFileMeta) -> Result<Vec<i32>> {
    let hashes = decode_hashes(path, &io.read(path).await?)?;
    if i64::try_from(hashes.len()).ok() != Some(file.row_count) {
        return Err(IndexError::HashCount {
            path: path.to_owned(),
            expected: file.row_count,
            found: hashes.len() as u64,
        });
    }
    Ok(hashes)
}

/// Writes a file; the answer goes into the index manifest.
///
/// # Errors
/// The store's, also if the path is taken.
pub async fn write_hash_file(
    io: &FileIo,
    path: &str,
    file_name: String,
    hashes: &[i32],
) -> Result<IndexFileMeta> {
    let bytes = Bytes::from(encode_hashes(hashes));
    let meta = IndexFileMeta {
        index_type: HASH.to_owned(),
        file_name,
        file_size: i64::try_from(bytes.len()).unwrap_or(i64::MAX),
        row_count: i64::try_from(hashes.len()).unwrap_or(i64::MAX),
        deletion_vectors: None,
        external_path: None,
        global_index: None,
    };
    io.write(path, bytes).await?;
    Ok(meta)
}
