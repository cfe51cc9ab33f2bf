//! Chooses buckets for an overwrite, which does not look at what was there: one bucket is filled after the other.

use std::collections::{BTreeMap, HashMap};

use tidewater_types::BinaryRow;

use super::assigner::AssignerOptions;
use super::hasher::BucketOfHash;
use crate::error::{IndexError, Result};

/// Chooses buckets for rows that replace all that is there.
#[derive(Debug)]
pub struct SequentialBucketAssigner {
    options: AssignerOptions,
    partitions: HashMap<BinaryRow, Filling>,
    /// The largest bucket that was begun, in any partition.
    highest: i32,
}

#[derive(Debug, Default)]
struct Filling {
    known: BucketOfHash,
    /// Keys of each bucket.
    counts: BTreeMap<i32, u64>,
    current: i32,
}

impl SequentialBucketAssigner {
    /// An assigner of an empty table.
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

    /// The bucket of a key, and whether its hash is new and must go into the bucket's file.
    ///
    /// `pick` chooses one of so many when no bucket may be begun and the current one is full.
    ///
    /// # Errors
    /// [`IndexError::NoBucket`] if no number is left.
    pub fn assign(
        &mut self,
        partition: &BinaryRow,
        hash: i32,
        pick: impl FnOnce(usize) -> usize,
    ) -> Result<(i32, bool)> {
        if !self.partitions.contains_key(partition) {
            let mut filling = Filling::default();
            filling.begin(&self.options)?;
            self.partitions.insert(partition.clone(), filling);
        }
        let filling = self.partitions.get_mut(partition);
        let filling = filling.ok_or(IndexError::NotLoaded)?;
        if let Some(bucket) = filling.known.get(&hash) {
            return Ok((i32::from(*bucket), false));
        }
        let count = filling.counts.get(&filling.current).copied().unwrap_or(0);
        if count >= self.options.target_rows {
            let may_begin =
                self.options.max_buckets.is_none() || self.highest < self.options.end() - 1;
            if !may_begin || filling.begin(&self.options).is_err() {
                filling.again(&self.options, pick)?;
            }
        }
        let bucket = filling.current;
        *filling.counts.entry(bucket).or_default() += 1;
        filling
            .known
            .insert(hash, u16::try_from(bucket).unwrap_or(0));
        self.highest = self.highest.max(bucket);
        Ok((bucket, true))
    }
}

impl Filling {
    /// Goes on with a bucket that has no key.
    fn begin(&mut self, options: &AssignerOptions) -> Result<()> {
        let mut numbers = 0..options.end();
        let free =
            numbers.find(|number| options.owns(*number) && !self.counts.contains_key(number));
        self.current = free.ok_or(IndexError::NoBucket {
            in_use: self.counts.len(),
        })?;
        Ok(())
    }

    /// Goes on with one of the buckets that are full.
    fn again(
        &mut self,
        options: &AssignerOptions,
        pick: impl FnOnce(usize) -> usize,
    ) -> Result<()> {
        let none = IndexError::NoBucket {
            in_use: self.counts.len(),
        };
        if options.max_buckets.is_none() || self.counts.is_empty() {
            return Err(none);
        }
        let chosen = pick(self.counts.len()) % self.counts.len();
        self.current = self.counts.keys().nth(chosen).copied().ok_or(none)?;
        Ok(())
    }
}
