//! Where a stream stands.

use serde::{Deserialize, Serialize};
use tidewater_types::SnapshotId;

use crate::error::{Result, TableError};

/// What a stream must remember to go on after a restart.
///
/// Take it after the rows of a plan have been dealt with: it stands behind every plan that was handed out. Its JSON is
/// `{"nextSnapshot":7}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "PositionJson", into = "PositionJson")]
pub struct StreamPosition {
    /// The snapshot that is looked at next; `None` before the start of the stream is settled, as in a table without snapshots.
    pub next_snapshot: Option<SnapshotId>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PositionJson {
    next_snapshot: Option<i64>,
}

impl From<StreamPosition> for PositionJson {
    fn from(position: StreamPosition) -> Self {
        Self {
            next_snapshot: position.next_snapshot.map(|next| next.0),
        }
    }
}

impl From<PositionJson> for StreamPosition {
    fn from(json: PositionJson) -> Self {
        Self {
            next_snapshot: json.next_snapshot.map(SnapshotId),
        }
    }
}

impl StreamPosition {
    /// As JSON text.
    pub fn to_json(self) -> String {
        let next = self
            .next_snapshot
            .map_or("null".to_owned(), |next| next.to_string());
        format!("{{\"nextSnapshot\":{next}}}")
    }

    /// From that text.
    ///
    /// # Errors
    /// [`TableError::PositionText`].
    pub fn from_json(text: &str) -> Result<Self> {
        let refused = |source| TableError::PositionText {
            text: text.to_owned(),
            source,
        };
        let json: serde_json::Value = serde_json::from_str(text).map_err(refused)?;
        if json.get("nextSnapshot").is_none() {
            let missing = serde::de::Error::custom("it has no member nextSnapshot");
            return Err(refused(missing));
        }
        serde_json::from_value(json).map_err(refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_comes_back_from_its_text() {
        for (next, text) in [
            (None, "{\"nextSnapshot\":null}"),
            (Some(SnapshotId(7)), "{\"nextSnapshot\":7}"),
        ] {
            let position = StreamPosition {
                next_snapshot: next,
            };
            assert_eq!(position.to_json(), text);
            assert_eq!(serde_json::to_string(&position).unwrap(), text);
            assert_eq!(StreamPosition::from_json(text).unwrap(), position);
            assert_eq!(
                serde_json::from_str::<StreamPosition>(text).unwrap(),
                position
            );
        }
        for bad in ["", "7", "{\"next\":7}", "{\"nextSnapshot\":1.5}"] {
            let error = StreamPosition::from_json(bad).unwrap_err();
            assert!(matches!(error, TableError::PositionText { .. }), "{bad}");
        }
    }
}
