//! A column under construction from the text of JSON values.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Date32Builder, Decimal128Builder, Float32Builder,
    Float64Builder, Int8Builder, Int16Builder, Int32Builder, Int64Builder, StringBuilder,
    Time32MillisecondBuilder,
};
use arrow_array::{
    ArrayRef, ListArray, MapArray, StructArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray,
};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_schema::{DataType as ArrowType, Field, Fields, TimeUnit};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tidewater_types::variant::json_to_variant;
use tidewater_types::{DataType, RowType, TypeError, TypeKind, arrow_types::to_arrow_type};

use super::civil::{parse_date, parse_time};
use super::decimal::parse_decimal;
use super::error::{Fault, JsonError};
use super::scanner::{Next, Scanner};
use super::timestamps::{NoTimestamp, read_timestamp};

/// A column, or a part of a nested one, that grows value by value.
#[derive(Debug)]
pub(super) struct ColumnBuilder {
    data_type: DataType,
    arrow: ArrowType,
    cells: Cells,
}

#[derive(Debug)]
enum Cells {
    Boolean(BooleanBuilder),
    Int8(Int8Builder),
    Int16(Int16Builder),
    Int32(Int32Builder),
    Int64(Int64Builder),
    Float32(Float32Builder),
    Float64(Float64Builder),
    Decimal {
        values: Decimal128Builder,
        precision: u8,
        scale: u8,
    },
    Text(StringBuilder),
    Bytes(BinaryBuilder),
    Date(Date32Builder),
    Time(Time32MillisecondBuilder),
    Moment {
        values: Int64Builder,
        unit: TimeUnit,
        local: bool,
    },
    Variant {
        nulls: NullBufferBuilder,
        value: BinaryBuilder,
        metadata: BinaryBuilder,
    },
    List {
        nulls: NullBufferBuilder,
        offsets: Vec<i32>,
        element: Box<ColumnBuilder>,
    },
    Map {
        nulls: NullBufferBuilder,
        offsets: Vec<i32>,
        key: Box<ColumnBuilder>,
        value: Box<ColumnBuilder>,
    },
    Row {
        nulls: NullBufferBuilder,
        members: Members,
    },
}

