//! What becomes of several versions of one key.

use tidewater_format::TableOptions;

use crate::error::{MergeError, Result};

/// The merge engine of a table, option `merge-engine`.
///
/// The set is closed by the values Paimon defines (spec 02b §6). Only `Deduplicate` is built: making a merge with
/// another engine answers [`MergeError::Unsupported`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeEngine {
    /// The newest version is the row; a retraction as newest version means the key is gone.
    Deduplicate {
        /// Option `ignore-delete`: retractions lose against every other version, and a key that has several
        /// versions, all of them retractions, has no result. A single version stays what it is.
        ignore_delete: bool,
    },
    /// Columns of the versions are folded, nulls do not overwrite.
    PartialUpdate,
    /// Each column has an aggregate function.
    Aggregation,
    /// The oldest version is the row.
    FirstRow,
}

impl MergeEngine {
    /// The engine a table asks for, built or not.
    ///
    /// # Errors
    /// [`MergeError::Unsupported`] for an engine this crate has no name for.
    pub fn from_table(options: &TableOptions) -> Result<Self> {
        Ok(match options.merge_engine {
            tidewater_format::MergeEngine::Deduplicate => Self::Deduplicate {
                ignore_delete: options.ignore_delete,
            },
            tidewater_format::MergeEngine::PartialUpdate => Self::PartialUpdate,
            tidewater_format::MergeEngine::Aggregation => Self::Aggregation,
            tidewater_format::MergeEngine::FirstRow => Self::FirstRow,
            other => {
                return Err(MergeError::Unsupported {
                    what: format!("merge-engine={other:?}"),
                });
            }
        })
    }

    /// The value of the option `merge-engine` that names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deduplicate { .. } => "deduplicate",
            Self::PartialUpdate => "partial-update",
            Self::Aggregation => "aggregation",
            Self::FirstRow => "first-row",
        }
    }

    /// How this engine treats retractions, if it is built.
    ///
    /// # Errors
    /// [`MergeError::Unsupported`] for every engine but deduplicate.
    pub(crate) fn built(self) -> Result<Dedup> {
        match self {
            Self::Deduplicate { ignore_delete } => Ok(Dedup { ignore_delete }),
            other => Err(MergeError::Unsupported {
                what: format!("merge-engine={}", other.name()),
            }),
        }
    }
}

/// The deduplicate engine, the one that runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dedup {
    pub(crate) ignore_delete: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_names_its_engine_and_whether_deletes_are_ignored() {
        let engine = |values: &[(&str, &str)]| {
            let values = values
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
            MergeEngine::from_table(&TableOptions::from_map(&values.collect()).unwrap()).unwrap()
        };
        let deduplicate = |ignore_delete| MergeEngine::Deduplicate { ignore_delete };
        assert_eq!(engine(&[]), deduplicate(false));
        assert_eq!(engine(&[("ignore-delete", "true")]), deduplicate(true));
        assert_eq!(
            engine(&[("deduplicate.ignore-delete", "true")]),
            deduplicate(true)
        );
        for other in [
            MergeEngine::PartialUpdate,
            MergeEngine::Aggregation,
            MergeEngine::FirstRow,
        ] {
            assert_eq!(engine(&[("merge-engine", other.name())]), other);
            assert!(other.built().is_err());
        }
    }
}
