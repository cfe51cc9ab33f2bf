//! Values of atomic types, converted one by one and only if nothing is lost.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, BooleanBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray, StringArray};
use arrow_buffer::NullBuffer;
use arrow_cast::display::array_value_to_string;
use arrow_schema::{DataType as ArrowType, TimeUnit};

use super::misfit::Misfit;
use super::{Fit, mismatch};
use crate::arrow_types::TimestampUnit;
use crate::data_type::{DataType, TypeKind};
use crate::datum::{Datum, datums_to_array, fits_precision};
use crate::text::parse_datum;

const MILLIS_PER_DAY: i64 = 86_400_000;

/// The plain array `array` as the canonical array of an atomic type; rows null in `nulls` are null.
pub(super) fn convert(
    array: &ArrayRef,
    nulls: Option<&NullBuffer>,
    data_type: &DataType,
) -> Fit<ArrayRef> {
    let source = Source {
        array,
        nulls,
        data_type,
    };
    if let Some(texts) = array.as_string_opt::<i32>()
        && !data_type.kind.is_text()
        && !data_type.kind.is_bytes()
    {
        return source.parse(texts);
    }
    Ok(match &data_type.kind {
        TypeKind::Boolean => {
            let found = array
                .as_boolean_opt()
                .ok_or_else(|| mismatch(array, data_type))?;
            let mut values = BooleanBuilder::with_capacity(found.len());
            for row in 0..found.len() {
                values.append_option((!source.is_null(row)).then(|| found.value(row)));
            }
            Arc::new(values.finish())
        }
        TypeKind::TinyInt => Arc::new(source.integers::<Int8Type>()?),
        TypeKind::SmallInt => Arc::new(source.integers::<Int16Type>()?),
        TypeKind::Int => Arc::new(source.integers::<Int32Type>()?),
        TypeKind::BigInt => Arc::new(source.integers::<Int64Type>()?),
        TypeKind::Float => source.floats()?,
        TypeKind::Double => source.doubles()?,
        TypeKind::Decimal { precision, scale } => source.decimals(*precision, *scale)?,
        TypeKind::Char(_) | TypeKind::VarChar(_) => source.text()?,
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => source.bytes()?,
        TypeKind::Date => source.dates()?,
        TypeKind::Time(_) => source.times()?,
        TypeKind::Timestamp(precision) => source.timestamps(*precision, false)?,
        TypeKind::TimestampLtz(precision) => source.timestamps(*precision, true)?,
        TypeKind::Variant
        | TypeKind::Array(_)
        | TypeKind::Map(..)
        | TypeKind::Multiset(_)
        | TypeKind::Row(_) => {
            return Err(mismatch(array, data_type).into());
        }
    })
}

struct Source<'a> {
    array: &'a ArrayRef,
    nulls: Option<&'a NullBuffer>,
    data_type: &'a DataType,
}

