//! Evaluation over a batch.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_buffer::{BooleanBuffer, NullBuffer};

use super::compare::{compare, is_in, mismatch};
use super::like::LikePattern;
use super::{Predicate, PredicateOp};
use crate::data_type::DataType;
use crate::datum::Datum;
use crate::error::{Result, TypeError};

impl Predicate {
    /// Which rows match: one bit a row and no nulls; rows for which the condition is unknown do not match.
    ///
    /// Columns are found by name and are in the canonical Arrow types of the row type the predicate is bound to; the
    /// batch may have others besides. Costs one pass over a column per leaf.
    ///
    /// # Errors
    /// [`TypeError::UnknownColumn`] for a column that the batch lacks, [`TypeError::TypeMismatch`] (inside
    /// [`TypeError::Column`]) for one of another type, and for literals of another type in leaves built by hand.
    pub fn eval(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        Ok(BooleanArray::new(self.truth(batch)?.yes, None))
    }

    fn truth(&self, batch: &RecordBatch) -> Result<Truth> {
        let rows = batch.num_rows();
        match self {
            Self::AlwaysTrue => Ok(Truth::always(true, rows, None)),
            Self::AlwaysFalse => Ok(Truth::always(false, rows, None)),
            Self::And(parts) => parts
                .iter()
                .try_fold(Truth::always(true, rows, None), |all, part| {
                    Ok(all.and(&part.truth(batch)?))
                }),
            Self::Or(parts) => parts
                .iter()
                .try_fold(Truth::always(false, rows, None), |any, part| {
                    Ok(any.or(&part.truth(batch)?))
                }),
            Self::Not(part) => Ok(part.truth(batch)?.not()),
            Self::Leaf {
                name,
                data_type,
                op,
                literals,
                ..
            } => {
                let column = batch.column_by_name(name);
                let column =
                    column.ok_or_else(|| TypeError::UnknownColumn { name: name.clone() })?;
                leaf(column, data_type, *op, literals).map_err(|error| error.in_column(name))
            }
        }
    }
}

fn leaf(
    column: &ArrayRef,
    data_type: &DataType,
    op: PredicateOp,
    literals: &[Datum],
) -> Result<Truth> {
    let rows = column.len();
    let literal = |at: usize| {
        literals.get(at).ok_or_else(|| {
            TypeError::invalid(format!("{} values for {}", literals.len(), op.name()))
        })
    };
    Ok(match op {
        PredicateOp::IsNull => match column.logical_nulls() {
            Some(nulls) => Truth::of(!nulls.inner(), None),
            None => Truth::always(false, rows, None),
        },
        PredicateOp::IsNotNull => match column.logical_nulls() {
            Some(nulls) => Truth::of(nulls.inner().clone(), None),
            None => Truth::always(true, rows, None),
        },
        PredicateOp::In => is_in(column, data_type, literals)?,
        PredicateOp::NotIn => is_in(column, data_type, literals)?.not(),
        PredicateOp::Between => {
            let low = compare(column, data_type, PredicateOp::GtEq, literal(0)?)?;
            low.and(&compare(column, data_type, PredicateOp::LtEq, literal(1)?)?)
        }
        PredicateOp::StartsWith => parts(column, data_type, literal(0)?, <[u8]>::starts_with)?,
        PredicateOp::EndsWith => parts(column, data_type, literal(0)?, <[u8]>::ends_with)?,
        PredicateOp::Contains => match literal(0)? {
            Datum::String(wanted) => {
                texts(column, data_type, |text| text.contains(wanted.as_str()))?
            }
            wanted => parts(column, data_type, wanted, contains_bytes)?,
        },
        PredicateOp::Like => match literal(0)? {
            Datum::Null => Truth::unknown(rows),
            Datum::String(pattern) => {
                let pattern = LikePattern::parse(pattern)?;
                texts(column, data_type, |text| pattern.matches(text))?
            }
            other => return Err(TypeError::mismatch("a pattern", other.type_name())),
        },
        PredicateOp::Eq
        | PredicateOp::NotEq
        | PredicateOp::Lt
        | PredicateOp::LtEq
        | PredicateOp::Gt
        | PredicateOp::GtEq => compare(column, data_type, op, literal(0)?)?,
    })
}

fn texts(column: &ArrayRef, data_type: &DataType, test: impl Fn(&str) -> bool) -> Result<Truth> {
    let values = column
        .as_string_opt::<i32>()
        .ok_or_else(|| mismatch(column, data_type))?;
    Ok(Truth::of(
        BooleanBuffer::collect_bool(values.len(), |row| test(values.value(row))),
        column.nulls(),
    ))
}

/// Tests the bytes of text or binary values against those of the literal.
fn parts(
    column: &ArrayRef,
    data_type: &DataType,
    literal: &Datum,
    test: fn(&[u8], &[u8]) -> bool,
) -> Result<Truth> {
    let rows = column.len();
    let found = match literal {
        Datum::Null => return Ok(Truth::unknown(rows)),
        Datum::String(wanted) => {
            let values = column
                .as_string_opt::<i32>()
                .ok_or_else(|| mismatch(column, data_type))?;
            BooleanBuffer::collect_bool(rows, |row| {
                test(values.value(row).as_bytes(), wanted.as_bytes())
            })
        }
        Datum::Bytes(wanted) => {
            let values = column
                .as_binary_opt::<i32>()
                .ok_or_else(|| mismatch(column, data_type))?;
            BooleanBuffer::collect_bool(rows, |row| test(values.value(row), wanted))
        }
        other => return Err(TypeError::mismatch(data_type, other.type_name())),
    };
    Ok(Truth::of(found, column.nulls()))
}

fn contains_bytes(value: &[u8], wanted: &[u8]) -> bool {
    wanted.is_empty() || value.windows(wanted.len()).any(|window| window == wanted)
}

/// Three-valued answers, one a row: neither `yes` nor `no` is unknown, both never happens.
pub(super) struct Truth {
    yes: BooleanBuffer,
    no: BooleanBuffer,
}

impl Truth {
    /// The answers where the value is there, unknown where it is null.
    pub(super) fn of(answers: BooleanBuffer, nulls: Option<&NullBuffer>) -> Self {
        match nulls {
            Some(nulls) => Self {
                yes: &answers & nulls.inner(),
                no: &!&answers & nulls.inner(),
            },
            None => Self {
                no: !&answers,
                yes: answers,
            },
        }
    }

    /// One answer for all rows that are not null.
    pub(super) fn always(answer: bool, rows: usize, nulls: Option<&NullBuffer>) -> Self {
        let answers = if answer {
            BooleanBuffer::new_set(rows)
        } else {
            BooleanBuffer::new_unset(rows)
        };
        Self::of(answers, nulls)
    }

    /// No answer for any row.
    pub(super) fn unknown(rows: usize) -> Self {
        Self {
            yes: BooleanBuffer::new_unset(rows),
            no: BooleanBuffer::new_unset(rows),
        }
    }

    /// The same, with unknown instead of no.
    pub(super) fn without_no(self) -> Self {
        let rows = self.yes.len();
        Self {
            yes: self.yes,
            no: BooleanBuffer::new_unset(rows),
        }
    }

    fn and(&self, other: &Self) -> Self {
        Self {
            yes: &self.yes & &other.yes,
            no: &self.no | &other.no,
        }
    }

    fn or(&self, other: &Self) -> Self {
        Self {
            yes: &self.yes | &other.yes,
            no: &self.no & &other.no,
        }
    }

    fn not(self) -> Self {
        Self {
            yes: self.no,
            no: self.yes,
        }
    }
}