impl ColumnBuilder {
    /// An empty column of this type.
    ///
    /// # Errors
    /// [`TypeError::Internal`] if the Arrow type that belongs to `data_type` is not of the expected shape.
    pub(super) fn new(data_type: &DataType) -> Result<Self, TypeError> {
        let arrow = to_arrow_type(data_type);
        let nulls = || NullBufferBuilder::new(0);
        let cells = match &data_type.kind {
            TypeKind::Boolean => Cells::Boolean(BooleanBuilder::new()),
            TypeKind::TinyInt => Cells::Int8(Int8Builder::new()),
            TypeKind::SmallInt => Cells::Int16(Int16Builder::new()),
            TypeKind::Int => Cells::Int32(Int32Builder::new()),
            TypeKind::BigInt => Cells::Int64(Int64Builder::new()),
            TypeKind::Float => Cells::Float32(Float32Builder::new()),
            TypeKind::Double => Cells::Float64(Float64Builder::new()),
            TypeKind::Decimal { precision, scale } => Cells::Decimal {
                values: Decimal128Builder::new().with_data_type(arrow.clone()),
                precision: *precision,
                scale: *scale,
            },
            TypeKind::Char(_) | TypeKind::VarChar(_) => Cells::Text(StringBuilder::new()),
            TypeKind::Binary(_) | TypeKind::VarBinary(_) => Cells::Bytes(BinaryBuilder::new()),
            TypeKind::Date => Cells::Date(Date32Builder::new()),
            TypeKind::Time(_) => Cells::Time(Time32MillisecondBuilder::new()),
            TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_) => {
                let ArrowType::Timestamp(unit, zone) = &arrow else {
                    return Err(unexpected(&arrow));
                };
                Cells::Moment {
                    values: Int64Builder::new(),
                    unit: *unit,
                    local: zone.is_some(),
                }
            }
            TypeKind::Variant => Cells::Variant {
                nulls: nulls(),
                value: BinaryBuilder::new(),
                metadata: BinaryBuilder::new(),
            },
            TypeKind::Array(element) => Cells::List {
                nulls: nulls(),
                offsets: vec![0],
                element: Box::new(Self::new(element)?),
            },
            TypeKind::Map(key, value) => Self::map(key, value)?,
            TypeKind::Multiset(element) => Self::map(element, &DataType::int().not_null())?,
            TypeKind::Row(row) => Cells::Row {
                nulls: nulls(),
                members: Members::new(row)?,
            },
        };
        Ok(Self {
            data_type: data_type.clone(),
            arrow,
            cells,
        })
    }

    fn map(key: &DataType, value: &DataType) -> Result<Cells, TypeError> {
        Ok(Cells::Map {
            nulls: NullBufferBuilder::new(0),
            offsets: vec![0],
            key: Box::new(Self::new(&key.clone().not_null())?),
            value: Box::new(Self::new(value)?),
        })
    }

    /// Values so far.
    pub(super) fn len(&self) -> usize {
        use arrow_array::builder::ArrayBuilder;
        match &self.cells {
            Cells::Boolean(values) => values.len(),
            Cells::Int8(values) => values.len(),
            Cells::Int16(values) => values.len(),
            Cells::Int32(values) => values.len(),
            Cells::Int64(values) => values.len(),
            Cells::Float32(values) => values.len(),
            Cells::Float64(values) => values.len(),
            Cells::Decimal { values, .. } => values.len(),
            Cells::Text(values) => values.len(),
            Cells::Bytes(values) => values.len(),
            Cells::Date(values) => values.len(),
            Cells::Time(values) => values.len(),
            Cells::Moment { values, .. } => values.len(),
            Cells::Variant { nulls, .. }
            | Cells::List { nulls, .. }
            | Cells::Map { nulls, .. }
            | Cells::Row { nulls, .. } => nulls.len(),
        }
    }

    /// Appends a null; whether the column takes one is asked where it matters.
    pub(super) fn null(&mut self) {
        match &mut self.cells {
            Cells::Boolean(values) => values.append_null(),
            Cells::Int8(values) => values.append_null(),
            Cells::Int16(values) => values.append_null(),
            Cells::Int32(values) => values.append_null(),
            Cells::Int64(values) => values.append_null(),
            Cells::Float32(values) => values.append_null(),
            Cells::Float64(values) => values.append_null(),
            Cells::Decimal { values, .. } => values.append_null(),
            Cells::Text(values) => values.append_null(),
            Cells::Bytes(values) => values.append_null(),
            Cells::Date(values) => values.append_null(),
            Cells::Time(values) => values.append_null(),
            Cells::Moment { values, .. } => values.append_null(),
            Cells::Variant {
                nulls,
                value,
                metadata,
            } => {
                nulls.append_null();
                value.append_value([]);
                metadata.append_value([]);
            }
            Cells::List { nulls, offsets, .. } | Cells::Map { nulls, offsets, .. } => {
                nulls.append_null();
                offsets.push(offsets.last().copied().unwrap_or_default());
            }
            Cells::Row { nulls, members } => {
                nulls.append_null();
                members.columns.iter_mut().for_each(ColumnBuilder::null);
            }
        }
    }

    /// Appends the value that comes next in `scanner`. `part` says that it is a part of a nested value, where NOT NULL is not for the
    /// table to check.
    pub(super) fn value(&mut self, scanner: &mut Scanner<'_>, part: bool) -> Result<(), Fault> {
        let next = scanner.next()?;
        if next == Next::Null {
            scanner.null()?;
            if part && !self.data_type.nullable {
                return Err(Fault::value("null", self.data_type.to_string()));
            }
            self.null();
            return Ok(());
        }
        let Self {
            data_type, cells, ..
        } = self;
        let data_type = &*data_type;
        let refuse = |text: &str| Fault::value(text, data_type.to_string());
        match cells {
            Cells::Boolean(values) => match next {
                Next::Boolean => values.append_value(scanner.boolean()?),
                _ => return Err(refuse(scanner.skip()?)),
            },
            Cells::Int8(values) => values.append_value(whole(scanner, next, data_type)?),
            Cells::Int16(values) => values.append_value(whole(scanner, next, data_type)?),
            Cells::Int32(values) => values.append_value(whole(scanner, next, data_type)?),
            Cells::Int64(values) => values.append_value(whole(scanner, next, data_type)?),
            Cells::Float32(values) => {
                let double = real(scanner, next, data_type)?;
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "narrowing is what the contract asks for"
                )]
                let single = double as f32;
                if single.is_infinite() && double.is_finite() {
                    return Err(refuse(&double.to_string()));
                }
                values.append_value(single);
            }
            Cells::Float64(values) => values.append_value(real(scanner, next, data_type)?),
            Cells::Decimal {
                values,
                precision,
                scale,
            } => {
                let text = match next {
                    Next::Number => std::borrow::Cow::Borrowed(scanner.number()?),
                    Next::String => scanner.string()?,
                    _ => return Err(refuse(scanner.skip()?)),
                };
                values.append_value(
                    parse_decimal(&text, *precision, *scale).ok_or_else(|| refuse(&text))?,
                );
            }
            Cells::Text(values) => values.append_value(string(scanner, next, data_type)?),
            Cells::Bytes(values) => {
                let text = string(scanner, next, data_type)?;
                values.append_value(
                    STANDARD
                        .decode(text.as_bytes())
                        .map_err(|_| Fault::value(&text, "base64 with padding"))?,
                );
            }
            Cells::Date(values) => {
                let text = string(scanner, next, data_type)?;
                let days = parse_date(&text).and_then(|days| i32::try_from(days).ok());
                values.append_value(days.ok_or_else(|| refuse(&text))?);
            }
            Cells::Time(values) => {
                let text = string(scanner, next, data_type)?;
                let millis =
                    parse_time(&text).and_then(|nanos| i32::try_from(nanos / 1_000_000).ok());
                values.append_value(millis.ok_or_else(|| refuse(&text))?);
            }
            Cells::Moment {
                values,
                unit,
                local,
            } => {
                let text = string(scanner, next, data_type)?;
                let bare = if *local {
                    text.strip_suffix('Z')
                } else {
                    Some(text.as_ref())
                };
                let bare = bare.ok_or_else(|| {
                    Fault::value(&text, format!("{data_type}, whose text ends in Z"))
                })?;
                let value = read_timestamp(bare, *unit).map_err(|reason| match reason {
                    NoTimestamp::Text => refuse(&text),
                    NoTimestamp::Range => Fault::value(
                        &text,
                        format!("{data_type} between the years 1677 and 2262"),
                    ),
                })?;
                values.append_value(value);
            }
            Cells::Variant {
                nulls,
                value,
                metadata,
            } => {
                let text = string(scanner, next, data_type)?;
                let (value_bytes, metadata_bytes) = json_to_variant(&text)
                    .map_err(|error| Fault::value(&text, format!("VARIANT ({error})")))?;
                nulls.append_non_null();
                value.append_value(value_bytes);
                metadata.append_value(metadata_bytes);
            }
            Cells::List {
                nulls,
                offsets,
                element,
            } => {
                if next != Next::Array {
                    return Err(refuse(scanner.skip()?));
                }
                scanner.open(b'[')?;
                let mut first = true;
                while scanner.element(&mut first)? {
                    element
                        .value(scanner, true)
                        .map_err(|fault| fault.inside("element"))?;
                }
                nulls.append_non_null();
                offsets.push(offset(element.len())?);
            }
            Cells::Map {
                nulls,
                offsets,
                key,
                value,
            } => {
                if next != Next::Array {
                    return Err(refuse(scanner.skip()?));
                }
                entries(scanner, key, value)?;
                nulls.append_non_null();
                offsets.push(offset(key.len())?);
            }
            Cells::Row { nulls, members } => {
                if next != Next::Object {
                    return Err(refuse(scanner.skip()?));
                }
                members.object(scanner, true)?;
                nulls.append_non_null();
            }
        }
        Ok(())
    }

    /// The column; the builder is empty again.
    ///
    /// # Errors
    /// [`JsonError::Arrow`] if Arrow refuses the parts.
    pub(super) fn finish(&mut self) -> Result<ArrayRef, JsonError> {
        Ok(match &mut self.cells {
            Cells::Boolean(values) => Arc::new(values.finish()),
            Cells::Int8(values) => Arc::new(values.finish()),
            Cells::Int16(values) => Arc::new(values.finish()),
            Cells::Int32(values) => Arc::new(values.finish()),
            Cells::Int64(values) => Arc::new(values.finish()),
            Cells::Float32(values) => Arc::new(values.finish()),
            Cells::Float64(values) => Arc::new(values.finish()),
            Cells::Decimal { values, .. } => Arc::new(values.finish()),
            Cells::Text(values) => Arc::new(values.finish()),
            Cells::Bytes(values) => Arc::new(values.finish()),
            Cells::Date(values) => Arc::new(values.finish()),
            Cells::Time(values) => Arc::new(values.finish()),
            Cells::Moment { values, unit, .. } => {
                let (_, values, nulls) = values.finish().into_parts();
                let zone = if let ArrowType::Timestamp(_, zone) = &self.arrow {
                    zone.clone()
                } else {
                    None
                };
                match unit {
                    TimeUnit::Second => {
                        Arc::new(TimestampSecondArray::new(values, nulls).with_timezone_opt(zone))
                    }
                    TimeUnit::Millisecond => Arc::new(
                        TimestampMillisecondArray::new(values, nulls).with_timezone_opt(zone),
                    ),
                    TimeUnit::Microsecond => Arc::new(
                        TimestampMicrosecondArray::new(values, nulls).with_timezone_opt(zone),
                    ),
                    TimeUnit::Nanosecond => Arc::new(
                        TimestampNanosecondArray::new(values, nulls).with_timezone_opt(zone),
                    ),
                }
            }
            Cells::Variant {
                nulls,
                value,
                metadata,
            } => {
                let ArrowType::Struct(fields) = &self.arrow else {
                    return Err(unexpected(&self.arrow).into());
                };
                let mut parts: Vec<ArrayRef> =
                    vec![Arc::new(value.finish()), Arc::new(metadata.finish())];
                if fields
                    .first()
                    .is_some_and(|field| field.name() == "metadata")
                {
                    parts.reverse();
                }
                Arc::new(StructArray::try_new(fields.clone(), parts, nulls.finish())?)
            }
            Cells::List {
                nulls,
                offsets,
                element,
            } => {
                let ArrowType::List(field) = &self.arrow else {
                    return Err(unexpected(&self.arrow).into());
                };
                let offsets = OffsetBuffer::new(std::mem::replace(offsets, vec![0]).into());
                Arc::new(ListArray::try_new(
                    Arc::clone(field),
                    offsets,
                    element.finish()?,
                    nulls.finish(),
                )?)
            }
            Cells::Map {
                nulls,
                offsets,
                key,
                value,
            } => {
                let ArrowType::Map(field, ordered) = &self.arrow else {
                    return Err(unexpected(&self.arrow).into());
                };
                let ArrowType::Struct(fields) = field.data_type() else {
                    return Err(unexpected(&self.arrow).into());
                };
                let offsets = OffsetBuffer::new(std::mem::replace(offsets, vec![0]).into());
                let entries = StructArray::try_new(
                    fields.clone(),
                    vec![key.finish()?, value.finish()?],
                    None,
                )?;
                Arc::new(MapArray::try_new(
                    Arc::clone(field),
                    offsets,
                    entries,
                    nulls.finish(),
                    *ordered,
                )?)
            }
            Cells::Row { nulls, members } => {
                let ArrowType::Struct(fields) = &self.arrow else {
                    return Err(unexpected(&self.arrow).into());
                };
                let length = nulls.len();
                let parts = members.finish()?;
                Arc::new(StructArray::try_new_with_length(
                    fields.clone(),
                    parts,
                    nulls.finish(),
                    length,
                )?)
            }
        })
    }
}

