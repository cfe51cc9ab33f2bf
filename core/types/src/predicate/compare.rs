//! One column against literals, by Arrow's kernels.
//!
//! A literal need not be a value of the column: 1.255 lies between two values of DECIMAL(5, 2), an instant may lie beyond
//! what nanoseconds reach. [`Place`] says where it lies, and each comparison follows from that.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{
    Array, ArrayRef, ArrowNativeTypeOp, BinaryArray, BooleanArray, Datum as ArrowDatum,
    PrimitiveArray, Scalar, StringArray,
};
use arrow_buffer::BooleanBuffer;
use arrow_ord::cmp;

use super::PredicateOp;
use super::eval::Truth;
use crate::arrow_types::TimestampUnit;
use crate::cast::power_of_ten;
use crate::data_type::{DataType, TypeKind};
use crate::datum::{Datum, TimestampValue, canonical_f32, canonical_f64};
use crate::error::{Result, TypeError};

/// Where a literal lies among the values of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place<V> {
    /// On this value.
    On(V),
    /// Between this value and the next.
    After(V),
    /// Below every value.
    Below,
    /// Above every value.
    Above,
}

/// Compares every row with the literal; `op` is one of the six comparisons.
pub(super) fn compare(
    array: &ArrayRef,
    data_type: &DataType,
    op: PredicateOp,
    literal: &Datum,
) -> Result<Truth> {
    if literal.is_null() {
        return Ok(Truth::unknown(array.len()));
    }
    let foreign = || TypeError::mismatch(data_type, literal.type_name());
    match (&data_type.kind, literal) {
        (TypeKind::Boolean, Datum::Boolean(value)) => {
            let values = array
                .as_boolean_opt()
                .ok_or_else(|| mismatch(array, data_type))?;
            kernel(op, values, &BooleanArray::new_scalar(*value))
        }
        (TypeKind::Char(_) | TypeKind::VarChar(_), Datum::String(text)) => {
            let values = array
                .as_string_opt::<i32>()
                .ok_or_else(|| mismatch(array, data_type))?;
            kernel(op, values, &StringArray::new_scalar(text))
        }
        (TypeKind::Binary(_) | TypeKind::VarBinary(_), Datum::Bytes(bytes)) => {
            let values = array
                .as_binary_opt::<i32>()
                .ok_or_else(|| mismatch(array, data_type))?;
            kernel(op, values, &BinaryArray::new_scalar(bytes))
        }
        _ => with_primitives(
            array,
            data_type,
            PrimitiveCompare {
                op,
                literal,
                foreign: &foreign,
            },
        ),
    }
}

/// Whether each row equals one of the literals.
pub(super) fn is_in(array: &ArrayRef, data_type: &DataType, literals: &[Datum]) -> Result<Truth> {
    let known: Vec<&Datum> = literals
        .iter()
        .filter(|literal| !literal.is_null())
        .collect();
    let foreign = || TypeError::mismatch(format!("values of {data_type}"), "others");
    let mut truth = match &data_type.kind {
        TypeKind::Boolean => {
            let values = array
                .as_boolean_opt()
                .ok_or_else(|| mismatch(array, data_type))?;
            let has = |wanted: bool| {
                known
                    .iter()
                    .any(|literal| **literal == Datum::Boolean(wanted))
            };
            let (has_true, has_false) = (has(true), has(false));
            let found = BooleanBuffer::collect_bool(values.len(), |row| {
                if values.values().value(row) {
                    has_true
                } else {
                    has_false
                }
            });
            Truth::of(found, array.nulls())
        }
        TypeKind::Char(_) | TypeKind::VarChar(_) => {
            let values = array
                .as_string_opt::<i32>()
                .ok_or_else(|| mismatch(array, data_type))?;
            let mut wanted = known
                .iter()
                .map(|literal| {
                    if let Datum::String(text) = literal {
                        Ok(text.as_str())
                    } else {
                        Err(foreign())
                    }
                })
                .collect::<Result<Vec<_>>>()?;
            wanted.sort_unstable();
            let found = BooleanBuffer::collect_bool(values.len(), |row| {
                wanted.binary_search(&values.value(row)).is_ok()
            });
            Truth::of(found, array.nulls())
        }
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => {
            let values = array
                .as_binary_opt::<i32>()
                .ok_or_else(|| mismatch(array, data_type))?;
            let mut wanted = known
                .iter()
                .map(|literal| {
                    if let Datum::Bytes(bytes) = literal {
                        Ok(bytes.as_slice())
                    } else {
                        Err(foreign())
                    }
                })
                .collect::<Result<Vec<_>>>()?;
            wanted.sort_unstable();
            let found = BooleanBuffer::collect_bool(values.len(), |row| {
                wanted.binary_search(&values.value(row)).is_ok()
            });
            Truth::of(found, array.nulls())
        }
        _ => with_primitives(
            array,
            data_type,
            PrimitiveIn {
                literals: &known,
                foreign: &foreign,
            },
        )?,
    };
    if known.len() < literals.len() {
        // Not found among the others: perhaps equal to the null.
        truth = truth.without_no();
    }
    Ok(truth)
}

