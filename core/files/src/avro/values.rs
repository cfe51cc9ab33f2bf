//! Values of one column, or of a part of one, on their way from Avro's bytes into an array.
//!
//! What is reserved grows with the bytes that were read: a list's count is believed only as far as bytes are left for its items.
//! Source: Avro specification 1.11, "Binary encoding"; Paimon `format/avro/FieldReaderFactory.java`.

use std::sync::Arc;

use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, Decimal128Array,
    FixedSizeBinaryArray, ListArray, MapArray, NullArray, PrimitiveArray, StringArray, StructArray,
    make_array,
};
use arrow_buffer::{
    BooleanBufferBuilder, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer,
};
use arrow_schema::{ArrowError, DataType as ArrowType};
use tidewater_format::avro::{
    AvroType, Cursor, Fault, LogicalType, NamedType, RecordField, Skip, SkipTable, WriterSchema,
};

use super::columns::{Presence, entry_fields, meaning, presence};
use crate::mapping::StoredNode;

/// One step through a record, in the writer's order.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// The next value belongs to this part.
    Read(usize),
    /// The next value is not asked for.
    Pass(Skip),
}

/// What is the same for all values of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape<'s> {
    pub(super) schema: &'s WriterSchema,
    pub(super) skips: &'s SkipTable,
    /// Leaves that are decoded, sorted.
    pub(super) leaves: &'s [usize],
}

impl Shape<'_> {
    /// The steps through a record whose fields have these nodes, and the values that they fill.
    pub(super) fn steps(
        &self,
        fields: &[RecordField],
        nodes: &[StoredNode],
    ) -> Option<(Vec<Step>, Vec<Values>)> {
        let (mut steps, mut values) = (Vec::with_capacity(fields.len()), Vec::new());
        for (field, node) in fields.iter().zip(nodes) {
            match node.decoded_type(self.leaves) {
                None => steps.push(Step::Pass(
                    self.skips.compile(self.schema, &field.data_type),
                )),
                Some(_) => {
                    steps.push(Step::Read(values.len()));
                    values.push(Values::new(*self, &field.data_type, node)?);
                }
            }
        }
        Some((steps, values))
    }
}

/// The values of a column so far.
#[derive(Debug)]
pub(super) struct Values {
    presence: Presence,
    /// The type of the array.
    arrow: ArrowType,
    nulls: NullBufferBuilder,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Nothing(usize),
    Boolean(BooleanBufferBuilder),
    Int(Vec<i32>),
    Long(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    /// Bytes or text; the type of the array tells which.
    Bytes {
        offsets: Vec<i32>,
        bytes: Vec<u8>,
    },
    Fixed {
        size: usize,
        bytes: Vec<u8>,
    },
    /// `size` of a fixed; none if each value tells its own.
    Decimal {
        size: Option<usize>,
        values: Vec<i128>,
    },
    List {
        offsets: Vec<i32>,
        item: Box<Values>,
    },
    Map {
        offsets: Vec<i32>,
        steps: Vec<Step>,
        parts: Box<[Values; 2]>,
    },
    Struct {
        steps: Vec<Step>,
        members: Vec<Values>,
        rows: usize,
    },
}

impl Values {
    /// None for a type that cannot be decoded, which the mapping has refused before.
    pub(super) fn new(shape: Shape<'_>, data_type: &AvroType, node: &StoredNode) -> Option<Self> {
        let (value, presence) = presence(data_type)?;
        let arrow = node.decoded_type(shape.leaves)?;
        let (base, logical) = meaning(value);
        let kind = match (base, &arrow) {
            (AvroType::Null, _) => Kind::Nothing(0),
            (AvroType::Boolean, _) => Kind::Boolean(BooleanBufferBuilder::new(0)),
            (AvroType::Int, _) => Kind::Int(Vec::new()),
            (AvroType::Long, _) => Kind::Long(Vec::new()),
            (AvroType::Float, _) => Kind::Float(Vec::new()),
            (AvroType::Double, _) => Kind::Double(Vec::new()),
            (AvroType::Bytes, ArrowType::Decimal128(..)) => Kind::Decimal {
                size: None,
                values: Vec::new(),
            },
            (AvroType::Bytes | AvroType::String, _) => Kind::Bytes {
                offsets: vec![0],
                bytes: Vec::new(),
            },
            (AvroType::Array(items), _) => match (entry_fields(shape.schema, items), logical) {
                (Some((fields, order)), Some(LogicalType::Map)) => {
                    Self::entries(shape, fields, order, node)?
                }
                _ => Kind::List {
                    offsets: vec![0],
                    item: Box::new(Self::new(shape, items, node.children.first()?)?),
                },
            },
            (AvroType::Map(values), _) => {
                let [key, value] = node.children.as_slice() else {
                    return None;
                };
                let parts = [
                    Self::new(shape, &AvroType::String, key)?,
                    Self::new(shape, values, value)?,
                ];
                Kind::Map {
                    offsets: vec![0],
                    steps: vec![Step::Read(0), Step::Read(1)],
                    parts: Box::new(parts),
                }
            }
            (AvroType::Named(index), arrow) => match shape.schema.named().get(*index)? {
                NamedType::Record(fields) => {
                    let (steps, members) = shape.steps(fields, &node.children)?;
                    Kind::Struct {
                        steps,
                        members,
                        rows: 0,
                    }
                }
                NamedType::Fixed(size) if matches!(arrow, ArrowType::Decimal128(..)) => {
                    Kind::Decimal {
                        size: Some(*size),
                        values: Vec::new(),
                    }
                }
                NamedType::Fixed(size) => Kind::Fixed {
                    size: *size,
                    bytes: Vec::new(),
                },
                NamedType::Enum => return None,
            },
            (AvroType::Union(_) | AvroType::Logical(..), _) => return None,
        };
        Some(Self {
            presence,
            arrow,
            nulls: NullBufferBuilder::new(0),
            kind,
        })
    }

