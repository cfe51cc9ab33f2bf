//! What statistics say of a condition: whether any row of a file may match.

use std::cmp::Ordering;

use super::like::LikePattern;
use super::{Predicate, PredicateOp};
use crate::data_type::{DataType, TypeKind};
use crate::datum::Datum;

/// What is known of the values of one column in one file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnStat {
    /// At most the smallest value that is not null; `None` when nothing is known. A truncated prefix is fine.
    pub min: Option<Datum>,
    /// At least the largest value that is not null; `None` when nothing is known.
    pub max: Option<Datum>,
    /// How many rows are null; `None` when that is not known.
    pub null_count: Option<i64>,
}

impl ColumnStat {
    /// Nothing is known.
    pub fn unknown() -> Self {
        Self::default()
    }

    /// A column that the file does not have: every row is null.
    pub fn all_null(row_count: i64) -> Self {
        Self {
            min: None,
            max: None,
            null_count: Some(row_count),
        }
    }
}

/// Statistics of a file, seen through the row type a predicate is bound to.
///
/// Bounds are values of the column's type **there**. A file that stores another type answers with bounds only if reading
/// keeps their order and value (an integer that became wider); otherwise it leaves them out. Null counts always hold.
/// Source: spec 01c §5.5.
pub trait StatsSource {
    /// Rows of the file, deleted ones included.
    fn row_count(&self) -> i64;

    /// What is known of a column: its position in the row type, and its name.
    fn column(&self, field: usize, name: &str) -> ColumnStat;
}

impl Predicate {
    /// Whether the file may hold a row that matches. False is certain; true says nothing.
    ///
    /// Source: spec 02c §4.1.
    pub fn may_match(&self, stats: &(impl StatsSource + ?Sized)) -> bool {
        match self {
            Self::AlwaysTrue => true,
            Self::AlwaysFalse => false,
            Self::And(parts) => parts.iter().all(|part| part.may_match(stats)),
            Self::Or(parts) => parts.iter().any(|part| part.may_match(stats)),
            Self::Not(part) => match part.as_ref() {
                // Bounds say nothing of what a pattern leaves out; a column of nulls does.
                Self::Leaf {
                    field,
                    name,
                    literals,
                    op,
                    ..
                } if op.is_pattern() => {
                    !literals.iter().any(Datum::is_null)
                        && !all_null(&stats.column(*field, name), stats.row_count())
                }
                part => part.negate().may_match(stats),
            },
            Self::Leaf {
                field,
                name,
                data_type,
                op,
                literals,
            } => leaf_may_match(
                &stats.column(*field, name),
                stats.row_count(),
                data_type,
                *op,
                literals,
            ),
        }
    }
}

impl PredicateOp {
    /// Whether it looks at parts of text or bytes.
    pub(super) fn is_pattern(self) -> bool {
        matches!(
            self,
            Self::StartsWith | Self::EndsWith | Self::Contains | Self::Like
        )
    }
}

fn all_null(stat: &ColumnStat, rows: i64) -> bool {
    stat.null_count.is_some_and(|nulls| nulls >= rows)
}