/// Columns side by side: those of the table, or of a nested row.
#[derive(Debug)]
pub(super) struct Members {
    names: Vec<String>,
    by_name: HashMap<String, usize>,
    pub(super) columns: Vec<ColumnBuilder>,
    rows: usize,
    /// Whether members that are no column are passed over.
    pub(super) ignores_unknown: bool,
}

impl Members {
    pub(super) fn new(row: &RowType) -> Result<Self, TypeError> {
        Ok(Self {
            names: row.names().map(str::to_owned).collect(),
            by_name: row.names().map(str::to_owned).zip(0..).collect(),
            columns: row
                .fields
                .iter()
                .map(|field| ColumnBuilder::new(&field.data_type))
                .collect::<Result<_, _>>()?,
            rows: 0,
            ignores_unknown: false,
        })
    }

    /// Reads an object; members that are missing become null. `part` as in [`ColumnBuilder::value`].
    pub(super) fn object(&mut self, scanner: &mut Scanner<'_>, part: bool) -> Result<(), Fault> {
        let rows = self.columns.first().map_or(self.rows, ColumnBuilder::len);
        scanner.open(b'{')?;
        let mut first = true;
        let mut likely = 0;
        while let Some(name) = scanner.member(&mut first)? {
            let hit = self
                .names
                .get(likely)
                .is_some_and(|expected| *expected == name);
            let index = if hit {
                Some(likely)
            } else {
                self.by_name.get(name.as_ref()).copied()
            };
            let column = index.and_then(|index| self.columns.get_mut(index));
            let Some(column) = column else {
                if self.ignores_unknown {
                    scanner.skip()?;
                    continue;
                }
                return Err(Fault::Name {
                    what: "no such column:",
                    name: name.into_owned(),
                });
            };
            if column.len() > rows {
                return Err(Fault::Name {
                    what: "column given twice:",
                    name: name.into_owned(),
                });
            }
            column
                .value(scanner, part)
                .map_err(|fault| fault.inside(&name))?;
            likely = index.unwrap_or(likely) + 1;
        }
        for (column, name) in self.columns.iter_mut().zip(&self.names) {
            if column.len() == rows {
                if part && !column.data_type.nullable {
                    return Err(Fault::value("null", column.data_type.to_string()).inside(name));
                }
                column.null();
            }
        }
        self.rows = rows + 1;
        Ok(())
    }

