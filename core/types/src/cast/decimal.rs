//! Decimals: change of scale with HALF_UP rounding, and decimal text.
//! Source: Paimon `data/Decimal.java#fromBigDecimal`, spec 02a §6.3.

use crate::datum::fits_precision;

/// `10^exponent`, for the exponents that fit.
pub(crate) fn power_of_ten(exponent: u32) -> Option<i128> {
    10_i128.checked_pow(exponent)
}

/// The value at another scale, rounded half away from zero; `None` when it has more digits than `precision`.
pub(crate) fn rescale(
    unscaled: i128,
    from_scale: u8,
    to_precision: u8,
    to_scale: u8,
) -> Option<i128> {
    let moved = if to_scale >= from_scale {
        let factor = power_of_ten(u32::from(to_scale - from_scale))?;
        unscaled.checked_mul(factor)?
    } else {
        match power_of_ten(u32::from(from_scale - to_scale)) {
            Some(divisor) => divide_half_up(unscaled, divisor),
            None => 0,
        }
    };
    fits_precision(moved, to_precision).then_some(moved)
}

/// The value at another scale if that loses nothing.
pub(crate) fn rescale_exact(
    unscaled: i128,
    from_scale: u8,
    to_precision: u8,
    to_scale: u8,
) -> Option<i128> {
    if to_scale < from_scale {
        let divisor = power_of_ten(u32::from(from_scale - to_scale));
        if divisor.is_none_or(|divisor| unscaled % divisor != 0) && unscaled != 0 {
            return None;
        }
    }
    rescale(unscaled, from_scale, to_precision, to_scale)
}

/// `divisor` is positive.
fn divide_half_up(value: i128, divisor: i128) -> i128 {
    let quotient = value / divisor;
    let remainder = (value % divisor).unsigned_abs();
    if remainder >= divisor.unsigned_abs() - remainder {
        quotient + value.signum()
    } else {
        quotient
    }
}

/// The integer part, cut toward zero.
pub(crate) fn truncate_to_integer(unscaled: i128, scale: u8) -> i128 {
    power_of_ten(u32::from(scale)).map_or(0, |divisor| unscaled / divisor)
}

/// The nearest double, by the arithmetic Java uses: up to 18 digits by dividing two doubles, beyond by parsing.
#[expect(
    clippy::cast_precision_loss,
    reason = "rounding to the nearest double is what the cast does"
)]
pub(crate) fn to_f64(unscaled: i128, precision: u8, scale: u8) -> f64 {
    if precision <= 18
        && let Some(divisor) = power_of_ten(u32::from(scale))
    {
        return unscaled as f64 / divisor as f64;
    }
    // The text is a number by construction.
    format!("{unscaled}e-{scale}").parse().unwrap_or(f64::NAN)
}

/// Text that is no decimal number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotADecimal;

/// Reads `[+-]digits[.digits][(e|E)[+-]digits]`, rounds half up to `scale`.
///
/// `Ok(None)` when the number has more digits than `precision`.
pub(crate) fn parse_decimal(
    text: &str,
    precision: u8,
    scale: u8,
) -> Result<Option<i128>, NotADecimal> {
    let number = DecimalText::parse(text)?;
    Ok(number.round(precision, scale))
}

/// The parts of decimal text: `0.DIGITS * 10^point`.
struct DecimalText<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    exponent: i64,
}

impl<'a> DecimalText<'a> {
    fn parse(text: &'a str) -> Result<Self, NotADecimal> {
        let (negative, rest) = match text.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let (mantissa, exponent) = match rest.iter().position(|byte| matches!(byte, b'e' | b'E')) {
            Some(at) => {
                let (mantissa, exponent) = rest.split_at_checked(at).ok_or(NotADecimal)?;
                (
                    mantissa,
                    parse_exponent(exponent.get(1..).ok_or(NotADecimal)?)?,
                )
            }
            None => (rest, 0),
        };
        let (whole, fraction) = match mantissa.iter().position(|byte| *byte == b'.') {
            Some(at) => {
                let (whole, fraction) = mantissa.split_at_checked(at).ok_or(NotADecimal)?;
                (whole, fraction.get(1..).unwrap_or_default())
            }
            None => (mantissa, Default::default()),
        };
        let digits = whole.len() + fraction.len();
        if digits == 0 || !whole.iter().chain(fraction).all(u8::is_ascii_digit) {
            return Err(NotADecimal);
        }
        Ok(Self {
            negative,
            whole,
            fraction,
            exponent,
        })
    }

    fn round(&self, precision: u8, scale: u8) -> Option<i128> {
        // Digits that stay: those before the point once it stands `scale` places further right.
        let whole_len = i64::try_from(self.whole.len()).unwrap_or(i64::MAX);
        let keep = whole_len
            .saturating_add(self.exponent)
            .saturating_add(i64::from(scale));
        let mut digits = self
            .whole
            .iter()
            .chain(self.fraction)
            .map(|byte| i128::from(byte - b'0'));
        let mut value = 0_i128;
        let mut taken = 0_i64;
        while taken < keep {
            let Some(digit) = digits.next() else {
                if value == 0 {
                    return Some(0);
                }
                // The text is over; zeros follow up to the point.
                let zeros = u32::try_from(keep - taken).ok()?;
                value = value.checked_mul(power_of_ten(zeros)?)?;
                break;
            };
            value = value.checked_mul(10)?.checked_add(digit)?;
            taken += 1;
        }
        // The first digit that goes decides; none does when the point lies further left than all digits.
        if keep >= 0 && digits.next().is_some_and(|digit| digit >= 5) {
            value += 1;
        }
        fits_precision(value, precision).then_some(if self.negative { -value } else { value })
    }
}

fn parse_exponent(text: &[u8]) -> Result<i64, NotADecimal> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(NotADecimal);
    }
    // Java's exponents are ints; beyond, a saturated one gives the same zero or overflow.
    let value = digits.iter().fold(0_i64, |value, digit| {
        (value * 10 + i64::from(digit - b'0')).min(1 << 40)
    });
    Ok(if negative { -value } else { value })
}
