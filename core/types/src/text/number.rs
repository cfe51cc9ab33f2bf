//! Booleans, integers and floats.

/// As Java's `Float.toString`: `1.0`, `1.0E10`, `1.0E-5`; exponent form below 1e-3 and from 1e7 on.
///
/// The shortest digits that read back to the same value are written, as JDK 19 and later do.
pub fn format_float(value: f32) -> String {
    java_form(
        value.is_nan(),
        value.is_infinite(),
        value.is_sign_negative(),
        value == 0.0,
        |one_more| match one_more {
            false => format!("{:e}", value.abs()),
            true => format!("{:.1e}", value.abs()),
        },
    )
}

/// As [`format_float`], for `Double.toString`.
pub fn format_double(value: f64) -> String {
    java_form(
        value.is_nan(),
        value.is_infinite(),
        value.is_sign_negative(),
        value == 0.0,
        |one_more| match one_more {
            false => format!("{:e}", value.abs()),
            true => format!("{:.1e}", value.abs()),
        },
    )
}

fn java_form(
    nan: bool,
    infinite: bool,
    negative: bool,
    zero: bool,
    scientific: impl Fn(bool) -> String,
) -> String {
    if nan {
        return "NaN".to_owned();
    }
    let mut text = String::with_capacity(24);
    if negative {
        text.push('-');
    }
    if infinite {
        text.push_str("Infinity");
        return text;
    }
    if zero {
        text.push_str("0.0");
        return text;
    }
    // "d.ddde-x": the shortest digits and the power of ten of the first.
    let shortest = scientific(false);
    // Java writes two digits at least, and of two the nearest: 4.9E-324, not 5.0E-324.
    let scientific = match scientific(true) {
        nearest if !shortest.contains('.') && !nearest.contains(".0") => nearest,
        _ => shortest,
    };
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let push_point_form = |text: &mut String, whole: usize| {
        let (before, after) = digits.split_at(digits.len().min(whole));
        text.push_str(before);
        for _ in before.len()..whole {
            text.push('0');
        }
        text.push('.');
        text.push_str(if after.is_empty() { "0" } else { after });
    };
    match exponent {
        0..=6 => push_point_form(&mut text, usize::try_from(exponent).unwrap_or(0) + 1),
        -3..=-1 => {
            text.push_str("0.");
            for _ in 1..exponent.unsigned_abs() {
                text.push('0');
            }
            text.push_str(&digits);
        }
        _ => {
            push_point_form(&mut text, 1);
            text.push('E');
            text.push_str(&exponent.to_string());
        }
    }
    text
}

pub(super) fn parse_boolean(text: &str) -> Option<bool> {
    let lower = text.to_ascii_lowercase();
    match lower.as_str() {
        "true" | "t" | "yes" | "y" | "1" => Some(true),
        "false" | "f" | "no" | "n" | "0" => Some(false),
        _ => None,
    }
}

pub(super) fn parse_integer(text: &str) -> Option<i128> {
    text.parse().ok()
}

pub(super) fn parse_double(text: &str) -> Option<f64> {
    has_number_shape(text).then(|| text.parse().ok()).flatten()
}

/// Read as a double, then narrowed, like the JSON numbers of the command line.
pub(super) fn parse_float(text: &str) -> Option<f32> {
    // Shortest FLOAT text names the float exactly; going through a double could round twice.
    has_number_shape(text).then(|| text.parse().ok()).flatten()
}

/// Rust also reads "inf" and "nan" in any case; only Java's spellings and numbers pass.
fn has_number_shape(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    matches!(unsigned, "NaN" | "Infinity")
        || unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
}