    /// The columns; the builders are empty again.
    pub(super) fn finish(&mut self) -> Result<Vec<ArrayRef>, JsonError> {
        self.rows = 0;
        self.columns.iter_mut().map(ColumnBuilder::finish).collect()
    }
}

/// Reads `[[key, value], ...]`. A key that comes twice in the same spelling is refused: the table keeps maps, not lists of pairs.
fn entries<'t>(
    scanner: &mut Scanner<'t>,
    key: &mut ColumnBuilder,
    value: &mut ColumnBuilder,
) -> Result<(), Fault> {
    let mut seen: Vec<&'t str> = Vec::new();
    scanner.open(b'[')?;
    let mut first = true;
    while scanner.element(&mut first)? {
        scanner.open(b'[')?;
        let mut first_of_pair = true;
        if !scanner.element(&mut first_of_pair)? {
            return Err(Fault::Line {
                what: "an entry of a map is [key, value]".to_owned(),
            });
        }
        let text = scanner.clone().skip()?;
        seen.push(text);
        key.value(scanner, true)
            .map_err(|fault| fault.inside("key"))?;
        if !scanner.element(&mut first_of_pair)? {
            return Err(Fault::Line {
                what: "an entry of a map is [key, value]".to_owned(),
            });
        }
        value
            .value(scanner, true)
            .map_err(|fault| fault.inside("value"))?;
        if scanner.element(&mut first_of_pair)? {
            return Err(Fault::Line {
                what: "an entry of a map is [key, value]".to_owned(),
            });
        }
    }
    seen.sort_unstable();
    let twice = seen.windows(2).find_map(|pair| match pair {
        [one, two] if one == two => Some(*one),
        _ => None,
    });
    twice.map_or(Ok(()), |key| {
        Err(Fault::value(key, "a key that comes once"))
    })
}

