//! Which dynamic bucket holds a key: the hashes on disk, and what chooses a bucket for a new one.
//!
//! ```text
//!  HASH files of a partition ─load─> HashBucketAssigner ─assign(partition, hash)─> bucket
//!                                            '─ new hashes ─> the bucket's file, written whole, in the commit that brings their rows
//! ```
//!
//! Source: spec 02c §2, 01c §4.4; Paimon `index/HashIndexFile.java`, `HashBucketAssigner.java`, `PartitionIndex.java`,
//! `SimpleHashBucketAssigner.java`.

mod assigner;
mod file;
mod hasher;
mod sequential;
#[cfg(test)]
mod tests;

pub use self::assigner::{AssignerOptions, HashBucketAssigner, MAX_BUCKETS};
pub use self::file::{
    HASH, HashFile, decode_hashes, encode_hashes, read_hash_file, write_hash_file,
};
pub use self::sequential::SequentialBucketAssigner;
