//! Consumer files: how far a named reader has come.

use serde_json::{Map, Value};
use tidewater_types::SnapshotId;

use crate::error::Result;
use crate::json::{Members, to_java_pretty};

/// Progress of a named reader.
#[derive(Debug, Clone, PartialEq)]
pub struct Consumer {
    /// The snapshot it reads next; expiry keeps it and all after it.
    pub next_snapshot: SnapshotId,
    /// Members we do not know, written back as they came.
    pub extra: Map<String, Value>,
}

impl Consumer {
    /// A reader that reads this snapshot next.
    pub fn new(next_snapshot: SnapshotId) -> Self {
        Self {
            next_snapshot,
            extra: Map::new(),
        }
    }

    /// Reads a consumer file; without the number the answer is 0, as in Java.
    ///
    /// # Errors
    /// [`FormatError::Json`](crate::FormatError::Json) for a torn file, which is worth another try: consumer files are
    /// overwritten in place. [`FormatError::Corrupt`](crate::FormatError::Corrupt) for what is no consumer.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        let mut members = Members::parse("consumer", bytes)?;
        let next_snapshot = SnapshotId(members.long("nextSnapshot")?.unwrap_or(0));
        Ok(Self {
            next_snapshot,
            extra: members.into_rest(),
        })
    }

    /// The consumer file's bytes, as Java would print them.
    pub fn to_json(&self) -> Vec<u8> {
        let mut members = Map::new();
        members.insert("nextSnapshot".to_owned(), self.next_snapshot.0.into());
        members.extend(self.extra.clone());
        to_java_pretty(&Value::Object(members))
    }
}
