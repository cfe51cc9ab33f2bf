//! What the functions over lists and maps share: elements are told apart by their encoded bytes, results are element
//! numbers gathered by one take.
//!
//! ```text
//!  column   [a b] [b c] [d]          elements  a b b c d   (the child array, numbered)
//!  result   one key -> 0 1 3 4       take them, count them: a b c d
//! ```

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, UInt32Array};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_select::take::take;

use super::{Failure, Fault, Result};

/// Elements that can be compared by their bytes: equal bytes are equal values, nulls are equal to nulls.
pub(super) struct Elements(Rows);

impl Elements {
    /// Encodes these columns of all elements.
    pub(super) fn encode(columns: &[ArrayRef]) -> Result<Self> {
        let fields = columns
            .iter()
            .map(|column| SortField::new(column.data_type().clone()))
            .collect();
        Ok(Self(RowConverter::new(fields)?.convert_columns(columns)?))
    }

    /// The bytes of an element.
    pub(super) fn get(&self, element: u32) -> &[u8] {
        let element = element as usize;
        if element < self.0.num_rows() {
            self.0.row(element).data()
        } else {
            &[]
        }
    }
}

/// The elements of one row of a list or map column.
pub(super) fn elements_of(offsets: &[i32], row: usize) -> std::ops::Range<u32> {
    let offset = |at: usize| {
        let offset = offsets.get(at).copied().unwrap_or_default();
        u32::try_from(offset).unwrap_or_default()
    };
    offset(row)..offset(row + 1)
}

/// Collects the results of the keys.
pub(super) struct Gathered {
    elements: Vec<u32>,
    ends: Vec<i32>,
    valid: Vec<bool>,
}

impl Gathered {
    pub(super) fn with_capacity(keys: usize) -> Self {
        let mut ends = Vec::with_capacity(keys + 1);
        ends.push(0);
        Self {
            elements: Vec::new(),
            ends,
            valid: Vec::with_capacity(keys),
        }
    }

    /// Adds the result of a key whose first row is `row`.
    pub(super) fn push(&mut self, row: usize, result: Option<&[u32]>) -> Result<()> {
        self.elements.extend(result.unwrap_or_default());
        let end =
            i32::try_from(self.elements.len()).map_err(|_| Failure::At(row, Fault::TooLong))?;
        self.ends.push(end);
        self.valid.push(result.is_some());
        Ok(())
    }

    /// The elements, taken from the child array, with where each key's end and which keys are null.
    pub(super) fn finish(
        self,
        child: &dyn Array,
    ) -> Result<(ArrayRef, OffsetBuffer<i32>, Option<NullBuffer>)> {
        let values = take(child, &UInt32Array::from(self.elements), None)?;
        let nulls = NullBuffer::from(self.valid);
        let nulls = (nulls.null_count() > 0).then_some(nulls);
        Ok((values, OffsetBuffer::new(self.ends.into()), nulls))
    }
}

/// The column of elements as an array that can be encoded.
pub(super) fn shared(child: &dyn Array) -> ArrayRef {
    arrow_array::make_array(child.to_data())
}

/// A list column with these results.
pub(super) fn list(like: &arrow_array::ListArray, gathered: Gathered) -> Result<super::Folding> {
    let field = match like.data_type() {
        arrow_schema::DataType::List(field) => Arc::clone(field),
        _ => return Err(Failure::Type),
    };
    let (values, offsets, nulls) = gathered.finish(like.values())?;
    let list = arrow_array::ListArray::try_new(field, offsets, values, nulls)?;
    Ok(super::Folding::values(list))
}
