//! The slow, obvious merge: row by row, written from the semantics alone. What the fast paths must equal.
//!
//! Only for tests (feature `test-util`). It knows write buffer, levels and merge with kinds and sequence fields, and
//! nothing of columns, encodings or trees. Engines that fold are in [`FoldModel`]. Source: spec 02b §2.3, §3.6, §4.2, §4.3,
//! §6, §7.

#![allow(clippy::indexing_slicing, reason = "only for tests")]

mod aggregate;
mod fold;
mod value;

use std::cmp::Ordering;

use tidewater_types::{Datum, RowKind};

pub use aggregate::ModelFault;
pub use fold::{FoldModel, FoldRow};
pub use value::ModelValue;

/// One version of a key.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRow {
    /// Trimmed primary key.
    pub key: Vec<Datum>,
    /// Columns of `sequence.field`.
    pub seq_fields: Vec<Datum>,
    /// `_SEQUENCE_NUMBER`.
    pub sequence: i64,
    /// `_VALUE_KIND`.
    pub kind: RowKind,
    /// Stands for the value columns.
    pub value: i64,
}

/// The options that decide between versions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelRules {
    /// `ignore-delete`.
    pub ignore_delete: bool,
    /// `sequence.field.sort-order=descending`.
    pub descending: bool,
}

/// Orders keys column by column.
pub fn compare_keys(left: &[Datum], right: &[Datum]) -> Ordering {
    let columns = left
        .iter()
        .zip(right)
        .map(|(left, right)| compare_nulls_first(left, right));
    columns.fold(Ordering::Equal, Ordering::then)
}

fn compare_nulls_first(left: &Datum, right: &Datum) -> Ordering {
    match (left, right) {
        (Datum::Null, Datum::Null) => Ordering::Equal,
        (Datum::Null, _) => Ordering::Less,
        (_, Datum::Null) => Ordering::Greater,
        _ => left.compare(right).unwrap_or(Ordering::Equal),
    }
}

impl ModelRules {
    /// Orders two versions of one key by what they say of themselves, older first: sequence fields, sequence number,
    /// retractions before adds.
    pub fn compare_age(&self, left: &ModelRow, right: &ModelRow) -> Ordering {
        for (left, right) in left.seq_fields.iter().zip(&right.seq_fields) {
            let order = compare_nulls_first(left, right);
            let both_set = !matches!(left, Datum::Null) && !matches!(right, Datum::Null);
            let order = if self.descending && both_set {
                order.reverse()
            } else {
                order
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        left.sequence
            .cmp(&right.sequence)
            .then(right.kind.is_retract().cmp(&left.kind.is_retract()))
    }

    /// The result of all versions of one key, given oldest first.
    fn fold(&self, versions: &[ModelRow]) -> Option<ModelRow> {
        let counts = |row: &&ModelRow| !(self.ignore_delete && row.kind.is_retract());
        match versions {
            [only] => Some(only.clone()),
            _ => versions.iter().rfind(counts).cloned(),
        }
    }

    /// Merges runs, newest run first, into one row per key in key order. Retractions that win are kept.
    ///
    /// A run is in key order and may repeat keys; its later row is then the newer one if nothing else tells.
    pub fn merge(&self, runs: &[Vec<ModelRow>]) -> Vec<ModelRow> {
        self.merge_versions(runs)
            .iter()
            .filter_map(|versions| self.fold(versions))
            .collect()
    }

    /// All versions by key, keys ascending, versions oldest first.
    pub fn merge_versions(&self, runs: &[Vec<ModelRow>]) -> Vec<Vec<ModelRow>> {
        // Oldest run first and stable sorts: what compares equal stays in order of age.
        let mut rows: Vec<ModelRow> = runs.iter().rev().flatten().cloned().collect();
        rows.sort_by(|left, right| {
            compare_keys(&left.key, &right.key).then_with(|| self.compare_age(left, right))
        });
        let same_key =
            |left: &ModelRow, right: &ModelRow| compare_keys(&left.key, &right.key).is_eq();
        rows.chunk_by(same_key).map(<[ModelRow]>::to_vec).collect()
    }
}

/// One bucket: buffered rows, and runs on levels.
#[derive(Debug, Clone, Default)]
pub struct ModelBucket {
    rules: ModelRules,
    next_sequence: i64,
    buffer: Vec<ModelRow>,
    /// Newest first; level 0 runs in front.
    runs: Vec<(i32, Vec<ModelRow>)>,
}

impl ModelBucket {
    /// An empty bucket.
    pub fn new(rules: ModelRules) -> Self {
        Self {
            rules,
            ..Self::default()
        }
    }

    /// Buffers a row and gives it the next sequence number.
    pub fn write(&mut self, kind: RowKind, key: Vec<Datum>, seq_fields: Vec<Datum>, value: i64) {
        self.buffer.push(ModelRow {
            key,
            seq_fields,
            sequence: self.next_sequence,
            kind,
            value,
        });
        self.next_sequence += 1;
    }

    /// What a new writer does: it goes on above the greatest number of the live files, which may be one that was used
    /// before if compaction dropped its row (spec 02a §1.5).
    pub fn restart(&mut self, max_sequence_number: Option<i64>) {
        self.next_sequence = max_sequence_number.map_or(0, |max| max + 1);
    }

    /// The buffered rows in the order of a changelog with `changelog-producer=input`.
    pub fn buffered(&self) -> Vec<ModelRow> {
        self.rules
            .merge_versions(std::slice::from_ref(&self.buffer))
            .concat()
    }

    /// Merges the buffer into a new level-0 run and answers its rows; nothing if no row is buffered.
    pub fn flush(&mut self) -> Vec<ModelRow> {
        let run = self.rules.merge(&[std::mem::take(&mut self.buffer)]);
        if !run.is_empty() {
            self.runs.insert(0, (0, run.clone()));
        }
        run
    }

    /// Merges the `newest` newest runs into one of level `output_level`.
    pub fn compact(&mut self, newest: usize, output_level: i32, drop_delete: bool) {
        let newest = newest.min(self.runs.len());
        let inputs: Vec<Vec<ModelRow>> = self.runs.drain(..newest).map(|(_, rows)| rows).collect();
        let mut merged = self.rules.merge(&inputs);
        merged.retain(|row| !(drop_delete && row.kind.is_retract()));
        if !merged.is_empty() {
            self.runs.insert(0, (output_level, merged));
        }
    }

    /// What a reader sees: flushed rows merged, without retractions.
    pub fn visible(&self) -> Vec<ModelRow> {
        let runs: Vec<Vec<ModelRow>> = self.runs.iter().map(|(_, rows)| rows.clone()).collect();
        let mut rows = self.rules.merge(&runs);
        rows.retain(|row| !row.kind.is_retract());
        rows
    }
}
