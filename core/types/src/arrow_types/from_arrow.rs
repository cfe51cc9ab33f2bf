//! Logical types for the Arrow types that other programs write, so that a table can be made for their files.

use arrow_schema::{DataType as ArrowType, Field, Fields, Schema, TimeUnit};

use crate::data_type::{DataType, MAX_DECIMAL_PRECISION, TypeKind};
use crate::error::{Result, TypeError};
use crate::row_type::{DataField, RowType};

/// Metadata key and value that mark a struct of value and metadata bytes as a VARIANT.
const EXTENSION_KEY: &str = "ARROW:extension:name";
const VARIANT_EXTENSION: &str = "arrow.parquet.variant";

/// The row type that holds every value of batches with this schema without loss; [`super::coerce_batch`] converts them.
///
/// Unsigned integers become the next wider signed type (UInt64 DECIMAL(20, 0)), timestamps with any zone TIMESTAMP_LTZ, times
/// TIME(3), a column that is all null STRING. Dictionaries, run ends, views and large offsets leave no trace. Field ids are
/// counted from 0 in reading order, parents before children.
///
/// # Errors
/// [`TypeError::Unsupported`] with the column's name for intervals, durations, unions and decimals of more than 38 digits.
pub fn from_arrow_schema(schema: &Schema) -> Result<RowType> {
    row_type(schema.fields(), &mut 0)
}

fn row_type(fields: &Fields, next_id: &mut i32) -> Result<RowType> {
    let fields = fields.iter().map(|field| {
        let id = *next_id;
        *next_id = next_id.saturating_add(1);
        let data_type =
            field_type(field, next_id).map_err(|error| error.in_column(field.name()))?;
        Ok(DataField::new(id, field.name(), data_type))
    });
    Ok(RowType {
        fields: fields.collect::<Result<_>>()?,
    })
}

fn field_type(field: &Field, next_id: &mut i32) -> Result<DataType> {
    let extension = field.metadata().get(EXTENSION_KEY).map(String::as_str);
    let kind = if extension == Some(VARIANT_EXTENSION) {
        TypeKind::Variant
    } else {
        kind(field.data_type(), next_id)?
    };
    Ok(DataType {
        nullable: field.is_nullable(),
        kind,
    })
}

fn kind(arrow: &ArrowType, next_id: &mut i32) -> Result<TypeKind> {
    Ok(match arrow {
        ArrowType::Boolean => TypeKind::Boolean,
        ArrowType::Int8 => TypeKind::TinyInt,
        ArrowType::Int16 | ArrowType::UInt8 => TypeKind::SmallInt,
        ArrowType::Int32 | ArrowType::UInt16 => TypeKind::Int,
        ArrowType::Int64 | ArrowType::UInt32 => TypeKind::BigInt,
        ArrowType::UInt64 => TypeKind::Decimal {
            precision: 20,
            scale: 0,
        },
        ArrowType::Float16 | ArrowType::Float32 => TypeKind::Float,
        ArrowType::Float64 => TypeKind::Double,
        ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View | ArrowType::Null => {
            DataType::string().kind
        }
        ArrowType::Binary | ArrowType::LargeBinary | ArrowType::BinaryView => {
            DataType::bytes().kind
        }
        ArrowType::FixedSizeBinary(size) => match u32::try_from(*size) {
            Ok(size) if size > 0 => TypeKind::Binary(size),
            _ => DataType::bytes().kind,
        },
        ArrowType::Decimal32(precision, scale)
        | ArrowType::Decimal64(precision, scale)
        | ArrowType::Decimal128(precision, scale)
        | ArrowType::Decimal256(precision, scale) => decimal(*precision, *scale)?,
        ArrowType::Date32 | ArrowType::Date64 => TypeKind::Date,
        ArrowType::Time32(TimeUnit::Second) => TypeKind::Time(0),
        ArrowType::Time32(_) | ArrowType::Time64(_) => TypeKind::Time(3),
        ArrowType::Timestamp(unit, zone) => {
            let precision = match unit {
                TimeUnit::Second => 0,
                TimeUnit::Millisecond => 3,
                TimeUnit::Microsecond => 6,
                TimeUnit::Nanosecond => 9,
            };
            if zone.is_some() {
                TypeKind::TimestampLtz(precision)
            } else {
                TypeKind::Timestamp(precision)
            }
        }
        ArrowType::List(element)
        | ArrowType::LargeList(element)
        | ArrowType::ListView(element)
        | ArrowType::LargeListView(element)
        | ArrowType::FixedSizeList(element, _) => {
            TypeKind::Array(Box::new(field_type(element, next_id)?))
        }
        ArrowType::Struct(fields) => TypeKind::Row(row_type(fields, next_id)?),
        ArrowType::Map(entries, _) => match entries.data_type() {
            ArrowType::Struct(entries) => match entries.as_ref() {
                [key, value] => {
                    let key = field_type(key, next_id)?.not_null();
                    TypeKind::Map(Box::new(key), Box::new(field_type(value, next_id)?))
                }
                _ => return Err(unsupported(arrow)),
            },
            _ => return Err(unsupported(arrow)),
        },
        ArrowType::Dictionary(_, values) => kind(values, next_id)?,
        ArrowType::RunEndEncoded(_, values) => kind(values.data_type(), next_id)?,
        ArrowType::Duration(_) | ArrowType::Interval(_) | ArrowType::Union(..) => {
            return Err(unsupported(arrow));
        }
    })
}

/// Arrow lets the scale be negative, or larger than the precision; the format does not.
fn decimal(precision: u8, scale: i8) -> Result<TypeKind> {
    let (precision, scale) = match u8::try_from(scale) {
        Ok(scale) => (precision.max(scale), scale),
        Err(_) => (precision.saturating_add(scale.unsigned_abs()), 0),
    };
    if precision > MAX_DECIMAL_PRECISION {
        return Err(TypeError::unsupported(format!(
            "a decimal of {precision} digits (38 is the most)"
        )));
    }
    Ok(TypeKind::Decimal {
        precision: precision.max(1),
        scale,
    })
}

fn unsupported(arrow: &ArrowType) -> TypeError {
    TypeError::unsupported(format!("columns of Arrow type {arrow}"))
}
