//! `listagg`: texts with a delimiter between them.
//!
//! The text of a key is kept as slices of the column until it is written, so adding a version copies nothing.
//!
//! Java 1.3 joins whatever comes, empty texts too, and ignores `fields.<column>.distinct` for this function. Later
//! versions skip blank texts and keep each token once; here `fields.<column>.listagg.distinct` asks for that.

use std::collections::{HashSet, VecDeque};

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};

use super::{ColumnRules, Contested, Failure, Fault, Folding, Result, Step, no_retract};

/// Options of the function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListAggOptions {
    /// `fields.<column>.list-agg-delimiter`.
    pub(crate) delimiter: String,
    /// `fields.<column>.listagg.distinct`.
    pub(crate) distinct: bool,
}

pub(super) fn fold(
    column: &ArrayRef,
    contested: Contested<'_>,
    rules: ColumnRules,
    options: &ListAggOptions,
) -> Result<Folding> {
    let array: &StringArray = column.as_string_opt::<i32>().ok_or(Failure::Type)?;
    let mut folded = StringBuilder::new();
    let mut text = Text::new(options);
    let mut total = 0_usize;
    for key in contested.keys {
        text.clear();
        contested.steps(key, rules, |row, step| {
            let value = array.is_valid(row).then(|| array.value(row));
            match (step, value) {
                (Step::Clear, _) => text.clear(),
                (Step::Set, value) => {
                    text.clear();
                    value.into_iter().for_each(|value| text.begin(value));
                }
                (Step::Retract | Step::RetractOlder, _) => return no_retract(row),
                (_, None) => {}
                (Step::Add, Some(value)) => text.append(value),
                (Step::AddOlder, Some(value)) => text.prepend(value),
            }
            Ok(())
        })?;
        total = total.saturating_add(text.len());
        if i32::try_from(total).is_err() {
            return Err(Failure::At(key.start, Fault::TooLong));
        }
        folded.append_option(text.join());
    }
    Ok(Folding::values(folded.finish()))
}

/// The text of one key.
struct Text<'a> {
    options: &'a ListAggOptions,
    /// Joined by the delimiter. The first may hold delimiters of its own.
    pieces: VecDeque<&'a str>,
    /// With `distinct`: all tokens of the pieces.
    tokens: HashSet<&'a str>,
}

impl<'a> Text<'a> {
    fn new(options: &'a ListAggOptions) -> Self {
        Self {
            options,
            pieces: VecDeque::new(),
            tokens: HashSet::new(),
        }
    }

    fn clear(&mut self) {
        self.pieces.clear();
        self.tokens.clear();
    }

    fn begin(&mut self, value: &'a str) {
        self.pieces.push_back(value);
        if self.options.distinct {
            self.tokens.extend(tokens(value, &self.options.delimiter));
        }
    }

    fn append(&mut self, value: &'a str) {
        if !self.options.distinct {
            self.pieces.push_back(value);
            return;
        }
        if is_blank(value) {
            return;
        }
        if self.pieces.iter().all(|piece| is_blank(piece)) {
            self.clear();
            self.begin(value);
            return;
        }
        for token in tokens(value, &self.options.delimiter) {
            if !is_blank(token) && self.tokens.insert(token) {
                self.pieces.push_back(token);
            }
        }
    }

    /// What was is appended to the value.
    fn prepend(&mut self, value: &'a str) {
        if !self.options.distinct {
            self.pieces.push_front(value);
            return;
        }
        if is_blank(value) {
            return;
        }
        let newer = std::mem::take(&mut self.pieces);
        self.tokens.clear();
        self.begin(value);
        newer.into_iter().for_each(|piece| self.append(piece));
    }

    /// Bytes of the joined text.
    fn len(&self) -> usize {
        let pieces: usize = self.pieces.iter().map(|piece| piece.len()).sum();
        pieces + self.options.delimiter.len() * self.pieces.len().saturating_sub(1)
    }

    fn join(&self) -> Option<String> {
        let mut pieces = self.pieces.iter();
        let mut joined = String::with_capacity(self.len());
        joined.push_str(pieces.next()?);
        for piece in pieces {
            joined.push_str(&self.options.delimiter);
            joined.push_str(piece);
        }
        Some(joined)
    }
}

/// A text is its own only token when there is no delimiter to split at.
fn tokens<'a>(text: &'a str, delimiter: &'a str) -> impl Iterator<Item = &'a str> {
    let whole = delimiter.is_empty().then_some(text);
    let split = (!delimiter.is_empty()).then(|| text.split(delimiter));
    whole.into_iter().chain(split.into_iter().flatten())
}

fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}
