//! Data types as SQL text, for messages and for people. Source: Paimon `DataType.asSQLString`.

use std::fmt;

use super::{DataType, MAX_LENGTH, TypeKind};

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if self.nullable {
            Ok(())
        } else {
            f.write_str(" NOT NULL")
        }
    }
}

impl fmt::Display for TypeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::VarChar(MAX_LENGTH) => f.write_str("STRING"),
            Self::VarBinary(MAX_LENGTH) => f.write_str("BYTES"),
            Self::Char(n) | Self::VarChar(n) | Self::Binary(n) | Self::VarBinary(n) => {
                write!(f, "{}({n})", self.name())
            }
            Self::Decimal { precision, scale } => write!(f, "DECIMAL({precision}, {scale})"),
            Self::Time(p) => write!(f, "TIME({p})"),
            Self::Timestamp(p) => write!(f, "TIMESTAMP({p})"),
            Self::TimestampLtz(p) => write!(f, "TIMESTAMP({p}) WITH LOCAL TIME ZONE"),
            Self::Array(element) => write!(f, "ARRAY<{element}>"),
            Self::Multiset(element) => write!(f, "MULTISET<{element}>"),
            Self::Map(key, value) => write!(f, "MAP<{key}, {value}>"),
            Self::Row(row) => {
                f.write_str("ROW<")?;
                for (i, field) in row.fields.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{field}")?;
                }
                f.write_str(">")
            }
            Self::Boolean
            | Self::TinyInt
            | Self::SmallInt
            | Self::Int
            | Self::BigInt
            | Self::Float
            | Self::Double
            | Self::Date
            | Self::Variant => f.write_str(self.name()),
        }
    }
}
