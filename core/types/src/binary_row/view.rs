//! Rows, arrays and maps as they lie in bytes that nobody vouches for: every access is checked, none panics.

use super::column::{COMPACT_DECIMAL, COMPACT_TIMESTAMP};
use super::layout::{
    MAX_INLINE, SLOT, WIDE_DECIMAL, array_header_size, array_null_bit, fixed_size, null_bits_size,
    row_null_bit,
};
use crate::data_type::{DataType, TypeKind};
use crate::datum::{Datum, TimestampValue};
use crate::error::{Result, TypeError};

/// A row in borrowed bytes.
#[derive(Debug, Clone, Copy)]
pub struct RowView<'a> {
    bytes: &'a [u8],
    arity: usize,
}

impl<'a> RowView<'a> {
    /// The row of `arity` fields in these bytes.
    ///
    /// # Errors
    /// [`TypeError::Truncated`] if the bytes do not hold the slots.
    pub fn new(bytes: &'a [u8], arity: usize) -> Result<Self> {
        match fixed_size(arity) {
            Some(needed) if needed <= bytes.len() => Ok(Self { bytes, arity }),
            needed => Err(truncated("row", 0, needed.unwrap_or(usize::MAX), bytes)),
        }
    }

    /// The caller has checked the size before.
    pub(super) fn trusted(bytes: &'a [u8], arity: usize) -> Self {
        Self { bytes, arity }
    }

    /// Number of fields.
    pub fn arity(&self) -> usize {
        self.arity
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether the field is null; true for fields past the last.
    pub fn is_null(&self, index: usize) -> bool {
        let (byte, mask) = row_null_bit(index);
        index >= self.arity || self.bytes.get(byte).is_none_or(|byte| byte & mask != 0)
    }

    /// The slot of a field; `None` if it is null.
    ///
    /// # Errors
    /// [`TypeError::Invalid`] for a field past the last.
    pub fn slot(&self, index: usize) -> Result<Option<Slot<'a>>> {
        if index >= self.arity {
            return Err(TypeError::invalid(format!(
                "field {index} of a row of {} fields",
                self.arity
            )));
        }
        if self.is_null(index) {
            return Ok(None);
        }
        let cell = part(
            self.bytes,
            "row slot",
            null_bits_size(self.arity) + index * SLOT,
            SLOT,
        )?;
        Ok(Some(Slot {
            container: self.bytes,
            cell,
        }))
    }

    /// The value of a field of an atomic type.
    ///
    /// # Errors
    /// As [`super::BinaryRow::get`].
    pub fn get(&self, index: usize, data_type: &DataType) -> Result<Datum> {
        self.slot(index)?
            .map_or(Ok(Datum::Null), |slot| slot.datum(data_type))
    }
}

/// An array in borrowed bytes.
#[derive(Debug, Clone, Copy)]
pub struct ArrayView<'a> {
    bytes: &'a [u8],
    len: usize,
    width: usize,
}

impl<'a> ArrayView<'a> {
    /// The array of elements of this type in these bytes.
    ///
    /// # Errors
    /// [`TypeError::Truncated`] or [`TypeError::Corrupt`] if the bytes do not hold as many elements as they say.
    pub fn new(bytes: &'a [u8], element: &DataType) -> Result<Self> {
        let width = element_width(element);
        let len = read_length(bytes, 0, "array length")?;
        let needed = len
            .checked_mul(width)
            .and_then(|size| size.checked_add(array_header_size(len)));
        match needed {
            Some(needed) if needed <= bytes.len() => Ok(Self { bytes, len, width }),
            needed => Err(truncated("array", 0, needed.unwrap_or(usize::MAX), bytes)),
        }
    }

    /// Number of elements; never more than there are bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The slot of an element; `None` if it is null.
    ///
    /// # Errors
    /// [`TypeError::Invalid`] for an element past the last.
    pub fn slot(&self, index: usize) -> Result<Option<Slot<'a>>> {
        if index >= self.len {
            return Err(TypeError::invalid(format!(
                "element {index} of an array of {}",
                self.len
            )));
        }
        let (byte, mask) = array_null_bit(index);
        if self.bytes.get(byte).is_none_or(|byte| byte & mask != 0) {
            return Ok(None);
        }
        let at = array_header_size(self.len) + index * self.width;
        Ok(Some(Slot {
            container: self.bytes,
            cell: part(self.bytes, "array slot", at, self.width)?,
        }))
    }
}

