//! `hll_sketch` and `theta_sketch`: unions of Apache DataSketches, and the fold that they share with bitmaps.
//!
//! A union of HyperLogLog sketches starts from the newer one, whose precision it takes, and is written as HLL_4; a union of
//! theta sketches has the library's nominal size and is written compact and ordered. Java reads and writes the same
//! bytes. A single value is passed on unread. Source: Paimon `utils/HllSketchUtil.java`, `utils/ThetaSketch.java`.

use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray};
use datasketches::hll::{HllSketch, HllType, HllUnion};
use datasketches::theta::{CompactThetaSketch, ThetaUnionBuilder};

use super::{ColumnRules, Contested, Failure, Fault, Folding, Result, Step, no_retract};

/// Values that are sets, stored as bytes. Problems are texts: the column and key are added above.
pub(super) trait Union: Sized {
    /// What the bytes should be.
    const WHAT: &'static str;
    fn decode(bytes: &[u8]) -> Result<Self, String>;
    fn union(self, newer: Self) -> Result<Self, String>;
    fn encode(&self) -> Vec<u8>;
}

/// Bytes as they came, or a union of several.
enum Value<U> {
    Row(usize),
    United(U),
}

pub(super) fn fold<U: Union>(
    column: &ArrayRef,
    contested: Contested<'_>,
    rules: ColumnRules,
) -> Result<Folding> {
    let array: &BinaryArray = column.as_binary_opt::<i32>().ok_or(Failure::Type)?;
    let bad = |row: usize| {
        move |problem| {
            let what = U::WHAT;
            Failure::At(row, Fault::Bytes { what, problem })
        }
    };
    let decode = |value: Value<U>| match value {
        Value::United(united) => Ok(united),
        Value::Row(row) => U::decode(array.value(row)).map_err(bad(row)),
    };
    let mut folded = BinaryBuilder::with_capacity(contested.keys.len(), 0);
    let mut total = 0_usize;
    for key in contested.keys {
        let mut acc: Option<Value<U>> = None;
        contested.steps(key, rules, |row, step| {
            let value = array.is_valid(row).then_some(Value::Row(row));
            acc = match (step, acc.take(), value) {
                (Step::Set, _, value) => value,
                (Step::Clear, _, _) => None,
                (Step::Retract | Step::RetractOlder, _, _) => return no_retract(row),
                (_, None, value) => value,
                (_, was, None) => was,
                (step, Some(was), Some(value)) => {
                    let (was, value) = (decode(was)?, decode(value)?);
                    let united = if step == Step::Add {
                        was.union(value)
                    } else {
                        value.union(was)
                    };
                    Some(Value::United(united.map_err(bad(row))?))
                }
            };
            Ok(())
        })?;
        let united;
        let bytes = match &acc {
            None => None,
            Some(Value::Row(row)) => Some(array.value(*row)),
            Some(Value::United(union)) => {
                united = union.encode();
                Some(united.as_slice())
            }
        };
        total = total.saturating_add(bytes.map_or(0, <[u8]>::len));
        if i32::try_from(total).is_err() {
            return Err(Failure::At(key.start, Fault::TooLong));
        }
        folded.append_option(bytes);
    }
    Ok(Folding::values(folded.finish()))
}

pub(super) struct Hll(HllSketch);

impl Union for Hll {
    const WHAT: &'static str = "HyperLogLog sketch";

    fn decode(bytes: &[u8]) -> Result<Self, String> {
        HllSketch::deserialize(bytes)
            .map(Self)
            .map_err(|error| error.to_string())
    }

    fn union(self, newer: Self) -> Result<Self, String> {
        let mut union = HllUnion::new(newer.0.lg_config_k()).map_err(|error| error.to_string())?;
        union.update(&newer.0);
        union.update(&self.0);
        Ok(Self(union.to_sketch(HllType::Hll4)))
    }

    fn encode(&self) -> Vec<u8> {
        self.0.serialize()
    }
}

pub(super) struct Theta(CompactThetaSketch);

impl Union for Theta {
    const WHAT: &'static str = "theta sketch";

    fn decode(bytes: &[u8]) -> Result<Self, String> {
        CompactThetaSketch::deserialize(bytes)
            .map(Self)
            .map_err(|error| error.to_string())
    }

    fn union(self, newer: Self) -> Result<Self, String> {
        let mut union = ThetaUnionBuilder::default()
            .build()
            .map_err(|error| error.to_string())?;
        for sketch in [&self.0, &newer.0] {
            union.update(sketch).map_err(|error| error.to_string())?;
        }
        Ok(Self(union.to_sketch(true)))
    }

    /// Java writes two things that this library leaves out and no reader needs, but equal sketches should have equal
    /// bytes: the mark of a single item, and with a longer preamble the sampling probability.
    fn encode(&self) -> Vec<u8> {
        const EMPTY: u8 = 1 << 2;
        const SINGLE_ITEM: u8 = 1 << 5;
        let mut bytes = self.0.serialize();
        if bytes.first().is_some_and(|longs| *longs > 1) {
            if let Some(probability) = bytes.get_mut(12..16) {
                probability.copy_from_slice(&1.0_f32.to_le_bytes());
            }
        } else if let Some(flags) = bytes.get_mut(5)
            && *flags & EMPTY == 0
        {
            *flags |= SINGLE_ITEM;
        }
        bytes
    }
}
