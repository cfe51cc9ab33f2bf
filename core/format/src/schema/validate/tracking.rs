//! Row tracking, data evolution, clustering, expiry of rows.

use tidewater_types::TypeKind;

use super::Checked;
use crate::error::{FormatError, Result};

impl Checked<'_> {
    pub(super) fn tracking_and_clustering(&self) -> Result<()> {
        self.row_tracking()?;
        self.clustering()?;
        self.record_expiry()?;
        if self.options.full_compaction_delta_commits.is_some()
            && self.options.bucket == -1
            && !self.schema.is_keyed()
        {
            return Err(FormatError::option_conflict(
                "full-compaction.delta-commits",
                "an append table without buckets has no full compaction",
                "remove it",
            ));
        }
        Ok(())
    }

    fn row_tracking(&self) -> Result<()> {
        let options = self.options;
        if options.row_tracking_enabled && (options.bucket != -1 || self.schema.is_keyed()) {
            return Err(FormatError::option_conflict(
                "row-tracking.enabled",
                "only append tables without buckets number their rows",
                "remove it, or the primary key and bucket",
            ));
        }
        if !options.data_evolution_enabled {
            return Ok(());
        }
        if !options.row_tracking_enabled {
            return Err(FormatError::option_conflict(
                "data-evolution.enabled",
                "rows can be spread over files only if they are numbered",
                "set row-tracking.enabled to true",
            ));
        }
        if options.deletion_vectors_enabled {
            return Err(FormatError::option_conflict(
                "data-evolution.enabled",
                "deletion-vectors.enabled is true",
                "remove one of the two",
            ));
        }
        Ok(())
    }

    fn clustering(&self) -> Result<()> {
        let columns = self.options.clustering_columns.as_ref();
        for column in columns.into_iter().flat_map(|names| names.names()) {
            self.option_column("clustering.columns", column)?;
        }
        if !self.options.clustering_incremental {
            return Ok(());
        }
        const KEY: &str = "clustering.incremental";
        if self.options.bucket != -1 || self.schema.is_keyed() {
            return Err(FormatError::option_conflict(
                KEY,
                "only append tables without buckets are clustered",
                "remove it, or the primary key and bucket",
            ));
        }
        if columns.is_none_or(|names| names.is_empty()) {
            return Err(FormatError::option_conflict(
                KEY,
                "no column to sort by is named",
                "set clustering.columns",
            ));
        }
        Ok(())
    }

    fn record_expiry(&self) -> Result<()> {
        const KEY: &str = "record-level.time-field";
        let column = match (
            &self.options.record_level_time_field,
            self.options.record_level_expire_time,
        ) {
            (None, None) => return Ok(()),
            (None, Some(_)) => {
                return Err(FormatError::option_conflict(
                    "record-level.expire-time",
                    "no column with a row's time is named",
                    "set record-level.time-field",
                ));
            }
            (Some(column), _) => column,
        };
        let field = self.option_column(KEY, column)?;
        match field.data_type.kind {
            TypeKind::Int
            | TypeKind::BigInt
            | TypeKind::Timestamp(_)
            | TypeKind::TimestampLtz(_) => Ok(()),
            _ => Err(FormatError::option_conflict(
                KEY,
                format!(
                    "column {column:?} is {}, which holds no time",
                    field.data_type
                ),
                "use a column of type INT, BIGINT or TIMESTAMP",
            )),
        }
    }
}
