//! Which type changes are allowed at all. Source: Paimon `casting/CastExecutors.java`, `types/DataTypeCasts.java`,
//! spec 01a §6, vectors `type_casts.json`.

use crate::data_type::{DataType, MAX_LENGTH, TypeKind};

/// Whether a column of type `from` may be read, or altered to be, of type `to`.
///
/// `explicit` is false for tables with `disable-explicit-type-casting`: only casts that need no request remain. A
/// change of length, precision or scale is always allowed. Nullability is not looked at. Nested types of one kind are
/// compared part by part, the members of a ROW by their ids; a member that only one side has is no obstacle.
/// Dates and times become STRING but no CHAR or VARCHAR of a length, as in Java 1.3.1.
pub fn can_cast(from: &DataType, to: &DataType, explicit: bool) -> bool {
    kind_can_cast(&from.kind, &to.kind, explicit)
}

fn kind_can_cast(from: &TypeKind, to: &TypeKind, explicit: bool) -> bool {
    match (from, to) {
        (TypeKind::Array(a), TypeKind::Array(b))
        | (TypeKind::Multiset(a), TypeKind::Multiset(b)) => can_cast(a, b, explicit),
        (TypeKind::Map(key_a, value_a), TypeKind::Map(key_b, value_b)) => {
            can_cast(key_a, key_b, explicit) && can_cast(value_a, value_b, explicit)
        }
        (TypeKind::Row(a), TypeKind::Row(b)) => b.fields.iter().all(|field| {
            a.field_by_id(field.id)
                .is_none_or(|old| can_cast(&old.data_type, &field.data_type, explicit))
        }),
        (
            TypeKind::Date | TypeKind::Time(_) | TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_),
            TypeKind::VarChar(MAX_LENGTH),
        ) => explicit,
        _ => {
            Family::of(from) == Family::of(to)
                || implicit(from, to)
                || (explicit && on_request(from, to))
        }
    }
}

/// Casts that lose nothing but precision.
fn implicit(from: &TypeKind, to: &TypeKind) -> bool {
    use Family::{
        Binary, Char, Date, Decimal, Double, Float, Time, Timestamp, TimestampLtz, VarBinary,
        VarChar,
    };
    let (from, to) = (Family::of(from), Family::of(to));
    match (from, to) {
        (Char, VarChar)
        | (Binary, VarBinary)
        | (Decimal, Float | Double)
        | (Float, Decimal | Double)
        | (Double, Decimal)
        | (Timestamp, Date | Time | TimestampLtz)
        | (TimestampLtz, Timestamp) => true,
        _ => match (from.integer_rank(), to.integer_rank()) {
            (Some(from), Some(to)) => from < to,
            (Some(_), None) => matches!(to, Decimal | Float | Double),
            _ => false,
        },
    }
}

/// Casts that ALTER does on request; a superset of what [`implicit`] does is not needed here.
fn on_request(from: &TypeKind, to: &TypeKind) -> bool {
    use Family::{
        Array, Binary, Boolean, Char, Date, Decimal, Double, Float, Map, Row, Time, Timestamp,
        TimestampLtz, VarBinary, VarChar,
    };
    let (from, to) = (Family::of(from), Family::of(to));
    let number = |family: Family| {
        matches!(family, Decimal | Float | Double) || family.integer_rank().is_some()
    };
    match from {
        Char | VarChar => {
            number(to)
                || matches!(
                    to,
                    Char | VarChar
                        | Boolean
                        | Binary
                        | VarBinary
                        | Date
                        | Time
                        | Timestamp
                        | TimestampLtz
                )
        }
        Boolean => number(to) || matches!(to, Char | VarChar),
        Binary | VarBinary => matches!(to, Char | VarChar | Binary | VarBinary),
        Decimal | Float | Double => number(to) || matches!(to, Char | VarChar),
        Family::TinyInt | Family::SmallInt => number(to) || matches!(to, Char | VarChar | Boolean),
        Family::Int | Family::BigInt => {
            number(to) || matches!(to, Char | VarChar | Boolean | Timestamp | TimestampLtz)
        }
        Date | Time => matches!(to, Timestamp | TimestampLtz),
        Timestamp | TimestampLtz => {
            matches!(
                to,
                Family::Int | Family::BigInt | Date | Time | Timestamp | TimestampLtz
            )
        }
        Array | Map | Row => matches!(to, Char | VarChar),
        Family::Multiset | Family::Variant => false,
    }
}

/// A kind without its parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Boolean,
    TinyInt,
    SmallInt,
    Int,
    BigInt,
    Float,
    Double,
    Char,
    VarChar,
    Binary,
    VarBinary,
    Decimal,
    Date,
    Time,
    Timestamp,
    TimestampLtz,
    Variant,
    Array,
    Map,
    Multiset,
    Row,
}

impl Family {
    fn of(kind: &TypeKind) -> Self {
        match kind {
            TypeKind::Boolean => Self::Boolean,
            TypeKind::TinyInt => Self::TinyInt,
            TypeKind::SmallInt => Self::SmallInt,
            TypeKind::Int => Self::Int,
            TypeKind::BigInt => Self::BigInt,
            TypeKind::Float => Self::Float,
            TypeKind::Double => Self::Double,
            TypeKind::Char(_) => Self::Char,
            TypeKind::VarChar(_) => Self::VarChar,
            TypeKind::Binary(_) => Self::Binary,
            TypeKind::VarBinary(_) => Self::VarBinary,
            TypeKind::Decimal { .. } => Self::Decimal,
            TypeKind::Date => Self::Date,
            TypeKind::Time(_) => Self::Time,
            TypeKind::Timestamp(_) => Self::Timestamp,
            TypeKind::TimestampLtz(_) => Self::TimestampLtz,
            TypeKind::Variant => Self::Variant,
            TypeKind::Array(_) => Self::Array,
            TypeKind::Map(..) => Self::Map,
            TypeKind::Multiset(_) => Self::Multiset,
            TypeKind::Row(_) => Self::Row,
        }
    }

    fn integer_rank(self) -> Option<u8> {
        match self {
            Self::TinyInt => Some(0),
            Self::SmallInt => Some(1),
            Self::Int => Some(2),
            Self::BigInt => Some(3),
            _ => None,
        }
    }
}
