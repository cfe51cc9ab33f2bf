//! Which columns of a file are read, and where the parts of a row lie in what was read.
//!
//! ```text
//!  asked      b, a                                     in this order, any of them twice if need be
//!  read       b | a | key k | sequence.field s | filter column f | _SEQUENCE_NUMBER | _VALUE_KIND       each once
//! ```
//!
//! Keys are taken from the table's columns: the copies `_KEY_*` are always equal (spec 02a §1.1).

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int8Array, Int64Array};
use arrow_select::take::take;
use tidewater_format::{TableSchema, sequence_number_field, value_kind_field};
use tidewater_merge::Folded;
use tidewater_types::DataField;

use crate::error::{Result, StoreError};
use crate::folding::kinds_or_inserts;
use crate::key_value::KeyValueLayout;

/// A column of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputColumn {
    /// A column of the table, by position.
    Table(usize),
    /// `_SEQUENCE_NUMBER`.
    Sequence,
    /// `_VALUE_KIND`.
    Kind,
}

/// Where a column of the answer comes from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    /// A column that was read.
    Read(usize),
    /// Every row is `+I`: files of append tables do not say so.
    Inserts,
}

/// What a file is asked for besides the answer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Extra<'a> {
    /// Read sequence numbers.
    pub(super) sequence: bool,
    /// Read kinds.
    pub(super) kind: bool,
    /// Read what a merge compares.
    pub(super) merged: Option<&'a KeyValueLayout>,
    /// Columns of a filter that is applied after the merge.
    pub(super) filter: &'a [usize],
    /// Columns that a fold takes, in its order.
    pub(super) fold: &'a [usize],
}

/// The columns that are read of one file.
#[derive(Debug)]
pub(super) struct ReadColumns {
    /// What the file is asked for.
    pub(super) fields: Vec<DataField>,
    /// The columns of the answer.
    pub(super) output: Vec<Source>,
    keys: Vec<usize>,
    versions: Vec<usize>,
    folded: Vec<usize>,
    sequence: Option<usize>,
    kind: Option<usize>,
}

impl ReadColumns {
    /// The columns for this answer.
    pub(super) fn new(
        schema: &TableSchema,
        output: &[OutputColumn],
        extra: Extra<'_>,
    ) -> Result<Self> {
        let mut reading = Reading {
            schema,
            fields: Vec::new(),
            placed: vec![None; schema.fields.len()],
        };
        let mut sources = Vec::with_capacity(output.len());
        for column in output {
            sources.push(match column {
                OutputColumn::Table(index) => Some(Source::Read(reading.table(*index)?)),
                OutputColumn::Sequence | OutputColumn::Kind => None,
            });
        }
        let (mut keys, mut versions) = (Vec::new(), Vec::new());
        if let Some(layout) = extra.merged {
            keys = reading.all(layout.key_columns())?;
            versions = reading.all(layout.version_columns())?;
        }
        reading.all(extra.filter)?;
        let folded = reading.all(extra.fold)?;
        let mut fields = reading.fields;
        let mut system = |wanted: bool, field: DataField| {
            wanted.then(|| {
                fields.push(field);
                fields.len() - 1
            })
        };
        let sequence = system(extra.sequence, sequence_number_field());
        let kind = system(extra.kind, value_kind_field());
        let sources = sources.into_iter().zip(output);
        let sources = sources.map(|(source, column)| match (source, column) {
            (Some(source), _) => source,
            (None, OutputColumn::Sequence) => sequence.map_or(Source::Inserts, Source::Read),
            (None, _) => kind.map_or(Source::Inserts, Source::Read),
        });
        Ok(Self {
            output: sources.collect(),
            fields,
            keys,
            versions,
            folded,
            sequence,
            kind,
        })
    }

    /// The key columns of what was read.
    pub(super) fn keys(&self, read: &[ArrayRef]) -> Vec<ArrayRef> {
        pick(read, &self.keys)
    }

    /// The columns of `sequence.field`.
    pub(super) fn versions(&self, read: &[ArrayRef]) -> Vec<ArrayRef> {
        pick(read, &self.versions)
    }

    /// The columns that a fold takes, in its order.
    pub(super) fn folded(&self, read: &[ArrayRef]) -> Vec<ArrayRef> {
        pick(read, &self.folded)
    }

    /// What was read of each key, with the columns of a fold in their places: other columns are those of the version that gives the row its
    /// sequence number.
    pub(super) fn after_fold(&self, read: &[ArrayRef], folded: &Folded) -> Result<Vec<ArrayRef>> {
        let mut after = Vec::with_capacity(read.len());
        for (index, column) in read.iter().enumerate() {
            let place = self.folded.iter().position(|folded| *folded == index);
            after.push(match place.and_then(|place| folded.columns.get(place)) {
                Some(folded) => Arc::clone(folded),
                None if self.kind == Some(index) => {
                    let kinds = folded.kinds.clone();
                    Arc::new(kinds_or_inserts(kinds, folded.sequence_rows.len())) as ArrayRef
                }
                None => take(column, &folded.sequence_rows, None)?,
            });
        }
        Ok(after)
    }

    /// The sequence numbers, if they were read.
    pub(super) fn sequence(&self, read: &[ArrayRef]) -> Option<Int64Array> {
        downcast(read.get(self.sequence?)?)
    }

    /// The kinds, if they were read.
    pub(super) fn kinds(&self, read: &[ArrayRef]) -> Option<Int8Array> {
        downcast(read.get(self.kind?)?)
    }

    /// Whether kinds are read.
    pub(super) fn has_kinds(&self) -> bool {
        self.kind.is_some()
    }
}

/// Collects fields, each once.
struct Reading<'a> {
    schema: &'a TableSchema,
    fields: Vec<DataField>,
    placed: Vec<Option<usize>>,
}

impl Reading<'_> {
    /// Where the table's column is read to.
    fn table(&mut self, index: usize) -> Result<usize> {
        let (Some(field), Some(placed)) =
            (self.schema.fields.get(index), self.placed.get_mut(index))
        else {
            return Err(StoreError::ColumnCount {
                expected: index + 1,
                found: self.schema.fields.len(),
            });
        };
        if let Some(place) = *placed {
            return Ok(place);
        }
        self.fields.push(field.clone());
        *placed = Some(self.fields.len() - 1);
        Ok(self.fields.len() - 1)
    }

    fn all(&mut self, indexes: &[usize]) -> Result<Vec<usize>> {
        indexes.iter().map(|index| self.table(*index)).collect()
    }
}

fn pick(read: &[ArrayRef], at: &[usize]) -> Vec<ArrayRef> {
    at.iter()
        .filter_map(|index| read.get(*index).cloned())
        .collect()
}

fn downcast<T: Array + Clone + 'static>(array: &ArrayRef) -> Option<T> {
    array.as_any().downcast_ref::<T>().cloned()
}
