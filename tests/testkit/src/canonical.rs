//! One text for all JSON texts of a value.
//!
//! Members sorted by name, whole numbers by their digits, other numbers by the shortest digits that give the same double, so that
//! `1e-5`, `0.00001` and `1.0E-5` are one and `1` and `1.0` are two. NaN and the infinities are strings in the contract and stay such.

use serde_json::Value;

/// The canonical text of `value`. Equal texts mean equal values, floats bit for bit.
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value);
    text
}

fn write(out: &mut String, value: &Value) {
    match value {
        Value::Number(number) => out.push_str(&number_text(&number.to_string())),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(out, item);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| name.as_str());
            out.push('{');
            for (index, (name, member)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
                write(out, member);
            }
            out.push('}');
        }
        Value::Null | Value::Bool(_) | Value::String(_) => out.push_str(&value.to_string()),
    }
}

fn number_text(text: &str) -> String {
    if !text.contains(['.', 'e', 'E']) {
        return if text == "-0" {
            "0".to_owned()
        } else {
            text.to_owned()
        };
    }
    match text.parse::<f64>() {
        Ok(double) => format!("{double:?}"),
        Err(_) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        canonical(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn spellings_of_one_double_are_one() {
        assert_eq!(of("1.0E-5"), of("0.00001"));
        assert_eq!(of("1e16"), of("1.0E16"));
        assert_ne!(of("1"), of("1.0"));
        assert_ne!(of("0.0"), of("-0.0"));
        assert_ne!(of("0.1"), of("0.10000000000000002"));
    }

    #[test]
    fn whole_numbers_keep_every_digit() {
        assert_eq!(of("9223372036854775807"), "9223372036854775807");
        assert_ne!(of("9223372036854775807"), of("9223372036854775806"));
    }

    #[test]
    fn the_order_of_members_does_not_count_but_that_of_elements_does() {
        assert_eq!(
            of(r#"{"b":[1,2],"a":null}"#),
            of(r#"{"a":null, "b":[1,2]}"#)
        );
        assert_ne!(of("[1,2]"), of("[2,1]"));
    }
}
