//! Atomic values as text, and text of another declared length.

use std::fmt::Write;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef};

use super::{mismatch, no_kernel, typed};
use crate::arrow_types::TimestampUnit;
use crate::data_type::{DataType, MAX_LENGTH, TypeKind};
use crate::datum::TimestampValue;
use crate::error::{Result, TypeError};
use crate::text::{
    format_decimal, format_double, format_float, format_time, format_timestamp, iso_date,
};

pub(super) fn cast(array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
    let mut out = TextColumn::new(array.len(), to)?;
    macro_rules! write_primitives {
        ($arrow:ty, |$buffer:ident, $value:ident| $body:expr) => {
            write_all::<$arrow>(&mut out, array, from, |$buffer, $value| $body)?
        };
    }
    match &from.kind {
        TypeKind::Boolean => {
            let array = array
                .as_boolean_opt()
                .ok_or_else(|| mismatch(array, from))?;
            for value in array {
                match value {
                    Some(value) => {
                        out.push(|buffer| buffer.push_str(if value { "true" } else { "false" }))?
                    }
                    None => out.push_null(),
                }
            }
        }
        TypeKind::TinyInt => {
            write_primitives!(Int8Type, |buffer, value| push_integer(buffer, value))
        }
        TypeKind::SmallInt => {
            write_primitives!(Int16Type, |buffer, value| push_integer(buffer, value))
        }
        TypeKind::Int => write_primitives!(Int32Type, |buffer, value| push_integer(buffer, value)),
        TypeKind::BigInt => {
            write_primitives!(Int64Type, |buffer, value| push_integer(buffer, value))
        }
        TypeKind::Float => write_primitives!(Float32Type, |buffer, value| buffer
            .push_str(&format_float(value))),
        TypeKind::Double => write_primitives!(Float64Type, |buffer, value| buffer
            .push_str(&format_double(value))),
        TypeKind::Decimal { scale, .. } => {
            write_primitives!(Decimal128Type, |buffer, value| buffer
                .push_str(&format_decimal(value, *scale)));
        }
        TypeKind::Date => write_primitives!(Date32Type, |buffer, value| buffer
            .push_str(&iso_date(value))),
        TypeKind::Time(precision) => {
            write_primitives!(Time32MillisecondType, |buffer, value| buffer
                .push_str(&format_time(value, *precision)));
        }
        TypeKind::Timestamp(precision) | TypeKind::TimestampLtz(precision) => {
            let p = *precision;
            match TimestampUnit::of_precision(p) {
                TimestampUnit::Milli => {
                    write_primitives!(TimestampMillisecondType, |buffer, value| {
                        buffer.push_str(&format_timestamp(TimestampValue::from_millis(value), p));
                    })
                }
                TimestampUnit::Micro => {
                    write_primitives!(TimestampMicrosecondType, |buffer, value| {
                        buffer.push_str(&format_timestamp(TimestampValue::from_micros(value), p));
                    })
                }
                TimestampUnit::Nano => {
                    write_primitives!(TimestampNanosecondType, |buffer, value| {
                        buffer.push_str(&format_timestamp(TimestampValue::from_nanos(value), p));
                    })
                }
            }
        }
        _ => return Err(no_kernel(from, to)),
    }
    Ok(out.finish())
}

fn push_integer(buffer: &mut String, value: impl std::fmt::Display) {
    // Writing to a String cannot fail.
    let _ = write!(buffer, "{value}");
}

fn write_all<T: ArrowPrimitiveType>(
    out: &mut TextColumn,
    array: &ArrayRef,
    from: &DataType,
    write: impl Fn(&mut String, T::Native),
) -> Result<()> {
    for value in typed::<T>(array, from)? {
        match value {
            Some(value) => out.push(|buffer| write(buffer, value))?,
            None => out.push_null(),
        }
    }
    Ok(())
}

/// Text of another declared length: cut to it, and for CHAR filled up with blanks.
pub(super) fn refit(array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
    let text = array
        .as_string_opt::<i32>()
        .ok_or_else(|| mismatch(array, from))?;
    let mut out = TextColumn::new(text.len(), to)?;
    if !out.padded {
        // Not more bytes than characters allowed: nothing to cut.
        let most = text.offsets().lengths().max().unwrap_or(0);
        if most <= out.length {
            return Ok(Arc::clone(array));
        }
    }
    for value in text {
        match value {
            Some(value) => out.push(|buffer| buffer.push_str(value))?,
            None => out.push_null(),
        }
    }
    Ok(out.finish())
}

/// Refuses blanks or zeros that would be larger than an array can be.
pub(super) fn check_padding(length: usize, rows: usize, to: &DataType) -> Result<()> {
    const MOST_BYTES: usize = i32::MAX as usize;
    match length.checked_mul(rows) {
        Some(bytes) if bytes <= MOST_BYTES => Ok(()),
        _ => Err(TypeError::unsupported(format!(
            "{rows} values filled up to {to}"
        ))),
    }
}

/// Builds a text column of a CHAR or VARCHAR type.
pub(super) struct TextColumn {
    builder: StringBuilder,
    buffer: String,
    length: usize,
    padded: bool,
}

impl TextColumn {
    pub(super) fn new(rows: usize, to: &DataType) -> Result<Self> {
        let (length, padded) = match to.kind {
            TypeKind::Char(length) => (length, true),
            TypeKind::VarChar(length) => (length, false),
            _ => return Err(TypeError::internal(format!("{to} is no text"))),
        };
        let length = if length == MAX_LENGTH {
            usize::MAX
        } else {
            usize::try_from(length).unwrap_or(usize::MAX)
        };
        if padded {
            check_padding(length, rows, to)?;
        }
        Ok(Self {
            builder: StringBuilder::with_capacity(rows, 0),
            buffer: String::new(),
            length,
            padded,
        })
    }

    /// Appends what `write` puts into the empty buffer, cut or filled up to the type's length.
    pub(super) fn push(&mut self, write: impl FnOnce(&mut String)) -> Result<()> {
        self.buffer.clear();
        write(&mut self.buffer);
        // Bytes are at least as many as characters: counting is needed only near the limit.
        if self.buffer.len() > self.length
            && let Some((end, _)) = self.buffer.char_indices().nth(self.length)
        {
            self.buffer.truncate(end);
        }
        if self.padded {
            let missing = self.length.saturating_sub(self.buffer.chars().count());
            self.buffer.extend(std::iter::repeat_n(' ', missing));
        }
        if self.builder.values_slice().len() + self.buffer.len() > i32::MAX as usize {
            return Err(TypeError::unsupported(
                "more than 2 GiB of text in one array",
            ));
        }
        self.builder.append_value(&self.buffer);
        Ok(())
    }

    pub(super) fn push_null(&mut self) {
        self.builder.append_null();
    }

    pub(super) fn finish(mut self) -> ArrayRef {
        Arc::new(self.builder.finish())
    }
}
