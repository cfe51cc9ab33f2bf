//! `nested_update`: the rows of all lists of rows; with a nested key the newest row of each.
//!
//! Rows keep the order in which their keys came; Java's order is that of a hash map. The limit counts the rows of a version
//! before their keys are looked at, as Java 1.3 does: with a key an update beyond the limit is lost.

use std::collections::{HashMap, HashSet};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StructArray};

use super::elements::{Elements, Gathered, elements_of, list, shared};
use super::{ColumnRules, Contested, Failure, Folding, Result, Step};

/// Options of the function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NestedOptions {
    /// Positions of `fields.<column>.nested-key` in the nested row; empty without key.
    pub(crate) key: Vec<usize>,
    /// `fields.<column>.count-limit`.
    pub(crate) count_limit: usize,
}

pub(super) fn fold(
    column: &ArrayRef,
    contested: Contested<'_>,
    rules: ColumnRules,
    options: &NestedOptions,
) -> Result<Folding> {
    let lists = column.as_list_opt::<i32>().ok_or(Failure::Type)?;
    let rows: &StructArray = lists.values().as_struct_opt().ok_or(Failure::Type)?;
    let keyed = !options.key.is_empty();
    let ids = if keyed {
        let columns: Option<Vec<ArrayRef>> = options
            .key
            .iter()
            .map(|at| rows.columns().get(*at).cloned())
            .collect();
        Some(Elements::encode(&columns.ok_or(Failure::Type)?)?)
    } else if contested.any_retract(rules) {
        Some(Elements::encode(&[shared(rows)])?)
    } else {
        None
    };
    let nested = Nested {
        rows,
        ids,
        keyed,
        limit: options.count_limit,
    };
    let mut gathered = Gathered::with_capacity(contested.keys.len());
    for key in contested.keys {
        let mut acc: Option<Vec<u32>> = None;
        contested.steps(key, rules, |row, step| {
            let value = lists
                .is_valid(row)
                .then(|| elements_of(lists.value_offsets(), row).collect::<Vec<u32>>());
            match (step, acc.take(), value) {
                (Step::Set, _, value) => acc = value,
                (Step::Clear, _, _) => {}
                (_, was, None) => acc = was,
                (Step::Retract | Step::RetractOlder, None, _) => {}
                (_, None, value) => acc = value,
                (Step::Add, Some(was), Some(value)) => acc = Some(nested.union(was, &value)),
                (Step::AddOlder, Some(was), Some(value)) => acc = Some(nested.union(value, &was)),
                (Step::Retract | Step::RetractOlder, Some(was), Some(value)) => {
                    acc = Some(nested.minus(&was, &value));
                }
            }
            Ok(())
        })?;
        gathered.push(key.start, acc.as_deref())?;
    }
    list(lists, gathered)
}

struct Nested<'a> {
    rows: &'a StructArray,
    /// The nested key, or without one the whole row; where rows need not be told apart there is none.
    ids: Option<Elements>,
    keyed: bool,
    limit: usize,
}

impl Nested<'_> {
    fn id(&self, row: u32) -> &[u8] {
        self.ids.as_ref().map_or(&[], |ids| ids.get(row))
    }

    /// Null rows do not count.
    fn present<'r>(&'r self, rows: &'r [u32]) -> impl Iterator<Item = u32> + 'r {
        let present = |row: &u32| self.rows.is_valid(*row as usize);
        rows.iter().copied().filter(present)
    }

    fn union(&self, older: Vec<u32>, newer: &[u32]) -> Vec<u32> {
        let Some(room) = self.limit.checked_sub(older.len()).filter(|room| *room > 0) else {
            return older;
        };
        let all = self.present(&older).chain(self.present(newer).take(room));
        if self.keyed {
            self.by_key(all)
        } else {
            all.collect()
        }
    }

    /// One row per key: the last, at the place of the first.
    fn by_key(&self, rows: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut places: HashMap<&[u8], usize> = HashMap::new();
        let mut kept: Vec<u32> = Vec::new();
        for row in rows {
            let place = *places.entry(self.id(row)).or_insert(kept.len());
            match kept.get_mut(place) {
                Some(older) => *older = row,
                None => kept.push(row),
            }
        }
        kept
    }

    fn minus(&self, rows: &[u32], taken: &[u32]) -> Vec<u32> {
        let taken: HashSet<&[u8]> = self.present(taken).map(|row| self.id(row)).collect();
        let rows = self.present(rows);
        let mut left: Vec<u32> = if self.keyed {
            self.by_key(rows)
        } else {
            rows.collect()
        };
        left.retain(|row| !taken.contains(self.id(*row)));
        left
    }
}
