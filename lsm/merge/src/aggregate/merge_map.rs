//! `merge_map`: the entries of all maps; of entries with equal keys the newest.
//!
//! A key stays where it was first met; Java's order is that of a hash map. Binary keys are compared by their bytes, which
//! Java 1.3 does not (it never finds them equal).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, MapArray};
use arrow_schema::DataType;

use super::elements::{Elements, Gathered, elements_of, shared};
use super::{ColumnRules, Contested, Failure, Folding, Result, Step};

pub(super) fn fold(
    column: &ArrayRef,
    contested: Contested<'_>,
    rules: ColumnRules,
) -> Result<Folding> {
    let maps = column.as_map_opt().ok_or(Failure::Type)?;
    let keys = Elements::encode(&[shared(maps.keys())])?;
    let mut gathered = Gathered::with_capacity(contested.keys.len());
    for key in contested.keys {
        let mut is_null = true;
        let mut map: Vec<u32> = Vec::new();
        contested.steps(key, rules, |row, step| {
            let value = maps
                .is_valid(row)
                .then(|| elements_of(maps.value_offsets(), row));
            match (step, value) {
                (Step::Clear, _) | (Step::Set, None) => {
                    is_null = true;
                    map.clear();
                }
                (Step::Set, Some(value)) => {
                    is_null = false;
                    map.clear();
                    map.extend(value);
                }
                (_, None) => {}
                (Step::Add | Step::AddOlder, Some(value)) if is_null => {
                    is_null = false;
                    map.extend(value);
                }
                (Step::Add, Some(value)) => {
                    map = union(&keys, map.iter().copied().chain(value));
                }
                (Step::AddOlder, Some(value)) => {
                    map = union(&keys, value.chain(map.iter().copied()));
                }
                (Step::Retract | Step::RetractOlder, Some(value)) => {
                    let gone: HashSet<&[u8]> = value.map(|entry| keys.get(entry)).collect();
                    map.retain(|entry| !gone.contains(keys.get(*entry)));
                }
            }
            Ok(())
        })?;
        gathered.push(key.start, (!is_null).then_some(map.as_slice()))?;
    }
    let (field, sorted) = match maps.data_type() {
        DataType::Map(field, sorted) => (Arc::clone(field), *sorted),
        _ => return Err(Failure::Type),
    };
    let (values, offsets, nulls) = gathered.finish(maps.entries())?;
    let values = values.as_struct_opt().ok_or(Failure::Type)?.clone();
    Ok(Folding::values(MapArray::try_new(
        field, offsets, values, nulls, sorted,
    )?))
}

/// One entry per key: the last, at the place of the first.
fn union(keys: &Elements, entries: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut places: HashMap<&[u8], usize> = HashMap::new();
    let mut union: Vec<u32> = Vec::new();
    for entry in entries {
        let place = *places.entry(keys.get(entry)).or_insert(union.len());
        match union.get_mut(place) {
            Some(older) => *older = entry,
            None => union.push(entry),
        }
    }
    union
}
