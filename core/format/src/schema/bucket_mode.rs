//! How rows of a table find their buckets.

use super::TableSchema;
use crate::error::{FormatError, Result};

/// Bucket mode of a table (spec 01a §1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BucketMode {
    /// This many buckets per partition; the hash of the bucket key decides.
    Fixed(i32),
    /// Keyed table whose buckets grow with the keys; an index remembers where each key is.
    Dynamic,
    /// As dynamic, with keys that may move between partitions.
    KeyDynamic,
    /// Append table without buckets: every file is in bucket 0.
    Unaware,
    /// Keyed table whose new files wait in bucket -2 until a later job distributes them.
    Postpone,
}

impl BucketMode {
    /// The mode of this table.
    ///
    /// # Errors
    /// [`FormatError::InvalidOption`] if `bucket` is no number, 0, below -2, or -2 without a primary key.
    pub(super) fn of(schema: &TableSchema) -> Result<Self> {
        let text = schema.options.get("bucket").map_or("-1", String::as_str);
        match (text.parse::<i32>(), schema.is_keyed()) {
            (Ok(buckets @ 1..), _) => Ok(Self::Fixed(buckets)),
            (Ok(-1), false) => Ok(Self::Unaware),
            (Ok(-1), true) if schema.cross_partition_update() => Ok(Self::KeyDynamic),
            (Ok(-1), true) => Ok(Self::Dynamic),
            (Ok(-2), true) => Ok(Self::Postpone),
            (_, keyed) => Err(FormatError::InvalidOption {
                key: "bucket".to_owned(),
                value: text.to_owned(),
                expected: if keyed {
                    "a positive number, -1 (dynamic) or -2 (postpone)".to_owned()
                } else {
                    "a positive number, or -1 (no buckets)".to_owned()
                },
            }),
        }
    }

    /// The number that `_TOTAL_BUCKETS` of manifest entries carries: the bucket count, -1 or -2.
    pub fn total_buckets(self) -> i32 {
        match self {
            Self::Fixed(buckets) => buckets,
            Self::Dynamic | Self::KeyDynamic | Self::Unaware => -1,
            Self::Postpone => -2,
        }
    }
}
