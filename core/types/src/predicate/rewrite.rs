//! Predicates made from predicates.

use std::collections::{BTreeSet, HashSet};

use super::literal::{Fit, fit};
use super::{Predicate, PredicateOp};
use crate::datum::Datum;
use crate::error::{Result, TypeError};
use crate::row_type::RowType;

/// Most combinations of values that [`Predicate::equality_values`] answers with.
const MAX_COMBINATIONS: usize = 1000;

impl Predicate {
    /// The conditions that must all hold, nested ANDs opened. None for a predicate that is always true.
    pub fn split_and(&self) -> Vec<&Predicate> {
        fn collect<'a>(predicate: &'a Predicate, into: &mut Vec<&'a Predicate>) {
            match predicate {
                Predicate::And(parts) => parts.iter().for_each(|part| collect(part, into)),
                Predicate::AlwaysTrue => {}
                other => into.push(other),
            }
        }
        let mut parts = Vec::new();
        collect(self, &mut parts);
        parts
    }

    /// The names of the columns that are looked at.
    pub fn columns(&self) -> BTreeSet<&str> {
        fn collect<'a>(predicate: &'a Predicate, into: &mut BTreeSet<&'a str>) {
            match predicate {
                Predicate::And(parts) | Predicate::Or(parts) => {
                    parts.iter().for_each(|part| collect(part, into))
                }
                Predicate::Not(part) => collect(part, into),
                Predicate::Leaf { name, .. } => {
                    into.insert(name);
                }
                Predicate::AlwaysTrue | Predicate::AlwaysFalse => {}
            }
        }
        let mut names = BTreeSet::new();
        collect(self, &mut names);
        names
    }

    /// The conjuncts that look at no other columns than these, as one predicate: what a partition, a key or a file that
    /// has just these columns can be asked. [`Predicate::AlwaysTrue`] if there are none.
    #[must_use]
    pub fn project_to(&self, has: impl Fn(&str) -> bool) -> Predicate {
        let usable = self
            .split_and()
            .into_iter()
            .filter(|part| part.columns().into_iter().all(&has));
        Self::and(usable.cloned())
    }

    /// The same condition on columns of another row type, found by name.
    ///
    /// # Errors
    /// [`TypeError::UnknownColumn`] for a column that is not there; inside [`TypeError::Column`] the errors of
    /// [`Predicate::leaf`] when literals do not suit the new type.
    pub fn rebind(&self, row: &RowType) -> Result<Predicate> {
        self.try_map_leaves(&|name, op, literals| Self::leaf(row, name, op, literals.to_vec()))
    }

    /// The same condition with columns renamed, and bound to `row`; `rename` answers with the name there, or nothing if
    /// the column is not there.
    ///
    /// # Errors
    /// As [`Predicate::rebind`].
    pub fn rebind_renamed<'a>(
        &self,
        row: &RowType,
        rename: impl Fn(&str) -> Option<&'a str>,
    ) -> Result<Predicate> {
        self.try_map_leaves(&|name, op, literals| {
            let renamed = rename(name).ok_or_else(|| TypeError::UnknownColumn {
                name: name.to_owned(),
            })?;
            Self::leaf(row, renamed, op, literals.to_vec())
        })
    }

    fn try_map_leaves(
        &self,
        map: &impl Fn(&str, PredicateOp, &[Datum]) -> Result<Predicate>,
    ) -> Result<Predicate> {
        let each = |parts: &[Predicate]| {
            parts
                .iter()
                .map(|part| part.try_map_leaves(map))
                .collect::<Result<Vec<_>>>()
        };
        Ok(match self {
            Self::And(parts) => Self::And(each(parts)?),
            Self::Or(parts) => Self::Or(each(parts)?),
            Self::Not(part) => Self::Not(Box::new(part.try_map_leaves(map)?)),
            Self::Leaf {
                name, op, literals, ..
            } => map(name, *op, literals)?,
            Self::AlwaysTrue => Self::AlwaysTrue,
            Self::AlwaysFalse => Self::AlwaysFalse,
        })
    }

    /// The condition that holds where this one does not, and is unknown where this one is.
    #[must_use]
    pub fn negate(&self) -> Predicate {
        let each = |parts: &[Predicate]| parts.iter().map(Self::negate).collect::<Vec<_>>();
        match self {
            Self::And(parts) => Self::or(each(parts)),
            Self::Or(parts) => Self::and(each(parts)),
            Self::Not(part) => part.as_ref().clone(),
            Self::AlwaysTrue => Self::AlwaysFalse,
            Self::AlwaysFalse => Self::AlwaysTrue,
            Self::Leaf {
                op: PredicateOp::Between,
                literals,
                ..
            } => match literals.as_slice() {
                [low, high] => Self::or([
                    self.with_op(PredicateOp::Lt, vec![low.clone()]),
                    self.with_op(PredicateOp::Gt, vec![high.clone()]),
                ]),
                _ => Self::Not(Box::new(self.clone())),
            },
            Self::Leaf { op, literals, .. } => match opposite(*op) {
                Some(op) => self.with_op(op, literals.clone()),
                None => Self::Not(Box::new(self.clone())),
            },
        }
    }

    fn with_op(&self, op: PredicateOp, literals: Vec<Datum>) -> Predicate {
        match self {
            Self::Leaf {
                field,
                name,
                data_type,
                ..
            } => Self::Leaf {
                field: *field,
                name: name.clone(),
                data_type: data_type.clone(),
                op,
                literals,
            },
            other => other.clone(),
        }
    }

    /// The rows of values that these columns must have: for every column the values of its `=` and IN conditions (also
    /// those of an OR of them), combined in the order of `columns`. Every match has one of the combinations.
    ///
    /// `None` when a column is not limited to values, or there are more than 1000 combinations: then nothing is known. No
    /// combination at all means that nothing matches. Values are of the columns' types, each once, in the order written.
    /// Source: spec 02c §4.1 (bucket).
    pub fn equality_values(&self, columns: &[&str]) -> Option<Vec<Vec<Datum>>> {
        let conjuncts = self.split_and();
        if conjuncts
            .iter()
            .any(|part| matches!(part, Self::AlwaysFalse))
        {
            return Some(Vec::new());
        }
        let mut rows: Vec<Vec<Datum>> = vec![Vec::with_capacity(columns.len())];
        for column in columns {
            let mut values: Option<Vec<Datum>> = None;
            for found in conjuncts.iter().filter_map(|part| part.values_of(column)) {
                values = Some(match values {
                    None => found,
                    // Limited twice: only what both allow.
                    Some(values) => {
                        let found: HashSet<Datum> = found.into_iter().collect();
                        values
                            .into_iter()
                            .filter(|value| found.contains(value))
                            .collect()
                    }
                });
            }
            let values = values?;
            if rows.len().checked_mul(values.len())? > MAX_COMBINATIONS {
                return None;
            }
            let extend = |row: &Vec<Datum>| {
                let row = row.clone();
                values
                    .iter()
                    .map(move |value| [row.as_slice(), std::slice::from_ref(value)].concat())
                    .collect::<Vec<_>>()
            };
            rows = rows.iter().flat_map(extend).collect();
        }
        Some(rows)
    }

    /// The values that this condition limits the column to; `None` if it does not.
    fn values_of(&self, column: &str) -> Option<Vec<Datum>> {
        let mut values = Vec::new();
        self.collect_values(column, &mut values)?;
        let mut seen = HashSet::with_capacity(values.len());
        values.retain(|value| seen.insert(value.clone()));
        Some(values)
    }

    fn collect_values(&self, column: &str, into: &mut Vec<Datum>) -> Option<()> {
        match self {
            Self::Leaf {
                name,
                data_type,
                op: PredicateOp::Eq | PredicateOp::In,
                literals,
                ..
            } if name == column => {
                for literal in literals {
                    match fit(literal, data_type) {
                        // NaNs of other bits are equal, but hash apart.
                        Fit::Exact(value) if is_nan(&value) => return None,
                        Fit::Exact(value) if !value.is_null() => into.push(value),
                        // Nothing equals null or what the column cannot hold.
                        Fit::Exact(_) | Fit::Between => {}
                        Fit::Foreign => return None,
                    }
                }
                Some(())
            }
            Self::Or(parts) => parts
                .iter()
                .try_for_each(|part| part.collect_values(column, into)),
            Self::AlwaysFalse => Some(()),
            _ => None,
        }
    }
}

fn is_nan(value: &Datum) -> bool {
    match value {
        Datum::Float(value) => value.is_nan(),
        Datum::Double(value) => value.is_nan(),
        _ => false,
    }
}

fn opposite(op: PredicateOp) -> Option<PredicateOp> {
    Some(match op {
        PredicateOp::Eq => PredicateOp::NotEq,
        PredicateOp::NotEq => PredicateOp::Eq,
        PredicateOp::Lt => PredicateOp::GtEq,
        PredicateOp::LtEq => PredicateOp::Gt,
        PredicateOp::Gt => PredicateOp::LtEq,
        PredicateOp::GtEq => PredicateOp::Lt,
        PredicateOp::IsNull => PredicateOp::IsNotNull,
        PredicateOp::IsNotNull => PredicateOp::IsNull,
        PredicateOp::In => PredicateOp::NotIn,
        PredicateOp::NotIn => PredicateOp::In,
        PredicateOp::Between
        | PredicateOp::StartsWith
        | PredicateOp::EndsWith
        | PredicateOp::Contains
        | PredicateOp::Like => return None,
    })
}