/// A map (or multiset) in borrowed bytes: keys and values of equal count.
#[derive(Debug, Clone, Copy)]
pub struct MapView<'a> {
    /// The keys.
    pub keys: ArrayView<'a>,
    /// The values (the counts of a multiset).
    pub values: ArrayView<'a>,
}

impl<'a> MapView<'a> {
    /// The map in these bytes.
    ///
    /// # Errors
    /// As [`ArrayView::new`]; also if there are not as many values as keys.
    pub fn new(bytes: &'a [u8], key: &DataType, value: &DataType) -> Result<Self> {
        let key_size = read_length(bytes, 0, "map key size")?;
        let keys = ArrayView::new(part(bytes, "map keys", 4, key_size)?, key)?;
        let values = ArrayView::new(bytes.get(4 + key_size..).unwrap_or_default(), value)?;
        if keys.len() != values.len() {
            return Err(TypeError::corrupt(
                "map",
                format!("{} keys and {} values", keys.len(), values.len()),
            ));
        }
        Ok(Self { keys, values })
    }
}

/// One value that is not null, in the row or array it belongs to.
#[derive(Debug, Clone, Copy)]
pub struct Slot<'a> {
    container: &'a [u8],
    cell: &'a [u8],
}

impl<'a> Slot<'a> {
    fn fixed<const N: usize>(&self) -> Result<[u8; N]> {
        self.cell
            .first_chunk::<N>()
            .copied()
            .ok_or_else(|| truncated("slot", 0, N, self.cell))
    }

    /// The two halves of the slot: low, then high.
    fn halves(&self) -> Result<(usize, usize)> {
        let [a, b, c, d, e, f, g, h] = self.fixed::<SLOT>()?;
        let low = u32::from_le_bytes([a, b, c, d]);
        let high = u32::from_le_bytes([e, f, g, h]);
        let size = |half: u32| {
            usize::try_from(half)
                .map_err(|_| TypeError::corrupt("slot", "it points past the address space"))
        };
        Ok((size(low)?, size(high)?))
    }

