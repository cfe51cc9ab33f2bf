//! Columns side by side in one integer, the first in the highest bits.

use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, BooleanArray, PrimitiveArray};
use arrow_buffer::NullBuffer;

use super::ordinal::{Ordinal, wide_ordinal};
use crate::arrow_types::TimestampUnit;
use crate::data_type::{DataType, TypeKind};
use crate::error::{Result, TypeError};

/// Digits of the decimals that a 64-bit integer holds.
const NARROW_DECIMAL_DIGITS: u8 = 18;

/// Bits that a value of this type takes in a packed key; `None` for types of no fixed width.
pub(super) fn width(kind: &TypeKind) -> Option<u32> {
    match kind {
        TypeKind::Boolean => Some(1),
        TypeKind::TinyInt => Some(8),
        TypeKind::SmallInt => Some(16),
        TypeKind::Int | TypeKind::Float | TypeKind::Date | TypeKind::Time(_) => Some(32),
        TypeKind::BigInt
        | TypeKind::Double
        | TypeKind::Timestamp(_)
        | TypeKind::TimestampLtz(_) => Some(64),
        TypeKind::Decimal { precision, .. } if *precision <= NARROW_DECIMAL_DIGITS => Some(64),
        TypeKind::Decimal { .. } => Some(128),
        TypeKind::Char(_)
        | TypeKind::VarChar(_)
        | TypeKind::Binary(_)
        | TypeKind::VarBinary(_)
        | TypeKind::Variant
        | TypeKind::Array(_)
        | TypeKind::Map(..)
        | TypeKind::Multiset(_)
        | TypeKind::Row(_) => None,
    }
}

/// How one column is packed.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    /// Bits of the value.
    pub(super) width: u32,
    /// One more bit in front: 1 for values, 0 for nulls.
    pub(super) null_bit: bool,
    /// Values are inverted, nulls are not.
    pub(super) descending: bool,
}

impl Slot {
    pub(super) fn bits(self) -> u32 {
        self.width + u32::from(self.null_bit)
    }
}

/// The integers that keys are packed in.
pub(super) trait Word: Copy + Default {
    /// Appends the low `bits` bits of a value at the low end.
    fn push(self, bits: u32, value: Self) -> Self;
    fn from_ordinal(ordinal: u64) -> Self;
    /// `None` when the ordinal needs more bits than the word has.
    fn from_wide(ordinal: u128) -> Option<Self>;
    fn invert(self, width: u32) -> Self;
    /// A one at this bit.
    fn bit(position: u32) -> Self;
    fn or(self, other: Self) -> Self;
}

macro_rules! word {
    ($word:ty, $from_wide:expr) => {
        impl Word for $word {
            #[inline]
            fn push(self, bits: u32, value: Self) -> Self {
                // A column as wide as the word is the only one.
                self.checked_shl(bits).unwrap_or_default() | value
            }
            #[inline]
            fn from_ordinal(ordinal: u64) -> Self {
                Self::from(ordinal)
            }
            #[inline]
            fn from_wide(ordinal: u128) -> Option<Self> {
                $from_wide(ordinal)
            }
            #[inline]
            fn invert(self, width: u32) -> Self {
                self ^ Self::MAX
                    .checked_shr(Self::BITS - width)
                    .unwrap_or_default()
            }
            #[inline]
            fn bit(position: u32) -> Self {
                Self::from(1_u8).checked_shl(position).unwrap_or_default()
            }
            #[inline]
            fn or(self, other: Self) -> Self {
                self | other
            }
        }
    };
}

word!(u64, |ordinal| u64::try_from(ordinal).ok());
word!(u128, Some);

