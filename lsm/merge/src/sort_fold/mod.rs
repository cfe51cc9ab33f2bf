//! Sort and fold of a write buffer: rows in arrival order become what a flush writes.
//!
//! ```text
//!  keys of all buffered rows, arrival order
//!      | sort by (key, sequence fields, arrival)
//!      v
//!  order   every row, what changelog-producer=input writes          (spec 02b §9.2)
//!      | last version of each key
//!      v
//!  winners what goes to level 0, retractions included               (spec 02b §2.3)
//! ```
//!
//! Sequence numbers are given in arrival order, so arrival stands for them. Sequence fields follow
//! `sequence.field.sort-order` here as everywhere (Java 1.3.1 sorts its buffer ascending whatever the option says).
//!
//! Source: Paimon `mergetree/SortBufferWriteBuffer.java`.

#[cfg(test)]
mod tests;

use arrow_array::{Array, Int8Array};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use tidewater_types::{Keys, sort_indices, sort_indices_with_sequence};

use crate::engine::{MergeEngine, PickRule};
use crate::error::{MergeError, Result};
use crate::sort_merge::{check_kinds, is_retraction};

/// Buffered rows in arrival order. Rows are numbered over all buffered batches.
#[derive(Debug, Clone, Copy)]
pub struct FoldInput<'a> {
    /// Trimmed primary keys.
    pub keys: &'a Keys,
    /// Columns of `sequence.field`, greater is newer; see [`MergeBatch::seq_fields`](crate::MergeBatch::seq_fields).
    pub seq_fields: Option<&'a Keys>,
    /// Row kinds; `None` if every row is `+I`.
    pub kinds: Option<&'a Int8Array>,
}

/// What a flush writes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FoldedRows {
    /// Every row, sorted by key, then sequence fields, then arrival; only if asked for.
    pub order: Option<Vec<u32>>,
    /// One row per key, in key order. A retraction that wins is kept: older levels may hold its key.
    pub winners: Vec<u32>,
}

/// Sorts and folds buffered rows.
///
/// Costs a sort of one word per row and one pass that compares neighbours; rows that arrive sorted cost the passes only.
///
/// # Errors
/// Parts of different length, more than 2^32 - 2 rows, nulls or bad values in `kinds`, an engine that folds
/// (see [`sort_groups`]), retractions for first-row without `ignore-delete`.
pub fn sort_fold(
    input: FoldInput<'_>,
    engine: MergeEngine,
    keep_order: bool,
) -> Result<FoldedRows> {
    let rule = engine.pick_rule()?;
    let retractions = check(input)?;
    if rule.refuses_retractions() && retractions.is_some() {
        return Err(MergeError::RetractRefused {
            engine: engine.name(),
            remedy: "ignore-delete",
            key: "of a buffered row".to_owned(),
        });
    }
    let order = order(input);
    let repeats = repeats(input.keys, &order);
    if repeats.is_empty() && !(rule.drops_retractions() && retractions.is_some()) {
        return Ok(FoldedRows {
            order: keep_order.then(|| order.clone()),
            winners: order,
        });
    }
    let retracts = |row: u32| {
        retractions
            .and_then(|kinds| kinds.get(row as usize))
            .is_some_and(|kind| is_retraction(*kind))
    };
    let mut winners = fold(&order, &repeats, rule, retracts);
    if rule.drops_retractions() {
        winners.retain(|row| !retracts(*row));
    }
    Ok(FoldedRows {
        order: keep_order.then_some(order),
        winners,
    })
}

/// Every buffered row by key, for engines that fold.
#[derive(Debug, PartialEq, Eq)]
pub struct SortedGroups {
    /// Every row, sorted by key, then sequence fields, then arrival: also what `changelog-producer=input` writes.
    pub order: Vec<u32>,
    /// A bit per place in `order`, set at the last version of each key.
    pub group_ends: BooleanBuffer,
}

