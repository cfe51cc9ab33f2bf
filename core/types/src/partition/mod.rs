//! Names of partition directories.
//!
//! A name says where files lie and nothing else: null, `""` and `"  "` share one directory. The values of a partition are
//! those of its BinaryRow in the manifest, never those of a path.
//! Source: spec 01 §1.2 and §1.3, Paimon `utils/PartitionPathUtils.java`, `utils/InternalRowPartitionComputer.java`.

#[cfg(test)]
mod tests;

use std::fmt::Write;

use crate::binary_row::BinaryRow;
use crate::data_type::{DataType, TypeKind};
use crate::datum::Datum;
use crate::error::{Result, TypeError};
use crate::text::{format_datum, java_local_date_time};

/// The text of a partition value; `None` for null.
///
/// With `legacy` (option `partition.legacy-name`, the default) dates and times are numbers and timestamps have Java's ISO
/// form; without, they are what a cast to STRING gives, TIMESTAMP_LTZ in UTC.
///
/// # Errors
/// [`TypeError::Unsupported`] for types that make no usable name: BINARY and VARBINARY in legacy form, VARIANT, nested types.
pub fn partition_text(datum: &Datum, data_type: &DataType, legacy: bool) -> Result<Option<String>> {
    let unusable = || TypeError::unsupported(format!("a partition column of type {data_type}"));
    if data_type.is_nested() || matches!(data_type.kind, TypeKind::Variant) {
        return Err(unusable());
    }
    Ok(match datum {
        Datum::Null => None,
        Datum::Bytes(_) if legacy => return Err(unusable()),
        Datum::Date(number) | Datum::Time(number) if legacy => Some(number.to_string()),
        Datum::Timestamp(value) if legacy => Some(java_local_date_time(*value)),
        datum => Some(format_datum(datum, data_type)),
    })
}

/// Writes a name so that it can be one level of a path: control characters and ``" # % ' * / : = ? \ { } [ ] ^`` become
/// `%` and two upper-case hex digits; everything else stays, spaces and other alphabets too.
pub fn escape_path_name(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for character in name.chars() {
        if needs_escape(character) {
            // Infallible: a String takes all that is written. All characters of the set are below 0x80.
            let _ = write!(escaped, "%{:02X}", u32::from(character));
        } else {
            escaped.push(character);
        }
    }
    escaped
}

fn needs_escape(character: char) -> bool {
    matches!(
        character,
        '\u{0}'
            ..='\u{1f}'
                | '\u{7f}'
                | '"'
                | '#'
                | '%'
                | '\''
                | '*'
                | '/'
                | ':'
                | '='
                | '?'
                | '\\'
                | '{'
                | '}'
                | '['
                | ']'
                | '^'
    )
}

/// The inverse of [`escape_path_name`]: `%` and two hex digits become the one character with that number (Latin-1, not
/// UTF-8); a `%` that is followed by anything else stays.
pub fn unescape_path_name(escaped: &str) -> String {
    let mut name = String::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some(at) = rest.find('%') {
        let (before, from) = rest.split_at(at);
        name.push_str(before);
        let digits = from
            .get(1..3)
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(code) => {
                name.push(char::from(code));
                rest = from.get(3..).unwrap_or_default();
            }
            None => {
                name.push('%');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    name.push_str(rest);
    name
}

/// The directory of a partition below the table, one `key=value/` per key; empty for tables without partition keys.
///
/// Values that are null, empty or white space only go by `default_name` (option `partition.default-name`).
///
/// # Errors
/// [`TypeError::Corrupt`] if the row is not one of `types`, [`TypeError::Invalid`] if there is not one type per key, and as
/// [`partition_text`].
pub fn partition_path(
    keys: &[String],
    row: &BinaryRow,
    types: &[DataType],
    default_name: &str,
    legacy: bool,
) -> Result<String> {
    if keys.len() != types.len() {
        return Err(TypeError::invalid(format!(
            "{} partition keys of {} types",
            keys.len(),
            types.len()
        )));
    }
    let mut path = String::new();
    for ((key, data_type), datum) in keys.iter().zip(types).zip(row.to_datums(types)?) {
        let text =
            partition_text(&datum, data_type, legacy).map_err(|error| error.in_column(key))?;
        let text = text
            .as_deref()
            .filter(|text| !is_blank(text))
            .unwrap_or(default_name);
        path.push_str(&escape_path_name(key));
        path.push('=');
        path.push_str(&escape_path_name(text));
        path.push('/');
    }
    Ok(path)
}

/// Keys and texts of a partition path such as `a=1/b=x%2Fy/`, unescaped.
///
/// # Errors
/// [`TypeError::Invalid`] for a level without `=`.
pub fn split_partition_path(path: &str) -> Result<Vec<(String, String)>> {
    let levels = path.split('/').filter(|level| !level.is_empty());
    levels
        .map(|level| match level.split_once('=') {
            Some((key, value)) => Ok((unescape_path_name(key), unescape_path_name(value))),
            None => Err(TypeError::invalid(format!(
                "{level:?} is no partition directory (key=value)"
            ))),
        })
        .collect()
}

/// Java's `Character.isWhitespace` for every character: unlike Rust's, without the no-break spaces, with U+001C to U+001F.
fn is_blank(text: &str) -> bool {
    text.chars().all(|character| {
        matches!(character, '\t'..='\r' | '\u{1c}'..=' ' | '\u{1680}' | '\u{2000}'..='\u{2006}' | '\u{2008}'..='\u{200a}'
            | '\u{2028}' | '\u{2029}' | '\u{205f}' | '\u{3000}')
    })
}
