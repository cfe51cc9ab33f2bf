//! BINARY and VARBINARY, and text as bytes.

use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, StringArray};

use super::mismatch;
use super::to_text::check_padding;
use crate::data_type::{DataType, TypeKind};
use crate::error::Result;

/// Text as its UTF-8 bytes, fitted to the target's length.
pub(super) fn from_text(array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
    let array = array
        .as_string_opt::<i32>()
        .ok_or_else(|| mismatch(array, from))?;
    fit(&BinaryArray::from(array.clone()), to)
}

/// Bytes as text. The declared length of the target is not looked at, as in Java; bytes that are no UTF-8 become
/// U+FFFD.
pub(super) fn to_text(array: &ArrayRef, from: &DataType) -> Result<ArrayRef> {
    let array = array
        .as_binary_opt::<i32>()
        .ok_or_else(|| mismatch(array, from))?;
    if let Ok(text) = StringArray::try_new(
        array.offsets().clone(),
        array.values().clone(),
        array.nulls().cloned(),
    ) {
        return Ok(Arc::new(text));
    }
    let mut builder = StringBuilder::with_capacity(array.len(), array.values().len());
    for value in array {
        builder.append_option(value.map(String::from_utf8_lossy));
    }
    Ok(Arc::new(builder.finish()))
}

/// Bytes of another declared length: cut when longer, and filled with zeros up to the length of BINARY.
pub(super) fn refit(array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
    fit(
        array
            .as_binary_opt::<i32>()
            .ok_or_else(|| mismatch(array, from))?,
        to,
    )
}

fn fit(array: &BinaryArray, to: &DataType) -> Result<ArrayRef> {
    let (length, padded) = match to.kind {
        TypeKind::Binary(length) => (length, true),
        TypeKind::VarBinary(length) => (length, false),
        _ => return Err(mismatch(array, to)),
    };
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let fits = |value: &[u8]| {
        if padded {
            value.len() == length
        } else {
            value.len() <= length
        }
    };
    if array.iter().flatten().all(fits) {
        return Ok(Arc::new(array.clone()));
    }
    if padded {
        check_padding(length, array.len(), to)?;
    }
    let mut builder = BinaryBuilder::with_capacity(array.len(), array.value_data().len());
    let mut buffer = Vec::new();
    for value in array {
        let Some(value) = value else {
            builder.append_null();
            continue;
        };
        buffer.clear();
        buffer.extend_from_slice(value.get(..length).unwrap_or(value));
        if padded {
            buffer.resize(length, 0);
        }
        builder.append_value(&buffer);
    }
    Ok(Arc::new(builder.finish()))
}
