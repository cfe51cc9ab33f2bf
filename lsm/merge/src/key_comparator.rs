//! Order of keys as they stand in file metadata: trimmed primary keys as BinaryRow, compared by column type.
//!
//! Source: spec 02a §1.4; Paimon `codegen` record comparators. Unlike them this order is total for floats too.

use std::cmp::Ordering;

use tidewater_format::DataFileMeta;
use tidewater_types::{BinaryRow, DataType, Datum, TypeError, TypeKind};

use crate::error::{MergeError, Result};

/// Compares `_MIN_KEY` and `_MAX_KEY` of files by the key's column types.
#[derive(Debug, Clone)]
pub struct KeyComparator {
    types: Vec<DataType>,
    has_floats: bool,
}

impl KeyComparator {
    /// A comparator for the trimmed primary key with these column types, in key order.
    pub fn new(types: Vec<DataType>) -> Self {
        let is_float =
            |data_type: &DataType| matches!(data_type.kind, TypeKind::Float | TypeKind::Double);
        let has_floats = types.iter().any(is_float);
        Self { types, has_floats }
    }

    /// The column types.
    pub fn types(&self) -> &[DataType] {
        &self.types
    }

    /// Whether key ranges of files may be believed.
    ///
    /// Not with FLOAT or DOUBLE in the key: Java's comparator lets NaN equal everything, so its compacted files may
    /// be out of order (spec 02a §1.4). Such a bucket is one section.
    pub fn trusts_ranges(&self) -> bool {
        !self.has_floats
    }

    /// Orders two keys, column by column. Nulls come first; they do not occur in a legal table.
    ///
    /// # Errors
    /// A row that does not hold these columns.
    pub fn compare(&self, left: &BinaryRow, right: &BinaryRow) -> Result<Ordering> {
        self.check_arity(left)?;
        self.check_arity(right)?;
        for (column, data_type) in self.types.iter().enumerate() {
            let order = compare_datums(
                &left.get(column, data_type)?,
                &right.get(column, data_type)?,
            )?;
            if order != Ordering::Equal {
                return Ok(order);
            }
        }
        Ok(Ordering::Equal)
    }

    /// The key ranges of files, decoded once so that sorting them is cheap.
    ///
    /// # Errors
    /// A key that does not hold these columns, or a smallest key above the greatest.
    pub(crate) fn key_ranges<'a>(
        &self,
        files: impl Iterator<Item = &'a DataFileMeta>,
    ) -> Result<KeyRanges> {
        let mut ranges = KeyRanges {
            arity: self.types.len(),
            keys: Vec::new(),
        };
        for (number, file) in files.enumerate() {
            for row in [&file.min_key, &file.max_key] {
                self.check_arity(row)?;
                for (column, data_type) in self.types.iter().enumerate() {
                    ranges.keys.push(row.get(column, data_type)?);
                }
            }
            if ranges.compare(ranges.max(number), ranges.min(number))? == Ordering::Less {
                return Err(MergeError::InvertedKeyRange {
                    file: file.file_name.clone(),
                });
            }
        }
        Ok(ranges)
    }

    fn check_arity(&self, row: &BinaryRow) -> Result<()> {
        if row.arity() == self.types.len() {
            return Ok(());
        }
        Err(TypeError::corrupt(
            "key of a data file",
            format!(
                "{} columns where the table's key has {}",
                row.arity(),
                self.types.len()
            ),
        )
        .into())
    }
}

/// Smallest and greatest keys of files, by position of the file.
#[derive(Debug)]
pub(crate) struct KeyRanges {
    arity: usize,
    /// Per file: the columns of the smallest key, then those of the greatest.
    keys: Vec<Datum>,
}

impl KeyRanges {
    pub(crate) fn min(&self, file: usize) -> &[Datum] {
        self.key(file * 2)
    }

    pub(crate) fn max(&self, file: usize) -> &[Datum] {
        self.key(file * 2 + 1)
    }

    fn key(&self, number: usize) -> &[Datum] {
        self.keys
            .get(number * self.arity..(number + 1) * self.arity)
            .unwrap_or_default()
    }

    pub(crate) fn compare(&self, left: &[Datum], right: &[Datum]) -> Result<Ordering> {
        for (left, right) in left.iter().zip(right) {
            let order = compare_datums(left, right)?;
            if order != Ordering::Equal {
                return Ok(order);
            }
        }
        Ok(Ordering::Equal)
    }

    /// Positions of the files, by smallest and then by greatest key; equal ranges stay in the given order.
    pub(crate) fn sorted(&self) -> Result<Vec<usize>> {
        let files = self.keys.len() / (self.arity * 2).max(1);
        let mut order: Vec<usize> = (0..files).collect();
        let mut failed = None;
        order.sort_by(|left, right| {
            let by_min = self.compare(self.min(*left), self.min(*right));
            let by_both = by_min.and_then(|by_min| match by_min {
                Ordering::Equal => self.compare(self.max(*left), self.max(*right)),
                other => Ok(other),
            });
            by_both.unwrap_or_else(|error| {
                failed.get_or_insert(error);
                Ordering::Equal
            })
        });
        match failed {
            Some(error) => Err(error),
            None => Ok(order),
        }
    }
}

fn compare_datums(left: &Datum, right: &Datum) -> Result<Ordering> {
    match (left, right) {
        (Datum::Null, Datum::Null) => Ok(Ordering::Equal),
        (Datum::Null, _) => Ok(Ordering::Less),
        (_, Datum::Null) => Ok(Ordering::Greater),
        _ => left.compare(right).ok_or_else(|| {
            TypeError::internal("two values of one key column do not compare").into()
        }),
    }
}