/// What is done with a column once its primitive type is known.
trait PrimitiveTask {
    /// `place` finds where a literal lies, `None` if it is of another type.
    fn run<T: ArrowPrimitiveType>(
        self,
        values: &PrimitiveArray<T>,
        place: impl Fn(&Datum) -> Option<Place<T::Native>>,
    ) -> Result<Truth>;
}

fn with_primitives(
    array: &ArrayRef,
    data_type: &DataType,
    task: impl PrimitiveTask,
) -> Result<Truth> {
    macro_rules! exact {
        ($arrow:ty, $variant:ident) => {
            task.run(
                primitive::<$arrow>(array, data_type)?,
                |literal| match literal {
                    Datum::$variant(value) => Some(Place::On(*value)),
                    _ => None,
                },
            )
        };
    }
    match &data_type.kind {
        TypeKind::TinyInt => exact!(Int8Type, TinyInt),
        TypeKind::SmallInt => exact!(Int16Type, SmallInt),
        TypeKind::Int => exact!(Int32Type, Int),
        TypeKind::BigInt => exact!(Int64Type, BigInt),
        TypeKind::Date => exact!(Date32Type, Date),
        TypeKind::Time(_) => exact!(Time32MillisecondType, Time),
        TypeKind::Float => {
            let values = one_nan(
                primitive::<Float32Type>(array, data_type)?,
                f32::is_nan,
                canonical_f32,
            );
            task.run(&values, |literal| match literal {
                Datum::Float(value) => Some(Place::On(canonical_f32(*value))),
                _ => None,
            })
        }
        TypeKind::Double => {
            let values = one_nan(
                primitive::<Float64Type>(array, data_type)?,
                f64::is_nan,
                canonical_f64,
            );
            task.run(&values, |literal| match literal {
                Datum::Double(value) => Some(Place::On(canonical_f64(*value))),
                _ => None,
            })
        }
        TypeKind::Decimal { scale, .. } => task.run(
            primitive::<Decimal128Type>(array, data_type)?,
            |literal| match literal {
                Datum::Decimal {
                    unscaled,
                    scale: from,
                    ..
                } => Some(decimal_place(*unscaled, *from, *scale)),
                _ => None,
            },
        ),
        TypeKind::Timestamp(precision) | TypeKind::TimestampLtz(precision) => {
            match TimestampUnit::of_precision(*precision) {
                TimestampUnit::Milli => {
                    let values = primitive::<TimestampMillisecondType>(array, data_type)?;
                    task.run(values, |literal| {
                        instant_place(literal, 3, |value| Some(value.millis))
                    })
                }
                TimestampUnit::Micro => {
                    let values = primitive::<TimestampMicrosecondType>(array, data_type)?;
                    task.run(values, |literal| {
                        instant_place(literal, 6, TimestampValue::to_micros)
                    })
                }
                TimestampUnit::Nano => {
                    let values = primitive::<TimestampNanosecondType>(array, data_type)?;
                    task.run(values, |literal| {
                        instant_place(literal, 9, TimestampValue::to_nanos)
                    })
                }
            }
        }
        _ => Err(TypeError::invalid(format!(
            "values of {data_type} are not compared"
        ))),
    }
}

fn decimal_place(unscaled: i128, from_scale: u8, scale: u8) -> Place<i128> {
    let beyond = if unscaled < 0 {
        Place::Below
    } else {
        Place::Above
    };
    if scale >= from_scale {
        let factor = power_of_ten(u32::from(scale - from_scale));
        return factor
            .and_then(|factor| unscaled.checked_mul(factor))
            .map_or(beyond, Place::On);
    }
    // Scales go up to 38, so the power always fits.
    let Some(divisor) = power_of_ten(u32::from(from_scale - scale)) else {
        return beyond;
    };
    let floor = unscaled.div_euclid(divisor);
    if unscaled.rem_euclid(divisor) == 0 {
        Place::On(floor)
    } else {
        Place::After(floor)
    }
}

fn instant_place(
    literal: &Datum,
    digits: u8,
    unit: impl Fn(TimestampValue) -> Option<i64>,
) -> Option<Place<i64>> {
    let Datum::Timestamp(value) = literal else {
        return None;
    };
    let floor = value.floor_to(digits);
    Some(match unit(floor) {
        Some(count) if floor == *value => Place::On(count),
        Some(count) => Place::After(count),
        None if value.millis < 0 => Place::Below,
        None => Place::Above,
    })
}

