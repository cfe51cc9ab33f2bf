//! `rbm32` and `rbm64`: unions of roaring bitmaps. A single value is passed on unread.

use arrow_array::ArrayRef;

use super::sketch::{Union, fold as fold_unions};
use super::{ColumnRules, Contested, Folding, Result};
use crate::roaring::Bitmap;

pub(super) fn fold<B: Bitmap>(
    column: &ArrayRef,
    contested: Contested<'_>,
    rules: ColumnRules,
) -> Result<Folding> {
    fold_unions::<Bits<B>>(column, contested, rules)
}

struct Bits<B>(B);

impl<B: Bitmap> Union for Bits<B> {
    const WHAT: &'static str = "roaring bitmap";

    fn decode(bytes: &[u8]) -> Result<Self, String> {
        B::decode(bytes)
            .map(Self)
            .map_err(|error| error.to_string())
    }

    fn union(self, newer: Self) -> Result<Self, String> {
        Ok(Self(self.0.union(newer.0)))
    }

    fn encode(&self) -> Vec<u8> {
        self.0.encode()
    }
}
