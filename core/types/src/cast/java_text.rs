//! Floating point numbers as Java writes them.
//!
//! `Double.toString`: the shortest digits that read back to the same value, plain between 10^-3 and 10^7 and with an
//! exponent (`1.0E20`) outside, always with a fraction digit. These are the forms a number has once its column became
//! STRING (spec 02a §6.3).

use std::fmt::Write;

/// The text that Java's `Double.toString` gives.
pub fn java_double_to_string(value: f64) -> String {
    let mut out = String::new();
    push_java_double(&mut out, value);
    out
}

/// The text that Java's `Float.toString` gives.
pub fn java_float_to_string(value: f32) -> String {
    let mut out = String::new();
    push_java_float(&mut out, value);
    out
}

/// Appends the text of [`java_double_to_string`].
pub(crate) fn push_java_double(out: &mut String, value: f64) {
    if let Some(text) = special(value.is_nan(), value.is_infinite(), value.is_sign_negative()) {
        out.push_str(text);
    } else if value == 0.0 || (1e-3..1e7).contains(&value.abs()) {

        push_plain(out, format_args!("{value}"));
    } else {
        push_scientific(out, format_args!("{value:E}"));
    }
}

/// Appends the text of [`java_float_to_string`].
pub(crate) fn push_java_float(out: &mut String, value: f32) {
    if let Some(text) = special(value.is_nan(), value.is_infinite(), value.is_sign_negative()) {
        out.push_str(text);
    } else if value == 0.0 || (1e-3..1e7).contains(&value.abs()) {
        push_plain(out, format_args!("{value}"));
    } else {
        push_scientific(out, format_args!("{value:E}"));
    }
}

fn special(nan: bool, infinite: bool, negative: bool) -> Option<&'static str> {
    match (nan, infinite, negative) {
        (true, ..) => Some("NaN"),
        (_, true, false) => Some("Infinity"),
        (_, true, true) => Some("-Infinity"),
        _ => None,
    }
}

fn push_plain(out: &mut String, number: std::fmt::Arguments<'_>) {
    let start = out.len();
    // Writing to a String cannot fail.
    let _ = out.write_fmt(number);
    if !out.get(start..).unwrap_or_default().contains('.') {
        out.push_str(".0");
    }
}

/// Rust writes `1E20` where Java writes `1.0E20`.
fn push_scientific(out: &mut String, number: std::fmt::Arguments<'_>) {
    let start = out.len();
    let _ = out.write_fmt(number);
    let written = out.get(start..).unwrap_or_default();
    if !written.contains('.')
        && let Some(exponent) = written.find('E')
    {
        out.insert_str(start + exponent, ".0");
    }
}