    /// A map as an array of records; a record may have more fields than key and value.
    fn entries(
        shape: Shape<'_>,
        fields: &[RecordField],
        [key, value]: [usize; 2],
        node: &StoredNode,
    ) -> Option<Kind> {
        let [key_node, value_node] = node.children.as_slice() else {
            return None;
        };
        let steps = fields.iter().enumerate().map(|(at, field)| match at {
            at if at == key => Step::Read(0),
            at if at == value => Step::Read(1),
            _ => Step::Pass(shape.skips.compile(shape.schema, &field.data_type)),
        });
        let parts = [
            Self::new(shape, &fields.get(key)?.data_type, key_node)?,
            Self::new(shape, &fields.get(value)?.data_type, value_node)?,
        ];
        Some(Kind::Map {
            offsets: vec![0],
            steps: steps.collect(),
            parts: Box::new(parts),
        })
    }

    /// Takes the next value.
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>, skips: &SkipTable) -> Result<(), Fault> {
        match self.presence {
            Presence::Always => {}
            Presence::Unless(null) => match cursor.length("union branch")? {
                branch if branch == null => {
                    self.absent();
                    return Ok(());
                }
                0 | 1 => {}
                _ => return Err(cursor.invalid("union branch")),
            },
            Presence::OnlyBranch => {
                if cursor.length("union branch")? != 0 {
                    return Err(cursor.invalid("union branch"));
                }
            }
        }
        self.nulls.append_non_null();
        match &mut self.kind {
            Kind::Nothing(rows) => *rows += 1,
            Kind::Boolean(values) => match cursor.take(1, "boolean")? {
                [0] => values.append(false),
                [1] => values.append(true),
                _ => return Err(cursor.invalid("boolean")),
            },
            Kind::Int(values) => values.push(cursor.int("int")?),
            Kind::Long(values) => values.push(cursor.long("long")?),
            Kind::Float(values) => {
                let bytes = cursor.take(4, "float")?;
                let bytes = bytes.try_into().map_err(|_| cursor.invalid("float"))?;
                values.push(f32::from_le_bytes(bytes));
            }
            Kind::Double(values) => {
                let bytes = cursor.take(8, "double")?;
                let bytes = bytes.try_into().map_err(|_| cursor.invalid("double"))?;
                values.push(f64::from_le_bytes(bytes));
            }
            Kind::Bytes { offsets, bytes } => {
                bytes.extend_from_slice(cursor.bytes("bytes")?);
                end(offsets, bytes.len(), cursor)?;
            }
            Kind::Fixed { size, bytes } => bytes.extend_from_slice(cursor.take(*size, "fixed")?),
            Kind::Decimal { size, values } => {
                let bytes = match size {
                    Some(size) => cursor.take(*size, "decimal")?,
                    None => cursor.bytes("decimal")?,
                };
                values.push(decimal(bytes).ok_or_else(|| cursor.invalid("decimal"))?);
            }
            Kind::List { offsets, item } => {
                let mut items = last(offsets);
                while let Some(block) = cursor.array_block("array")? {
                    // No item of a table's columns takes no bytes.
                    if block.count > cursor.remaining() {
                        return Err(cursor.invalid("array"));
                    }
                    for _ in 0..block.count {
                        item.read(cursor, skips)?;
                    }
                    items += block.count;
                }
                end(offsets, items, cursor)?;
            }
            Kind::Map {
                offsets,
                steps,
                parts,
            } => {
                let mut items = last(offsets);
                while let Some(block) = cursor.array_block("map")? {
                    if block.count > cursor.remaining() {
                        return Err(cursor.invalid("map"));
                    }
                    for _ in 0..block.count {
                        walk(steps, parts.as_mut_slice(), cursor, skips)
                            .map_err(|(_, fault)| fault)?;
                    }
                    items += block.count;
                }
                end(offsets, items, cursor)?;
            }
            Kind::Struct {
                steps,
                members,
                rows,
            } => {
                walk(steps, members, cursor, skips).map_err(|(_, fault)| fault)?;
                *rows += 1;
            }
        }
        Ok(())
    }

