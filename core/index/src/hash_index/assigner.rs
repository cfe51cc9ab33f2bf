//! Chooses buckets for keys of a table that grows: keys that are known stay where they are, new ones fill buckets up to a number of rows.
//!
//! Several assigners may share a table: each owns the buckets of its own remainder and the keys that
//! [`dynamic_bucket_assigner`] sends to it. A single writer is assigner 0 of 1.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tidewater_types::{BinaryRow, dynamic_bucket_assigner};

use super::file::HashFile;
use super::hasher::BucketOfHash;
use crate::error::{IndexError, Result};

/// Bucket numbers are 16 bits wide in Java: there are this many.
pub const MAX_BUCKETS: i32 = i16::MAX as i32;

/// How buckets are filled, and which part of a table an assigner has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AssignerOptions {
    /// Keys of a bucket before another is begun (`dynamic-bucket.target-row-num`).
    pub target_rows: u64,
    /// Most buckets of a partition (`dynamic-bucket.max-buckets`); any number if `None`.
    pub max_buckets: Option<i32>,
    /// Tasks that rows are sent to.
    pub channels: i32,
    /// Assigners among them (`dynamic-bucket.initial-buckets`, at most the channels).
    pub assigners: i32,
    /// Which assigner this is, from 0 on.
    pub assigner: i32,
}

impl AssignerOptions {
    /// The only assigner of a table.
    pub fn single(target_rows: u64, max_buckets: Option<i32>) -> Self {
        Self {
            target_rows,
            max_buckets,
            channels: 1,
            assigners: 1,
            assigner: 0,
        }
    }

    pub(super) fn check(self) -> Result<Self> {
        if self.assigners < 1 || self.channels < 1 || self.assigner < 0 {
            return Err(IndexError::Assigner {
                assigner: self.assigner,
                assigners: self.assigners,
                channels: self.channels,
            });
        }
        Ok(self)
    }

    pub(super) fn owns(&self, bucket: i32) -> bool {
        bucket % self.assigners == self.assigner % self.assigners
    }

    /// The number behind the last bucket.
    pub(super) fn end(&self) -> i32 {
        let most = self.max_buckets.unwrap_or(MAX_BUCKETS);
        most.clamp(0, MAX_BUCKETS)
    }
}

/// Chooses buckets for the keys of one assigner.
#[derive(Debug)]
pub struct HashBucketAssigner {
    options: AssignerOptions,
    partitions: HashMap<BinaryRow, PartitionIndex>,
    /// The largest bucket that it chose, in any partition.
    highest: i32,
}

impl HashBucketAssigner {
    /// An assigner that knows no partition.
    ///
    /// # Errors
    /// [`IndexError::Assigner`] for numbers that make none.
    pub fn new(options: AssignerOptions) -> Result<Self> {
        Ok(Self {
            options: options.check()?,
            partitions: HashMap::new(),
            highest: 0,
        })
    }

    /// Whether the partition's index is loaded.
    pub fn knows(&self, partition: &BinaryRow) -> bool {
        self.partitions.contains_key(partition)
    }

    /// Loads the hash index of a partition; none of its files means a new partition. `partition_hash` is that of the partition's row.
    ///
    /// Buckets of other assigners are left out, and so are keys that belong to them. A bucket counts all keys of its file.
    pub fn load(
        &mut self,
        partition: BinaryRow,
        partition_hash: i32,
        files: impl IntoIterator<Item = HashFile>,
    ) -> Result<()> {
        let options = self.options;
        let mut index = PartitionIndex::default();
        for HashFile { bucket, hashes } in files {
            let Ok(short) = u16::try_from(bucket) else {
                continue;
            };
            for &hash in &hashes {
                let owner = dynamic_bucket_assigner(
                    partition_hash,
                    hash,
                    options.channels,
                    options.assigners,
                );
                if owner.is_ok_and(|owner| owner == options.assigner) {
                    index.known.insert(hash, short);
                }
            }
            if options.owns(bucket) && !hashes.is_empty() {
                *index.open.entry(bucket).or_default() += hashes.len() as u64;
                index.used.insert(bucket);
            }
        }
        self.partitions.insert(partition, index);
        Ok(())
    }

    /// The bucket of a key, and whether its hash is new and must go into the bucket's file.
    ///
    /// `pick` chooses one of so many when no bucket may be begun and all are full.
    ///
    /// # Errors
    /// [`IndexError::NotLoaded`]; [`IndexError::NoBucket`] if no number is left.
    pub fn assign(
        &mut self,
        partition: &BinaryRow,
        hash: i32,
        pick: impl FnOnce(usize) -> usize,
    ) -> Result<(i32, bool)> {
        let index = self.partitions.get_mut(partition);
        let index = index.ok_or(IndexError::NotLoaded)?;
        index.accessed = true;
        if let Some(bucket) = index.known.get(&hash) {
            return Ok((i32::from(*bucket), false));
        }
        let bucket = index.place(&self.options, self.highest, pick)?;
        index.known.insert(hash, u16::try_from(bucket).unwrap_or(0));
        self.highest = self.highest.max(bucket);
        Ok((bucket, true))
    }

    /// Forgets partitions that no key came for since the last call, once what they were asked for is committed: `committed` is the last
    /// identifier of this writer that is. They are loaded again when a key comes.
    pub fn prepare_commit(&mut self, identifier: i64, committed: Option<i64>) {
        self.partitions.retain(|_, index| {
            if std::mem::take(&mut index.accessed) {
                index.last_used = Some(identifier);
                return true;
            }
            // Not committed yet: what would be loaded lacks its new hashes.
            index
                .last_used
                .is_some_and(|used| committed.is_none_or(|committed| used > committed))
        });
    }
}

/// The buckets of one partition.
#[derive(Debug, Default)]
struct PartitionIndex {
    known: BucketOfHash,
    /// Buckets that may take more keys, with the number they have. A full one is taken out when it is met, for good.
    open: BTreeMap<i32, u64>,
    /// All buckets.
    used: BTreeSet<i32>,
    /// A key came since the last commit was prepared.
    accessed: bool,
    /// The last commit that keys came for.
    last_used: Option<i64>,
}

impl PartitionIndex {
    /// The bucket for a new key.
    fn place(
        &mut self,
        options: &AssignerOptions,
        highest: i32,
        pick: impl FnOnce(usize) -> usize,
    ) -> Result<i32> {
        while let Some(mut first) = self.open.first_entry() {
            if *first.get() < options.target_rows {
                *first.get_mut() += 1;
                return Ok(*first.key());
            }
            first.remove();
        }
        if self.used.is_empty() || highest < options.end() - 1 {
            let mut numbers = 0..options.end();
            let free = numbers.find(|number| options.owns(*number) && !self.used.contains(number));
            if let Some(bucket) = free {
                self.open.insert(bucket, 1);
                self.used.insert(bucket);
                return Ok(bucket);
            }
        }
        let full = IndexError::NoBucket {
            in_use: self.used.len(),
        };
        if options.max_buckets.is_none() || self.used.is_empty() {
            return Err(full);
        }
        // The number of its keys is not counted any more.
        let chosen = pick(self.used.len()) % self.used.len();
        self.used.iter().nth(chosen).copied().ok_or(full)
    }
}
