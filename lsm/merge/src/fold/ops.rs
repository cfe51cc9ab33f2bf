//! What each version does to each set of columns, out of its kind and the sequence groups.

use std::ops::Range;

use tidewater_types::Keys;

use super::sequence_group::GroupState;
use super::{FoldEngine, GroupedRows, NO_OP, PLAIN_SET};
use crate::aggregate::Op;
use crate::error::{MergeError, Result};
use crate::sort_merge::is_retraction;

/// `_VALUE_KIND` of `+I`.
const INSERT: i8 = 0;
/// `_VALUE_KIND` of `-D`.
const DELETE: i8 = 3;

/// How the engine treats row kinds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub(super) on_retract: OnRetract,
}

/// What a retraction does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnRetract {
    /// Aggregation: the functions take it back; with `remove_on_delete` a `-D` removes the row.
    Fold { remove_on_delete: bool },
    /// Partial update with `ignore-delete`.
    Ignore,
    /// Partial update with sequence groups: the groups take it back.
    Groups,
    /// Partial update with `remove-record-on-delete`: a `-D` removes the row, a `-U` does nothing.
    Remove,
    /// Partial update without any of these.
    Refuse,
}

/// The ops of all versions of the contested keys, and the kinds and sequence numbers of their results.
#[derive(Debug)]
pub(super) struct OpSets {
    /// By set: the plain columns, then each group; by row.
    ops: Vec<Vec<Op>>,
    /// By group.
    sequences: Vec<Option<Keys>>,
    kinds: Vec<i8>,
    sequence_rows: Vec<u32>,
}

impl OpSets {
    pub(super) fn build(
        engine: &FoldEngine,
        rows: GroupedRows<'_>,
        contested: &[Range<usize>],
    ) -> Result<Self> {
        let count = rows.group_ends.len();
        let mut groups = Vec::with_capacity(engine.groups.len());
        for group in &engine.groups {
            groups.push(GroupState::new(group, rows.columns)?);
        }
        let mut builder = Builder {
            engine,
            rows,
            kinds: rows.kinds.map(|kinds| &kinds.values()[..]),
            ops: vec![vec![NO_OP; count]; groups.len() + 1],
            groups,
        };
        let mut kinds = Vec::with_capacity(contested.len());
        let mut sequence_rows = Vec::with_capacity(contested.len());
        for key in contested {
            let result = match engine.rules.on_retract {
                OnRetract::Fold { remove_on_delete } => builder.aggregation(key, remove_on_delete),
                on_retract => builder.partial_update(key, on_retract)?,
            };
            kinds.push(if result.deleted { DELETE } else { INSERT });
            // Rows were counted before.
            sequence_rows.push(u32::try_from(result.sequence_row).unwrap_or_default());
        }
        Ok(Self {
            ops: builder.ops,
            sequences: builder
                .groups
                .into_iter()
                .map(GroupState::into_keys)
                .collect(),
            kinds,
            sequence_rows,
        })
    }

    /// The ops of a set, by row.
    pub(super) fn of(&self, set: usize) -> &[Op] {
        self.ops.get(set).map_or(&[], Vec::as_slice)
    }

    /// The sequence columns of a set, encoded; `None` for the plain columns.
    pub(super) fn sequence(&self, set: usize) -> Option<&Keys> {
        self.sequences.get(set.checked_sub(1)?)?.as_ref()
    }

    /// The kind of each contested key's result.
    pub(super) fn kinds(&self) -> &[i8] {
        &self.kinds
    }

    /// The row that gives each contested key's result its sequence number.
    pub(super) fn sequence_rows(&self) -> &[u32] {
        &self.sequence_rows
    }
}

/// What the ops say of a key's result.
struct KeyResult {
    deleted: bool,
    sequence_row: usize,
}

struct Builder<'a> {
    engine: &'a FoldEngine,
    rows: GroupedRows<'a>,
    kinds: Option<&'a [i8]>,
    ops: Vec<Vec<Op>>,
    groups: Vec<GroupState<'a>>,
}

impl Builder<'_> {
    fn kind(&self, row: usize) -> i8 {
        self.kinds
            .and_then(|kinds| kinds.get(row))
            .copied()
            .unwrap_or(INSERT)
    }

    fn set(&mut self, set: usize, row: usize, op: Op) {
        if let Some(place) = self.ops.get_mut(set).and_then(|ops| ops.get_mut(row)) {
            *place = op;
        }
    }

    /// The row begins anew here. What came before is still folded: a version that is refused is refused.
    fn start_all(&mut self, row: usize) {
        for set in 0..self.ops.len() {
            self.set(set, row, Op::Start);
        }
        for group in &mut self.groups {
            group.start(row);
        }
    }

    fn aggregation(&mut self, key: &Range<usize>, remove_on_delete: bool) -> KeyResult {
        let mut deleted = false;
        for row in key.clone() {
            let kind = self.kind(row);
            deleted = remove_on_delete && kind == DELETE;
            if deleted {
                self.start_all(row);
            } else if is_retraction(kind) {
                self.set(PLAIN_SET, row, Op::Retract);
            } else {
                self.set(PLAIN_SET, row, Op::Add);
            }
        }
        KeyResult {
            deleted,
            sequence_row: key.end.saturating_sub(1),
        }
    }

    fn partial_update(&mut self, key: &Range<usize>, on_retract: OnRetract) -> Result<KeyResult> {
        let mut deleted = false;
        let mut any_add = false;
        let mut sequence_row = None;
        self.groups.iter_mut().for_each(GroupState::clear);
        for row in key.clone() {
            deleted = false;
            let kind = self.kind(row);
            if !is_retraction(kind) {
                self.set(PLAIN_SET, row, Op::Add);
                for group in 0..self.groups.len() {
                    let add = self.groups.get_mut(group).map(|group| group.add(row));
                    self.set(group + 1, row, add.unwrap_or(NO_OP));
                }
                any_add = true;
                sequence_row = Some(row);
                continue;
            }
            // NOT NULL columns must have a value even if nothing but retractions comes.
            let first = row == key.start;
            if first {
                self.start_all(row);
            }
            match on_retract {
                OnRetract::Ignore => continue,
                OnRetract::Refuse | OnRetract::Fold { .. } => {
                    return Err(MergeError::RetractRefused {
                        engine: self.engine.engine.name(),
                        remedy: "ignore-delete, partial-update.remove-record-on-delete or sequence groups",
                        key: self.engine.key_text(self.rows.columns, row),
                    });
                }
                OnRetract::Remove => {
                    if kind == DELETE {
                        deleted = true;
                        self.start_all(row);
                    }
                }
                OnRetract::Groups => {
                    if kind == DELETE && self.groups.iter().any(|group| group.is_removed_by(row)) {
                        deleted = true;
                        self.start_all(row);
                    } else {
                        self.retract_groups(row, first);
                    }
                }
            }
            sequence_row = Some(row);
        }
        Ok(KeyResult {
            deleted: deleted || !any_add,
            sequence_row: sequence_row.unwrap_or(key.end.saturating_sub(1)),
        })
    }

    fn retract_groups(&mut self, row: usize, first: bool) {
        for group in 0..self.groups.len() {
            let op = self.groups.get_mut(group).map(|group| group.retract(row));
            match op {
                // Of a first version everything has started already.
                Some(Op::Retract) if first => self.set(group + 1, row, Op::StartRetract),
                Some(Op::Skip) | None if first => {}
                Some(op) => self.set(group + 1, row, op),
                None => {}
            }
        }
    }
}
