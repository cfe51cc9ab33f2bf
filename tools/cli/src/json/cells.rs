//! The values of one column of a batch, ready to be written as JSON one by one.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{
    Array, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array,
    Int8Array, Int16Array, Int32Array, Int64Array, OffsetSizeTrait, StringArray,
    Time32MillisecondArray,
};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::ser::{CompactFormatter, Formatter};
use tidewater_types::variant::variant_to_json;
use tidewater_types::{DataType, RowType, TypeError, TypeKind};

use super::civil::{write_clock, write_date, write_fraction};
use super::decimal::{write_decimal, write_i64};
use super::escape::write_string;
use super::timestamps::write_timestamp;

type Result<T> = std::result::Result<T, TypeError>;

/// Buffers that writing a map needs; empty between maps of one depth.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pairs: Vec<Pair>,
    sorted: Vec<u8>,
    base64: String,
}

/// Where the text of a map's entry lies in the output, and where its key ends.
#[derive(Debug, Clone, Copy)]
struct Pair {
    start: usize,
    key_end: usize,
    end: usize,
}

/// A column bound to its type.
pub(super) struct Column<'a> {
    array: &'a dyn Array,
    cells: Cells<'a>,
}

enum Cells<'a> {
    Boolean(&'a BooleanArray),
    Int8(&'a Int8Array),
    Int16(&'a Int16Array),
    Int32(&'a Int32Array),
    Int64(&'a Int64Array),
    Float32(&'a Float32Array),
    Float64(&'a Float64Array),
    Text(&'a StringArray),
    Bytes(&'a BinaryArray),
    Decimal(&'a Decimal128Array, usize),
    Date(&'a Date32Array),
    Time(&'a Time32MillisecondArray),
    Moment {
        values: &'a [i64],
        unit: TimeUnit,
        precision: u8,
        local: bool,
    },
    Variant {
        value: &'a BinaryArray,
        metadata: &'a BinaryArray,
    },
    List {
        offsets: &'a [i32],
        element: Box<Column<'a>>,
    },
    Map {
        offsets: &'a [i32],
        key: Box<Column<'a>>,
        value: Box<Column<'a>>,
    },
    Row(Vec<Member<'a>>),
}

/// A member of a row: `"name":` as bytes, and its values.
type Member<'a> = (Vec<u8>, Column<'a>);

/// `"name":` as bytes.
pub(super) fn name_prefix(name: &str) -> Vec<u8> {
    let mut prefix = Vec::with_capacity(name.len() + 3);
    write_string(&mut prefix, name);
    prefix.push(b':');
    prefix
}

impl<'a> Column<'a> {
    /// Binds `array` to the type its values have.
    ///
    /// # Errors
    /// [`TypeError::TypeMismatch`] if the array is not of the Arrow type that belongs to `data_type`.
    pub(super) fn bind(array: &'a dyn Array, data_type: &DataType) -> Result<Self> {
        let mismatch = || TypeError::mismatch(data_type, array.data_type());
        let cells = match &data_type.kind {
            TypeKind::Boolean => Cells::Boolean(array.as_boolean_opt().ok_or_else(mismatch)?),
            TypeKind::TinyInt => {
                Cells::Int8(array.as_primitive_opt::<Int8Type>().ok_or_else(mismatch)?)
            }
            TypeKind::SmallInt => {
                Cells::Int16(array.as_primitive_opt::<Int16Type>().ok_or_else(mismatch)?)
            }
            TypeKind::Int => {
                Cells::Int32(array.as_primitive_opt::<Int32Type>().ok_or_else(mismatch)?)
            }
            TypeKind::BigInt => {
                Cells::Int64(array.as_primitive_opt::<Int64Type>().ok_or_else(mismatch)?)
            }
            TypeKind::Float => Cells::Float32(
                array
                    .as_primitive_opt::<Float32Type>()
                    .ok_or_else(mismatch)?,
            ),
            TypeKind::Double => Cells::Float64(
                array
                    .as_primitive_opt::<Float64Type>()
                    .ok_or_else(mismatch)?,
            ),
            TypeKind::Char(_) | TypeKind::VarChar(_) => {
                Cells::Text(array.as_string_opt::<i32>().ok_or_else(mismatch)?)
            }
            TypeKind::Binary(_) | TypeKind::VarBinary(_) => {
                Cells::Bytes(binary(array).ok_or_else(mismatch)?)
            }
            TypeKind::Decimal { scale, .. } => Cells::Decimal(
                array
                    .as_primitive_opt::<Decimal128Type>()
                    .ok_or_else(mismatch)?,
                usize::from(*scale),
            ),
            TypeKind::Date => Cells::Date(
                array
                    .as_primitive_opt::<Date32Type>()
                    .ok_or_else(mismatch)?,
            ),
            TypeKind::Time(_) => Cells::Time(
                array
                    .as_primitive_opt::<Time32MillisecondType>()
                    .ok_or_else(mismatch)?,
            ),
            TypeKind::Timestamp(precision) | TypeKind::TimestampLtz(precision) => {
                let (values, unit) = moments(array).ok_or_else(mismatch)?;
                Cells::Moment {
                    values,
                    unit,
                    precision: *precision,
                    local: matches!(data_type.kind, TypeKind::TimestampLtz(_)),
                }
            }
            TypeKind::Variant => {
                let row = array.as_struct_opt().ok_or_else(mismatch)?;
                let part = |name| {
                    row.column_by_name(name)
                        .and_then(|part| binary(part))
                        .ok_or_else(mismatch)
                };
                Cells::Variant {
                    value: part("value")?,
                    metadata: part("metadata")?,
                }
            }
            TypeKind::Array(element) => {
                let list = array.as_list_opt::<i32>().ok_or_else(mismatch)?;
                Cells::List {
                    offsets: list.value_offsets(),
                    element: Box::new(Self::bind(list.values(), element)?),
                }
            }
            TypeKind::Map(key, value) => {
                Self::bind_map(array, key, value).and_then(|cells| cells.ok_or_else(mismatch))?
            }
            TypeKind::Multiset(element) => Self::bind_map(array, element, &DataType::int())
                .and_then(|cells| cells.ok_or_else(mismatch))?,
            TypeKind::Row(row) => Cells::Row(Self::bind_row(array, row)?.ok_or_else(mismatch)?),
        };
        Ok(Self { array, cells })
    }

    fn bind_map(
        array: &'a dyn Array,
        key: &DataType,
        value: &DataType,
    ) -> Result<Option<Cells<'a>>> {
        let Some(map) = array.as_map_opt() else {
            return Ok(None);
        };
        Ok(Some(Cells::Map {
            offsets: map.value_offsets(),
            key: Box::new(Self::bind(map.keys(), key)?),
            value: Box::new(Self::bind(map.values(), value)?),
        }))
    }

    fn bind_row(array: &'a dyn Array, row: &RowType) -> Result<Option<Vec<Member<'a>>>> {
        let Some(parts) = array.as_struct_opt() else {
            return Ok(None);
        };
        if parts.num_columns() != row.len() {
            return Ok(None);
        }
        let bound = row.fields.iter().zip(parts.columns());
        bound
            .map(|(field, part)| {
                Ok((
                    name_prefix(&field.name),
                    Self::bind(part, &field.data_type)?,
                ))
            })
            .collect::<Result<_>>()
            .map(Some)
    }

    /// Whether the value at `row` is null.
    pub(super) fn is_null(&self, row: usize) -> bool {
        self.array.is_null(row)
    }

    /// The text at `row`, for columns of text.
    pub(super) fn text(&self, row: usize) -> Option<&'a str> {
        match &self.cells {
            Cells::Text(array) if row < array.len() && array.is_valid(row) => {
                Some(array.value(row))
            }
            _ => None,
        }
    }

    /// Appends the value at `row`, which must be a row of the batch.
    ///
    /// # Errors
    /// When a VARIANT's bytes are corrupt.
    pub(super) fn write(&self, row: usize, out: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()> {
        if self.is_null(row) {
            out.extend_from_slice(b"null");
            return Ok(());
        }
        match &self.cells {
            Cells::Boolean(array) => {
                out.extend_from_slice(if array.value(row) { b"true" } else { b"false" })
            }
            Cells::Int8(array) => write_i64(out, i64::from(array.value(row))),
            Cells::Int16(array) => write_i64(out, i64::from(array.value(row))),
            Cells::Int32(array) => write_i64(out, i64::from(array.value(row))),
            Cells::Int64(array) => write_i64(out, array.value(row)),
            Cells::Float32(array) => write_double(out, f64::from(array.value(row))),
            Cells::Float64(array) => write_double(out, array.value(row)),
            Cells::Text(array) => write_string(out, array.value(row)),
            Cells::Bytes(array) => {
                scratch.base64.clear();
                STANDARD.encode_string(array.value(row), &mut scratch.base64);
                quoted(out, |out| out.extend_from_slice(scratch.base64.as_bytes()));
            }
            Cells::Decimal(array, scale) => {
                quoted(out, |out| write_decimal(out, array.value(row), *scale))
            }
            Cells::Date(array) => quoted(out, |out| write_date(out, i64::from(array.value(row)))),
            Cells::Time(array) => {
                let millis = i64::from(array.value(row));
                quoted(out, |out| {
                    write_clock(out, millis.div_euclid(1000));
                    write_fraction(out, millis.rem_euclid(1000) * 1_000_000, 3);
                });
            }
            Cells::Moment {
                values,
                unit,
                precision,
                local,
            } => {
                let value = values.get(row).copied().unwrap_or_default();
                quoted(out, |out| {
                    write_timestamp(out, value, *unit, *precision);
                    if *local {
                        out.push(b'Z');
                    }
                });
            }
            Cells::Variant { value, metadata } => {
                write_string(
                    out,
                    &variant_to_json(value.value(row), metadata.value(row))?,
                );
            }
            Cells::List { offsets, element } => {
                out.push(b'[');
                for (index, item) in range(offsets, row).enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    element.write(item, out, scratch)?;
                }
                out.push(b']');
            }
            Cells::Map {
                offsets,
                key,
                value,
            } => write_map(range(offsets, row), key, value, out, scratch)?,
            Cells::Row(parts) => {
                out.push(b'{');
                for (index, (name, part)) in parts.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    out.extend_from_slice(name);
                    part.write(row, out, scratch)?;
                }
                out.push(b'}');
            }
        }
        Ok(())
    }
}

/// Writes the entries in the order of the bytes of their keys' texts.
fn write_map(
    entries: std::ops::Range<usize>,
    key: &Column<'_>,
    value: &Column<'_>,
    out: &mut Vec<u8>,
    scratch: &mut Scratch,
) -> Result<()> {
    out.push(b'[');
    let region = out.len();
    let base = scratch.pairs.len();
    for entry in entries {
        let start = out.len();
        out.push(b'[');
        key.write(entry, out, scratch)?;
        let key_end = out.len();
        out.push(b',');
        value.write(entry, out, scratch)?;
        out.extend_from_slice(b"],");
        scratch.pairs.push(Pair {
            start,
            key_end,
            end: out.len(),
        });
    }
    let Scratch { pairs, sorted, .. } = scratch;
    if let Some(mine) = pairs.get_mut(base..) {
        let key_of = |pair: &Pair| out.get(pair.start + 1..pair.key_end).unwrap_or_default();
        if !mine.is_sorted_by(|one, two| key_of(one) <= key_of(two)) {
            mine.sort_by(|one, two| key_of(one).cmp(key_of(two)));
            sorted.clear();
            for pair in mine.iter() {
                sorted.extend_from_slice(out.get(pair.start..pair.end).unwrap_or_default());
            }
            out.truncate(region);
            out.extend_from_slice(sorted);
        }
    }
    pairs.truncate(base);
    if out.len() > region {
        out.pop();
    }
    out.push(b']');
    Ok(())
}

fn binary(array: &dyn Array) -> Option<&BinaryArray> {
    array.as_binary_opt::<i32>()
}

/// The raw integers of a timestamp array, and their unit.
fn moments(array: &dyn Array) -> Option<(&[i64], TimeUnit)> {
    let ArrowType::Timestamp(unit, _) = array.data_type() else {
        return None;
    };
    let values = match unit {
        TimeUnit::Second => array.as_primitive_opt::<TimestampSecondType>()?.values(),
        TimeUnit::Millisecond => array
            .as_primitive_opt::<TimestampMillisecondType>()?
            .values(),
        TimeUnit::Microsecond => array
            .as_primitive_opt::<TimestampMicrosecondType>()?
            .values(),
        TimeUnit::Nanosecond => array
            .as_primitive_opt::<TimestampNanosecondType>()?
            .values(),
    };
    Some((values, *unit))
}

/// The items of the list at `row`.
fn range<O: OffsetSizeTrait>(offsets: &[O], row: usize) -> std::ops::Range<usize> {
    let at = |index: usize| offsets.get(index).map_or(0, |offset| offset.as_usize());
    at(row)..at(row + 1)
}

fn quoted(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'"');
    write(out);
    out.push(b'"');
}

/// The shortest digits that read back to the same double, with a point or an exponent; what JSON cannot say as a string.
fn write_double(out: &mut Vec<u8>, value: f64) {
    if value.is_nan() {
        out.extend_from_slice(b"\"NaN\"");
    } else if value.is_infinite() {
        out.extend_from_slice(if value > 0.0 {
            b"\"Infinity\""
        } else {
            b"\"-Infinity\""
        });
    } else {
        // Writing into memory does not fail.
        CompactFormatter.write_f64(out, value).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_always_look_like_doubles() {
        let text = |value| {
            let mut out = Vec::new();
            write_double(&mut out, value);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(1.0), "1.0");
        assert_eq!(text(-0.0), "-0.0");
        assert_eq!(text(0.1), "0.1");
        assert_eq!(text(f64::from(0.1_f32)), "0.10000000149011612");
        for large in [1e16, 1e22, 1e300, f64::MAX, 5e-324] {
            let shown = text(large);
            assert!(shown.contains(['.', 'e']), "{shown}");
            assert_eq!(shown.parse::<f64>().unwrap().to_bits(), large.to_bits());
        }
        assert_eq!(text(f64::NEG_INFINITY), "\"-Infinity\"");
    }
}
