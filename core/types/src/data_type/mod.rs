//! Logical data types of columns.
//!
//! A [`DataType`] is a [`TypeKind`] plus nullability. Its three written forms live beside it: `json` (schema files),
//! `parse` (atomic types as text) and `display` (SQL text for people).
//! Source: spec 01a §2, Paimon `types/DataTypes.java`.

mod display;
mod json;
mod parse;

#[cfg(test)]
mod tests;

use crate::error::{Result, TypeError};
use crate::row_type::RowType;

pub(crate) use json::{field_from_json, field_to_json, fields_from_json};

/// Length that turns VARCHAR into STRING and VARBINARY into BYTES.
pub const MAX_LENGTH: u32 = 2_147_483_647;
/// Most digits a DECIMAL can have.
pub const MAX_DECIMAL_PRECISION: u8 = 38;
/// Most fraction digits a TIME or TIMESTAMP can have.
pub const MAX_TIME_PRECISION: u8 = 9;

/// The type of a column or of a part of one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DataType {
    /// Whether values may be null.
    pub nullable: bool,
    /// What values are.
    pub kind: TypeKind,
}

/// What values of a type are, nullability aside.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// True or false.
    Boolean,
    /// 8-bit signed integer.
    TinyInt,
    /// 16-bit signed integer.
    SmallInt,
    /// 32-bit signed integer.
    Int,
    /// 64-bit signed integer.
    BigInt,
    /// 32-bit IEEE float.
    Float,
    /// 64-bit IEEE float.
    Double,
    /// Text of a declared length; neither padded nor enforced.
    Char(u32),
    /// Text up to a declared length; [`MAX_LENGTH`] is STRING. Not enforced.
    VarChar(u32),
    /// Bytes of a declared length; neither padded nor enforced.
    Binary(u32),
    /// Bytes up to a declared length; [`MAX_LENGTH`] is BYTES. Not enforced.
    VarBinary(u32),
    /// Exact decimal number.
    Decimal {
        /// Digits in all, 1..=38.
        precision: u8,
        /// Digits after the point, 0..=precision.
        scale: u8,
    },
    /// Days since 1970-01-01.
    Date,
    /// Milliseconds of the day, whatever the precision says.
    Time(u8),
    /// Local date and time without a zone; fraction digits 0..=9.
    Timestamp(u8),
    /// Instant shown in the session's zone; fraction digits 0..=9.
    TimestampLtz(u8),
    /// Semi-structured value: value bytes and metadata bytes.
    Variant,
    /// List of elements.
    Array(Box<DataType>),
    /// Keys to values, entry order as given.
    Map(Box<DataType>, Box<DataType>),
    /// Elements with their counts.
    Multiset(Box<DataType>),
    /// Nested row.
    Row(RowType),
}

impl DataType {
    /// A nullable type of this kind.
    pub fn new(kind: TypeKind) -> Self {
        Self {
            nullable: true,
            kind,
        }
    }

    /// The same type that allows no null.
    #[must_use]
    pub fn not_null(self) -> Self {
        self.with_nullable(false)
    }

    /// The same type with the given nullability.
    #[must_use]
    pub fn with_nullable(mut self, nullable: bool) -> Self {
        self.nullable = nullable;
        self
    }

    /// Nullable BOOLEAN.
    pub fn boolean() -> Self {
        Self::new(TypeKind::Boolean)
    }
    /// Nullable TINYINT.
    pub fn tiny_int() -> Self {
        Self::new(TypeKind::TinyInt)
    }
    /// Nullable SMALLINT.
    pub fn small_int() -> Self {
        Self::new(TypeKind::SmallInt)
    }
    /// Nullable INT.
    pub fn int() -> Self {
        Self::new(TypeKind::Int)
    }
    /// Nullable BIGINT.
    pub fn big_int() -> Self {
        Self::new(TypeKind::BigInt)
    }
    /// Nullable FLOAT.
    pub fn float() -> Self {
        Self::new(TypeKind::Float)
    }
    /// Nullable DOUBLE.
    pub fn double() -> Self {
        Self::new(TypeKind::Double)
    }
    /// Nullable STRING.
    pub fn string() -> Self {
        Self::new(TypeKind::VarChar(MAX_LENGTH))
    }
    /// Nullable BYTES.
    pub fn bytes() -> Self {
        Self::new(TypeKind::VarBinary(MAX_LENGTH))
    }
    /// Nullable DECIMAL(precision, scale); the caller keeps `1 <= precision <= 38` and `scale <= precision`.
    pub fn decimal(precision: u8, scale: u8) -> Self {
        Self::new(TypeKind::Decimal { precision, scale })
    }
    /// Nullable DATE.
    pub fn date() -> Self {
        Self::new(TypeKind::Date)
    }
    /// Nullable TIME(precision).
    pub fn time(precision: u8) -> Self {
        Self::new(TypeKind::Time(precision))
    }
    /// Nullable TIMESTAMP(precision).
    pub fn timestamp(precision: u8) -> Self {
        Self::new(TypeKind::Timestamp(precision))
    }
    /// Nullable TIMESTAMP(precision) WITH LOCAL TIME ZONE.
    pub fn timestamp_ltz(precision: u8) -> Self {
        Self::new(TypeKind::TimestampLtz(precision))
    }
    /// Nullable ARRAY of `element`.
    pub fn array(element: DataType) -> Self {
        Self::new(TypeKind::Array(Box::new(element)))
    }
    /// Nullable MAP from `key` to `value`.
    pub fn map(key: DataType, value: DataType) -> Self {
        Self::new(TypeKind::Map(Box::new(key), Box::new(value)))
    }
    /// Nullable MULTISET of `element`.
    pub fn multiset(element: DataType) -> Self {
        Self::new(TypeKind::Multiset(Box::new(element)))
    }
    /// Nullable ROW.
    pub fn row(row: RowType) -> Self {
        Self::new(TypeKind::Row(row))
    }

