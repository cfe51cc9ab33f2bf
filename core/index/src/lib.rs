//! Index files: which rows of a data file are deleted, and which bucket holds a key.
//!
//! - **Deletion vectors:** a [`DeletionVector`] is a set of row positions of one data file. Many of them lie in one index file
//!   ([`decode_dv_file`], [`encode_dv_files`]); the index manifest says where each one is ([`DeletionFile`], [`deletion_files`]).
//! - **Hash index:** the key hashes of one dynamic bucket ([`decode_hashes`], [`encode_hashes`]), and what chooses the bucket of a key
//!   ([`HashBucketAssigner`], [`SequentialBucketAssigner`]).

mod deletion_vector;
mod error;
mod hash_index;
#[cfg(test)]
mod vectors;

pub use self::deletion_vector::{
    DELETION_VECTORS, DeletionFile, DeletionFiles, DeletionVector, DvEntry, DvKind, EncodedDvFile,
    check_dv_layout, decode_dv_entries, decode_dv_file, deletion_files, encode_dv_files,
    read_deletion_vector, read_dv_file, write_dv_file,
};
pub use self::error::{IndexError, Result};
pub use self::hash_index::{
    AssignerOptions, HASH, HashBucketAssigner, HashFile, MAX_BUCKETS, SequentialBucketAssigner,
    decode_hashes, encode_hashes, read_hash_file, write_hash_file,
};
