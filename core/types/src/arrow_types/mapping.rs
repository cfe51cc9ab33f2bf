//! From logical types to the canonical Arrow types. Source: spec 01e §1 (shapes), 01a §1.1 (ids of unnamed children).

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, Field, Fields, Schema, SchemaRef, TimeUnit};

use crate::data_type::{DataType, TypeKind};
use crate::row_type::{DataField, RowType};

/// Metadata key of an Arrow field that holds its field id, the one the Parquet library reads and writes.
pub const FIELD_ID_KEY: &str = "PARQUET:field_id";

/// First id of the children that have no name; `base + id * stride + depth`.
const UNNAMED_ID_BASE: i32 = 536_870_911;
const UNNAMED_ID_STRIDE: i32 = 1024;

/// Unit that timestamps of a precision have in memory and in Parquet files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimestampUnit {
    /// Precision 0..=3.
    Milli,
    /// Precision 4..=6.
    Micro,
    /// Precision 7..=9.
    Nano,
}

impl TimestampUnit {
    /// The unit for this number of fraction digits.
    pub fn of_precision(precision: u8) -> Self {
        match precision {
            0..=3 => Self::Milli,
            4..=6 => Self::Micro,
            _ => Self::Nano,
        }
    }

    /// Arrow's name of the unit.
    pub fn to_arrow(self) -> TimeUnit {
        match self {
            Self::Milli => TimeUnit::Millisecond,
            Self::Micro => TimeUnit::Microsecond,
            Self::Nano => TimeUnit::Nanosecond,
        }
    }
}

/// The canonical Arrow type. Fields inside it carry no metadata, so that types compare equal whatever their ids are.
pub fn to_arrow_type(data_type: &DataType) -> ArrowType {
    arrow_type(data_type, None)
}

/// The Arrow field of a column: name, canonical type, nullability, and its id under [`FIELD_ID_KEY`].
///
/// Only the field itself carries an id, not those inside its type; see [`to_arrow_field_with_nested_ids`].
pub fn to_arrow_field(field: &DataField) -> Field {
    Field::new(
        &field.name,
        to_arrow_type(&field.data_type),
        field.data_type.nullable,
    )
    .with_metadata(id_metadata(field.id))
}

/// The Arrow schema of a row: one [`to_arrow_field`] per field.
pub fn to_arrow_schema(row: &RowType) -> SchemaRef {
    Arc::new(Schema::new(
        row.fields.iter().map(to_arrow_field).collect::<Fields>(),
    ))
}

/// As [`to_arrow_field`], with ids at every depth: members of a ROW have their own, elements, keys and values the
/// synthetic ones of spec 01a §1.1. The type therefore differs from [`to_arrow_type`] in metadata; use it to describe files.
pub fn to_arrow_field_with_nested_ids(field: &DataField) -> Field {
    let place = Place {
        id: field.id,
        depth: 0,
    };
    Field::new(
        &field.name,
        arrow_type(&field.data_type, Some(place)),
        field.data_type.nullable,
    )
    .with_metadata(id_metadata(field.id))
}

/// The schema of [`to_arrow_field_with_nested_ids`] fields.
pub fn to_arrow_schema_with_nested_ids(row: &RowType) -> SchemaRef {
    Arc::new(Schema::new(
        row.fields
            .iter()
            .map(to_arrow_field_with_nested_ids)
            .collect::<Fields>(),
    ))
}

/// The named field that unnamed children count their ids from, and how deep below it we are.
#[derive(Clone, Copy)]
struct Place {
    id: i32,
    depth: i32,
}

impl Place {
    fn deeper(self) -> Self {
        Self {
            depth: self.depth.saturating_add(1),
            ..self
        }
    }

    /// Java's ints wrap here for huge ids.
    fn offset(self) -> i32 {
        self.id
            .wrapping_mul(UNNAMED_ID_STRIDE)
            .wrapping_add(self.depth)
    }

    fn element_or_value(self) -> i32 {
        UNNAMED_ID_BASE.wrapping_add(self.offset())
    }

    fn key(self) -> i32 {
        UNNAMED_ID_BASE.wrapping_sub(self.offset())
    }
}

fn id_metadata(id: i32) -> HashMap<String, String> {
    HashMap::from([(FIELD_ID_KEY.to_owned(), id.to_string())])
}

fn child(name: &str, data_type: ArrowType, nullable: bool, id: Option<i32>) -> Field {
    let field = Field::new(name, data_type, nullable);
    match id {
        Some(id) => field.with_metadata(id_metadata(id)),
        None => field,
    }
}

fn arrow_type(data_type: &DataType, place: Option<Place>) -> ArrowType {
    let inner = place.map(Place::deeper);
    match &data_type.kind {
        TypeKind::Boolean => ArrowType::Boolean,
        TypeKind::TinyInt => ArrowType::Int8,
        TypeKind::SmallInt => ArrowType::Int16,
        TypeKind::Int => ArrowType::Int32,
        TypeKind::BigInt => ArrowType::Int64,
        TypeKind::Float => ArrowType::Float32,
        TypeKind::Double => ArrowType::Float64,
        TypeKind::Char(_) | TypeKind::VarChar(_) => ArrowType::Utf8,
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => ArrowType::Binary,
        TypeKind::Decimal { precision, scale } => {
            ArrowType::Decimal128(*precision, scale.cast_signed())
        }
        TypeKind::Date => ArrowType::Date32,
        TypeKind::Time(_) => ArrowType::Time32(TimeUnit::Millisecond),
        TypeKind::Timestamp(p) => {
            ArrowType::Timestamp(TimestampUnit::of_precision(*p).to_arrow(), None)
        }
        TypeKind::TimestampLtz(p) => ArrowType::Timestamp(
            TimestampUnit::of_precision(*p).to_arrow(),
            Some(Arc::from("UTC")),
        ),
        TypeKind::Variant => ArrowType::Struct(Fields::from(vec![
            Field::new("value", ArrowType::Binary, false),
            Field::new("metadata", ArrowType::Binary, false),
        ])),
        TypeKind::Array(element) => {
            let id = inner.map(Place::element_or_value);
            ArrowType::List(Arc::new(child(
                "element",
                arrow_type(element, inner),
                element.nullable,
                id,
            )))
        }
        TypeKind::Map(key, value) => {
            let value_id = inner.map(Place::element_or_value);
            let value = child("value", arrow_type(value, inner), value.nullable, value_id);
            map_type(key, value, inner)
        }
        TypeKind::Multiset(element) => {
            let counts = child(
                "value",
                ArrowType::Int32,
                false,
                inner.map(Place::element_or_value),
            );
            map_type(element, counts, inner)
        }
        TypeKind::Row(row) => ArrowType::Struct(
            row.fields
                .iter()
                .map(|field| {
                    let below = place.map(|_| Place {
                        id: field.id,
                        depth: 0,
                    });
                    let id = place.map(|_| field.id);
                    child(
                        &field.name,
                        arrow_type(&field.data_type, below),
                        field.data_type.nullable,
                        id,
                    )
                })
                .collect(),
        ),
    }
}

fn map_type(key: &DataType, value: Field, inner: Option<Place>) -> ArrowType {
    let key = child("key", arrow_type(key, inner), false, inner.map(Place::key));
    let entries = Field::new(
        "key_value",
        ArrowType::Struct(Fields::from(vec![key, value])),
        false,
    );
    ArrowType::Map(Arc::new(entries), false)
}
