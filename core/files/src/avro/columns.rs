//! The columns that an Avro schema stores, as the mapping sees them.
//!
//! A file has no field ids: columns and members of rows go by the names of the schema that the file was written with. A type that no
//! Paimon column is written as (an enum, a union of several types) becomes a node that no column can be read from.
//! Source: spec 01e §2; Paimon `format/avro/AvroSchemaVisitor.java`.

use std::sync::Arc;

use arrow_schema::{
    DataType as ArrowType, Field, FieldRef, Fields, TimeUnit, UnionFields, UnionMode,
};
use tidewater_format::avro::{AvroType, LogicalType, NamedType, RecordField, WriterSchema};

use crate::mapping::{StoredNode, StoredSchema};

/// A schema with more parts than this is no table's; one that names its own types again and again has no end.
const NODES_MAX: usize = 1 << 16;
const DEPTH_MAX: usize = 128;

/// Whether a value may be absent, and how that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    /// The value alone.
    Always,
    /// The number of a branch, then the value unless it is this one.
    Unless(usize),
    /// The number 0, then the value.
    OnlyBranch,
}

/// The type of a value without the union around it; none for a union that is more than "or null".
pub(super) fn presence(data_type: &AvroType) -> Option<(&AvroType, Presence)> {
    match data_type {
        AvroType::Union(branches) => match branches.as_slice() {
            [AvroType::Null] => None,
            [AvroType::Null, value] => Some((value, Presence::Unless(0))),
            [value, AvroType::Null] => Some((value, Presence::Unless(1))),
            [only] => Some((only, Presence::OnlyBranch)),
            _ => None,
        },
        other => Some((other, Presence::Always)),
    }
}

/// A type and its meaning.
pub(super) fn meaning(data_type: &AvroType) -> (&AvroType, Option<LogicalType>) {
    match data_type {
        AvroType::Logical(base, logical) => (base, Some(*logical)),
        other => (other, None),
    }
}

/// Key and value of an array of records that stands for a map.
pub(super) fn entry_fields<'s>(
    schema: &'s WriterSchema,
    items: &AvroType,
) -> Option<(&'s [RecordField], [usize; 2])> {
    let fields = schema.record(items)?;
    let named = |name: &str| fields.iter().position(|field| field.name == name);
    Some((fields, [named("key")?, named("value")?]))
}

/// The tree of a file's columns.
///
/// # Errors
/// Why the schema is no table's.
pub(super) fn stored_schema(schema: &WriterSchema) -> Result<StoredSchema, String> {
    let fields = schema
        .record(schema.root())
        .ok_or_else(|| format!("its rows are {}", schema.describe(schema.root())))?;
    let mut tree = Tree {
        schema,
        nodes: 0,
        next_leaf: 0,
    };
    let columns = fields
        .iter()
        .map(|field| tree.node(&field.name, &field.data_type, 0));
    Ok(StoredSchema {
        columns: columns.collect::<Result<_, _>>()?,
    })
}

struct Tree<'s> {
    schema: &'s WriterSchema,
    nodes: usize,
    next_leaf: usize,
}

impl Tree<'_> {
    fn node(
        &mut self,
        name: &str,
        data_type: &AvroType,
        depth: usize,
    ) -> Result<StoredNode, String> {
        self.nodes += 1;
        if self.nodes > NODES_MAX || depth > DEPTH_MAX {
            return Err("its schema has too many parts".to_owned());
        }
        let Some((value, presence)) = presence(data_type) else {
            return Ok(self.leaf(name, unreadable(), true));
        };
        let nullable = matches!(presence, Presence::Unless(_));
        let schema = self.schema;
        let (base, logical) = meaning(value);
        let first_leaf = self.next_leaf;
        let (arrow, children) = match base {
            AvroType::Array(items) => match entry_fields(schema, items) {
                Some((fields, [key, value])) if logical == Some(LogicalType::Map) => {
                    let (Some(key), Some(value)) = (fields.get(key), fields.get(value)) else {
                        return Ok(self.leaf(name, unreadable(), nullable));
                    };
                    let key = self.node("key", &key.data_type, depth + 1)?;
                    let value = self.node("value", &value.data_type, depth + 1)?;
                    map(key, value)
                }
                _ => {
                    let element = self.node("element", items, depth + 1)?;
                    (ArrowType::List(Arc::clone(&element.field)), vec![element])
                }
            },
            AvroType::Map(values) => {
                let key = self.node("key", &AvroType::String, depth + 1)?;
                let value = self.node("value", values, depth + 1)?;
                map(key, value)
            }
            _ => match schema.record(base) {
                Some(fields) if !fields.is_empty() => {
                    let members = fields
                        .iter()
                        .map(|field| self.node(&field.name, &field.data_type, depth + 1))
                        .collect::<Result<Vec<_>, _>>()?;
                    let fields = members.iter().map(|member| Arc::clone(&member.field));
                    (ArrowType::Struct(fields.collect()), members)
                }
                // Without members to tell it by, the row itself counts as a leaf.
                Some(_) => {
                    return Ok(self.leaf(name, ArrowType::Struct(Fields::empty()), nullable));
                }
                None => {
                    let arrow = scalar(schema, base, logical).unwrap_or_else(unreadable);
                    return Ok(self.leaf(name, arrow, nullable || *base == AvroType::Null));
                }
            },
        };
        Ok(StoredNode {
            field: Arc::new(Field::new(name, arrow, nullable)),
            id: None,
            int96: false,
            leaves: first_leaf..self.next_leaf,
            children,
        })
    }

    fn leaf(&mut self, name: &str, arrow: ArrowType, nullable: bool) -> StoredNode {
        let leaf = self.next_leaf;
        self.next_leaf += 1;
        StoredNode {
            field: Arc::new(Field::new(name, arrow, nullable)),
            id: None,
            int96: false,
            leaves: leaf..leaf + 1,
            children: Vec::new(),
        }
    }
}

