//! Row kinds from a column of the input.

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{Array, ArrayRef, Int8Array, StringArray};
use tidewater_types::RowKind;

use super::bad_rows::RowFault;

/// What a kind may be written as, for help texts and errors.
pub(super) const KIND_WORDS: &str =
    "a row kind (+I, -U, +U, -D, I, U, D, insert, update, upsert or delete)";

/// The kind that a word names, in any case: `+I`, `-U`, `+U`, `-D`; `I` or `insert`; `U`, `update` or `upsert` (the row after the
/// update); `D` or `delete`.
pub fn kind_of_word(word: &str) -> Option<RowKind> {
    let is = |words: &[&str]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
    if is(&["+i", "i", "insert"]) {
        Some(RowKind::Insert)
    } else if is(&["+u", "u", "update", "upsert"]) {
        Some(RowKind::UpdateAfter)
    } else if is(&["-d", "d", "delete"]) {
        Some(RowKind::Delete)
    } else if is(&["-u"]) {
        Some(RowKind::UpdateBefore)
    } else {
        None
    }
}

/// The kinds of a column of words, or of Paimon's own numbers 0 to 3 as Int8; a row that has none is `+I` in the answer and a fault
/// with its index.
pub(super) fn kinds_of_column(
    name: &str,
    column: &ArrayRef,
    faults: &mut Vec<(usize, RowFault)>,
) -> Int8Array {
    if let Some(numbers) = column.as_primitive_opt::<Int8Type>() {
        return kinds(
            numbers.iter(),
            |number| RowKind::from_i8(number).ok(),
            |row, number| {
                faults.push((row, fault(name, number.map(|number| number.to_string()))));
            },
        );
    }
    match column.as_string_opt::<i32>() {
        Some(words) => kinds_of_words(name, words, faults),
        None => {
            faults.push((
                0,
                fault(name, Some(format!("a column of {}", column.data_type()))),
            ));
            Int8Array::from(vec![0; column.len()])
        }
    }
}

/// As [`kinds_of_column`], of words.
pub(super) fn kinds_of_words(
    name: &str,
    words: &StringArray,
    faults: &mut Vec<(usize, RowFault)>,
) -> Int8Array {
    kinds(words.iter(), kind_of_word, |row, word| {
        faults.push((row, fault(name, word.map(str::to_owned))));
    })
}

fn kinds<T: Copy>(
    values: impl Iterator<Item = Option<T>>,
    kind_of: impl Fn(T) -> Option<RowKind>,
    mut refuse: impl FnMut(usize, Option<T>),
) -> Int8Array {
    let kinds = values.enumerate().map(|(row, value)| {
        let kind = value.and_then(&kind_of);
        if kind.is_none() {
            refuse(row, value);
        }
        kind.unwrap_or(RowKind::Insert).as_i8()
    });
    Int8Array::from_iter_values(kinds)
}

fn fault(name: &str, value: Option<String>) -> RowFault {
    match value {
        Some(value) => RowFault::value(name, value.as_bytes(), KIND_WORDS),
        None => RowFault::Value {
            column: name.to_owned(),
            value: "null".to_owned(),
            expected: KIND_WORDS.to_owned(),
        },
    }
}
