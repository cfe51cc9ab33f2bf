//! `collect`: the elements of all lists, each once if `distinct`.
//!
//! Elements keep the order in which they came (Java's order is that of a hash set where elements are atomic). Binary
//! elements are never found equal by `distinct`, as in Java 1.3, which compares arrays by identity there; taking them back
//! goes by their bytes.

use std::collections::{HashMap, HashSet};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::elements::{Elements, Gathered, elements_of, list, shared};
use super::{ColumnRules, Contested, Failure, Folding, Result, Step};

/// Options of the function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CollectOptions {
    /// `fields.<column>.distinct`.
    pub(crate) distinct: bool,
}

pub(super) fn fold(
    column: &ArrayRef,
    contested: Contested<'_>,
    rules: ColumnRules,
    options: CollectOptions,
) -> Result<Folding> {
    let lists = column.as_list_opt::<i32>().ok_or(Failure::Type)?;
    let binary = matches!(lists.values().data_type(), DataType::Binary);
    let compares = (options.distinct && !binary) || contested.any_retract(rules);
    let elements = if compares {
        Some(Elements::encode(&[shared(lists.values())])?)
    } else {
        None
    };
    let bytes = |element: u32| elements.as_ref().map_or(&[][..], |all| all.get(element));
    let distinct = options.distinct;
    let unique = |element: u32| binary && lists.values().is_valid(element as usize);
    let mut gathered = Gathered::with_capacity(contested.keys.len());
    let mut seen: HashSet<&[u8]> = HashSet::new();
    let mut collected: Vec<u32> = Vec::new();
    for key in contested.keys {
        let mut is_null = true;
        // Whether `seen` holds exactly what was collected.
        let mut known = true;
        collected.clear();
        seen.clear();
        contested.steps(key, rules, |row, step| {
            let value = lists
                .is_valid(row)
                .then(|| elements_of(lists.value_offsets(), row));
            match (step, value) {
                (Step::Clear, _) | (Step::Set, None) => {
                    is_null = true;
                    collected.clear();
                    known = false;
                }
                (Step::Set, Some(value)) => {
                    is_null = false;
                    collected.clear();
                    collected.extend(value);
                    known = false;
                }
                (_, None) => {}
                // Which of the two is newer makes no difference.
                (Step::Add | Step::AddOlder, Some(value)) => {
                    is_null = false;
                    if !distinct {
                        collected.extend(value);
                        return Ok(());
                    }
                    if !known {
                        seen.clear();
                        collected
                            .retain(|element| unique(*element) || seen.insert(bytes(*element)));
                        known = true;
                    }
                    collected.extend(
                        value.filter(|element| unique(*element) || seen.insert(bytes(*element))),
                    );
                }
                (Step::Retract | Step::RetractOlder, Some(value)) => {
                    let mut taken: HashMap<&[u8], usize> = HashMap::new();
                    for element in value {
                        *taken.entry(bytes(element)).or_default() += 1;
                    }
                    collected.retain(|element| match taken.get_mut(bytes(*element)) {
                        Some(left) if *left > 0 => {
                            *left -= 1;
                            false
                        }
                        _ => true,
                    });
                    known = false;
                }
            }
            Ok(())
        })?;
        gathered.push(key.start, (!is_null).then_some(collected.as_slice()))?;
    }
    list(lists, gathered)
}