    /// Whether two types are the same when nullability at the outermost level is left aside.
    pub fn same_kind(&self, other: &DataType) -> bool {
        self.kind == other.kind
    }

    /// Whether the type is ARRAY, MAP, MULTISET or ROW. VARIANT is not: it is one opaque value.
    pub fn is_nested(&self) -> bool {
        self.kind.is_nested()
    }

    /// Checks lengths, precisions and scales at every level.
    ///
    /// # Errors
    /// [`TypeError::ParameterRange`] for the first that is out of range.
    pub fn validate(&self) -> Result<()> {
        match &self.kind {
            TypeKind::Char(n) => check_range("CHAR length", 1, MAX_LENGTH, *n),
            TypeKind::VarChar(n) => check_range("VARCHAR length", 1, MAX_LENGTH, *n),
            TypeKind::Binary(n) => check_range("BINARY length", 1, MAX_LENGTH, *n),
            TypeKind::VarBinary(n) => check_range("VARBINARY length", 1, MAX_LENGTH, *n),
            TypeKind::Decimal { precision, scale } => {
                check_range("DECIMAL precision", 1, MAX_DECIMAL_PRECISION, *precision)?;
                check_range("DECIMAL scale", 0, *precision, *scale)
            }
            TypeKind::Time(p) => check_range("TIME precision", 0, MAX_TIME_PRECISION, *p),
            TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p) => {
                check_range("TIMESTAMP precision", 0, MAX_TIME_PRECISION, *p)
            }
            TypeKind::Array(element) | TypeKind::Multiset(element) => element.validate(),
            TypeKind::Map(key, value) => {
                key.validate()?;
                value.validate()
            }
            TypeKind::Row(row) => row
                .fields
                .iter()
                .try_for_each(|field| field.data_type.validate()),
            TypeKind::Boolean
            | TypeKind::TinyInt
            | TypeKind::SmallInt
            | TypeKind::Int
            | TypeKind::BigInt
            | TypeKind::Float
            | TypeKind::Double
            | TypeKind::Date
            | TypeKind::Variant => Ok(()),
        }
    }
}

impl TypeKind {
    /// Whether the kind is ARRAY, MAP, MULTISET or ROW.
    pub fn is_nested(&self) -> bool {
        matches!(
            self,
            Self::Array(_) | Self::Map(..) | Self::Multiset(_) | Self::Row(_)
        )
    }

    /// Whether the kind is CHAR or VARCHAR.
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Char(_) | Self::VarChar(_))
    }

    /// Whether the kind is BINARY or VARBINARY.
    pub fn is_bytes(&self) -> bool {
        matches!(self, Self::Binary(_) | Self::VarBinary(_))
    }

    /// Whether the kind is TINYINT, SMALLINT, INT or BIGINT.
    pub fn is_integer(&self) -> bool {
        matches!(
            self,
            Self::TinyInt | Self::SmallInt | Self::Int | Self::BigInt
        )
    }

    /// Whether the kind is TIMESTAMP or TIMESTAMP_LTZ.
    pub fn is_timestamp(&self) -> bool {
        matches!(self, Self::Timestamp(_) | Self::TimestampLtz(_))
    }

    /// Whether values have an order: everything but VARIANT and nested kinds.
    pub fn is_ordered(&self) -> bool {
        !self.is_nested() && !matches!(self, Self::Variant)
    }

    /// The name of the kind without parameters, as in SQL: `VARCHAR`, `TIMESTAMP_LTZ`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Boolean => "BOOLEAN",
            Self::TinyInt => "TINYINT",
            Self::SmallInt => "SMALLINT",
            Self::Int => "INT",
            Self::BigInt => "BIGINT",
            Self::Float => "FLOAT",
            Self::Double => "DOUBLE",
            Self::Char(_) => "CHAR",
            Self::VarChar(_) => "VARCHAR",
            Self::Binary(_) => "BINARY",
            Self::VarBinary(_) => "VARBINARY",
            Self::Decimal { .. } => "DECIMAL",
            Self::Date => "DATE",
            Self::Time(_) => "TIME",
            Self::Timestamp(_) => "TIMESTAMP",
            Self::TimestampLtz(_) => "TIMESTAMP_LTZ",
            Self::Variant => "VARIANT",
            Self::Array(_) => "ARRAY",
            Self::Map(..) => "MAP",
            Self::Multiset(_) => "MULTISET",
            Self::Row(_) => "ROW",
        }
    }
}

fn check_range<T: Into<i64> + Copy>(what: &'static str, min: i64, max: T, found: T) -> Result<()> {
    let (max, found) = (max.into(), found.into());
    if (min..=max).contains(&found) {
        Ok(())
    } else {
        Err(TypeError::ParameterRange {
            what,
            min,
            max,
            found,
        })
    }
}
