//! Fields of one CSV column as an Arrow array.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, BooleanBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_buffer::NullBufferBuilder;
use arrow_schema::DataType as ArrowType;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tidewater_types::arrow_types::{TimestampUnit, to_arrow_type};
use tidewater_types::text::{parse_date, parse_decimal, parse_time, parse_timestamp};
use tidewater_types::variant::json_to_variant;
use tidewater_types::{DataField, DataType, Datum, TimestampValue, TypeKind, text::parse_datum};

use super::super::bad_rows::RowFault;
use super::CsvOptions;
use super::records::Cell;
use crate::json::{JsonColumn, JsonError};

/// What rows are wrong, by their index in the piece.
type Faults = Vec<(usize, RowFault)>;

/// How fields become values.
#[derive(Debug, Clone)]
pub(in super::super) struct Conversion {
    pub(in super::super) quote: Option<u8>,
    nulls: Vec<Vec<u8>>,
}

impl Conversion {
    pub(in super::super) fn new(options: &CsvOptions) -> Self {
        let nulls = options.nulls.iter().map(|null| null.as_bytes().to_vec());
        Self {
            quote: options.quote,
            nulls: nulls.collect(),
        }
    }

    /// The value's bytes; none for null. In columns of text (`keeps_quoted`) a quoted field is never null.
    pub(in super::super) fn value<'a>(
        &self,
        cell: Cell<'a>,
        keeps_quoted: bool,
    ) -> Option<Cow<'a, [u8]>> {
        let text = cell.text(self.quote);
        let may_be_null = !(keeps_quoted && cell.is_quoted());
        if may_be_null && self.nulls.iter().any(|null| null[..] == text[..]) {
            None
        } else {
            Some(text)
        }
    }

    /// The column of these cells; a field that is no value of the type is null in it and a fault.
    ///
    /// Numbers, dates and times may have blanks around them. They are written as `tidewater_types::text` reads them, bytes in base64
    /// with padding, nested values and VARIANT as JSON.
    pub(in super::super) fn column<'a>(
        &self,
        cells: impl Iterator<Item = Cell<'a>>,
        rows: usize,
        field: &DataField,
        faults: &mut Faults,
    ) -> Result<ArrayRef, JsonError> {
        let mut column = ColumnOf {
            conversion: self,
            cells,
            rows,
            field,
            faults,
        };
        let arrow = to_arrow_type(&field.data_type);
        Ok(match &field.data_type.kind {
            TypeKind::Boolean => column.booleans(),
            TypeKind::TinyInt => column.integers::<Int8Type>(arrow),
            TypeKind::SmallInt => column.integers::<Int16Type>(arrow),
            TypeKind::Int => column.integers::<Int32Type>(arrow),
            TypeKind::BigInt => column.integers::<Int64Type>(arrow),
            TypeKind::Float => column.primitive::<Float32Type>(arrow, |text| {
                match parse_datum(text, &DataType::float()) {
                    Ok(Datum::Float(value)) => Some(value),
                    _ => None,
                }
            }),
            TypeKind::Double => column.primitive::<Float64Type>(arrow, double),
            TypeKind::Decimal { precision, scale } => {
                let (precision, scale) = (*precision, *scale);
                column.primitive::<Decimal128Type>(arrow, |text| {
                    parse_decimal(text, precision, scale).ok()
                })
            }
            TypeKind::Date => column.primitive::<Date32Type>(arrow, |text| parse_date(text).ok()),
            TypeKind::Time(_) => {
                column.primitive::<Time32MillisecondType>(arrow, |text| parse_time(text).ok())
            }
            TypeKind::Timestamp(precision) => column.timestamps(arrow, *precision, false),
            TypeKind::TimestampLtz(precision) => column.timestamps(arrow, *precision, true),
            TypeKind::Char(_) | TypeKind::VarChar(_) => column.texts(),
            TypeKind::Binary(_) | TypeKind::VarBinary(_) => column.bytes(),
            TypeKind::Variant => column.variants(arrow)?,
            TypeKind::Array(_) | TypeKind::Map(..) | TypeKind::Multiset(_) | TypeKind::Row(_) => {
                column.nested()?
            }
        })
    }
}

