//! Random values of every type in the JSON encoding of the contract; each type's edges come up often.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::canonical::canonical;
use crate::random::SeededRandom;
use crate::sql_type::SqlType;

const WORDS: &[&str] = &[
    "tide", "water", "lake", "stream", "batch", "log", "snapshot", "manifest", "level", "bucket",
    "merge", "sort", "run", "key", "value", "delta", "change", "flow", "river", "ebb", "neap",
    "spring", "moon", "pull", "drift", "shoal",
];

/// Texts that broke systems: empty, quotes, separators of paths, beyond the basic plane, long, control characters.
const TRICKY: &[&str] = &[
    "",
    " ",
    "a b",
    "a/b",
    "a=b",
    "100%",
    "ünïcødé",
    "日本語",
    "\u{1F30A} wave",
    "tab\there",
    "new\nline",
    "quote\"s",
    "back\\slash",
    "null",
    "NULL",
    "__DEFAULT_PARTITION__",
    "0",
    "-1",
    "zzzzzzzzzzzzzzzzzzzzzzzzzzzz",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
    "\u{7f}",
    "ÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿ",
    "\u{ffff}\u{ffff}\u{ffff}",
    "\u{10FFFF}\u{10FFFF}\u{10FFFF}\u{10FFFF}\u{10FFFF}",
    "\u{1}\u{8}\u{c}\u{1f}",
];

/// Makes values; from one seed always the same.
#[derive(Debug, Clone)]
pub struct ValueGen {
    random: SeededRandom,
    edge_percent: u32,
    null_percent: u32,
}

impl ValueGen {
    /// Values with edges in `edge_percent` and nulls (where allowed) in `null_percent` of a hundred cases.
    pub fn new(random: SeededRandom, edge_percent: u32, null_percent: u32) -> Self {
        Self {
            random,
            edge_percent,
            null_percent,
        }
    }

    /// A value of `data_type`, which is spelled as in schema files.
    pub fn value(&mut self, data_type: &Value) -> Value {
        let sql = SqlType::of(data_type);
        if sql.nullable && self.random.chance(self.null_percent) {
            return Value::Null;
        }
        match sql.name.as_str() {
            "ARRAY" => self.array(part(data_type, "element")),
            "MAP" => self.map(part(data_type, "key"), part(data_type, "value")),
            "MULTISET" => self.multiset(part(data_type, "element")),
            "ROW" => self.row(
                data_type
                    .get("fields")
                    .and_then(Value::as_array)
                    .map_or(&[], Vec::as_slice),
            ),
            _ => self.plain(&sql),
        }
    }

    /// An object with a value for each of `fields`.
    pub fn row(&mut self, fields: &[Value]) -> Value {
        let members = fields
            .iter()
            .map(|field| {
                let name = field
                    .get("name")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                (name.to_owned(), self.value(part(field, "type")))
            })
            .collect::<Map<_, _>>();
        Value::Object(members)
    }

    fn plain(&mut self, sql: &SqlType) -> Value {
        let edge = self.random.chance(self.edge_percent);
        match sql.name.as_str() {
            "BOOLEAN" => Value::from(self.random.chance(50)),
            "TINYINT" => self.whole(edge, i64::from(i8::MIN), i64::from(i8::MAX)),
            "SMALLINT" => self.whole(edge, i64::from(i16::MIN), i64::from(i16::MAX)),
            "INT" => self.whole(edge, i64::from(i32::MIN), i64::from(i32::MAX)),
            "BIGINT" => self.whole(edge, i64::MIN, i64::MAX),
            "FLOAT" => self.float(edge),
            "DOUBLE" => self.double(edge),
            "DECIMAL" => self.decimal(edge, sql.first(10), sql.second(0)),
            "CHAR" | "VARCHAR" | "STRING" => self.text(edge, sql),
            "BINARY" => self.bytes(sql.first(1), true),
            "VARBINARY" | "BYTES" => self.bytes(sql.first(40), false),
            "DATE" => self.date(edge),
            "TIME" => self.time(edge, sql.first(0)),
            "TIMESTAMP" => Value::from(self.timestamp(edge, sql.first(6))),
            "TIMESTAMP_LTZ" => Value::from(self.timestamp(edge, sql.first(6)) + "Z"),
            _ => Value::Null,
        }
    }

