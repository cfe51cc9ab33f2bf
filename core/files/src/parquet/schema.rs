//! From a table's row type to the Parquet schema of its data files.
//!
//! ```text
//!  ROW<id INT, tags ARRAY<STRING>>       message paimon_schema {
//!                                          optional int32 id = 0;
//!                                          optional group tags (LIST) = 1 {
//!                                            repeated group list { optional binary element (STRING) = 536871936; } } }
//! ```
//!
//! Every node carries a field id; elements, keys and values have none in the table schema and get computed ones.
//! Source: spec 01e §1 and 01a §1.1, Paimon `ParquetSchemaConverter.java`, `SpecialFields.java`.

use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};
use tidewater_types::{DataField, DataType, RowType, TypeKind};

use crate::error::{FilesError, Result};

/// Name of the root of each schema.
const MESSAGE_NAME: &str = "paimon_schema";
/// Where the ids of elements, keys and values start; ids of columns stay below.
const STRUCTURED_TYPE_FIELD_ID_BASE: i32 = i32::MAX / 4;
/// Room for nesting levels between the computed ids of two columns.
const STRUCTURED_TYPE_FIELD_DEPTH_LIMIT: i32 = 1 << 10;

/// The schema that Java's writer gives a file with these columns: physical types, names, ids and nullability.
///
/// # Errors
/// [`FilesError::Unsupported`] if a name or type has no form in Parquet.
pub fn parquet_schema(row_type: &RowType) -> Result<SchemaDescriptor> {
    let fields = row_type
        .fields
        .iter()
        .map(|field| column_type(field).map_err(|error| refused(field, &error)));
    let fields = fields.collect::<Result<Vec<_>>>()?;
    let message = Type::group_type_builder(MESSAGE_NAME)
        .with_fields(fields)
        .build();
    let message = message.map_err(|error| FilesError::Unsupported {
        what: format!("this schema in parquet: {error}"),
    })?;
    Ok(SchemaDescriptor::new(Arc::new(message)))
}

/// Bytes of the fixed-length form of a decimal: the smallest n with `2^(8n-1) >= 10^precision`.
pub(crate) fn decimal_bytes(precision: u8) -> i32 {
    let bound = 10_i128
        .checked_pow(u32::from(precision))
        .unwrap_or(i128::MAX);
    let mut length = 1;
    while length < 16 && (1_i128 << (8 * length - 1)) < bound {
        length += 1;
    }
    length
}

/// The id of an array's element or a map's value below the column `id` at nesting `depth` (from 1).
pub(crate) fn element_id(id: i32, depth: i32) -> i32 {
    let offset = STRUCTURED_TYPE_FIELD_DEPTH_LIMIT
        .wrapping_mul(id)
        .wrapping_add(depth);
    STRUCTURED_TYPE_FIELD_ID_BASE.wrapping_add(offset)
}

/// The id of a map's key below the column `id` at nesting `depth` (from 1).
pub(crate) fn map_key_id(id: i32, depth: i32) -> i32 {
    let offset = STRUCTURED_TYPE_FIELD_DEPTH_LIMIT
        .wrapping_mul(id)
        .wrapping_add(depth);
    STRUCTURED_TYPE_FIELD_ID_BASE.wrapping_sub(offset)
}

fn refused(field: &DataField, error: &ParquetError) -> FilesError {
    FilesError::Unsupported {
        what: format!("column {:?} in parquet: {error}", field.name),
    }
}

/// A node of the schema before it is built: what all nodes share.
#[derive(Clone, Copy)]
struct Node<'a> {
    name: &'a str,
    /// Id written for this node.
    id: i32,
    /// Id of the column (or member of a ROW) that computed ids below this node start from.
    column_id: i32,
    depth: i32,
    repetition: Repetition,
}

fn column_type(field: &DataField) -> Result<TypePtr, ParquetError> {
    let repetition = repetition(&field.data_type);
    let node = Node {
        name: &field.name,
        id: field.id,
        column_id: field.id,
        depth: 0,
        repetition,
    };
    node_type(node, &field.data_type)
}

fn repetition(data_type: &DataType) -> Repetition {
    if data_type.nullable {
        Repetition::OPTIONAL
    } else {
        Repetition::REQUIRED
    }
}

fn node_type(node: Node<'_>, data_type: &DataType) -> Result<TypePtr, ParquetError> {
    match &data_type.kind {
        TypeKind::Array(element) => {
            let id = element_id(node.column_id, node.depth + 1);
            let element = child(node, "element", id, element, repetition(element))?;
            group(
                node,
                Some(LogicalType::List),
                vec![repeated("list", ConvertedType::NONE, vec![element])?],
            )
        }
        TypeKind::Map(key, value) => map_type(node, key, value),
        TypeKind::Multiset(element) => map_type(node, element, &DataType::int().not_null()),
        TypeKind::Row(row) => {
            let fields = row
                .fields
                .iter()
                .map(column_type)
                .collect::<Result<Vec<_>, _>>()?;
            group(node, None, fields)
        }
        TypeKind::Variant => {
            let part = |name| Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY);
            let part = |name| {
                part(name)
                    .with_repetition(Repetition::REQUIRED)
                    .build()
                    .map(Arc::new)
            };
            group(node, None, vec![part("value")?, part("metadata")?])
        }
        _ => primitive(node, data_type),
    }
}