/// Appends a column to the keys. `keys` has one word per row; `first` says that nothing is in them yet.
pub(super) fn push_column<W: Word>(
    keys: &mut Vec<W>,
    first: bool,
    array: &ArrayRef,
    data_type: &DataType,
    slot: Slot,
) -> Result<()> {
    let mut sink = Sink { keys, first, slot };
    match &data_type.kind {
        TypeKind::Boolean => {
            let array = downcast::<BooleanArray>(array, data_type)?;
            sink.push(
                array
                    .values()
                    .iter()
                    .map(|value| W::from_ordinal(u64::from(value))),
                array.nulls(),
            );
        }
        TypeKind::TinyInt => sink.primitive::<Int8Type>(array, data_type)?,
        TypeKind::SmallInt => sink.primitive::<Int16Type>(array, data_type)?,
        TypeKind::Int => sink.primitive::<Int32Type>(array, data_type)?,
        TypeKind::BigInt => sink.primitive::<Int64Type>(array, data_type)?,
        TypeKind::Float => sink.primitive::<Float32Type>(array, data_type)?,
        TypeKind::Double => sink.primitive::<Float64Type>(array, data_type)?,
        TypeKind::Date => sink.primitive::<Date32Type>(array, data_type)?,
        TypeKind::Time(_) => sink.primitive::<Time32MillisecondType>(array, data_type)?,
        TypeKind::Timestamp(precision) | TypeKind::TimestampLtz(precision) => {
            match TimestampUnit::of_precision(*precision) {
                TimestampUnit::Milli => {
                    sink.primitive::<TimestampMillisecondType>(array, data_type)?
                }
                TimestampUnit::Micro => {
                    sink.primitive::<TimestampMicrosecondType>(array, data_type)?
                }
                TimestampUnit::Nano => {
                    sink.primitive::<TimestampNanosecondType>(array, data_type)?
                }
            }
        }
        TypeKind::Decimal { precision, .. } if *precision <= NARROW_DECIMAL_DIGITS => {
            let array = downcast::<PrimitiveArray<Decimal128Type>>(array, data_type)?;
            sink.narrow_decimals(array, data_type)?;
        }
        TypeKind::Decimal { .. } => {
            let array = downcast::<PrimitiveArray<Decimal128Type>>(array, data_type)?;
            let ordinals = array
                .values()
                .iter()
                .map(|value| W::from_wide(wide_ordinal(*value)).unwrap_or_default());
            sink.push(ordinals, array.nulls());
        }
        _ => {
            return Err(TypeError::internal(format!(
                "{data_type} is packed into a key"
            )));
        }
    }
    Ok(())
}

fn downcast<'a, A: 'static>(array: &'a ArrayRef, data_type: &DataType) -> Result<&'a A> {
    let mismatch = || TypeError::mismatch(format!("an array of {data_type}"), array.data_type());
    array.as_any().downcast_ref().ok_or_else(mismatch)
}

struct Sink<'a, W> {
    keys: &'a mut Vec<W>,
    first: bool,
    slot: Slot,
}

impl<W: Word> Sink<'_, W> {
    fn primitive<T: Ordinal>(&mut self, array: &ArrayRef, data_type: &DataType) -> Result<()> {
        let array = downcast::<PrimitiveArray<T>>(array, data_type)?;
        self.push(
            array
                .values()
                .iter()
                .map(|value| W::from_ordinal(T::ordinal(*value))),
            array.nulls(),
        );
        Ok(())
    }

    /// Values beyond 64 bits are no values of the type; two of them must not become one key.
    fn narrow_decimals(
        &mut self,
        array: &PrimitiveArray<Decimal128Type>,
        data_type: &DataType,
    ) -> Result<()> {
        let is_narrow = |value: i128| i64::try_from(value).is_ok();
        if let Some(value) = array.iter().flatten().find(|value| !is_narrow(*value)) {
            return Err(TypeError::DoesNotFit {
                value: value.to_string(),
                data_type: data_type.to_string(),
            });
        }
        let narrow = |value: &i128| i64::try_from(*value).unwrap_or_default();
        self.push(
            array
                .values()
                .iter()
                .map(|value| W::from_ordinal(Int64Type::ordinal(narrow(value)))),
            array.nulls(),
        );
        Ok(())
    }

    fn push(&mut self, ordinals: impl Iterator<Item = W>, nulls: Option<&NullBuffer>) {
        let Slot {
            width,
            null_bit,
            descending,
        } = self.slot;
        let present = W::bit(width);
        let value = |ordinal: W| {
            let ordinal = if descending {
                ordinal.invert(width)
            } else {
                ordinal
            };
            if null_bit {
                ordinal.or(present)
            } else {
                ordinal
            }
        };
        match nulls.filter(|_| null_bit) {
            Some(nulls) => self.append(
                ordinals
                    .zip(nulls.iter())
                    .map(|(ordinal, valid)| if valid { value(ordinal) } else { W::default() }),
            ),
            None => self.append(ordinals.map(value)),
        }
    }

    fn append(&mut self, values: impl Iterator<Item = W>) {
        let bits = self.slot.bits();
        if self.first {
            self.keys.clear();
            self.keys.extend(values);
        } else {
            for (key, value) in self.keys.iter_mut().zip(values) {
                *key = key.push(bits, value);
            }
        }
    }
}
