//! Numbers that name things: newtypes so that a snapshot id is never taken for a schema id.

/// Number of a snapshot of one table (or branch); the first is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SnapshotId(pub i64);

impl SnapshotId {
    /// Id of the first snapshot of a table.
    pub const FIRST: Self = Self(1);

    /// The id after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// Number of a version of a table's schema; the first is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SchemaId(pub i64);

impl SchemaId {
    /// Id of the schema that a table is created with.
    pub const FIRST: Self = Self(0);

    /// The id after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// Number of a bucket inside its partition.
///
/// Ordinary buckets are 0 and above; [`Bucket::POSTPONE`] holds files that wait for their distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bucket(pub i32);

impl Bucket {
    /// The bucket of files that no bucket was chosen for yet (`bucket = -2`).
    pub const POSTPONE: Self = Self(-2);

    /// Name of the bucket's directory: `bucket-3`, and `bucket-postpone` for -2 (spec 01 §1).
    pub fn directory_name(self) -> String {
        if self == Self::POSTPONE {
            "bucket-postpone".to_owned()
        } else {
            format!("bucket-{}", self.0)
        }
    }
}

macro_rules! display_as_number {
    ($($name:ident)*) => {$(
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&self.0, f)
            }
        }
    )*};
}

display_as_number!(SnapshotId SchemaId Bucket);