impl Source<'_> {
    fn is_null(&self, row: usize) -> bool {
        self.nulls.is_some_and(|nulls| nulls.is_null(row))
    }

    fn misfit(&self, row: usize) -> Misfit {
        let value = array_value_to_string(self.array, row)
            .unwrap_or_else(|_| "that cannot be shown".to_owned());
        Misfit::value(row, value, self.data_type)
    }

    fn wrong(&self) -> Misfit {
        mismatch(self.array, self.data_type).into()
    }

    /// Converts every value that is not null; the first for which `convert` has no answer is the misfit.
    fn each<S: ArrowPrimitiveType, T: ArrowPrimitiveType>(
        &self,
        convert: impl Fn(S::Native) -> Option<T::Native>,
    ) -> Fit<PrimitiveArray<T>> {
        let found = self
            .array
            .as_primitive_opt::<S>()
            .ok_or_else(|| self.wrong())?;
        let mut values = Vec::with_capacity(found.len());
        for (row, value) in found.values().iter().enumerate() {
            values.push(match convert(*value) {
                Some(value) => value,
                None if self.is_null(row) => T::Native::default(),
                None => return Err(self.misfit(row)),
            });
        }
        Ok(PrimitiveArray::try_new(values.into(), self.nulls.cloned())?)
    }

    fn parse(&self, texts: &StringArray) -> Fit<ArrayRef> {
        let mut datums = Vec::with_capacity(texts.len());
        for row in 0..texts.len() {
            datums.push(if self.is_null(row) {
                Datum::Null
            } else {
                parse_datum(texts.value(row), self.data_type).map_err(|_| self.misfit(row))?
            });
        }
        match datums_to_array(self.data_type, &datums) {
            Ok(array) => Ok(array),
            // A timestamp that its unit does not reach: find out which.
            Err(error) => {
                let alone = |datum: &Datum| {
                    datums_to_array(self.data_type, std::slice::from_ref(datum)).is_err()
                };
                Err(datums
                    .iter()
                    .position(alone)
                    .map_or_else(|| error.into(), |row| self.misfit(row)))
            }
        }
    }

    fn integers<T: ArrowPrimitiveType>(&self) -> Fit<PrimitiveArray<T>>
    where
        T::Native: TryFrom<i8> + TryFrom<i16> + TryFrom<i32> + TryFrom<i64> + TryFrom<i128>,
        T::Native: TryFrom<u8> + TryFrom<u16> + TryFrom<u32> + TryFrom<u64>,
    {
        match self.array.data_type() {
            ArrowType::Int8 => self.each::<Int8Type, T>(|value| T::Native::try_from(value).ok()),
            ArrowType::Int16 => self.each::<Int16Type, T>(|value| T::Native::try_from(value).ok()),
            ArrowType::Int32 => self.each::<Int32Type, T>(|value| T::Native::try_from(value).ok()),
            ArrowType::Int64 => self.each::<Int64Type, T>(|value| T::Native::try_from(value).ok()),
            ArrowType::UInt8 => self.each::<UInt8Type, T>(|value| T::Native::try_from(value).ok()),
            ArrowType::UInt16 => {
                self.each::<UInt16Type, T>(|value| T::Native::try_from(value).ok())
            }
            ArrowType::UInt32 => {
                self.each::<UInt32Type, T>(|value| T::Native::try_from(value).ok())
            }
            ArrowType::UInt64 => {
                self.each::<UInt64Type, T>(|value| T::Native::try_from(value).ok())
            }
            ArrowType::Decimal32(_, scale) => {
                let scale = *scale;
                self.each::<Decimal32Type, T>(|value| {
                    rescale(value.into(), scale, 0).and_then(|v| T::Native::try_from(v).ok())
                })
            }
            ArrowType::Decimal64(_, scale) => {
                let scale = *scale;
                self.each::<Decimal64Type, T>(|value| {
                    rescale(value.into(), scale, 0).and_then(|v| T::Native::try_from(v).ok())
                })
            }
            ArrowType::Decimal128(_, scale) => {
                let scale = *scale;
                self.each::<Decimal128Type, T>(|value| {
                    rescale(value, scale, 0).and_then(|v| T::Native::try_from(v).ok())
                })
            }
            _ => Err(self.wrong()),
        }
    }

    fn floats(&self) -> Fit<ArrayRef> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "only what comes back from the cast unchanged is kept"
        )]
        let narrow = |value: f64| {
            let float = value as f32;
            (value.is_nan() || f64::from(float) == value).then_some(float)
        };
        let whole = |value: i128| narrow(exact_double(value)?);
        Ok(Arc::new(match self.array.data_type() {
            ArrowType::Float16 => {
                self.each::<Float16Type, Float32Type>(|value| Some(value.to_f32()))?
            }
            ArrowType::Float32 => self.each::<Float32Type, Float32Type>(Some)?,
            ArrowType::Float64 => self.each::<Float64Type, Float32Type>(narrow)?,
            _ => self.any_integers::<Float32Type>(whole)?,
        }))
    }

    fn doubles(&self) -> Fit<ArrayRef> {
        Ok(Arc::new(match self.array.data_type() {
            ArrowType::Float16 => {
                self.each::<Float16Type, Float64Type>(|value| Some(value.to_f64()))?
            }
            ArrowType::Float32 => {
                self.each::<Float32Type, Float64Type>(|value| Some(f64::from(value)))?
            }
            ArrowType::Float64 => self.each::<Float64Type, Float64Type>(Some)?,
            _ => self.any_integers::<Float64Type>(exact_double)?,
        }))
    }

    /// Integers of any width and sign.
    fn any_integers<T: ArrowPrimitiveType>(
        &self,
        convert: impl Fn(i128) -> Option<T::Native>,
    ) -> Fit<PrimitiveArray<T>> {
        match self.array.data_type() {
            ArrowType::Int8 => self.each::<Int8Type, T>(|value| convert(value.into())),
            ArrowType::Int16 => self.each::<Int16Type, T>(|value| convert(value.into())),
            ArrowType::Int32 => self.each::<Int32Type, T>(|value| convert(value.into())),
            ArrowType::Int64 => self.each::<Int64Type, T>(|value| convert(value.into())),
            ArrowType::UInt8 => self.each::<UInt8Type, T>(|value| convert(value.into())),
            ArrowType::UInt16 => self.each::<UInt16Type, T>(|value| convert(value.into())),
            ArrowType::UInt32 => self.each::<UInt32Type, T>(|value| convert(value.into())),
            ArrowType::UInt64 => self.each::<UInt64Type, T>(|value| convert(value.into())),
            _ => Err(self.wrong()),
        }
    }

    fn decimals(&self, precision: u8, scale: u8) -> Fit<ArrayRef> {
        let fit = |value: i128, from: i8| {
            rescale(value, from, scale).filter(|value| fits_precision(*value, precision))
        };
        let values = match *self.array.data_type() {
            ArrowType::Decimal32(_, from) => {
                self.each::<Decimal32Type, Decimal128Type>(|value| fit(value.into(), from))?
            }
            ArrowType::Decimal64(_, from) => {
                self.each::<Decimal64Type, Decimal128Type>(|value| fit(value.into(), from))?
            }
            ArrowType::Decimal128(_, from) => {
                self.each::<Decimal128Type, Decimal128Type>(|value| fit(value, from))?
            }
            ArrowType::Decimal256(_, from) => {
                self.each::<Decimal256Type, Decimal128Type>(|value| {
                    value.to_i128().and_then(|value| fit(value, from))
                })?
            }
            _ => self.any_integers::<Decimal128Type>(|value| fit(value, 0))?,
        };
        Ok(Arc::new(values.with_precision_and_scale(
            precision,
            scale.cast_signed(),
        )?))
    }

    fn text(&self) -> Fit<ArrayRef> {
        if self.array.as_string_opt::<i32>().is_some() {
            return Ok(Arc::clone(self.array));
        }
        let found = self
            .array
            .as_binary_opt::<i32>()
            .ok_or_else(|| self.wrong())?;
        let mut texts = StringBuilder::with_capacity(found.len(), found.value_data().len());
        for row in 0..found.len() {
            if self.is_null(row) {
                texts.append_null();
            } else {
                texts.append_value(
                    std::str::from_utf8(found.value(row)).map_err(|_| self.misfit(row))?,
                );
            }
        }
        Ok(Arc::new(texts.finish()))
    }

    fn bytes(&self) -> Fit<ArrayRef> {
        if self.array.as_binary_opt::<i32>().is_some() {
            return Ok(Arc::clone(self.array));
        }
        let found = self
            .array
            .as_string_opt::<i32>()
            .ok_or_else(|| self.wrong())?;
        let mut bytes = BinaryBuilder::with_capacity(found.len(), found.value_data().len());
        for row in 0..found.len() {
            bytes.append_option((!self.is_null(row)).then(|| found.value(row).as_bytes()));
        }
        Ok(Arc::new(bytes.finish()))
    }

    fn dates(&self) -> Fit<ArrayRef> {
        Ok(Arc::new(match self.array.data_type() {
            ArrowType::Date32 => self.each::<Date32Type, Date32Type>(Some)?,
            ArrowType::Date64 => self.each::<Date64Type, Date32Type>(|millis| {
                (millis % MILLIS_PER_DAY == 0)
                    .then(|| i32::try_from(millis / MILLIS_PER_DAY).ok())
                    .flatten()
            })?,
            _ => return Err(self.wrong()),
        }))
    }

    /// Milliseconds of the day; finer times must be whole milliseconds.
    fn times(&self) -> Fit<ArrayRef> {
        let of_day = |millis: i64| {
            i32::try_from(millis)
                .ok()
                .filter(|millis| (0..86_400_000).contains(millis))
        };
        let whole =
            |value: i64, unit: i64| (value % unit == 0).then_some(value / unit).and_then(of_day);
        type Millis = Time32MillisecondType;
        Ok(Arc::new(match self.array.data_type() {
            ArrowType::Time32(TimeUnit::Second) => {
                self.each::<Time32SecondType, Millis>(|value| of_day(i64::from(value) * 1_000))?
            }
            ArrowType::Time32(_) => {
                self.each::<Time32MillisecondType, Millis>(|value| of_day(value.into()))?
            }
            ArrowType::Time64(TimeUnit::Microsecond) => {
                self.each::<Time64MicrosecondType, Millis>(|value| whole(value, 1_000))?
            }
            ArrowType::Time64(_) => {
                self.each::<Time64NanosecondType, Millis>(|value| whole(value, 1_000_000))?
            }
            _ => return Err(self.wrong()),
        }))
    }

    fn timestamps(&self, precision: u8, instant: bool) -> Fit<ArrayRef> {
        let zone = instant.then_some("UTC");
        Ok(match TimestampUnit::of_precision(precision) {
            TimestampUnit::Milli => Arc::new(
                self.timestamps_of::<TimestampMillisecondType>(1_000, instant)?
                    .with_timezone_opt(zone),
            ),
            TimestampUnit::Micro => Arc::new(
                self.timestamps_of::<TimestampMicrosecondType>(1_000_000, instant)?
                    .with_timezone_opt(zone),
            ),
            TimestampUnit::Nano => Arc::new(
                self.timestamps_of::<TimestampNanosecondType>(1_000_000_000, instant)?
                    .with_timezone_opt(zone),
            ),
        })
    }

    /// Timestamps of any unit, and dates at midnight, as `per_second` units of a second.
    fn timestamps_of<T: ArrowPrimitiveType<Native = i64>>(
        &self,
        per_second: i64,
        instant: bool,
    ) -> Fit<PrimitiveArray<T>> {
        let scale = move |value: i64, from: i64| {
            if from <= per_second {
                value.checked_mul(per_second / from)
            } else {
                let unit = from / per_second;
                (value % unit == 0).then_some(value / unit)
            }
        };
        match self.array.data_type() {
            ArrowType::Timestamp(unit, zone) => {
                // Without instant, the wall clock of another zone is not the one that the numbers show.
                if !instant && zone.as_deref().is_some_and(|zone| !is_utc(zone)) {
                    return Err(self.wrong());
                }
                match unit {
                    TimeUnit::Second => {
                        self.each::<TimestampSecondType, T>(|value| scale(value, 1))
                    }
                    TimeUnit::Millisecond => {
                        self.each::<TimestampMillisecondType, T>(|value| scale(value, 1_000))
                    }
                    TimeUnit::Microsecond => {
                        self.each::<TimestampMicrosecondType, T>(|value| scale(value, 1_000_000))
                    }
                    TimeUnit::Nanosecond => {
                        self.each::<TimestampNanosecondType, T>(|value| scale(value, 1_000_000_000))
                    }
                }
            }
            ArrowType::Date32 => {
                self.each::<Date32Type, T>(|days| scale(i64::from(days) * 86_400, 1))
            }
            _ => Err(self.wrong()),
        }
    }
}

fn is_utc(zone: &str) -> bool {
    zone.eq_ignore_ascii_case("utc")
        || matches!(
            zone,
            "Z" | "Etc/UTC" | "+00:00" | "-00:00" | "+00" | "+0000" | "GMT"
        )
}

/// The double with exactly this value.
fn exact_double(value: i128) -> Option<f64> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "only what comes back from the cast unchanged is kept"
    )]
    let double = value as f64;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "saturates, and is compared"
    )]
    (double as i128 == value).then_some(double)
}

/// The unscaled value at another scale, if no digit is lost.
fn rescale(value: i128, from: i8, to: u8) -> Option<i128> {
    let shift = i32::from(to) - i32::from(from);
    let power = 10_i128.checked_pow(shift.unsigned_abs());
    match (power, shift >= 0) {
        _ if value == 0 => Some(0),
        (Some(power), true) => value.checked_mul(power),
        (Some(power), false) => (value % power == 0).then_some(value / power),
        (None, _) => None,
    }
}
