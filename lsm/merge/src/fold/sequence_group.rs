//! Whether a version is newer than what a sequence group holds.
//!
//! Sequence columns compare left to right, null smallest, whatever `sequence.field.sort-order` says; a version that is
//! equal counts as newer, and one whose sequence columns are all null does not touch the group. Source: spec 02b §6.3.

use arrow_array::{Array, ArrayRef, new_null_array};
use arrow_buffer::BooleanBuffer;
use tidewater_types::Keys;

use super::SequenceGroup;
use crate::aggregate::Op;
use crate::error::{MergeError, Result};

/// A group while the versions of a key are looked at, one key after the other.
#[derive(Debug)]
pub(super) struct GroupState<'a> {
    group: &'a SequenceGroup,
    /// Encoded sequence columns by row; `None` for a group that is not read.
    keys: Option<Keys>,
    /// The same with nulls for columns that may be null: what a row is reset to. Only where it differs from both
    /// the row's own and all nulls.
    reset_keys: Option<Keys>,
    /// Rows that have a value in a sequence column.
    has_value: Option<BooleanBuffer>,
    current: Current,
}

/// The sequence columns that the row has by now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Current {
    /// All null.
    Nothing,
    /// Those of a version.
    Row(usize),
    /// Those of a version that are NOT NULL, the others null.
    Reset(usize),
}

impl<'a> GroupState<'a> {
    pub(super) fn new(group: &'a SequenceGroup, columns: &[ArrayRef]) -> Result<Self> {
        let sequence: Option<Vec<ArrayRef>> = group
            .columns
            .iter()
            .map(|at| columns.get(*at).cloned())
            .collect();
        let sequence = sequence.ok_or(MergeError::LengthMismatch {
            part: "the columns",
            expected: group.columns.len(),
            found: columns.len(),
        })?;
        if sequence.is_empty() {
            return Ok(Self {
                group,
                keys: None,
                reset_keys: None,
                has_value: None,
                current: Current::Nothing,
            });
        }
        let mut has_value: Option<BooleanBuffer> = None;
        let mut always = false;
        for column in &sequence {
            match column.nulls() {
                None => always = true,
                Some(nulls) => {
                    has_value = Some(match has_value {
                        None => nulls.inner().clone(),
                        Some(so_far) => &so_far | nulls.inner(),
                    });
                }
            }
        }
        let mixed = group.not_null.contains(&true) && group.not_null.contains(&false);
        let reset_keys = if mixed {
            let reset: Vec<ArrayRef> = sequence
                .iter()
                .zip(&group.not_null)
                .map(|(column, not_null)| {
                    if *not_null {
                        ArrayRef::clone(column)
                    } else {
                        new_null_array(column.data_type(), column.len())
                    }
                })
                .collect();
            Some(group.encoder.encode(&reset)?)
        } else {
            None
        };
        Ok(Self {
            group,
            keys: Some(group.encoder.encode(&sequence)?),
            reset_keys,
            has_value: has_value.filter(|_| !always),
            current: Current::Nothing,
        })
    }

    /// Begins with another key.
    pub(super) fn clear(&mut self) {
        self.current = Current::Nothing;
    }

    /// The row was reset to the NOT NULL columns of a version.
    pub(super) fn start(&mut self, row: usize) {
        self.current = if self.reset_keys.is_some() {
            Current::Reset(row)
        } else if self.group.not_null.contains(&true) {
            Current::Row(row)
        } else {
            Current::Nothing
        };
    }

    /// What a version of an add kind does.
    pub(super) fn add(&mut self, row: usize) -> Op {
        self.meet(row, Op::Add, Op::AddOlder)
    }

    /// What a retraction does.
    pub(super) fn retract(&mut self, row: usize) -> Op {
        self.meet(row, Op::Retract, Op::RetractOlder)
    }

    /// Whether a `-D` removes the row by this group.
    pub(super) fn is_removed_by(&self, row: usize) -> bool {
        self.group.removes && self.touches(row) && self.is_newer(row)
    }

    /// The encoded sequence columns.
    pub(super) fn into_keys(self) -> Option<Keys> {
        self.keys
    }

    fn meet(&mut self, row: usize, newer: Op, older: Op) -> Op {
        if !self.touches(row) {
            Op::Skip
        } else if self.is_newer(row) {
            self.current = Current::Row(row);
            newer
        } else {
            older
        }
    }

    fn touches(&self, row: usize) -> bool {
        self.keys.is_some()
            && self
                .has_value
                .as_ref()
                .is_none_or(|has_value| row < has_value.len() && has_value.value(row))
    }

    fn is_newer(&self, row: usize) -> bool {
        let Some(keys) = &self.keys else {
            return false;
        };
        match self.current {
            Current::Nothing => true,
            Current::Row(current) => keys.cmp(row, keys, current).is_ge(),
            Current::Reset(current) => match &self.reset_keys {
                Some(reset) => keys.cmp(row, reset, current).is_ge(),
                None => true,
            },
        }
    }
}
