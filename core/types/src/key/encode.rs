//! From columns to keys.

use std::sync::Arc;

use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_row::{RowConverter, SortField};
use arrow_schema::SortOptions;

use super::Keys;
use super::packed::{Slot, push_column, width};
use crate::arrow_types::to_arrow_type;
use crate::data_type::DataType;
use crate::datum::{Datum, canonical_f32, canonical_f64, datums_to_array};
use crate::error::{Result, TypeError};

/// Which end of a sequence field is the newest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SequenceOrder {
    /// The largest value is the newest.
    #[default]
    Ascending,
    /// The smallest value is the newest (`sequence.field.sort-order=descending`).
    Descending,
}

/// Turns columns into [`Keys`]. Made once per table, used for every batch, by several threads if need be.
#[derive(Debug)]
pub struct KeyEncoder {
    types: Vec<DataType>,
    nulls_allowed: bool,
    layout: Layout,
}

#[derive(Debug)]
enum Layout {
    U64(Vec<Slot>),
    U128(Vec<Slot>),
    Rows(RowConverter),
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bits", self.bits())
    }
}

impl KeyEncoder {
    /// An encoder of key columns. Nulls are refused, whatever the types say.
    ///
    /// # Errors
    /// [`TypeError::Unsupported`] for types that have no order: VARIANT, ARRAY, MAP, MULTISET, ROW.
    pub fn new(types: &[DataType]) -> Result<Self> {
        Self::with_options(types, false, SequenceOrder::Ascending)
    }

    /// An encoder of the columns of `sequence.field`: the greater key is the newer row. Nulls are the oldest in both
    /// orders; a descending order turns round values only.
    ///
    /// # Errors
    /// As [`KeyEncoder::new`].
    pub fn for_sequence(types: &[DataType], order: SequenceOrder) -> Result<Self> {
        Self::with_options(types, true, order)
    }

    fn with_options(types: &[DataType], nulls_allowed: bool, order: SequenceOrder) -> Result<Self> {
        if let Some(data_type) = types.iter().find(|data_type| !data_type.kind.is_ordered()) {
            return Err(TypeError::unsupported(format!(
                "{data_type} as a key, it has no order"
            )));
        }
        let descending = order == SequenceOrder::Descending;
        let slots: Option<Vec<Slot>> = types
            .iter()
            .map(|data_type| {
                Some(Slot {
                    width: width(&data_type.kind)?,
                    null_bit: nulls_allowed,
                    descending,
                })
            })
            .collect();
        let bits = slots
            .as_ref()
            .map(|slots| slots.iter().map(|slot| slot.bits()).sum::<u32>());
        let layout = match (slots, bits) {
            (Some(slots), Some(0..=64)) => Layout::U64(slots),
            (Some(slots), Some(65..=128)) => Layout::U128(slots),
            _ => {
                let options = SortOptions {
                    descending,
                    nulls_first: true,
                };
                let field = |data_type: &DataType| {
                    SortField::new_with_options(to_arrow_type(data_type), options)
                };
                Layout::Rows(RowConverter::new(types.iter().map(field).collect())?)
            }
        };
        Ok(Self {
            types: types.to_vec(),
            nulls_allowed,
            layout,
        })
    }

    /// The types of the columns, in order.
    pub fn types(&self) -> &[DataType] {
        &self.types
    }

    /// The keys of the rows of these columns, one array per type and in the canonical Arrow type of each.
    ///
    /// # Errors
    /// [`TypeError::TypeMismatch`] for arrays of other types or another number of them, [`TypeError::ColumnNull`] for a
    /// null in a key column (the column is named by its position), [`TypeError::Invalid`] for arrays of unequal length.
    pub fn encode(&self, columns: &[ArrayRef]) -> Result<Keys> {
        self.check(columns)?;
        Ok(match &self.layout {
            Layout::U64(slots) => Keys::U64(self.pack(columns, slots)?),
            Layout::U128(slots) => Keys::U128(self.pack(columns, slots)?),
            Layout::Rows(converter) => {
                let columns: Vec<ArrayRef> = columns.iter().map(one_nan).collect();
                Keys::Rows(converter.convert_columns(&columns)?)
            }
        })
    }

