//! `bool_and` and `bool_or`.

use arrow_array::builder::BooleanBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};

use super::{ColumnRules, Contested, Failure, Folding, Result, Step, no_retract};

pub(super) fn fold(
    column: &ArrayRef,
    contested: Contested<'_>,
    rules: ColumnRules,
    join: impl Fn(bool, bool) -> bool,
) -> Result<Folding> {
    let array = column.as_boolean_opt().ok_or(Failure::Type)?;
    let mut folded = BooleanBuilder::with_capacity(contested.keys.len());
    for key in contested.keys {
        let mut acc: Option<bool> = None;
        contested.steps(key, rules, |row, step| {
            let value = array.is_valid(row).then(|| array.value(row));
            acc = match (step, acc, value) {
                (Step::Set, _, value) => value,
                (Step::Clear, _, _) => None,
                (Step::Retract | Step::RetractOlder, _, _) => return no_retract(row),
                (_, acc, None) => acc,
                (_, None, value) => value,
                (_, Some(acc), Some(value)) => Some(join(acc, value)),
            };
            Ok(())
        })?;
        folded.append_option(acc);
    }
    Ok(Folding::values(folded.finish()))
}