    fn whole(&mut self, edge: bool, low: i64, high: i64) -> Value {
        Value::from(if edge {
            self.random.choose(&[low, high, 0, -1, 1])
        } else {
            self.random.between(low.max(-1000), high.min(100_000))
        })
    }

    fn float(&mut self, edge: bool) -> Value {
        if edge {
            return real(
                &mut self.random,
                &[0.0, -0.0, f64::from(f32::MAX), f64::from(f32::from_bits(1))],
            );
        }
        let bits = i32::try_from(self.random.between(-100_000_000, 100_000_000)).unwrap_or(0);
        #[expect(clippy::cast_precision_loss, reason = "any float will do")]
        let single = bits as f32 / 64.0;
        Value::from(f64::from(single))
    }

    fn double(&mut self, edge: bool) -> Value {
        if edge {
            return real(&mut self.random, &[0.0, -0.0, f64::MAX, 5e-324, 0.1]);
        }
        #[expect(clippy::cast_precision_loss, reason = "any double will do")]
        let double = self.random.between(-(1 << 60), 1 << 60) as f64 / 1e9;
        Value::from(double)
    }

    fn decimal(&mut self, edge: bool, precision: u32, scale: u32) -> Value {
        let most = 10_i128.pow(precision.min(38)) - 1;
        let unscaled = if edge {
            self.random.choose(&[0, 1, -1, most, -most])
        } else {
            let limit = i64::try_from(most.min(999_999_999_999)).unwrap_or(i64::MAX);
            i128::from(self.random.between(-limit, limit))
        };
        Value::from(decimal_text(unscaled, scale))
    }

    fn text(&mut self, edge: bool, sql: &SqlType) -> Value {
        let text = if edge {
            self.random.choose(TRICKY).to_owned()
        } else {
            let words = self.random.between(1, 4);
            let mut text = (0..words)
                .map(|_| self.random.choose(WORDS))
                .collect::<Vec<_>>()
                .join(" ");
            text.push_str(&self.random.between(0, 999).to_string());
            text
        };
        let most = usize::try_from(sql.first(1000)).unwrap_or(1000);
        Value::from(text.chars().take(most).collect::<String>())
    }

    fn bytes(&mut self, most: u32, exact: bool) -> Value {
        let length = if exact {
            i64::from(most)
        } else {
            self.random.between(0, i64::from(most))
        };
        let bytes: Vec<u8> = (0..length)
            .map(|_| u8::try_from(self.random.below(256)).unwrap_or(0))
            .collect();
        Value::from(STANDARD.encode(bytes))
    }

    fn date(&mut self, edge: bool) -> Value {
        if edge {
            let edges = [
                "1970-01-01",
                "1969-12-31",
                "2024-02-29",
                "9999-12-31",
                "0001-01-01",
                "1582-10-04",
                "1582-10-15",
            ];
            return Value::from(self.random.choose(&edges));
        }
        Value::from(date_text(self.random.between(-3000, 25_000)))
    }

    fn time(&mut self, edge: bool, precision: u32) -> Value {
        let mut millis = if edge {
            self.random.choose(&[0, 86_399_999, 1])
        } else {
            self.random.between(0, 86_399_999)
        };
        if precision == 0 {
            millis -= millis % 1000;
        }
        Value::from(format!(
            "{}.{:03}",
            clock_text(millis / 1000),
            millis % 1000
        ))
    }

    fn timestamp(&mut self, edge: bool, precision: u32) -> String {
        let (seconds, nanos) = if edge {
            (
                self.random
                    .choose(&[0, -86_400, -1, 1_709_164_800, 4_102_444_799, -2_208_988_800]),
                self.random.choose(&[0, 1, 999_999_999]),
            )
        } else {
            (
                self.random.between(-100_000_000, 2_000_000_000),
                self.random.between(0, 999_999_999),
            )
        };
        let mut text = format!(
            "{}T{}",
            date_text(seconds.div_euclid(86_400)),
            clock_text(seconds.rem_euclid(86_400))
        );
        if precision > 0 {
            let digits = format!("{nanos:09}");
            text.push('.');
            text.extend(digits.chars().take(usize::try_from(precision).unwrap_or(9)));
        }
        text
    }

