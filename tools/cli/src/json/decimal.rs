//! Exact decimal text: 128-bit numbers with a scale, and whole numbers.

/// Appends a whole number.
pub(super) fn write_u64(out: &mut Vec<u8>, number: u64) {
    write_u128(out, u128::from(number));
}

/// Appends a whole number with its sign.
pub(super) fn write_i64(out: &mut Vec<u8>, number: i64) {
    if number < 0 {
        out.push(b'-');
    }
    write_u64(out, number.unsigned_abs());
}

fn write_u128(out: &mut Vec<u8>, number: u128) {
    // Three divisions of 128 bits at most; the rest is done on 64 bits.
    const CHUNK: u128 = 10_u128.pow(18);
    if number >= CHUNK {
        write_u128(out, number / CHUNK);
        let start = out.len();
        out.resize(start + 18, b'0');
        fill_digits(
            out.get_mut(start..).unwrap_or_default(),
            low_u64(number % CHUNK),
        );
        return;
    }
    let number = low_u64(number);
    let start = out.len();
    let digits = number
        .checked_ilog10()
        .map_or(1, |log| usize::try_from(log).unwrap_or(0) + 1);
    out.resize(start + digits, b'0');
    fill_digits(out.get_mut(start..).unwrap_or_default(), number);
}

fn low_u64(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// Writes the last digits of `number`, right-aligned into `field`.
fn fill_digits(field: &mut [u8], mut number: u64) {
    for digit in field.iter_mut().rev() {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
    }
}

/// Appends `unscaled / 10^scale` with exactly `scale` fraction digits and no exponent.
pub(super) fn write_decimal(out: &mut Vec<u8>, unscaled: i128, scale: usize) {
    if unscaled < 0 {
        out.push(b'-');
    }
    let start = out.len();
    write_u128(out, unscaled.unsigned_abs());
    if scale == 0 {
        return;
    }
    let digits = out.len() - start;
    if digits <= scale {
        let missing = scale + 1 - digits;
        out.resize(out.len() + missing, b'0');
        out.get_mut(start..)
            .unwrap_or_default()
            .rotate_right(missing);
    }
    out.insert(out.len() - scale, b'.');
}

/// Reads `-12.50` or `1.25e1` as a number of `scale` fraction digits; none if it has digits that do not fit, or is no number.
pub(super) fn parse_decimal(text: &str, precision: u8, scale: u8) -> Option<i128> {
    let (negative, text) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut unscaled: i128 = 0;
    // Digits to append so that the last one has the wanted place; negative: digits that must be zero and go.
    let fraction_digits = i32::try_from(fraction.len()).ok()?;
    let shift = i32::from(scale)
        .checked_sub(fraction_digits)?
        .checked_add(exponent)?;
    let all = whole.len() + fraction.len();
    let kept = all.saturating_sub(usize::try_from(shift.checked_neg()?.max(0)).ok()?);
    for (index, byte) in whole.bytes().chain(fraction.bytes()).enumerate() {
        if !byte.is_ascii_digit() || (index >= kept && byte != b'0') {
            return None;
        }
        if index < kept {
            unscaled = unscaled
                .checked_mul(10)?
                .checked_add(i128::from(byte - b'0'))?;
        }
    }
    if shift > 0 && unscaled != 0 {
        unscaled = unscaled.checked_mul(10_i128.checked_pow(u32::try_from(shift).ok()?)?)?;
    }
    let fits = unscaled < 10_i128.checked_pow(u32::from(precision))?;
    fits.then_some(if negative { -unscaled } else { unscaled })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(unscaled: i128, scale: usize) -> String {
        let mut out = Vec::new();
        write_decimal(&mut out, unscaled, scale);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn texts_have_exactly_the_scale() {
        assert_eq!(text(-1250, 2), "-12.50");
        assert_eq!(text(5, 2), "0.05");
        assert_eq!(text(0, 3), "0.000");
        assert_eq!(text(-7, 0), "-7");
        assert_eq!(
            text(10_i128.pow(38) - 1, 38),
            format!("0.{}", "9".repeat(38))
        );
        assert_eq!(text(10_i128.pow(37), 0), format!("1{}", "0".repeat(37)));
    }

    #[test]
    fn reads_what_fits_exactly_and_nothing_else() {
        assert_eq!(parse_decimal("-12.5", 4, 2), Some(-1250));
        assert_eq!(parse_decimal("12.500", 4, 2), Some(1250));
        assert_eq!(parse_decimal("1.25e1", 4, 2), Some(1250));
        assert_eq!(parse_decimal("1250e-2", 4, 2), Some(1250));
        assert_eq!(parse_decimal("0e99", 4, 2), Some(0));
        assert_eq!(parse_decimal("0.000000", 4, 2), Some(0));
        assert_eq!(parse_decimal("12.345", 4, 2), None);
        assert_eq!(parse_decimal("100.00", 4, 2), None);
        assert_eq!(parse_decimal("1e99", 38, 0), None);
        assert_eq!(parse_decimal("1e2147483647", 38, 0), None);
        for bad in ["", "-", ".", "1.2.3", "abc", "1e", "--1", "1 ", "０"] {
            assert_eq!(parse_decimal(bad, 10, 2), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn decimals_come_back(unscaled in -(10_i128.pow(38) - 1)..10_i128.pow(38), scale in 0_u8..=38) {
            prop_assert_eq!(parse_decimal(&text(unscaled, usize::from(scale)), 38, scale), Some(unscaled));
        }

        #[test]
        fn whole_numbers_are_as_rust_prints_them(number in any::<i64>()) {
            let mut out = Vec::new();
            write_i64(&mut out, number);
            prop_assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
        }
    }
}