    /// A null; in a row that is null itself, also of a member that cannot be.
    fn absent(&mut self) {
        if matches!(self.presence, Presence::Unless(_)) {
            self.nulls.append_null();
        } else {
            self.nulls.append_non_null();
        }
        match &mut self.kind {
            Kind::Nothing(rows) => *rows += 1,
            Kind::Boolean(values) => values.append(false),
            Kind::Int(values) => values.push(0),
            Kind::Long(values) => values.push(0),
            Kind::Float(values) => values.push(0.0),
            Kind::Double(values) => values.push(0.0),
            Kind::Decimal { values, .. } => values.push(0),
            Kind::Fixed { size, bytes } => bytes.resize(bytes.len() + *size, 0),
            Kind::Bytes { offsets, .. }
            | Kind::List { offsets, .. }
            | Kind::Map { offsets, .. } => {
                offsets.push(offsets.last().copied().unwrap_or(0));
            }
            Kind::Struct { members, rows, .. } => {
                members.iter_mut().for_each(Self::absent);
                *rows += 1;
            }
        }
    }

    /// The array of the values taken since the last one.
    pub(super) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let nulls = self.nulls.finish();
        let arrow = &self.arrow;
        Ok(match &mut self.kind {
            Kind::Nothing(rows) => Arc::new(NullArray::new(std::mem::take(rows))),
            Kind::Boolean(values) => Arc::new(BooleanArray::new(values.finish(), nulls)),
            Kind::Int(values) => numbers::<Int32Type>(values, nulls, arrow)?,
            Kind::Long(values) => numbers::<Int64Type>(values, nulls, arrow)?,
            Kind::Float(values) => numbers::<Float32Type>(values, nulls, arrow)?,
            Kind::Double(values) => numbers::<Float64Type>(values, nulls, arrow)?,
            Kind::Bytes { offsets, bytes } => {
                let (offsets, bytes) = (taken(offsets), std::mem::take(bytes));
                match arrow {
                    ArrowType::Utf8 => {
                        Arc::new(StringArray::try_new(offsets, bytes.into(), nulls)?)
                    }
                    _ => Arc::new(BinaryArray::try_new(offsets, bytes.into(), nulls)?),
                }
            }
            Kind::Fixed { size, bytes } => {
                let size = i32::try_from(*size).unwrap_or(i32::MAX);
                let bytes = std::mem::take(bytes).into();
                Arc::new(FixedSizeBinaryArray::try_new(size, bytes, nulls)?)
            }
            Kind::Decimal { values, .. } => {
                let values = Decimal128Array::try_new(std::mem::take(values).into(), nulls)?;
                Arc::new(values.with_data_type(arrow.clone()))
            }
            Kind::List { offsets, item } => {
                let ArrowType::List(field) = arrow else {
                    return Err(mismatch());
                };
                let (offsets, items) = (taken(offsets), item.finish()?);
                Arc::new(ListArray::try_new(
                    Arc::clone(field),
                    offsets,
                    items,
                    nulls,
                )?)
            }
            Kind::Map { offsets, parts, .. } => {
                let ArrowType::Map(entries, sorted) = arrow else {
                    return Err(mismatch());
                };
                let ArrowType::Struct(fields) = entries.data_type() else {
                    return Err(mismatch());
                };
                let [key, value] = parts.as_mut();
                let parts = vec![key.finish()?, value.finish()?];
                let structs = StructArray::try_new(fields.clone(), parts, None)?;
                let (entries, offsets) = (Arc::clone(entries), taken(offsets));
                Arc::new(MapArray::try_new(
                    entries, offsets, structs, nulls, *sorted,
                )?)
            }
            Kind::Struct { members, rows, .. } => {
                let ArrowType::Struct(fields) = arrow else {
                    return Err(mismatch());
                };
                let members = members.iter_mut().map(Self::finish);
                let members = members.collect::<Result<Vec<_>, _>>()?;
                let rows = std::mem::take(rows);
                let fields = fields.clone();
                Arc::new(StructArray::try_new_with_length(
                    fields, members, nulls, rows,
                )?)
            }
        })
    }
}

