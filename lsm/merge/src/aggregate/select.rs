//! Functions whose result is one of the values: a row per key, gathered by one take.

use arrow_array::{Array, ArrayRef};

use super::{ColumnRules, Contested, Failure, Fault, Folding, NO_ROW, Result, Step, no_retract};

/// Folds with a choice between the row picked so far and the next one.
fn pick(
    contested: Contested<'_>,
    rules: ColumnRules,
    mut choose: impl FnMut(Option<usize>, usize, Step) -> Result<Option<usize>>,
) -> Result<Folding> {
    let mut picks = Vec::with_capacity(contested.keys.len());
    for key in contested.keys {
        let mut picked = None;
        contested.steps(key, rules, |row, step| {
            picked = choose(picked, row, step)?;
            Ok(())
        })?;
        picks.push(picked.map_or(NO_ROW, as_pick));
    }
    Ok(Folding::Picks(picks))
}

/// Rows of a chunk are counted in `u32`.
pub(super) fn as_pick(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(NO_ROW)
}

/// All versions have the same key.
pub(super) fn key(contested: Contested<'_>) -> Folding {
    let last = |key: &std::ops::Range<usize>| as_pick(key.end.saturating_sub(1));
    Folding::Picks(contested.keys.iter().map(last).collect())
}

/// `primary-key`: the value, taken back or not.
pub(super) fn given(contested: Contested<'_>, rules: ColumnRules) -> Result<Folding> {
    pick(contested, rules, |picked, row, step| {
        Ok(match step {
            Step::Clear => None,
            Step::AddOlder => picked,
            _ => Some(row),
        })
    })
}

/// Sequence columns follow newer adds and newer retractions.
pub(super) fn sequence(contested: Contested<'_>, rules: ColumnRules) -> Result<Folding> {
    let rules = ColumnRules {
        ignore_retract: false,
        ..rules
    };
    pick(contested, rules, |picked, row, step| {
        Ok(match step {
            Step::Set | Step::Add | Step::Retract => Some(row),
            Step::Clear => None,
            Step::AddOlder | Step::RetractOlder => picked,
        })
    })
}

/// Members of a group without function; `ignore-retract` is an option of functions.
pub(super) fn follow(contested: Contested<'_>, rules: ColumnRules) -> Result<Folding> {
    let rules = ColumnRules {
        ignore_retract: false,
        ..rules
    };
    pick(contested, rules, |picked, row, step| {
        Ok(match step {
            Step::Set | Step::Add => Some(row),
            Step::Clear | Step::Retract => None,
            Step::AddOlder | Step::RetractOlder => picked,
        })
    })
}

/// Partial update outside groups.
pub(super) fn overwrite(
    column: &ArrayRef,
    contested: Contested<'_>,
    rules: ColumnRules,
    refuse_null: bool,
) -> Result<Folding> {
    let nulls = column.logical_nulls();
    pick(contested, rules, |picked, row, step| match step {
        Step::Set => Ok(Some(row)),
        Step::Clear => Ok(None),
        Step::Add | Step::AddOlder => {
            if !nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                Ok(Some(row))
            } else if refuse_null && rules.not_null {
                Err(Failure::At(row, Fault::Null))
            } else {
                Ok(picked)
            }
        }
        Step::Retract | Step::RetractOlder => Ok(picked),
    })
}

pub(super) fn last_value(contested: Contested<'_>, rules: ColumnRules) -> Result<Folding> {
    pick(contested, rules, |picked, row, step| {
        Ok(match step {
            Step::Set | Step::Add => Some(row),
            Step::AddOlder => picked,
            Step::Clear | Step::Retract | Step::RetractOlder => None,
        })
    })
}

pub(super) fn last_non_null_value(
    column: &ArrayRef,
    contested: Contested<'_>,
    rules: ColumnRules,
) -> Result<Folding> {
    let nulls = column.logical_nulls();
    pick(contested, rules, |picked, row, step| {
        let null = nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        Ok(match step {
            Step::Set => Some(row),
            Step::Clear => None,
            _ if null => picked,
            Step::Add => Some(row),
            Step::AddOlder => picked.or(Some(row)),
            Step::Retract | Step::RetractOlder => None,
        })
    })
}

pub(super) fn first_value(contested: Contested<'_>, rules: ColumnRules) -> Result<Folding> {
    pick(contested, rules, |picked, row, step| match step {
        Step::Set | Step::AddOlder => Ok(Some(row)),
        Step::Clear => Ok(None),
        Step::Add => Ok(picked.or(Some(row))),
        Step::Retract | Step::RetractOlder => no_retract(row),
    })
}

/// The value that is earliest by the sequence columns of the group, or else in the order of versions.
///
/// Java 1.3 differs for versions that come after newer ones: it may end with a null although values were there, and its
/// answer depends on when files were compacted (spec 02b §7).
pub(super) fn first_non_null_value(
    column: &ArrayRef,
    contested: Contested<'_>,
    rules: ColumnRules,
) -> Result<Folding> {
    let nulls = column.logical_nulls();
    let earlier = |row: usize, than: usize| {
        contested
            .sequence
            .is_some_and(|keys| keys.cmp(row, keys, than).is_lt())
    };
    pick(contested, rules, |picked, row, step| {
        let null = nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        match step {
            Step::Set => Ok((!null).then_some(row)),
            Step::Clear => Ok(None),
            Step::Retract | Step::RetractOlder => no_retract(row),
            Step::Add | Step::AddOlder if null => Ok(picked),
            Step::Add | Step::AddOlder => Ok(match picked {
                Some(first) if !earlier(row, first) => Some(first),
                _ => Some(row),
            }),
        }
    })
}
