//! Conditions on rows: what a reader asks for, and what planning may skip because of it.
//!
//! ```text
//!  json, text ──bind to a RowType──> Predicate ──eval──────> which rows of a batch match, exactly
//!                                       │ └─────may_match──> whether a file's statistics leave room for a match
//!                                       └──rewrite: conjuncts, columns of a key, values per column
//! ```
//!
//! Logic is three-valued as in SQL: a comparison with null is unknown, `NOT` of unknown is unknown, and a row is
//! selected only where the whole is true. Floats compare in Java's total order (-0.0 below 0.0, NaN equal to itself and
//! greatest), text and bytes as unsigned bytes, decimals by value whatever their scales.
//! Source: spec 02c §4.1, Paimon `predicate/*.java`; JSON form: the command-line contract §7.

mod compare;
mod display;
mod eval;
mod json;
mod leaf;
mod lexer;
mod like;
mod literal;
mod parser;
mod prune;
mod rewrite;

#[cfg(test)]
mod tests;

use crate::data_type::DataType;
use crate::datum::Datum;

pub use prune::{ColumnStat, StatsSource};

/// How deep conditions may be nested in one another when they are read: what reads and evaluates them recurses.
pub const MAX_PREDICATE_DEPTH: usize = 100;

/// A condition on the columns of a row type.
///
/// Made by [`Predicate::leaf`], [`Predicate::from_json`] or [`Predicate::parse_text`], which check columns, types and
/// literals; code that builds leaves by hand keeps what they say of literals.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Predicate {
    /// All hold. Without parts: true.
    And(Vec<Predicate>),
    /// At least one holds. Without parts: false.
    Or(Vec<Predicate>),
    /// The part does not hold. [`Predicate::negate`] leaves it around text patterns only.
    Not(Box<Predicate>),
    /// A condition on one column.
    Leaf {
        /// Position of the column in the row type the predicate is bound to.
        field: usize,
        /// Name of the column there; batches are looked up by it.
        name: String,
        /// Type of the column there.
        data_type: DataType,
        /// What is asked.
        op: PredicateOp,
        /// What it is compared with; as many as [`PredicateOp`] says, each of the column's type or null. Decimals may
        /// have another scale and timestamps more digits than the column's.
        literals: Vec<Datum>,
    },
    /// Every row.
    AlwaysTrue,
    /// No row.
    AlwaysFalse,
}

/// What a leaf asks of its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PredicateOp {
    /// Equal to the literal.
    Eq,
    /// Not equal to the literal.
    NotEq,
    /// Less than the literal.
    Lt,
    /// Less than or equal to the literal.
    LtEq,
    /// Greater than the literal.
    Gt,
    /// Greater than or equal to the literal.
    GtEq,
    /// Null. No literal.
    IsNull,
    /// Not null. No literal.
    IsNotNull,
    /// Equal to one of the literals, however many.
    In,
    /// Equal to none of the literals.
    NotIn,
    /// Between two literals, both included.
    Between,
    /// Text or bytes that begin with the literal.
    StartsWith,
    /// Text or bytes that end with the literal.
    EndsWith,
    /// Text or bytes that contain the literal.
    Contains,
    /// Text like the pattern: `%` any characters, `_` one character, `\` takes the next `%`, `_` or `\` for itself.
    Like,
}

impl PredicateOp {
    /// The name for messages, as in the JSON form.
    pub fn name(self) -> &'static str {
        match self {
            Self::Eq => "=",
            Self::NotEq => "!=",
            Self::Lt => "<",
            Self::LtEq => "<=",
            Self::Gt => ">",
            Self::GtEq => ">=",
            Self::IsNull => "isNull",
            Self::IsNotNull => "isNotNull",
            Self::In => "in",
            Self::NotIn => "notIn",
            Self::Between => "between",
            Self::StartsWith => "startsWith",
            Self::EndsWith => "endsWith",
            Self::Contains => "contains",
            Self::Like => "like",
        }
    }
}

impl Predicate {
    /// All of these: nested ANDs are opened, parts that are always true left out.
    pub fn and(parts: impl IntoIterator<Item = Predicate>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Self::AlwaysTrue => {}
                Self::AlwaysFalse => return Self::AlwaysFalse,
                Self::And(inner) => flat.extend(inner),
                part => flat.push(part),
            }
        }
        match flat.len() {
            0 => Self::AlwaysTrue,
            1 => flat.pop().unwrap_or(Self::AlwaysTrue),
            _ => Self::And(flat),
        }
    }

    /// Any of these: nested ORs are opened, parts that are always false left out.
    pub fn or(parts: impl IntoIterator<Item = Predicate>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Self::AlwaysFalse => {}
                Self::AlwaysTrue => return Self::AlwaysTrue,
                Self::Or(inner) => flat.extend(inner),
                part => flat.push(part),
            }
        }
        match flat.len() {
            0 => Self::AlwaysFalse,
            1 => flat.pop().unwrap_or(Self::AlwaysFalse),
            _ => Self::Or(flat),
        }
    }
}
