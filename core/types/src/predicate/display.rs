//! The text form of a predicate, which [`Predicate::parse_text`] reads back.

use std::fmt;

use super::parser::is_reserved;
use super::{Predicate, PredicateOp};
use crate::datum::Datum;
use crate::text::{
    format_decimal, format_double, format_float, format_timestamp, iso_date, iso_time,
};

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlwaysTrue => f.write_str("TRUE"),
            Self::AlwaysFalse => f.write_str("FALSE"),
            Self::And(parts) => write_parts(f, parts, " AND ", "TRUE"),
            Self::Or(parts) => write_parts(f, parts, " OR ", "FALSE"),
            Self::Not(part) => write!(f, "NOT ({part})"),
            Self::Leaf {
                name, op, literals, ..
            } => write_leaf(f, name, *op, literals),
        }
    }
}

fn write_parts(
    f: &mut fmt::Formatter<'_>,
    parts: &[Predicate],
    between: &str,
    empty: &str,
) -> fmt::Result {
    if parts.is_empty() {
        return f.write_str(empty);
    }
    for (position, part) in parts.iter().enumerate() {
        if position > 0 {
            f.write_str(between)?;
        }
        match part {
            Predicate::And(_) | Predicate::Or(_) => write!(f, "({part})")?,
            part => write!(f, "{part}")?,
        }
    }
    Ok(())
}

fn write_leaf(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    op: PredicateOp,
    literals: &[Datum],
) -> fmt::Result {
    let column = Name(name);
    let first = Literal(literals.first().unwrap_or(&Datum::Null));
    match op {
        PredicateOp::Eq => write!(f, "{column} = {first}"),
        PredicateOp::NotEq => write!(f, "{column} <> {first}"),
        PredicateOp::Lt => write!(f, "{column} < {first}"),
        PredicateOp::LtEq => write!(f, "{column} <= {first}"),
        PredicateOp::Gt => write!(f, "{column} > {first}"),
        PredicateOp::GtEq => write!(f, "{column} >= {first}"),
        PredicateOp::IsNull => write!(f, "{column} IS NULL"),
        PredicateOp::IsNotNull => write!(f, "{column} IS NOT NULL"),
        PredicateOp::In => write!(f, "{column} IN ({})", List(literals)),
        PredicateOp::NotIn => write!(f, "{column} NOT IN ({})", List(literals)),
        PredicateOp::Between => {
            write!(
                f,
                "{column} BETWEEN {first} AND {}",
                Literal(literals.get(1).unwrap_or(&Datum::Null))
            )
        }
        PredicateOp::StartsWith => write!(f, "starts_with({column}, {first})"),
        PredicateOp::EndsWith => write!(f, "ends_with({column}, {first})"),
        PredicateOp::Contains => write!(f, "contains({column}, {first})"),
        PredicateOp::Like => write!(f, "{column} LIKE {first}"),
    }
}

struct Name<'a>(&'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.0;
        let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if plain && !is_reserved(name) {
            f.write_str(name)
        } else {
            write!(f, "`{}`", name.replace('`', "``"))
        }
    }
}

struct List<'a>(&'a [Datum]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, datum) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{}", Literal(datum))?;
        }
        Ok(())
    }
}

struct Literal<'a>(&'a Datum);

impl fmt::Display for Literal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Datum::Null => f.write_str("NULL"),
            Datum::Boolean(value) => f.write_str(if *value { "TRUE" } else { "FALSE" }),
            Datum::TinyInt(value) => write!(f, "{value}"),
            Datum::SmallInt(value) => write!(f, "{value}"),
            Datum::Int(value) => write!(f, "{value}"),
            Datum::BigInt(value) => write!(f, "{value}"),
            // Words such as NaN are no numbers to the reader.
            Datum::Float(value) if !value.is_finite() => write!(f, "'{}'", format_float(*value)),
            Datum::Double(value) if !value.is_finite() => write!(f, "'{}'", format_double(*value)),
            // All digits of the double, since literals of FLOAT are read as doubles.
            Datum::Float(value) => f.write_str(&format_double(f64::from(*value))),
            Datum::Double(value) => f.write_str(&format_double(*value)),
            Datum::Decimal {
                unscaled, scale, ..
            } => f.write_str(&format_decimal(*unscaled, *scale)),
            Datum::String(text) => write!(f, "'{}'", text.replace('\'', "''")),
            Datum::Bytes(bytes) => {
                f.write_str("X'")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02X}"))?;
                f.write_str("'")
            }
            Datum::Date(days) => write!(f, "DATE '{}'", iso_date(*days)),
            Datum::Time(millis) => write!(f, "TIME '{}'", iso_time(*millis)),
            Datum::Timestamp(value) => write!(f, "TIMESTAMP '{}'", format_timestamp(*value, 0)),
        }
    }
}
