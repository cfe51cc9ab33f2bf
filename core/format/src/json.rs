//! JSON as Java writes it, and members read by name.
//!
//! Java Paimon prints metadata with Jackson's default pretty printer: two spaces of indent, ` : ` between name and
//! value, arrays on one line (`[ 1, 2 ]`), empty ones as `{ }` and `[ ]`. Readers do not care, but files of equal
//! content then have equal bytes. Source: spec 01a §1, Paimon `utils/JsonSerdeUtil.java`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::error::{FormatError, Result};

/// The value as Java's pretty printer has it, without a line end.
pub(crate) fn to_java_pretty(value: &Value) -> Vec<u8> {
    let mut out = String::with_capacity(1024);
    write_value(&mut out, value, 0);
    out.into_bytes()
}

fn write_value(out: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::String(text) => write_text(out, text),
        Value::Array(items) if items.is_empty() => out.push_str("[ ]"),
        Value::Array(items) => {
            // Arrays stay on the line and add no indent of their own.
            out.push_str("[ ");
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    out.push_str(", ");
                }
                write_value(out, item, depth);
            }
            out.push_str(" ]");
        }
        Value::Object(members) if members.is_empty() => out.push_str("{ }"),
        Value::Object(members) => {
            out.push('{');
            for (position, (name, member)) in members.iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write_line_start(out, depth + 1);
                write_text(out, name);
                out.push_str(" : ");
                write_value(out, member, depth + 1);
            }
            write_line_start(out, depth);
            out.push('}');
        }
    }
}

fn write_line_start(out: &mut String, depth: usize) {
    out.push('\n');
    for _ in 0..depth {
        out.push_str("  ");
    }
}

fn write_text(out: &mut String, text: &str) {
    const HEX: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F',
    ];
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' => {
                let code = c as usize;
                out.push_str("\\u00");
                out.extend(HEX.get(code >> 4));
                out.extend(HEX.get(code & 15));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}

/// The members of one JSON object of a metadata file, taken out by name; what is left at the end is unknown to us.
///
/// An absent member and an explicit `null` are the same (spec 01 §0).
#[derive(Debug)]
pub(crate) struct Members {
    what: &'static str,
    members: Map<String, Value>,
}

impl Members {
    /// Parses `bytes`, which claim to be a `what`.
    pub(crate) fn parse(what: &'static str, bytes: &[u8]) -> Result<Self> {
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(members)) => Ok(Self { what, members }),
            Ok(other) => Err(FormatError::corrupt(
                what,
                format!("a json object is expected, not {}", kind_of(&other)),
            )),
            Err(source) => Err(FormatError::Json { what, source }),
        }
    }

    /// What was not taken.
    pub(crate) fn into_rest(self) -> Map<String, Value> {
        self.members
    }

    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        // `shift_remove` keeps the order of what stays, so that unknown members are written back as they came.
        match self.members.shift_remove(name) {
            Some(Value::Null) | None => None,
            present => present,
        }
    }

    pub(crate) fn missing(&self, name: &str) -> FormatError {
        FormatError::corrupt(self.what, format!("member {name:?} is missing"))
    }

    pub(crate) fn wrong(&self, name: &str, expected: &str, found: &Value) -> FormatError {
        let found = kind_of(found);
        FormatError::corrupt(
            self.what,
            format!("member {name:?} is {found} where {expected} is expected"),
        )
    }

    pub(crate) fn long(&mut self, name: &str) -> Result<Option<i64>> {
        self.take(name)
            .map(|value| {
                value
                    .as_i64()
                    .ok_or_else(|| self.wrong(name, "a 64-bit integer", &value))
            })
            .transpose()
    }

    pub(crate) fn int(&mut self, name: &str) -> Result<Option<i32>> {
        self.take(name)
            .map(|value| {
                let int = value.as_i64().and_then(|long| i32::try_from(long).ok());
                int.ok_or_else(|| self.wrong(name, "a 32-bit integer", &value))
            })
            .transpose()
    }

    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(name, "text", &other)),
        }
    }

    pub(crate) fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>> {
        let items = match self.take(name) {
            None => return Ok(None),
            Some(Value::Array(items)) => items,
            Some(other) => return Err(self.wrong(name, "an array of text", &other)),
        };
        let texts = items.into_iter().map(|item| match item {
            Value::String(text) => Ok(text),
            other => Err(self.wrong(name, "an array of text", &other)),
        });
        texts.collect::<Result<_>>().map(Some)
    }

    /// An object whose values are text, in the order of the file.
    pub(crate) fn text_map(&mut self, name: &str) -> Result<Option<Vec<(String, String)>>> {
        let members = match self.take(name) {
            None => return Ok(None),
            Some(Value::Object(members)) => members,
            Some(other) => return Err(self.wrong(name, "an object of text", &other)),
        };
        let texts = members.into_iter().map(|(key, value)| match value {
            Value::String(text) => Ok((key, text)),
            other => Err(self.wrong(&format!("{name}.{key}"), "text", &other)),
        });
        texts.collect::<Result<_>>().map(Some)
    }
}

/// The order of these members, if it is another than that of their names; a map that keeps it elsewhere needs no more.
pub(crate) fn order_of(members: &[(String, String)]) -> Vec<String> {
    if members.is_sorted_by(|(first, _), (second, _)| first <= second) {
        return Vec::new();
    }
    members.iter().map(|(name, _)| name.clone()).collect()
}

/// A JSON object of text: first the members that `order` names, then the others by name.
pub(crate) fn text_object(
    order: &[String],
    texts: &BTreeMap<String, String>,
) -> Map<String, Value> {
    let ordered = order.iter().filter_map(|name| texts.get_key_value(name));
    // Inserting a member again leaves it where it is.
    let members = ordered
        .chain(texts)
        .map(|(name, text)| (name.clone(), text.clone().into()));
    members.collect()
}

/// What a JSON value is, for messages: never the value itself, which may be long.
pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_jackson_does() {
        let value: Value = serde_json::from_str(
            r#"{"a":1,"b":[{"c":[]},[2,3.50]],"d":{},"e":null,"f":"q\"\\\u0001\u001f\b\f/é\n"}"#,
        )
        .unwrap();
        let expected = concat!(
            "{\n  \"a\" : 1,\n  \"b\" : [ {\n    \"c\" : [ ]\n  }, [ 2, 3.50 ] ],\n  \"d\" : { },\n",
            "  \"e\" : null,\n  \"f\" : \"q\\\"\\\\\\u0001\\u001F\\b\\f/é\\n\"\n}"
        );
        assert_eq!(String::from_utf8(to_java_pretty(&value)).unwrap(), expected);
    }

    #[test]
    fn printed_json_reads_back_equal() {
        let value: Value =
            serde_json::from_str(r#"{"x":[{"y":{"z":[[],{}]}}],"t":"\u007f\u2028"}"#).unwrap();
        let again: Value = serde_json::from_slice(&to_java_pretty(&value)).unwrap();
        assert_eq!(again, value);
    }

    #[test]
    fn a_member_of_another_type_is_named() {
        let mut members = Members::parse("snapshot", br#"{"id":"7"}"#).unwrap();
        assert_eq!(
            members.long("id").unwrap_err().to_string(),
            "corrupt snapshot: member \"id\" is text where a 64-bit integer is expected"
        );
    }
}
