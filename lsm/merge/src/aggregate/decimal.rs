//! `sum` and `product` of DECIMAL columns.
//!
//! Java keeps up to 18 digits in a `long` and does not check them; from 19 digits on a value that does not fit is null.
//! Products are exact and then rounded half up to the column's scale; taking a factor back is an exact division, which
//! fails when the quotient has endless digits. Source: Paimon `utils/DecimalUtils.java`, `aggregate/FieldProductAgg.java`.

use std::sync::Arc;

use arrow_array::builder::Decimal128Builder;
use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array, ArrayRef, Decimal128Array};
use arrow_buffer::i256;

use super::{ColumnRules, Contested, Failure, Fault, Folding, Overflow, Result, Step};

/// Digits that Java keeps in a `long`.
const LONG_DIGITS: u8 = 18;

pub(super) fn sum(
    column: &ArrayRef,
    contested: Contested<'_>,
    rules: ColumnRules,
    precision: u8,
    overflow: Overflow,
) -> Result<Folding> {
    fold(
        column,
        contested,
        rules,
        |row, step, acc, value, wrapped| {
            let exact = match (step, acc) {
                (Step::Retract | Step::RetractOlder, acc) => acc.unwrap_or(0).checked_sub(value),
                (_, None) => return Ok(Some(value)),
                (_, Some(acc)) => acc.checked_add(value),
            };
            match exact {
                Some(total) if fits(total, precision) => Ok(Some(total)),
                _ if overflow == Overflow::Fail => Err(Failure::At(row, Fault::Overflow)),
                Some(total) if precision <= LONG_DIGITS => {
                    *wrapped = true;
                    Ok(Some(as_java_long(total)))
                }
                _ => {
                    *wrapped = true;
                    Ok(None)
                }
            }
        },
    )
}

pub(super) fn product(
    column: &ArrayRef,
    contested: Contested<'_>,
    rules: ColumnRules,
    (precision, scale): (u8, i8),
    overflow: Overflow,
) -> Result<Folding> {
    let unit = power_of_ten(scale);
    fold(
        column,
        contested,
        rules,
        |row, step, acc, value, wrapped| {
            let total = match (step, acc) {
                (Step::Retract | Step::RetractOlder, None) => return Ok(None),
                (_, None) => return Ok(Some(value)),
                (Step::Retract | Step::RetractOlder, Some(acc)) => {
                    if value == 0 {
                        return Err(Failure::At(row, Fault::DivisionByZero));
                    }
                    if !is_finite_quotient(acc, value) {
                        return Err(Failure::At(row, Fault::EndlessQuotient));
                    }
                    // Both have the scale of the column, so the quotient has none: bring it there.
                    i256::from_i128(acc)
                        .checked_mul(unit)
                        .and_then(|acc| divide_half_up(acc, i256::from_i128(value)))
                }
                (_, Some(acc)) => i256::from_i128(acc)
                    .checked_mul(i256::from_i128(value))
                    .and_then(|total| divide_half_up(total, unit)),
            };
            let total = total
                .and_then(i256::to_i128)
                .filter(|total| fits(*total, precision));
            match total {
                Some(total) => Ok(Some(total)),
                None if overflow == Overflow::Fail => Err(Failure::At(row, Fault::Overflow)),
                None => {
                    *wrapped = true;
                    Ok(None)
                }
            }
        },
    )
}

/// Runs the steps of every key; `next` gives the total after a value that is not null.
fn fold(
    column: &ArrayRef,
    contested: Contested<'_>,
    rules: ColumnRules,
    next: impl Fn(usize, Step, Option<i128>, i128, &mut bool) -> Result<Option<i128>>,
) -> Result<Folding> {
    let array: &Decimal128Array = column
        .as_primitive_opt::<Decimal128Type>()
        .ok_or(Failure::Type)?;
    let mut folded = Decimal128Builder::with_capacity(contested.keys.len());
    let mut wraps = 0;
    for key in contested.keys {
        let mut acc: Option<i128> = None;
        let mut wrapped = false;
        contested.steps(key, rules, |row, step| {
            let value = array.is_valid(row).then(|| array.value(row));
            acc = match (step, value) {
                (Step::Set, value) => value,
                (Step::Clear, _) => None,
                (_, None) => acc,
                (step, Some(value)) => next(row, step, acc, value, &mut wrapped)?,
            };
            Ok(())
        })?;
        wraps += u64::from(wrapped);
        folded.append_option(acc);
    }
    let folded = folded.finish().with_data_type(column.data_type().clone());
    Ok(Folding::Values {
        values: Arc::new(folded),
        wraps,
    })
}

/// The low 64 bits, which is what a `long` keeps.
#[expect(
    clippy::cast_possible_truncation,
    reason = "wrapping is what is asked for"
)]
fn as_java_long(total: i128) -> i128 {
    i128::from(total as i64)
}

fn fits(value: i128, precision: u8) -> bool {
    match 10_u128.checked_pow(u32::from(precision)) {
        Some(limit) => value.unsigned_abs() < limit,
        None => true,
    }
}

/// 10 to the power of a column's scale, 0 to 38.
fn power_of_ten(scale: i8) -> i256 {
    let scale = u32::try_from(scale).unwrap_or_default();
    i256::from_i128(10_i128.checked_pow(scale).unwrap_or(i128::MAX))
}

/// The quotient, rounded to the nearest, halves away from zero; `None` for a divisor of zero.
fn divide_half_up(dividend: i256, divisor: i256) -> Option<i256> {
    let quotient = dividend.checked_div(divisor)?;
    let rest = dividend.checked_rem(divisor)?;
    // 2 |rest| >= |divisor|, without leaving the range.
    let rest = rest.wrapping_abs();
    let up = rest >= divisor.wrapping_abs().wrapping_sub(rest);
    if !up || rest == i256::ZERO {
        return Some(quotient);
    }
    let away = if dividend.is_negative() == divisor.is_negative() {
        i256::ONE
    } else {
        i256::MINUS_ONE
    };
    quotient.checked_add(away)
}

/// Whether `a / b` has finitely many decimal digits: `b` in lowest terms has no other factors than 2 and 5.
fn is_finite_quotient(a: i128, b: i128) -> bool {
    let (mut x, mut y) = (a.unsigned_abs(), b.unsigned_abs());
    while y != 0 {
        (x, y) = (y, x % y);
    }
    let mut rest = b.unsigned_abs().checked_div(x).unwrap_or(1);
    for factor in [2, 5] {
        while rest % factor == 0 && rest != 0 {
            rest /= factor;
        }
    }
    rest == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half_up(a: i128, b: i128) -> i128 {
        divide_half_up(i256::from_i128(a), i256::from_i128(b))
            .and_then(i256::to_i128)
            .unwrap()
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        let cases = [
            (5, 2, 3),
            (-5, 2, -3),
            (5, -2, -3),
            (-5, -2, 3),
            (4, 3, 1),
            (-5, 3, -2),
            (6, 3, 2),
            (0, 7, 0),
            (1, 2, 1),
        ];
        for (a, b, expected) in cases {
            assert_eq!(half_up(a, b), expected, "{a} / {b}");
        }
    }

    #[test]
    fn quotients_with_endless_digits_are_told_apart() {
        assert!(is_finite_quotient(1, 8));
        assert!(is_finite_quotient(3, 6));
        assert!(is_finite_quotient(0, 7));
        assert!(is_finite_quotient(7, -250));
        assert!(!is_finite_quotient(1, 3));
        assert!(!is_finite_quotient(10, 14));
        assert!(!is_finite_quotient(i128::MIN, 3));
    }
}