fn leaf_may_match(
    stat: &ColumnStat,
    rows: i64,
    data_type: &DataType,
    op: PredicateOp,
    literals: &[Datum],
) -> bool {
    match op {
        // A count below zero is no count.
        PredicateOp::IsNull => return stat.null_count != Some(0) && rows > 0,
        PredicateOp::IsNotNull => return !all_null(stat, rows),
        // Nothing equals null; one null among others is just one literal less.
        PredicateOp::In => {}
        // Everything is perhaps equal to the null.
        _ if literals.iter().any(Datum::is_null) => return false,
        _ => {}
    }
    if all_null(stat, rows) {
        return false;
    }
    let (Some(min), Some(max)) = (&stat.min, &stat.max) else {
        return true;
    };
    let min = lowest(min, data_type);
    let bounds = Bounds { min: &min, max };
    let first = literals.first();
    match op {
        PredicateOp::Eq => first.is_none_or(|literal| bounds.reach(literal)),
        PredicateOp::In => literals
            .iter()
            .any(|literal| !literal.is_null() && bounds.reach(literal)),
        PredicateOp::NotEq | PredicateOp::NotIn => {
            !literals.iter().any(|literal| bounds.are_just(literal))
        }
        PredicateOp::Lt => first.is_none_or(|literal| bounds.min_is(literal, Ordering::is_lt)),
        PredicateOp::LtEq => first.is_none_or(|literal| bounds.min_is(literal, Ordering::is_le)),
        PredicateOp::Gt => first.is_none_or(|literal| bounds.max_is(literal, Ordering::is_gt)),
        PredicateOp::GtEq => first.is_none_or(|literal| bounds.max_is(literal, Ordering::is_ge)),
        PredicateOp::Between => match literals {
            [low, high] => {
                bounds.max_is(low, Ordering::is_ge)
                    && bounds.min_is(high, Ordering::is_le)
                    && low.compare(high).is_none_or(Ordering::is_le)
            }
            _ => true,
        },
        PredicateOp::StartsWith => match first {
            Some(Datum::String(prefix)) => bounds.reach_prefix(prefix.as_bytes()),
            Some(Datum::Bytes(prefix)) => bounds.reach_prefix(prefix),
            _ => true,
        },
        PredicateOp::Like => match first {
            Some(Datum::String(pattern)) => match LikePattern::parse(pattern) {
                Ok(LikePattern::Exact(text)) => bounds.reach(&Datum::String(text)),
                Ok(pattern) => bounds.reach_prefix(pattern.prefix().as_bytes()),
                Err(_) => true,
            },
            _ => true,
        },
        PredicateOp::EndsWith
        | PredicateOp::Contains
        | PredicateOp::IsNull
        | PredicateOp::IsNotNull => true,
    }
}

/// Some writers fill up the bounds of CHAR with blanks, which puts the lower one above the value it stands for.
fn lowest(min: &Datum, data_type: &DataType) -> Datum {
    match (min, &data_type.kind) {
        (Datum::String(text), TypeKind::Char(_)) => {
            Datum::String(text.trim_end_matches(' ').to_owned())
        }
        _ => min.clone(),
    }
}

/// Bounds that are known. What does not compare with them may be anywhere.
struct Bounds<'a> {
    min: &'a Datum,
    max: &'a Datum,
}

impl Bounds<'_> {
    fn min_is(&self, literal: &Datum, wanted: fn(Ordering) -> bool) -> bool {
        self.min.compare(literal).is_none_or(wanted)
    }

    fn max_is(&self, literal: &Datum, wanted: fn(Ordering) -> bool) -> bool {
        self.max.compare(literal).is_none_or(wanted)
    }

    fn reach(&self, literal: &Datum) -> bool {
        self.min_is(literal, Ordering::is_le) && self.max_is(literal, Ordering::is_ge)
    }

    /// Whether all values are this literal.
    fn are_just(&self, literal: &Datum) -> bool {
        let is_it = |bound: &Datum| bound.compare(literal).is_some_and(Ordering::is_eq);
        is_it(self.min) && is_it(self.max)
    }

    /// Whether a value between the bounds may begin with the prefix.
    fn reach_prefix(&self, prefix: &[u8]) -> bool {
        let (min, max) = match (self.min, self.max) {
            (Datum::String(min), Datum::String(max)) => (min.as_bytes(), max.as_bytes()),
            (Datum::Bytes(min), Datum::Bytes(max)) => (min.as_slice(), max.as_slice()),
            _ => return true,
        };
        let cut = |bound: &[u8]| bound.get(..prefix.len()).unwrap_or(bound).cmp(prefix);
        cut(min).is_le() && cut(max).is_ge()
    }
}