/// A type that no column has.
pub(super) fn unreadable() -> ArrowType {
    ArrowType::Union(UnionFields::empty(), UnionMode::Dense)
}

fn map(mut key: StoredNode, value: StoredNode) -> (ArrowType, Vec<StoredNode>) {
    // Java writes keys as nullable if their type is; a null among them is refused.
    key.field = Arc::new(Field::clone(&key.field).with_nullable(false));
    let fields: [FieldRef; 2] = [Arc::clone(&key.field), Arc::clone(&value.field)];
    let entries = Field::new(
        "key_value",
        ArrowType::Struct(Fields::from_iter(fields)),
        false,
    );
    (ArrowType::Map(Arc::new(entries), false), vec![key, value])
}

/// In which Arrow type values without parts are decoded; the asked type makes of them what it needs.
///
/// The names of the timestamps mean the opposite of what Avro says: Java writes TIMESTAMP as `timestamp-*`.
fn scalar(
    schema: &WriterSchema,
    base: &AvroType,
    logical: Option<LogicalType>,
) -> Option<ArrowType> {
    let timestamp = |unit| ArrowType::Timestamp(unit, None);
    let zoned = |unit| ArrowType::Timestamp(unit, Some("UTC".into()));
    let decimal = match logical {
        Some(LogicalType::Decimal { precision, scale })
            if (1..=38).contains(&precision) && scale <= precision =>
        {
            Some(ArrowType::Decimal128(precision, scale.cast_signed()))
        }
        _ => None,
    };
    Some(match (base, logical) {
        (AvroType::Null, _) => ArrowType::Null,
        (AvroType::Boolean, _) => ArrowType::Boolean,
        (AvroType::Int, Some(LogicalType::Date)) => ArrowType::Date32,
        (AvroType::Int, Some(LogicalType::TimeMillis)) => ArrowType::Time32(TimeUnit::Millisecond),
        (AvroType::Int, _) => ArrowType::Int32,
        (AvroType::Long, Some(logical)) => match logical {
            LogicalType::TimeMicros => ArrowType::Time64(TimeUnit::Microsecond),
            LogicalType::TimestampMillis => timestamp(TimeUnit::Millisecond),
            LogicalType::TimestampMicros => timestamp(TimeUnit::Microsecond),
            LogicalType::TimestampNanos => timestamp(TimeUnit::Nanosecond),
            LogicalType::LocalTimestampMillis => zoned(TimeUnit::Millisecond),
            LogicalType::LocalTimestampMicros => zoned(TimeUnit::Microsecond),
            LogicalType::LocalTimestampNanos => zoned(TimeUnit::Nanosecond),
            _ => ArrowType::Int64,
        },
        (AvroType::Long, None) => ArrowType::Int64,
        (AvroType::Float, _) => ArrowType::Float32,
        (AvroType::Double, _) => ArrowType::Float64,
        (AvroType::Bytes, _) => decimal.unwrap_or(ArrowType::Binary),
        (AvroType::String, _) => ArrowType::Utf8,
        (AvroType::Named(index), _) => match schema.named().get(*index)? {
            NamedType::Fixed(_) if decimal.is_some() => return decimal,
            NamedType::Fixed(size) if *size > 0 => {
                ArrowType::FixedSizeBinary(i32::try_from(*size).ok()?)
            }
            _ => return None,
        },
        _ => return None,
    })
}
