//! Rows, field by field.

use std::sync::Arc;

use super::{BinaryRow, bits_bytes};
use crate::data_type::{DataType, TypeKind};
use crate::datum::{Datum, TimestampValue};
use crate::error::{Result, TypeError};
use crate::row_kind::RowKind;

/// Builds one row. Fields are written in order, once each: the variable part follows that order.
#[derive(Debug, Clone)]
pub struct BinaryRowWriter {
    arity: usize,
    bytes: Vec<u8>,
}

impl BinaryRowWriter {
    /// A row of `arity` fields, all zero, of kind `+I`.
    pub fn new(arity: usize) -> Self {
        Self {
            arity,
            bytes: vec![0; bits_bytes(arity) + 8 * arity],
        }
    }

    /// Starts over with the same arity; keeps the memory.
    pub fn reset(&mut self) {
        self.bytes.clear();
        self.bytes
            .resize(bits_bytes(self.arity) + 8 * self.arity, 0);
    }

    /// Sets the kind in the header.
    pub fn set_kind(&mut self, kind: RowKind) {
        if let (Some(header), Ok(kind)) = (self.bytes.first_mut(), u8::try_from(kind.as_i8())) {
            *header = kind;
        }
    }

    /// Writes a value of an atomic type.
    ///
    /// # Errors
    /// The value is not of this type, or the type is nested.
    pub fn write_datum(&mut self, index: usize, datum: &Datum, data_type: &DataType) -> Result<()> {
        if index >= self.arity {
            return Err(TypeError::internal(format!(
                "field {index} of a row of {}",
                self.arity
            )));
        }
        if data_type.kind.is_nested() || matches!(data_type.kind, TypeKind::Variant) {
            return Err(TypeError::unsupported(format!(
                "a single value of type {data_type} in a binary row"
            )));
        }
        if !datum.is_of(data_type) {
            return Err(TypeError::mismatch(data_type, datum.type_name()));
        }
        match datum {
            Datum::Null => self.write_null(index, data_type)?,
            Datum::Boolean(value) => self.slot(index, &[u8::from(*value)]),
            Datum::TinyInt(value) => self.slot(index, &value.to_le_bytes()),
            Datum::SmallInt(value) => self.slot(index, &value.to_le_bytes()),
            Datum::Int(value) | Datum::Date(value) | Datum::Time(value) => {
                self.slot(index, &value.to_le_bytes())
            }
            Datum::BigInt(value) => self.slot(index, &value.to_le_bytes()),
            Datum::Float(value) => self.slot(index, &value.to_le_bytes()),
            Datum::Double(value) => self.slot(index, &value.to_le_bytes()),
            Datum::String(value) => self.write_variable(index, value.as_bytes())?,
            Datum::Bytes(value) => self.write_variable(index, value)?,
            Datum::Decimal { unscaled, .. } => match (&data_type.kind, i64::try_from(*unscaled)) {
                (
                    TypeKind::Decimal {
                        precision: 0..=18, ..
                    },
                    Ok(compact),
                ) => self.slot(index, &compact.to_le_bytes()),
                _ => self.write_big_decimal(index, *unscaled)?,
            },
            Datum::Timestamp(value) => match &data_type.kind {
                TypeKind::Timestamp(0..=3) | TypeKind::TimestampLtz(0..=3) => {
                    self.slot(index, &value.millis.to_le_bytes());
                }
                _ => self.write_big_timestamp(index, *value)?,
            },
        }
        Ok(())
    }

    /// Marks the field null. Wide decimals and timestamps keep their place in the variable part all the same (spec 01c §2.4).
    ///
    /// # Errors
    /// A row beyond 2 GiB.
    pub fn write_null(&mut self, index: usize, data_type: &DataType) -> Result<()> {
        let bit = index + 8;
        if let Some(byte) = self.bytes.get_mut(bit / 8) {
            *byte |= 1 << (bit % 8);
        }
        let kept = match &data_type.kind {
            TypeKind::Decimal {
                precision: 19.., ..
            } => 16,
            TypeKind::Timestamp(4..) | TypeKind::TimestampLtz(4..) => 8,
            _ => return Ok(()),
        };
        let at = self.append(&[], kept)?;
        self.slot(index, &at.word(0));
        Ok(())
    }

    /// The row.
    pub fn finish(self) -> BinaryRow {
        BinaryRow {
            arity: u32::try_from(self.arity).unwrap_or(u32::MAX),
            bytes: Arc::from(self.bytes),
        }
    }

    /// The row's bytes so far, without the arity.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn write_variable(&mut self, index: usize, value: &[u8]) -> Result<()> {
        if let (0..=7, Ok(length)) = (value.len(), u8::try_from(value.len())) {
            let mut word = [0_u8; 8];
            for (to, from) in word.iter_mut().zip(value) {
                *to = *from;
            }
            word[7] = 0x80 | length;
            self.slot(index, &word);
            return Ok(());
        }
        let length = u32::try_from(value.len())
            .ok()
            .filter(|length| *length <= i32::MAX.unsigned_abs())
            .ok_or_else(|| {
                TypeError::invalid(format!(
                    "a value of {} bytes does not fit a binary row",
                    value.len()
                ))
            })?;
        let at = self.append(value, value.len().next_multiple_of(8))?;
        self.slot(index, &at.word(length));
        Ok(())
    }

    fn write_big_decimal(&mut self, index: usize, unscaled: i128) -> Result<()> {
        let bytes = unscaled.to_be_bytes();
        // As few bytes as keep the sign: leading bytes that only repeat it go.
        let fill = if unscaled < 0 { 0xff_u8 } else { 0 };
        let mut digits = bytes.as_slice();
        while let [first, second, ..] = digits
            && *first == fill
            && (*second & 0x80 == fill & 0x80)
        {
            digits = digits.get(1..).unwrap_or_default();
        }
        let length = u32::try_from(digits.len()).unwrap_or(16);
        let at = self.append(digits, 16)?;
        self.slot(index, &at.word(length));
        Ok(())
    }

    fn write_big_timestamp(&mut self, index: usize, value: TimestampValue) -> Result<()> {
        let at = self.append(&value.millis.to_le_bytes(), 8)?;
        self.slot(index, &at.word(value.nano_of_milli.unsigned_abs()));
        Ok(())
    }

    /// Appends `value`, padded with zeros to `reserved` bytes.
    fn append(&mut self, value: &[u8], reserved: usize) -> Result<Offset> {
        let offset = u32::try_from(self.bytes.len())
            .ok()
            .filter(|offset| *offset <= i32::MAX.unsigned_abs());
        let offset =
            offset.ok_or_else(|| TypeError::invalid("a binary row holds at most 2 GiB"))?;
        let end = self.bytes.len() + reserved;
        self.bytes.extend_from_slice(value);
        self.bytes.resize(end, 0);
        Ok(Offset(offset))
    }

    fn slot(&mut self, index: usize, value: &[u8]) {
        let at = bits_bytes(self.arity) + 8 * index;
        if let Some(slot) = self.bytes.get_mut(at..at + value.len()) {
            slot.copy_from_slice(value);
        }
    }
}

/// Where an item of the variable part begins.
struct Offset(u32);

impl Offset {
    /// The slot that points to it.
    fn word(&self, low: u32) -> [u8; 8] {
        ((u64::from(self.0) << 32) | u64::from(low)).to_le_bytes()
    }
}
