//! Making a leaf: the column is there, the question suits its type, the literals are of it.

use super::like::LikePattern;
use super::literal::{Fit, fit, plain_decimal};
use super::{Predicate, PredicateOp};
use crate::data_type::DataType;
use crate::datum::Datum;
use crate::error::{Result, TypeError};
use crate::row_type::RowType;

impl Predicate {
    /// A condition on one column of `row`.
    ///
    /// Literals of other integer types, and decimals and timestamps of other digits, are brought to the column's type
    /// where that changes nothing of their value.
    ///
    /// # Errors
    /// [`TypeError::UnknownColumn`] if there is no such column. Inside [`TypeError::Column`]: [`TypeError::TypeMismatch`]
    /// for literals of another type, [`TypeError::DoesNotFit`] for integers outside the column's range,
    /// [`TypeError::Invalid`] for a wrong number of literals, a question the type does not answer (order of an ARRAY,
    /// pattern of a number) or a pattern that ends in the middle of an escape.
    pub fn leaf(row: &RowType, name: &str, op: PredicateOp, literals: Vec<Datum>) -> Result<Self> {
        let field = row.index_of(name).ok_or_else(|| TypeError::UnknownColumn {
            name: name.to_owned(),
        })?;
        let data_type = row.fields.get(field).map(|field| field.data_type.clone());
        let data_type = data_type.ok_or_else(|| TypeError::UnknownColumn {
            name: name.to_owned(),
        })?;
        let literals = checked(&data_type, op, literals).map_err(|error| error.in_column(name))?;
        Ok(Self::Leaf {
            field,
            name: name.to_owned(),
            data_type,
            op,
            literals,
        })
    }
}

fn checked(data_type: &DataType, op: PredicateOp, literals: Vec<Datum>) -> Result<Vec<Datum>> {
    check_op(data_type, op)?;
    let wanted = match op {
        PredicateOp::IsNull | PredicateOp::IsNotNull => Some(0),
        PredicateOp::In | PredicateOp::NotIn => None,
        PredicateOp::Between => Some(2),
        _ => Some(1),
    };
    if wanted.is_some_and(|wanted| wanted != literals.len()) {
        return Err(TypeError::invalid(format!(
            "{} values for {}",
            literals.len(),
            op.name()
        )));
    }
    if op == PredicateOp::Like
        && let Some(Datum::String(pattern)) = literals.first()
    {
        LikePattern::parse(pattern)?;
    }
    literals
        .into_iter()
        .map(|literal| fitted(literal, data_type))
        .collect()
}

/// Whether columns of this type answer the question.
fn check_op(data_type: &DataType, op: PredicateOp) -> Result<()> {
    let answered = match op {
        PredicateOp::IsNull | PredicateOp::IsNotNull => true,
        PredicateOp::Like => data_type.kind.is_text(),
        PredicateOp::StartsWith | PredicateOp::EndsWith | PredicateOp::Contains => {
            data_type.kind.is_text() || data_type.kind.is_bytes()
        }
        _ => data_type.kind.is_ordered(),
    };
    if answered {
        Ok(())
    } else {
        Err(TypeError::invalid(format!(
            "{} does not apply to {data_type}",
            op.name()
        )))
    }
}

/// The literal in the column's type; one that only lies between the column's values stays as it is.
fn fitted(literal: Datum, data_type: &DataType) -> Result<Datum> {
    match fit(&literal, data_type) {
        Fit::Exact(fitted) => Ok(fitted),
        Fit::Between if data_type.kind.is_timestamp() => Ok(literal),
        Fit::Between => match literal {
            Datum::Decimal {
                unscaled, scale, ..
            } => Ok(plain_decimal(unscaled, scale)),
            literal => Err(TypeError::DoesNotFit {
                value: crate::text::format_datum(&literal, data_type),
                data_type: data_type.to_string(),
            }),
        },
        Fit::Foreign => Err(TypeError::mismatch(data_type, literal.type_name())),
    }
}