/// Sorts buffered rows and tells where each key's versions end.
///
/// # Errors
/// Parts of different length, more than 2^32 - 2 rows, nulls or bad values in `kinds`.
pub fn sort_groups(input: FoldInput<'_>) -> Result<SortedGroups> {
    check(input)?;
    let order = order(input);
    let mut group_ends = BooleanBufferBuilder::new(order.len());
    group_ends.append_n(order.len(), true);
    for repeat in repeats(input.keys, &order) {
        // A repeat has a row before it, which then ends no group.
        group_ends.set_bit((repeat as usize).saturating_sub(1), false);
    }
    Ok(SortedGroups {
        order,
        group_ends: group_ends.finish(),
    })
}

fn order(input: FoldInput<'_>) -> Vec<u32> {
    match input.seq_fields {
        Some(seq_fields) => sort_indices_with_sequence(input.keys, seq_fields),
        None => sort_indices(input.keys),
    }
}

/// The kinds, if any of them is a retraction.
fn check(input: FoldInput<'_>) -> Result<Option<&[i8]>> {
    let rows = input.keys.len();
    if rows >= u32::MAX as usize {
        return Err(MergeError::TooLarge {
            what: "buffered rows",
            found: rows,
            limit: u32::MAX as usize - 1,
        });
    }
    for (part, found) in [
        ("sequence fields", input.seq_fields.map(Keys::len)),
        ("kinds", input.kinds.map(Array::len)),
    ] {
        if let Some(found) = found
            && found != rows
        {
            return Err(MergeError::LengthMismatch {
                part,
                expected: rows,
                found,
            });
        }
    }
    let Some(kinds) = input.kinds else {
        return Ok(None);
    };
    if kinds.null_count() > 0 {
        return Err(MergeError::NullSystemColumn {
            column: "_VALUE_KIND",
            run: 0,
        });
    }
    Ok(check_kinds(kinds.values())?.then_some(kinds.values()))
}

/// Positions in `order`, ascending, whose key equals that of the position before.
fn repeats(keys: &Keys, order: &[u32]) -> Vec<u32> {
    match keys {
        Keys::U64(keys) => equal_neighbours(order, |row| keys.get(row)),
        Keys::U128(keys) => equal_neighbours(order, |row| keys.get(row)),
        Keys::Rows(_) => equal_neighbours(order, |row| keys.as_bytes(row)),
    }
}

/// Each key is fetched once: they lie anywhere, and that is what costs.
fn equal_neighbours<K: PartialEq>(order: &[u32], key: impl Fn(usize) -> Option<K>) -> Vec<u32> {
    let mut rows = (0_u32..).zip(order);
    let mut repeats = Vec::new();
    let mut before = rows.next().and_then(|(_, row)| key(*row as usize));
    for (position, row) in rows {
        let here = key(*row as usize);
        if here == before {
            repeats.push(position);
        }
        before = here;
    }
    repeats
}

/// Positions of the keys that have several versions.
fn groups(repeats: &[u32]) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    repeats
        .chunk_by(|left, right| left + 1 == *right)
        .filter_map(|chunk| Some(*chunk.first()? as usize - 1..*chunk.last()? as usize + 1))
}

/// One row per key out of the sorted rows.
fn fold(
    order: &[u32],
    repeats: &[u32],
    rule: PickRule,
    retracts: impl Fn(u32) -> bool,
) -> Vec<u32> {
    let mut winners = Vec::with_capacity(order.len() - repeats.len());
    let mut next = 0;
    for group in groups(repeats) {
        winners.extend_from_slice(order.get(next..group.start).unwrap_or_default());
        next = group.end;
        let versions = order.get(group).unwrap_or_default();
        let counts = |row: &&u32| !(rule.ignore_delete && retracts(**row));
        let winner = if rule.oldest {
            versions.iter().find(counts)
        } else {
            versions.iter().rfind(counts)
        };
        winners.extend(winner);
    }
    winners.extend_from_slice(order.get(next..).unwrap_or_default());
    winners
}