    /// Text or bytes, in the slot or in the variable part.
    ///
    /// # Errors
    /// [`TypeError::Truncated`] or [`TypeError::Corrupt`] if the slot points outside its row.
    pub fn bytes(&self) -> Result<&'a [u8]> {
        let mark = self.cell.get(MAX_INLINE).copied().unwrap_or_default();
        if mark & 0x80 != 0 {
            let length = usize::from(mark & 0x7f);
            if length > MAX_INLINE {
                return Err(TypeError::corrupt(
                    "slot",
                    format!("{length} bytes inside of eight"),
                ));
            }
            return part(self.cell, "slot", 0, length);
        }
        self.item()
    }

    /// The item in the variable part: the bytes of a nested row, array, map or VARIANT.
    ///
    /// # Errors
    /// [`TypeError::Truncated`] if the slot points outside its row.
    pub fn item(&self) -> Result<&'a [u8]> {
        let (length, offset) = self.halves()?;
        part(self.container, "variable part", offset, length)
    }

    /// Value and metadata bytes of a VARIANT.
    ///
    /// # Errors
    /// [`TypeError::Truncated`] if the lengths do not fit the bytes.
    pub fn variant(&self) -> Result<(&'a [u8], &'a [u8])> {
        let item = self.item()?;
        let length = read_length(item, 0, "variant value size")?;
        let value = part(item, "variant value", 4, length)?;
        Ok((value, item.get(4 + length..).unwrap_or_default()))
    }

    /// The value, if the type is atomic.
    ///
    /// # Errors
    /// [`TypeError::Corrupt`] or [`TypeError::Truncated`] for bytes that are no such value, [`TypeError::Unsupported`] for
    /// nested types and VARIANT.
    pub fn datum(&self, data_type: &DataType) -> Result<Datum> {
        Ok(match &data_type.kind {
            TypeKind::Boolean => Datum::Boolean(self.fixed::<1>()? != [0]),
            TypeKind::TinyInt => Datum::TinyInt(i8::from_le_bytes(self.fixed()?)),
            TypeKind::SmallInt => Datum::SmallInt(i16::from_le_bytes(self.fixed()?)),
            TypeKind::Int => Datum::Int(i32::from_le_bytes(self.fixed()?)),
            TypeKind::Date => Datum::Date(i32::from_le_bytes(self.fixed()?)),
            TypeKind::Time(_) => Datum::Time(i32::from_le_bytes(self.fixed()?)),
            TypeKind::BigInt => Datum::BigInt(i64::from_le_bytes(self.fixed()?)),
            TypeKind::Float => Datum::Float(f32::from_le_bytes(self.fixed()?)),
            TypeKind::Double => Datum::Double(f64::from_le_bytes(self.fixed()?)),
            TypeKind::Char(_) | TypeKind::VarChar(_) => {
                let text = std::str::from_utf8(self.bytes()?);
                Datum::String(
                    text.map_err(|error| TypeError::corrupt("text", error.to_string()))?
                        .to_owned(),
                )
            }
            TypeKind::Binary(_) | TypeKind::VarBinary(_) => Datum::Bytes(self.bytes()?.to_vec()),
            TypeKind::Decimal { precision, scale } => {
                let unscaled = if *precision <= COMPACT_DECIMAL {
                    i128::from(i64::from_le_bytes(self.fixed()?))
                } else {
                    self.wide_decimal()?
                };
                Datum::Decimal {
                    unscaled,
                    precision: *precision,
                    scale: *scale,
                }
            }
            TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p) if *p <= COMPACT_TIMESTAMP => {
                Datum::Timestamp(TimestampValue::from_millis(i64::from_le_bytes(
                    self.fixed()?,
                )))
            }
            TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_) => {
                let (nanos, offset) = self.halves()?;
                let nanos = i32::try_from(nanos).map_err(|_| {
                    TypeError::corrupt("timestamp", format!("{nanos} nanoseconds of a millisecond"))
                })?;
                let millis = part(self.container, "timestamp", offset, SLOT)?;
                let millis = Slot {
                    container: self.container,
                    cell: millis,
                }
                .fixed()?;
                Datum::Timestamp(TimestampValue::checked(i64::from_le_bytes(millis), nanos)?)
            }
            TypeKind::Variant
            | TypeKind::Array(_)
            | TypeKind::Map(..)
            | TypeKind::Multiset(_)
            | TypeKind::Row(_) => {
                return Err(TypeError::unsupported(format!(
                    "a single value of type {data_type}"
                )));
            }
        })
    }

    fn wide_decimal(&self) -> Result<i128> {
        let bytes = self.item()?;
        if bytes.is_empty() || bytes.len() > WIDE_DECIMAL {
            return Err(TypeError::corrupt(
                "decimal",
                format!("{} bytes", bytes.len()),
            ));
        }
        let negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
        let sign = if negative { -1 } else { 0 };
        Ok(bytes
            .iter()
            .fold(sign, |value: i128, byte| value << 8 | i128::from(*byte)))
    }
}

/// Bytes of an element of this type in an array.
fn element_width(element: &DataType) -> usize {
    match element.kind {
        TypeKind::Boolean | TypeKind::TinyInt => 1,
        TypeKind::SmallInt => 2,
        TypeKind::Int | TypeKind::Float | TypeKind::Date | TypeKind::Time(_) => 4,
        _ => SLOT,
    }
}

fn part<'a>(bytes: &'a [u8], what: &'static str, offset: usize, length: usize) -> Result<&'a [u8]> {
    let end = offset.checked_add(length);
    end.and_then(|end| bytes.get(offset..end))
        .ok_or_else(|| truncated(what, offset, length, bytes))
}

fn read_length(bytes: &[u8], offset: usize, what: &'static str) -> Result<usize> {
    let length = part(bytes, what, offset, 4)?
        .first_chunk::<4>()
        .copied()
        .unwrap_or_default();
    let length = i32::from_le_bytes(length);
    usize::try_from(length).map_err(|_| TypeError::corrupt(what, format!("it is {length}")))
}

fn truncated(what: &'static str, offset: usize, needed: usize, bytes: &[u8]) -> TypeError {
    TypeError::Truncated {
        what,
        offset,
        needed,
        available: bytes.len(),
    }
}