struct PrimitiveCompare<'a, F> {
    op: PredicateOp,
    literal: &'a Datum,
    foreign: &'a F,
}

impl<F: Fn() -> TypeError> PrimitiveTask for PrimitiveCompare<'_, F> {
    fn run<T: ArrowPrimitiveType>(
        self,
        values: &PrimitiveArray<T>,
        place: impl Fn(&Datum) -> Option<Place<T::Native>>,
    ) -> Result<Truth> {
        use PredicateOp::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
        let always = |answer: bool| Ok(Truth::always(answer, values.len(), values.nulls()));
        let (op, value) = match (place(self.literal).ok_or_else(self.foreign)?, self.op) {
            (Place::On(value), op) => (op, value),
            (_, Eq) => return always(false),
            (_, NotEq) => return always(true),
            // Less than something after the value: at most the value.
            (Place::After(value), Lt | LtEq) => (LtEq, value),
            (Place::After(value), _) => (Gt, value),
            (Place::Below, op) => return always(matches!(op, Gt | GtEq)),
            (Place::Above, op) => return always(matches!(op, Lt | LtEq)),
        };
        let literal =
            PrimitiveArray::<T>::from_value(value, 1).with_data_type(values.data_type().clone());
        kernel(op, values, &Scalar::new(literal))
    }
}

struct PrimitiveIn<'a, F> {
    literals: &'a [&'a Datum],
    foreign: &'a F,
}

/// Up to this many literals comparing with each beats searching.
const FEW_LITERALS: usize = 4;

impl<F: Fn() -> TypeError> PrimitiveTask for PrimitiveIn<'_, F> {
    fn run<T: ArrowPrimitiveType>(
        self,
        values: &PrimitiveArray<T>,
        place: impl Fn(&Datum) -> Option<Place<T::Native>>,
    ) -> Result<Truth> {
        let mut wanted = Vec::with_capacity(self.literals.len());
        for literal in self.literals {
            if let Place::On(value) = place(literal).ok_or_else(self.foreign)? {
                wanted.push(value);
            }
        }
        let order = |a: &T::Native, b: &T::Native| -> Ordering { a.compare(*b) };
        wanted.sort_unstable_by(order);
        wanted.dedup_by(|a, b| order(a, b).is_eq());
        let found = if wanted.len() <= FEW_LITERALS {
            let is_one =
                |value: &T::Native| wanted.iter().any(|wanted| order(value, wanted).is_eq());
            values.values().iter().map(is_one).collect()
        } else {
            let is_one = |value: &T::Native| {
                wanted
                    .binary_search_by(|wanted| order(wanted, value))
                    .is_ok()
            };
            values.values().iter().map(is_one).collect()
        };
        Ok(Truth::of(found, values.nulls()))
    }
}

fn primitive<'a, T: ArrowPrimitiveType>(
    array: &'a ArrayRef,
    data_type: &DataType,
) -> Result<&'a PrimitiveArray<T>> {
    array
        .as_primitive_opt::<T>()
        .ok_or_else(|| mismatch(array, data_type))
}

/// Arrow orders floats by their bits; with one NaN that is Java's order.
fn one_nan<T: ArrowPrimitiveType>(
    values: &PrimitiveArray<T>,
    is_nan: impl Fn(T::Native) -> bool,
    canonical: impl Fn(T::Native) -> T::Native,
) -> Arc<PrimitiveArray<T>> {
    if values.values().iter().any(|value| is_nan(*value)) {
        Arc::new(values.unary(canonical))
    } else {
        Arc::new(values.clone())
    }
}

fn kernel(op: PredicateOp, values: &dyn ArrowDatum, literal: &dyn ArrowDatum) -> Result<Truth> {
    let answer = match op {
        PredicateOp::Eq => cmp::eq(values, literal),
        PredicateOp::NotEq => cmp::neq(values, literal),
        PredicateOp::Lt => cmp::lt(values, literal),
        PredicateOp::LtEq => cmp::lt_eq(values, literal),
        PredicateOp::Gt => cmp::gt(values, literal),
        PredicateOp::GtEq => cmp::gt_eq(values, literal),
        other => {
            return Err(TypeError::internal(format!(
                "{} is no comparison",
                other.name()
            )));
        }
    }?;
    Ok(Truth::of(answer.values().clone(), answer.nulls()))
}

pub(super) fn mismatch(array: &dyn Array, data_type: &DataType) -> TypeError {
    TypeError::mismatch(format!("an array of {data_type}"), array.data_type())
}
