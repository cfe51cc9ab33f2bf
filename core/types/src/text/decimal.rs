//! Decimals in plain notation: all digits of the scale, never an exponent.

use crate::datum::fits_precision;
use crate::error::{Result, TypeError};

/// `12.50` for 1250 at scale 2; `-0.01`; no point at scale 0.
pub fn format_decimal(unscaled: i128, scale: u8) -> String {
    let scale = usize::from(scale);
    let digits = unscaled.unsigned_abs().to_string();
    let mut text = String::with_capacity(digits.len().max(scale + 1) + 2);
    if unscaled < 0 {
        text.push('-');
    }
    // At least one digit stands in front of the point.
    for _ in digits.len()..=scale {
        text.push('0');
    }
    text.push_str(&digits);
    if scale > 0 {
        let point = text.len() - scale;
        text.insert(point, '.');
    }
    text
}

/// The unscaled value at `scale` of a decimal number, plain or with an exponent (`1.5e3`).
///
/// Zeros past the scale are fine; nothing is rounded.
///
/// # Errors
/// [`TypeError::ValueText`] for text that is no number; [`TypeError::DoesNotFit`] if it has more than `precision` digits or
/// a fraction digit other than zero past the scale.
pub fn parse_decimal(text: &str, precision: u8, scale: u8) -> Result<i128> {
    let data_type = || format!("DECIMAL({precision}, {scale})");
    let number = split_number(text)
        .ok_or_else(|| super::value_error(text, data_type(), "not a decimal number"))?;
    number
        .unscaled_at(i64::from(scale))
        .filter(|unscaled| fits_precision(*unscaled, precision))
        .ok_or_else(|| TypeError::DoesNotFit {
            value: text.to_owned(),
            data_type: data_type(),
        })
}

/// Digits without a point, and the power of ten they are multiplied with.
struct Number<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    exponent: i64,
}

impl Number<'_> {
    fn unscaled_at(&self, scale: i64) -> Option<i128> {
        let digits = || self.whole.bytes().chain(self.fraction.bytes());
        // Fraction digits the digits stand for, after the exponent.
        let has = i64::try_from(self.fraction.len())
            .ok()?
            .checked_sub(self.exponent)?;
        let count = digits().count();
        let cut = usize::try_from(has.checked_sub(scale)?.max(0)).ok()?;
        let kept = count.saturating_sub(cut);
        if digits().skip(kept).any(|digit| digit != b'0') {
            return None;
        }
        let mut value: i128 = 0;
        for digit in digits().take(kept) {
            value = value
                .checked_mul(10)?
                .checked_add(i128::from(digit - b'0'))?;
        }
        if value != 0 && has < scale {
            let power = u32::try_from(scale.checked_sub(has)?).ok()?;
            value = value.checked_mul(10_i128.checked_pow(power)?)?;
        }
        Some(if self.negative { -value } else { value })
    }
}

/// `[+-] digits [. digits] [e [+-] digits]` with a digit before or after the point.
fn split_number(text: &str) -> Option<Number<'_>> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            (mantissa, i64::from(exponent.parse::<i32>().ok()?))
        }
        None => (rest, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let all_digits = whole
        .bytes()
        .chain(fraction.bytes())
        .all(|byte| byte.is_ascii_digit());
    all_digits.then_some(Number {
        negative,
        whole,
        fraction,
        exponent,
    })
}
