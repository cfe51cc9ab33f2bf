//! Just enough of the type language to make values: a name, its numbers, nullability.

use serde_json::Value;

/// A type as schema files spell it, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SqlType {
    /// The name without parameters, `TIMESTAMP_LTZ` for the local-zoned kind.
    pub(crate) name: String,
    /// The numbers in parentheses.
    pub(crate) numbers: Vec<u32>,
    /// Whether null is allowed.
    pub(crate) nullable: bool,
}

impl SqlType {
    /// Takes the text of a type apart; of a nested type, the text under `type`.
    pub(crate) fn of(data_type: &Value) -> Self {
        let text = data_type
            .as_str()
            .or_else(|| data_type.get("type").and_then(Value::as_str))
            .unwrap_or_default();
        let nullable = !text.contains("NOT NULL");
        let bare = text.replace("NOT NULL", "");
        let name = bare.split('(').next().unwrap_or_default().trim();
        let numbers = bare
            .split_once('(')
            .and_then(|(_, rest)| rest.split_once(')'))
            .map(|(inside, _)| {
                inside
                    .split(',')
                    .filter_map(|number| number.trim().parse().ok())
                    .collect()
            })
            .unwrap_or_default();
        let local = bare.contains("WITH LOCAL TIME ZONE");
        let name = if local { "TIMESTAMP_LTZ" } else { name };
        Self {
            name: name.to_owned(),
            numbers,
            nullable,
        }
    }

    /// The first number, or `default`.
    pub(crate) fn first(&self, default: u32) -> u32 {
        self.numbers.first().copied().unwrap_or(default)
    }

    /// The second number, or `default`.
    pub(crate) fn second(&self, default: u32) -> u32 {
        self.numbers.get(1).copied().unwrap_or(default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> SqlType {
        SqlType::of(&Value::from(text))
    }

    #[test]
    fn takes_names_numbers_and_nullability() {
        assert_eq!(
            of("DECIMAL(10, 2) NOT NULL"),
            SqlType {
                name: "DECIMAL".into(),
                numbers: vec![10, 2],
                nullable: false
            }
        );
        assert_eq!(
            of("TIMESTAMP(3) WITH LOCAL TIME ZONE").name,
            "TIMESTAMP_LTZ"
        );
        assert_eq!(
            of("STRING"),
            SqlType {
                name: "STRING".into(),
                numbers: vec![],
                nullable: true
            }
        );
        let nested = serde_json::json!({"type": "ARRAY NOT NULL", "element": "INT"});
        assert_eq!(
            SqlType::of(&nested),
            SqlType {
                name: "ARRAY".into(),
                numbers: vec![],
                nullable: false
            }
        );
    }
}
