//! What becomes of several versions of one key.

use tidewater_format::TableOptions;

use crate::error::{MergeError, Result};

/// The merge engine of a table, option `merge-engine` (spec 02b §6).
///
/// Deduplicate and first-row pick one version, so a merge hands out [`Winners`](crate::Versions::Winners). The other
/// two fold versions: their merge hands out [`Groups`](crate::Versions::Groups) and a
/// [`FoldEngine`](crate::FoldEngine) makes rows of them.
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
    FirstRow {
        /// Option `ignore-delete`: retractions are no versions, a single one is dropped as well. Without it a
        /// retraction is an error.
        ignore_delete: bool,
    },
}

impl MergeEngine {
    /// The engine a table asks for.
    ///
    /// # Errors
    /// [`MergeError::Unsupported`] for an engine this crate has no name for.
    pub fn from_table(options: &TableOptions) -> Result<Self> {
        let ignore_delete = options.ignore_delete;
        Ok(match options.merge_engine {
            tidewater_format::MergeEngine::Deduplicate => Self::Deduplicate { ignore_delete },
            tidewater_format::MergeEngine::PartialUpdate => Self::PartialUpdate,
            tidewater_format::MergeEngine::Aggregation => Self::Aggregation,
            tidewater_format::MergeEngine::FirstRow => Self::FirstRow { ignore_delete },
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
            Self::FirstRow { .. } => "first-row",
        }
    }

    /// Whether rows are folded from all versions of a key, rather than one version being picked.
    pub fn folds(self) -> bool {
        matches!(self, Self::PartialUpdate | Self::Aggregation)
    }

    /// How this engine picks a version.
    ///
    /// # Errors
    /// [`MergeError::Unsupported`] for engines that fold.
    pub(crate) fn pick_rule(self) -> Result<PickRule> {
        match self {
            Self::Deduplicate { ignore_delete } => Ok(PickRule {
                oldest: false,
                ignore_delete,
            }),
            Self::FirstRow { ignore_delete } => Ok(PickRule {
                oldest: true,
                ignore_delete,
            }),
            other => Err(MergeError::Unsupported {
                what: format!(
                    "merge-engine={} where one version per key is picked",
                    other.name()
                ),
            }),
        }
    }
}

/// Which version of a key is its row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PickRule {
    /// First-row: the oldest version wins, and there are no retractions.
    pub(crate) oldest: bool,
    pub(crate) ignore_delete: bool,
}

impl PickRule {
    /// The rule where nothing is picked.
    pub(crate) const NONE: Self = Self {
        oldest: false,
        ignore_delete: false,
    };

    /// Whether a retraction is an error.
    pub(crate) fn refuses_retractions(self) -> bool {
        self.oldest && !self.ignore_delete
    }

    /// Whether retractions never reach the result, whatever the caller wants.
    pub(crate) fn drops_retractions(self) -> bool {
        self.oldest && self.ignore_delete
    }
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
        let first_row = |ignore_delete| MergeEngine::FirstRow { ignore_delete };
        assert_eq!(
            engine(&[
                ("merge-engine", "first-row"),
                ("first-row.ignore-delete", "true")
            ]),
            first_row(true)
        );
        for other in [
            MergeEngine::PartialUpdate,
            MergeEngine::Aggregation,
            first_row(false),
        ] {
            assert_eq!(engine(&[("merge-engine", other.name())]), other);
            assert_eq!(other.pick_rule().is_err(), other.folds());
        }
    }
}