/// A column while it is converted.
struct ColumnOf<'c, 'f, I> {
    conversion: &'c Conversion,
    cells: I,
    rows: usize,
    field: &'c DataField,
    faults: &'f mut Faults,
}

impl<'a, I: Iterator<Item = Cell<'a>>> ColumnOf<'_, '_, I> {
    /// Calls `push` with each row's value or none; a value that `push` refuses is pushed as none and is a fault.
    fn each(&mut self, keeps_quoted: bool, mut push: impl FnMut(Option<&[u8]>) -> bool) {
        for (row, cell) in self.cells.by_ref().enumerate() {
            let value = self.conversion.value(cell, keeps_quoted);
            if push(value.as_deref()) {
                continue;
            }
            push(None);
            let value = value.unwrap_or_default();
            let expected = &self.field.data_type;
            let fault = match std::str::from_utf8(&value) {
                Err(_) => RowFault::value(&self.field.name, &value, "UTF-8 text"),
                Ok(_) if expected.kind.is_bytes() => {
                    RowFault::value(&self.field.name, &value, "base64 with padding")
                }
                Ok(_) => RowFault::value(&self.field.name, &value, expected),
            };
            self.faults.push((row, fault));
        }
    }

    fn primitive<T: ArrowPrimitiveType>(
        &mut self,
        arrow: ArrowType,
        parse: impl Fn(&str) -> Option<T::Native>,
    ) -> ArrayRef {
        self.parsed::<T>(arrow, |bytes| parse(std::str::from_utf8(bytes).ok()?))
    }

    fn integers<T: ArrowPrimitiveType>(&mut self, arrow: ArrowType) -> ArrayRef
    where
        T::Native: TryFrom<i64>,
    {
        self.parsed::<T>(arrow, |bytes| T::Native::try_from(integer(bytes)?).ok())
    }

    fn parsed<T: ArrowPrimitiveType>(
        &mut self,
        arrow: ArrowType,
        parse: impl Fn(&[u8]) -> Option<T::Native>,
    ) -> ArrayRef {
        let mut values = PrimitiveBuilder::<T>::with_capacity(self.rows).with_data_type(arrow);
        self.each(false, |bytes| {
            match bytes.map(|bytes| parse(trimmed(bytes))) {
                None => {
                    values.append_null();
                    true
                }
                Some(Some(value)) => {
                    values.append_value(value);
                    true
                }
                Some(None) => false,
            }
        });
        Arc::new(values.finish())
    }

    fn timestamps(&mut self, arrow: ArrowType, precision: u8, zone: bool) -> ArrayRef {
        let read = |text: &str| parse_timestamp(text, zone).ok();
        match TimestampUnit::of_precision(precision) {
            TimestampUnit::Milli => self.primitive::<TimestampMillisecondType>(arrow, |text| {
                read(text)
                    .filter(|value| value.nano_of_milli == 0)
                    .map(|value| value.millis)
            }),
            TimestampUnit::Micro => self.primitive::<TimestampMicrosecondType>(arrow, |text| {
                read(text)
                    .filter(|value| value.nano_of_milli % 1_000 == 0)
                    .and_then(TimestampValue::to_micros)
            }),
            TimestampUnit::Nano => self.primitive::<TimestampNanosecondType>(arrow, |text| {
                let value = read(text)?;
                let nanos = i128::from(value.millis) * 1_000_000 + i128::from(value.nano_of_milli);
                i64::try_from(nanos).ok()
            }),
        }
    }

    fn booleans(&mut self) -> ArrayRef {
        let mut values = BooleanBuilder::with_capacity(self.rows);
        self.each(false, |bytes| {
            let value = bytes.map(|bytes| boolean(trimmed(bytes)));
            let fits = value != Some(None);
            if fits {
                values.append_option(value.flatten());
            }
            fits
        });
        Arc::new(values.finish())
    }

    fn texts(&mut self) -> ArrayRef {
        let mut values = StringBuilder::with_capacity(self.rows, self.rows * 8);
        self.each(true, |bytes| match bytes.map(std::str::from_utf8) {
            None => {
                values.append_null();
                true
            }
            Some(Ok(text)) => {
                values.append_value(text);
                true
            }
            Some(Err(_)) => false,
        });
        Arc::new(values.finish())
    }

