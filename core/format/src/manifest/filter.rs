//! Which entries of a manifest a reader wants, and how much of each.

use std::fmt;
use std::sync::Arc;

use tidewater_types::BinaryRow;

type PartitionTest = Arc<dyn Fn(&BinaryRow) -> bool + Send + Sync>;
type BucketTest = Arc<dyn Fn(i32, i32) -> bool + Send + Sync>;
type LevelTest = Arc<dyn Fn(i32) -> bool + Send + Sync>;

/// Tests that run while a manifest is decoded; what fails one is passed without being built.
///
/// A test is pure: the partition test runs once per distinct partition of a manifest, not once per entry.
/// Entries read without statistics are for planning. They must not be written to a manifest again.
#[derive(Clone, Default)]
pub struct ManifestFilter {
    partition: Option<PartitionTest>,
    bucket: Option<BucketTest>,
    level: Option<LevelTest>,
    without_key_stats: bool,
    without_value_stats: bool,
}

impl ManifestFilter {
    /// Wants every entry with everything in it.
    pub fn all() -> Self {
        Self::default()
    }

    /// Wants entries of partitions that pass `test` only.
    #[must_use]
    pub fn with_partition(
        mut self,
        test: impl Fn(&BinaryRow) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.partition = Some(Arc::new(test));
        self
    }

    /// Wants entries whose bucket and total buckets (in this order) pass `test` only.
    #[must_use]
    pub fn with_bucket(mut self, test: impl Fn(i32, i32) -> bool + Send + Sync + 'static) -> Self {
        self.bucket = Some(Arc::new(test));
        self
    }

    /// Wants entries whose level passes `test` only.
    #[must_use]
    pub fn with_level(mut self, test: impl Fn(i32) -> bool + Send + Sync + 'static) -> Self {
        self.level = Some(Arc::new(test));
        self
    }

    /// Leaves `key_stats` empty.
    #[must_use]
    pub fn without_key_stats(mut self) -> Self {
        self.without_key_stats = true;
        self
    }

    /// Leaves `value_stats` empty and `value_stats_cols` an empty list.
    #[must_use]
    pub fn without_value_stats(mut self) -> Self {
        self.without_value_stats = true;
        self
    }

    pub(super) fn wants_partition(&self, partition: &BinaryRow) -> bool {
        self.partition.as_ref().is_none_or(|test| test(partition))
    }

    pub(super) fn wants_bucket(&self, bucket: i32, total_buckets: i32) -> bool {
        self.bucket
            .as_ref()
            .is_none_or(|test| test(bucket, total_buckets))
    }

    pub(super) fn wants_level(&self, level: i32) -> bool {
        self.level.as_ref().is_none_or(|test| test(level))
    }

    pub(super) fn wants_key_stats(&self) -> bool {
        !self.without_key_stats
    }

    pub(super) fn wants_value_stats(&self) -> bool {
        !self.without_value_stats
    }
}

impl fmt::Debug for ManifestFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManifestFilter")
            .field("partition", &self.partition.is_some())
            .field("bucket", &self.bucket.is_some())
            .field("level", &self.level.is_some())
            .field("key_stats", &!self.without_key_stats)
            .field("value_stats", &!self.without_value_stats)
            .finish()
    }
}