    fn array(&mut self, element: &Value) -> Value {
        let length = self.random.choose(&[0_i64, 1, 1, 2, 3, 5]);
        (0..length).map(|_| self.value(element)).collect()
    }

    fn map(&mut self, key: &Value, value: &Value) -> Value {
        let keys = self.distinct(key);
        keys.into_iter()
            .map(|key| Value::from(vec![key, self.value(value)]))
            .collect()
    }

    fn multiset(&mut self, element: &Value) -> Value {
        let elements = self.distinct(element);
        elements
            .into_iter()
            .map(|element| Value::from(vec![element, Value::from(self.random.between(1, 5))]))
            .collect()
    }

    /// Up to three different values that are not null, by the bytes of their JSON text.
    fn distinct(&mut self, data_type: &Value) -> Vec<Value> {
        let count = self.random.choose(&[0_i64, 1, 2, 3]);
        let mut values: Vec<(String, Value)> = (0..count)
            .map(|_| self.value(data_type))
            .filter(|value| !value.is_null())
            .map(|value| (canonical(&value), value))
            .collect();
        values.sort_unstable_by(|one, two| one.0.cmp(&two.0));
        values.dedup_by(|one, two| one.0 == two.0);
        values.into_iter().map(|(_, value)| value).collect()
    }
}

fn part<'a>(data_type: &'a Value, name: &str) -> &'a Value {
    data_type.get(name).unwrap_or(&Value::Null)
}

/// One of `edges`, or one of the values that JSON numbers cannot say.
fn real(random: &mut SeededRandom, edges: &[f64]) -> Value {
    match random.below(edges.len() + 3) {
        0 => Value::from("NaN"),
        1 => Value::from("Infinity"),
        2 => Value::from("-Infinity"),
        other => Value::from(edges.get(other - 3).copied().unwrap_or_default()),
    }
}

fn decimal_text(unscaled: i128, scale: u32) -> String {
    let sign = if unscaled < 0 { "-" } else { "" };
    let scale = usize::try_from(scale).unwrap_or(0);
    let digits = format!(
        "{:0>width$}",
        unscaled.unsigned_abs().to_string(),
        width = scale + 1
    );
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    if scale == 0 {
        format!("{sign}{whole}")
    } else {
        format!("{sign}{whole}.{fraction}")
    }
}

/// The civil date of a day number, for years 0 to 9999 (Howard Hinnant's `civil_from_days`).
fn date_text(days: i64) -> String {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_part = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_part + 2) / 5 + 1;
    let month = if month_part < 10 {
        month_part + 3
    } else {
        month_part - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

fn clock_text(seconds: i64) -> String {
    format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_dates_and_decimals() {
        assert_eq!(date_text(0), "1970-01-01");
        assert_eq!(date_text(-1), "1969-12-31");
        assert_eq!(date_text(19_782), "2024-02-29");
        assert_eq!(date_text(-719_162), "0001-01-01");
        assert_eq!(decimal_text(-5, 2), "-0.05");
        assert_eq!(decimal_text(12_345, 0), "12345");
        assert_eq!(decimal_text(12_345, 3), "12.345");
    }

    #[test]
    fn a_seed_gives_the_same_values_and_they_have_the_shape_of_their_type() {
        let row = serde_json::json!([
            {"name": "a", "type": "INT NOT NULL"},
            {"name": "b", "type": {"type": "MAP", "key": "STRING NOT NULL", "value": {"type": "ARRAY", "element": "DOUBLE"}}},
            {"name": "c", "type": "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL"},
        ]);
        let fields = row.as_array().unwrap();
        let make = || {
            let mut values = ValueGen::new(SeededRandom::new(3), 20, 10);
            (0..50).map(|_| values.row(fields)).collect::<Vec<_>>()
        };
        assert_eq!(make(), make());
        for row in make() {
            assert!(row["a"].is_i64());
            assert!(row["b"].is_null() || row["b"].is_array());
            let instant = row["c"].as_str().unwrap();
            assert!(
                instant.ends_with('Z') && instant.len() == "2024-02-29T00:00:00.000Z".len(),
                "{instant}"
            );
        }
    }
}