fn whole<T: std::str::FromStr>(
    scanner: &mut Scanner<'_>,
    next: Next,
    data_type: &DataType,
) -> Result<T, Fault> {
    let text = if next == Next::Number {
        scanner.number()?
    } else {
        scanner.skip()?
    };
    text.parse()
        .map_err(|_| Fault::value(text, data_type.to_string()))
}

fn real(scanner: &mut Scanner<'_>, next: Next, data_type: &DataType) -> Result<f64, Fault> {
    if next == Next::Number {
        let text = scanner.number()?;
        return match text.parse::<f64>() {
            Ok(double) if double.is_finite() => Ok(double),
            _ => Err(Fault::value(text, data_type.to_string())),
        };
    }
    let text = string(scanner, next, data_type)?;
    match text.as_ref() {
        "NaN" => Ok(f64::NAN),
        "Infinity" => Ok(f64::INFINITY),
        "-Infinity" => Ok(f64::NEG_INFINITY),
        _ => Err(Fault::value(&text, data_type.to_string())),
    }
}

fn string<'a>(
    scanner: &mut Scanner<'a>,
    next: Next,
    data_type: &DataType,
) -> Result<std::borrow::Cow<'a, str>, Fault> {
    if next == Next::String {
        return scanner.string();
    }
    let text = scanner.skip()?;
    Err(Fault::value(
        text,
        format!("{data_type}, which is written as a string"),
    ))
}

fn offset(length: usize) -> Result<i32, Fault> {
    i32::try_from(length).map_err(|_| Fault::Line {
        what: "nested values of one batch pass 2^31 elements".to_owned(),
    })
}

fn unexpected(arrow: &ArrowType) -> TypeError {
    TypeError::internal(format!("unexpected arrow type {arrow}"))
}

/// The fields of a schema with every column nullable: whether a table takes a null is for the table to say.
pub(super) fn nullable(fields: &Fields) -> Fields {
    fields
        .iter()
        .map(|field| Field::clone(field).with_nullable(true))
        .collect()
}