fn child(
    parent: Node<'_>,
    name: &str,
    id: i32,
    data_type: &DataType,
    repetition: Repetition,
) -> Result<TypePtr, ParquetError> {
    let node = Node {
        name,
        id,
        column_id: parent.column_id,
        depth: parent.depth + 1,
        repetition,
    };
    node_type(node, data_type)
}

/// Keys are always required, whatever the table says about null keys.
fn map_type(node: Node<'_>, key: &DataType, value: &DataType) -> Result<TypePtr, ParquetError> {
    let depth = node.depth + 1;
    let key = child(
        node,
        "key",
        map_key_id(node.column_id, depth),
        key,
        Repetition::REQUIRED,
    )?;
    let value = child(
        node,
        "value",
        element_id(node.column_id, depth),
        value,
        repetition(value),
    )?;
    let entries = repeated("key_value", ConvertedType::MAP_KEY_VALUE, vec![key, value])?;
    group(node, Some(LogicalType::Map), vec![entries])
}

fn group(
    node: Node<'_>,
    logical: Option<LogicalType>,
    fields: Vec<TypePtr>,
) -> Result<TypePtr, ParquetError> {
    let group = Type::group_type_builder(node.name)
        .with_repetition(node.repetition)
        .with_logical_type(logical);
    group
        .with_id(Some(node.id))
        .with_fields(fields)
        .build()
        .map(Arc::new)
}

fn repeated(
    name: &str,
    converted: ConvertedType,
    fields: Vec<TypePtr>,
) -> Result<TypePtr, ParquetError> {
    let group = Type::group_type_builder(name)
        .with_repetition(Repetition::REPEATED)
        .with_converted_type(converted);
    group.with_fields(fields).build().map(Arc::new)
}

fn primitive(node: Node<'_>, data_type: &DataType) -> Result<TypePtr, ParquetError> {
    let (physical, logical) = physical_type(&data_type.kind);
    let mut leaf = Type::primitive_type_builder(node.name, physical)
        .with_repetition(node.repetition)
        .with_logical_type(logical)
        .with_id(Some(node.id));
    if let TypeKind::Decimal { precision, scale } = data_type.kind {
        leaf = leaf
            .with_precision(precision.into())
            .with_scale(scale.into());
        if physical == PhysicalType::FIXED_LEN_BYTE_ARRAY {
            leaf = leaf.with_length(decimal_bytes(precision));
        }
    }
    leaf.build().map(Arc::new)
}

fn physical_type(kind: &TypeKind) -> (PhysicalType, Option<LogicalType>) {
    match kind {
        TypeKind::Boolean => (PhysicalType::BOOLEAN, None),
        TypeKind::TinyInt => (PhysicalType::INT32, Some(LogicalType::integer(8, true))),
        TypeKind::SmallInt => (PhysicalType::INT32, Some(LogicalType::integer(16, true))),
        TypeKind::Int => (PhysicalType::INT32, None),
        TypeKind::BigInt => (PhysicalType::INT64, None),
        TypeKind::Float => (PhysicalType::FLOAT, None),
        TypeKind::Double => (PhysicalType::DOUBLE, None),
        TypeKind::Char(_) | TypeKind::VarChar(_) => {
            (PhysicalType::BYTE_ARRAY, Some(LogicalType::String))
        }
        TypeKind::Decimal { precision, scale } => {
            let physical = match precision {
                0..=9 => PhysicalType::INT32,
                10..=18 => PhysicalType::INT64,
                _ => PhysicalType::FIXED_LEN_BYTE_ARRAY,
            };
            (
                physical,
                Some(LogicalType::decimal((*scale).into(), (*precision).into())),
            )
        }
        TypeKind::Date => (PhysicalType::INT32, Some(LogicalType::Date)),
        TypeKind::Time(_) => (
            PhysicalType::INT32,
            Some(LogicalType::time(true, TimeUnit::MILLIS)),
        ),
        TypeKind::Timestamp(precision) => timestamp_type(*precision, false),
        TypeKind::TimestampLtz(precision) => timestamp_type(*precision, true),
        // BINARY and VARBINARY; nested kinds and VARIANT are groups and do not come here.
        _ => (PhysicalType::BYTE_ARRAY, None),
    }
}

fn timestamp_type(precision: u8, adjusted_to_utc: bool) -> (PhysicalType, Option<LogicalType>) {
    match precision {
        0..=3 => (
            PhysicalType::INT64,
            Some(LogicalType::timestamp(adjusted_to_utc, TimeUnit::MILLIS)),
        ),
        4..=6 => (
            PhysicalType::INT64,
            Some(LogicalType::timestamp(adjusted_to_utc, TimeUnit::MICROS)),
        ),
        _ => (PhysicalType::INT96, None),
    }
}
