//! Values of an old column type as values of the new one.
//!
//! Files keep the type they were written with; reading casts each column in **one** step from the file's type to the
//! read type, element by element inside ARRAY, MAP, MULTISET and ROW.
//!
//! ```text
//!  numbers   integers, floats, decimals and booleans among each other
//!  times     dates, times, timestamps, epoch seconds
//!  bytes     BINARY, VARBINARY, and text as bytes
//!  to_text   anything as text        from_text   text as anything
//!  nested    parts of nested types
//! ```
//!
//! Differences from Java that are meant: TIMESTAMP to DATE floors (Java cuts toward zero, so the last day of 1969 becomes
//! day 0); text that is no valid UTF-8 is repaired with U+FFFD; NaN and infinities become null as decimals (Java fails);
//! TIME text outside the day and hexadecimal float text are errors. Text and local times of TIMESTAMP_LTZ are in UTC.
//! Source: spec 02a §6.3, Paimon `casting/*CastRule.java`.

mod bytes;
mod decimal;
mod from_text;
mod matrix;
mod nested;
mod numbers;
mod times;
mod to_text;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{Array, ArrayRef, PrimitiveArray};

use crate::arrow_types::to_arrow_type;
use crate::data_type::{DataType, TypeKind};
use crate::error::{Result, TypeError};

pub(crate) use decimal::{power_of_ten, rescale_exact};
pub use matrix::can_cast;

pub use crate::text::{
    format_double as java_double_to_string, format_float as java_float_to_string,
};

/// The values of `array`, of type `from`, as values of type `to`.
///
/// `array` has the canonical Arrow type of `from`; the answer has that of `to` and as many rows. A null stays null.
/// Integers wrap, floats saturate, decimals round half up and are null when they do not fit.
///
/// # Errors
/// [`TypeError::ValueText`] for text that does not read as `to`, [`TypeError::DoesNotFit`] for instants outside the
/// range of a timestamp, [`TypeError::Unsupported`] for a pair that
/// [`can_cast`] refuses (but dates and times become text of any length), [`TypeError::TypeMismatch`]
/// when `array` is not of type `from`.
pub fn cast_array(array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
    if from.kind == to.kind && *array.data_type() == to_arrow_type(to) {
        return Ok(Arc::clone(array));
    }
    // A column that went from DATE by way of STRING to VARCHAR(n) is read in one step.
    let time_to_text = matches!(
        from.kind,
        TypeKind::Date | TypeKind::Time(_) | TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_)
    ) && to.kind.is_text();
    if !can_cast(from, to, true) && !time_to_text {
        return Err(TypeError::unsupported(format!(
            "a cast from {from} to {to}"
        )));
    }
    match (&from.kind, &to.kind) {
        (
            TypeKind::Array(_) | TypeKind::Map(..) | TypeKind::Multiset(_) | TypeKind::Row(_),
            TypeKind::Char(_) | TypeKind::VarChar(_),
        ) => nested::to_text(array, from, to),
        (TypeKind::Array(_) | TypeKind::Map(..) | TypeKind::Multiset(_) | TypeKind::Row(_), _) => {
            nested::parts(array, from, to)
        }
        (TypeKind::Char(_) | TypeKind::VarChar(_), TypeKind::Char(_) | TypeKind::VarChar(_)) => {
            to_text::refit(array, from, to)
        }
        (
            TypeKind::Char(_) | TypeKind::VarChar(_),
            TypeKind::Binary(_) | TypeKind::VarBinary(_),
        ) => bytes::from_text(array, from, to),
        (TypeKind::Char(_) | TypeKind::VarChar(_), _) => from_text::cast(array, from, to),
        (
            TypeKind::Binary(_) | TypeKind::VarBinary(_),
            TypeKind::Char(_) | TypeKind::VarChar(_),
        ) => bytes::to_text(array, from),
        (TypeKind::Binary(_) | TypeKind::VarBinary(_), _) => bytes::refit(array, from, to),
        (_, TypeKind::Char(_) | TypeKind::VarChar(_)) => to_text::cast(array, from, to),
        (
            TypeKind::Date | TypeKind::Time(_) | TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_),
            _,
        )
        | (_, TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_)) => times::cast(array, from, to),
        _ => numbers::cast(array, from, to),
    }
}

/// `array` as the primitive array that `data_type` has in memory.
fn typed<'a, T: ArrowPrimitiveType>(
    array: &'a dyn Array,
    data_type: &DataType,
) -> Result<&'a PrimitiveArray<T>> {
    array
        .as_any()
        .downcast_ref()
        .ok_or_else(|| mismatch(array, data_type))
}

fn mismatch(array: &dyn Array, data_type: &DataType) -> TypeError {
    TypeError::mismatch(format!("an array of {data_type}"), array.data_type())
}

/// A pair that `can_cast` lets through but no kernel takes; cannot happen as long as the two agree.
fn no_kernel(from: &DataType, to: &DataType) -> TypeError {
    TypeError::internal(format!("no kernel casts {from} to {to}"))
}

fn bad_text(text: &str, to: &DataType, reason: &'static str) -> TypeError {
    const SHOWN_CHARS: usize = 100;
    let shown = text
        .char_indices()
        .nth(SHOWN_CHARS)
        .and_then(|(end, _)| text.get(..end));
    TypeError::ValueText {
        text: shown.unwrap_or(text).to_owned(),
        data_type: to.to_string(),
        reason,
    }
}
