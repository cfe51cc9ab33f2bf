//! Leaves out files whose statistics rule out every row that is asked for.
//!
//! ```text
//!  append   each file by its value statistics
//!  keyed    each file by its key statistics; then, for a whole state,
//!           no two files can hold one key:  each file by its value statistics
//!           else:                           all files or none, since without a newer version an older one would show;
//!                                           never where rows are folded: a total is in no file
//! ```
//!
//! Source: spec 03 §5.4, 02c §4.2; Paimon `operation/KeyValueFileStoreScan.java`, `AppendOnlyFileStoreScan.java`.

use std::collections::HashMap;
use std::sync::Arc;

use tidewater_format::{DataFileMeta, StatsMapping, TableSchema};
use tidewater_types::{Predicate, SchemaId};

use super::filter::ScanFilter;
use super::splits::Versions;

/// What planning knows of the files of each schema they were written with.
pub(crate) struct FilePruner<'a> {
    keyed: bool,
    versions_above_zero: Versions,
    /// Rows are made of several versions, so no version tells what its key's row holds.
    folds: bool,
    filter: &'a ScanFilter,
    mappings: HashMap<SchemaId, Mappings>,
}

struct Mappings {
    keys: StatsMapping,
    values: StatsMapping,
}

impl<'a> FilePruner<'a> {
    /// A pruner for files of `schemas`, read as `schema`. Files of other schemas are kept.
    pub(crate) fn new(
        filter: &'a ScanFilter,
        schema: &TableSchema,
        schemas: &HashMap<SchemaId, Arc<TableSchema>>,
        versions_above_zero: Versions,
        folds: bool,
    ) -> Self {
        let mapping = |file: &TableSchema| Mappings {
            keys: StatsMapping::of_keys(&file.key_type().fields, &schema.fields),
            values: StatsMapping::of_values(&file.fields, &schema.fields),
        };
        Self {
            keyed: schema.is_keyed(),
            versions_above_zero,
            folds,
            filter,
            mappings: schemas
                .iter()
                .map(|(id, file)| (*id, mapping(file)))
                .collect(),
        }
    }

    /// Whether any file could go.
    pub(crate) fn prunes(&self) -> bool {
        self.filter.rows.is_some()
    }

    /// Whether the file alone, whatever else is in its bucket, must be looked at.
    pub(crate) fn keeps_file(&self, file: &DataFileMeta) -> bool {
        if self.keyed {
            self.may_hold_keys(file)
        } else {
            self.may_hold_rows(file)
        }
    }

    /// Drops files of one bucket's whole state that are left after [`FilePruner::keeps_file`].
    pub(crate) fn prune_bucket(&self, files: &mut Vec<Arc<DataFileMeta>>) {
        if !self.keyed || self.filter.rows.is_none() {
            return;
        }
        if files.len() == 1 || self.versions_above_zero.are_single(files) {
            files.retain(|file| self.may_hold_rows(file));
        } else if !self.folds && !files.iter().any(|file| self.may_hold_rows(file)) {
            files.clear();
        }
    }

    fn may_hold_keys(&self, file: &DataFileMeta) -> bool {
        match (&self.filter.keys, self.mappings.get(&file.schema_id)) {
            (Some(keys), Some(mappings)) => may_match(keys, &mappings.keys.keys(file)),
            _ => true,
        }
    }

    fn may_hold_rows(&self, file: &DataFileMeta) -> bool {
        match (&self.filter.rows, self.mappings.get(&file.schema_id)) {
            (Some(rows), Some(mappings)) => may_match(rows, &mappings.values.values(file)),
            _ => true,
        }
    }
}

fn may_match(predicate: &Predicate, stats: &impl tidewater_types::StatsSource) -> bool {
    predicate.may_match(stats)
}