    fn bytes(&mut self) -> ArrayRef {
        let mut values = BinaryBuilder::with_capacity(self.rows, self.rows * 8);
        let mut decoded = Vec::new();
        self.each(true, |bytes| {
            let Some(bytes) = bytes else {
                values.append_null();
                return true;
            };
            decoded.clear();
            let fits = STANDARD.decode_vec(bytes, &mut decoded).is_ok();
            if fits {
                values.append_value(&decoded);
            }
            fits
        });
        Arc::new(values.finish())
    }

    fn variants(&mut self, arrow: ArrowType) -> Result<ArrayRef, JsonError> {
        let mut nulls = NullBufferBuilder::new(self.rows);
        let mut values = BinaryBuilder::new();
        let mut names = BinaryBuilder::new();
        self.each(false, |bytes| {
            let Some(bytes) = bytes else {
                nulls.append_null();
                values.append_value([]);
                names.append_value([]);
                return true;
            };
            let parts = std::str::from_utf8(bytes)
                .ok()
                .and_then(|json| json_to_variant(json).ok());
            let Some((value, metadata)) = parts else {
                return false;
            };
            nulls.append_non_null();
            values.append_value(value);
            names.append_value(metadata);
            true
        });
        let ArrowType::Struct(fields) = arrow else {
            return Err(tidewater_types::TypeError::internal("a variant that is no struct").into());
        };
        let parts: Vec<ArrayRef> = vec![Arc::new(values.finish()), Arc::new(names.finish())];
        let array = StructArray::try_new(fields, parts, nulls.finish())?;
        Ok(Arc::new(array))
    }

    fn nested(&mut self) -> Result<ArrayRef, JsonError> {
        let mut column = JsonColumn::new(&self.field.data_type)?;
        let mut reasons = Vec::new();
        let name = &self.field.name;
        for (row, cell) in self.cells.by_ref().enumerate() {
            let Some(value) = self.conversion.value(cell, false) else {
                column.push_null();
                continue;
            };
            let pushed = match std::str::from_utf8(&value) {
                Ok(text) => column
                    .push(text)
                    .map_err(|error| match RowFault::of_json(&error) {
                        RowFault::Value {
                            column: part,
                            value,
                            expected,
                        } => RowFault::Value {
                            column: if part.is_empty() {
                                name.clone()
                            } else {
                                format!("{name}.{part}")
                            },
                            value,
                            expected,
                        },
                        other => RowFault::value(
                            name,
                            &value,
                            format!("{} as JSON ({other})", self.field.data_type),
                        ),
                    }),
                Err(_) => Err(RowFault::value(name, &value, "UTF-8 text")),
            };
            if let Err(fault) = pushed {
                column.push_null();
                reasons.push((row, fault));
            }
        }
        self.faults.append(&mut reasons);
        let array = column.finish()?;
        debug_assert_eq!(array.len(), self.rows);
        Ok(array)
    }
}

/// Without blanks at its ends.
pub(in super::super) fn trimmed(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii()
}

fn double(text: &str) -> Option<f64> {
    // Rust reads more than numbers: "inf", "nan". Digits decide; the rest goes by the rules of `text`.
    match text.as_bytes() {
        [b'0'..=b'9', ..] | [b'-', b'0'..=b'9', ..] => text.parse().ok(),
        _ => match parse_datum(text, &DataType::double()) {
            Ok(Datum::Double(value)) => Some(value),
            _ => None,
        },
    }
}

fn integer(bytes: &[u8]) -> Option<i64> {
    let (negative, digits) = match bytes {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0_i64;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        // Counted downward, so that the least number needs no other way.
        value = value.checked_mul(10)?.checked_sub(i64::from(digit))?;
    }
    if negative {
        Some(value)
    } else {
        value.checked_neg()
    }
}

fn boolean(bytes: &[u8]) -> Option<bool> {
    match bytes {
        b"true" => Some(true),
        b"false" => Some(false),
        other => match parse_datum(std::str::from_utf8(other).ok()?, &DataType::boolean()) {
            Ok(Datum::Boolean(value)) => Some(value),
            _ => None,
        },
    }
}