/// Takes the fields of a record; an error tells which part it is about, if it is one that is read.
pub(super) fn walk(
    steps: &[Step],
    parts: &mut [Values],
    cursor: &mut Cursor<'_>,
    skips: &SkipTable,
) -> Result<(), (Option<usize>, Fault)> {
    for step in steps {
        match step {
            Step::Pass(skip) => skips.pass(skip, cursor).map_err(|fault| (None, fault))?,
            Step::Read(part) => {
                if let Some(values) = parts.get_mut(*part) {
                    values
                        .read(cursor, skips)
                        .map_err(|fault| (Some(*part), fault))?;
                }
            }
        }
    }
    Ok(())
}

fn last(offsets: &[i32]) -> usize {
    offsets
        .last()
        .and_then(|&offset| usize::try_from(offset).ok())
        .unwrap_or(0)
}

fn end(offsets: &mut Vec<i32>, length: usize, cursor: &Cursor<'_>) -> Result<(), Fault> {
    offsets.push(i32::try_from(length).map_err(|_| cursor.invalid("length"))?);
    Ok(())
}

/// Big-endian, of as few bytes as the writer liked.
fn decimal(bytes: &[u8]) -> Option<i128> {
    let sign = if *bytes.first()? >= 0x80 { 0xff } else { 0 };
    let skipped = bytes.len().saturating_sub(16);
    let (head, tail) = bytes.split_at_checked(skipped)?;
    let mut word = [sign; 16];
    word.get_mut(16 - tail.len()..)?.copy_from_slice(tail);
    let value = i128::from_be_bytes(word);
    // More than 16 bytes must be the sign again.
    let fits = head.iter().all(|&byte| byte == sign) && (value < 0) == (sign == 0xff);
    fits.then_some(value)
}

fn taken(offsets: &mut Vec<i32>) -> OffsetBuffer<i32> {
    let offsets = std::mem::replace(offsets, vec![0]);
    OffsetBuffer::new(ScalarBuffer::from(offsets))
}

fn numbers<T: ArrowPrimitiveType>(
    values: &mut Vec<T::Native>,
    nulls: Option<NullBuffer>,
    arrow: &ArrowType,
) -> Result<ArrayRef, ArrowError> {
    let values = PrimitiveArray::<T>::try_new(std::mem::take(values).into(), nulls)?;
    if values.data_type() == arrow {
        return Ok(Arc::new(values));
    }
    let data = values.into_data().into_builder().data_type(arrow.clone());
    Ok(make_array(data.build()?))
}

fn mismatch() -> ArrowError {
    ArrowError::InvalidArgumentError("values of another type".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_of_any_length_are_read_and_those_that_do_not_fit_refused() {
        assert_eq!(decimal(&[]), None);
        assert_eq!(decimal(&[0x80]), Some(-128));
        assert_eq!(decimal(&[0x00, 0x80]), Some(128));
        assert_eq!(decimal(&i128::MIN.to_be_bytes()), Some(i128::MIN));
        let mut long = vec![0xff];
        long.extend(i128::MIN.to_be_bytes());
        assert_eq!(decimal(&long), Some(i128::MIN));
        long[0] = 0;
        assert_eq!(decimal(&long), None);
        long[0] = 0x7f;
        assert_eq!(decimal(&long), None);
    }
}