    /// The key of one row, for bounds: compare with `keys.cmp(i, &bound, 0)`.
    ///
    /// # Errors
    /// As [`KeyEncoder::encode`], and as [`datums_to_array`] for values of other types.
    pub fn encode_datums(&self, datums: &[Datum]) -> Result<Keys> {
        if datums.len() != self.types.len() {
            return Err(self.wrong_count(datums.len()));
        }
        let columns = self.types.iter().zip(datums);
        let columns = columns
            .map(|(data_type, datum)| datums_to_array(data_type, std::slice::from_ref(datum)));
        self.encode(&columns.collect::<Result<Vec<_>>>()?)
    }

    /// The keys at these rows, in the order given, as sorting a batch needs them. `keys` come from this encoder; rows
    /// past the end are left out.
    pub fn take(&self, keys: &Keys, rows: &[u32]) -> Keys {
        let rows = rows.iter().filter_map(|row| usize::try_from(*row).ok());
        match (keys, &self.layout) {
            (Keys::U64(keys), _) => {
                Keys::U64(rows.filter_map(|row| keys.get(row).copied()).collect())
            }
            (Keys::U128(keys), _) => {
                Keys::U128(rows.filter_map(|row| keys.get(row).copied()).collect())
            }
            (Keys::Rows(keys), Layout::Rows(converter)) => {
                let rows = rows.filter(|row| *row < keys.num_rows());
                let mut taken =
                    converter.empty_rows(rows.size_hint().1.unwrap_or_default(), keys.size());
                rows.for_each(|row| taken.push(keys.row(row)));
                Keys::Rows(taken)
            }
            // Byte strings of an encoder that packs: not ours.
            (Keys::Rows(_), _) => Keys::U64(Vec::new()),
        }
    }

    fn pack<W: super::packed::Word>(&self, columns: &[ArrayRef], slots: &[Slot]) -> Result<Vec<W>> {
        let rows = columns.first().map_or(0, |column| column.len());
        let mut keys = Vec::with_capacity(rows);
        for (position, ((column, data_type), slot)) in
            columns.iter().zip(&self.types).zip(slots).enumerate()
        {
            push_column(&mut keys, position == 0, column, data_type, *slot)?;
        }
        Ok(keys)
    }

    fn check(&self, columns: &[ArrayRef]) -> Result<()> {
        if columns.len() != self.types.len() {
            return Err(self.wrong_count(columns.len()));
        }
        let rows = columns.first().map_or(0, |column| column.len());
        for (position, (column, data_type)) in columns.iter().zip(&self.types).enumerate() {
            if column.len() != rows {
                return Err(TypeError::invalid(format!(
                    "key columns of {rows} and {} rows",
                    column.len()
                )));
            }
            if *column.data_type() != to_arrow_type(data_type) {
                return Err(TypeError::mismatch(
                    format!("an array of {data_type}"),
                    column.data_type(),
                ));
            }
            if !self.nulls_allowed && column.null_count() > 0 {
                let row = (0..rows)
                    .find(|row| column.is_null(*row))
                    .unwrap_or_default();
                return Err(TypeError::ColumnNull {
                    column: format!("key column {position}"),
                    row,
                });
            }
        }
        Ok(())
    }

    fn wrong_count(&self, found: usize) -> TypeError {
        TypeError::mismatch(
            format!("{} key columns", self.types.len()),
            format!("{found}"),
        )
    }
}

/// The column with all NaNs made one, so that byte strings of equal floats are equal.
fn one_nan(column: &ArrayRef) -> ArrayRef {
    if let Some(floats) = column
        .as_any()
        .downcast_ref::<PrimitiveArray<Float32Type>>()
    {
        if floats.values().iter().any(|value| value.is_nan()) {
            return Arc::new(floats.unary::<_, Float32Type>(canonical_f32));
        }
    } else if let Some(doubles) = column
        .as_any()
        .downcast_ref::<PrimitiveArray<Float64Type>>()
        && doubles.values().iter().any(|value| value.is_nan())
    {
        return Arc::new(doubles.unary::<_, Float64Type>(canonical_f64));
    }
    Arc::clone(column)
}
