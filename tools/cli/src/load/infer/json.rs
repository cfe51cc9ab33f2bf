//! The types of JSON members.

use serde_json::{Map, Value};
use tidewater_types::{DataField, DataType, MAX_DECIMAL_PRECISION, RowType};

use super::text::{TextGuess, whole_number};

/// Deepest nesting that is made into a type.
const DEPTH_MAX: usize = 32;

/// Members in the order in which they were first seen.
#[derive(Debug, Default)]
pub(super) struct ObjectGuess {
    members: Vec<(String, ValueGuess)>,
}

/// What the values of a member could be.
#[derive(Debug, Default)]
struct ValueGuess {
    boolean: bool,
    number: Option<NumberGuess>,
    text: Option<TextGuess>,
    array: Option<Box<ValueGuess>>,
    object: Option<ObjectGuess>,
}

#[derive(Debug)]
struct NumberGuess {
    whole: bool,
    int: bool,
    big_int: bool,
    digits: usize,
}

impl ObjectGuess {
    pub(super) fn add(&mut self, members: &Map<String, Value>) {
        self.add_at(members, 0);
    }

    fn add_at(&mut self, members: &Map<String, Value>, depth: usize) {
        // Rows tend to have the same members in the same order.
        for (index, (name, value)) in members.iter().enumerate() {
            let hit = self
                .members
                .get(index)
                .is_some_and(|(known, _)| known == name);
            let place = if hit {
                Some(index)
            } else {
                self.members.iter().position(|(known, _)| known == name)
            };
            let place = place.unwrap_or_else(|| {
                self.members.push((name.clone(), ValueGuess::default()));
                self.members.len() - 1
            });
            if let Some((_, guess)) = self.members.get_mut(place) {
                guess.add(value, depth);
            }
        }
    }

    /// Names and types, or the reason why there are none.
    pub(super) fn columns(&self) -> Result<Vec<(String, DataType)>, String> {
        self.columns_at("", &mut 0)
    }

    fn columns_at(&self, path: &str, next_id: &mut i32) -> Result<Vec<(String, DataType)>, String> {
        let columns = self.members.iter().map(|(name, guess)| {
            let path = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}.{name}")
            };
            Ok((name.clone(), guess.data_type(&path, next_id)?))
        });
        columns.collect()
    }
}

impl ValueGuess {
    fn add(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Null => {}
            Value::Bool(_) => self.boolean = true,
            Value::Number(number) => {
                let text = number.to_string();
                let guess = self.number.get_or_insert(NumberGuess {
                    whole: true,
                    int: true,
                    big_int: true,
                    digits: 0,
                });
                guess.add(&text);
            }
            Value::String(text) => self
                .text
                .get_or_insert_with(TextGuess::of_json_strings)
                .add(text),
            Value::Array(values) => {
                let guess = self.array.get_or_insert_default();
                if depth < DEPTH_MAX {
                    values.iter().for_each(|value| guess.add(value, depth + 1));
                }
            }
            Value::Object(members) => {
                let guess = self.object.get_or_insert_default();
                if depth < DEPTH_MAX {
                    guess.add_at(members, depth + 1);
                }
            }
        }
    }

    fn data_type(&self, path: &str, next_id: &mut i32) -> Result<DataType, String> {
        let kinds = [
            (self.boolean, "booleans"),
            (self.number.is_some(), "numbers"),
            (self.text.is_some(), "strings"),
            (self.array.is_some(), "arrays"),
            (self.object.is_some(), "objects"),
        ];
        let kinds: Vec<&str> = kinds
            .into_iter()
            .filter_map(|(seen, name)| seen.then_some(name))
            .collect();
        if kinds.len() > 1 {
            let kinds = kinds.join(" and ");
            return Err(format!(
                "{path} holds {kinds}, which no type takes from JSON; say the columns with --schema"
            ));
        }
        if self.boolean {
            return Ok(DataType::boolean());
        }
        if let Some(number) = &self.number {
            return Ok(number.data_type());
        }
        if let Some(text) = &self.text {
            return Ok(text.data_type());
        }
        if let Some(element) = &self.array {
            let element = element.data_type(&format!("{path}[]"), next_id)?;
            return Ok(DataType::array(element));
        }
        if let Some(object) = &self.object {
            let members = object.columns_at(path, next_id)?;
            if members.is_empty() {
                return Err(format!("{path} holds objects without members"));
            }
            let fields = members.into_iter().map(|(name, data_type)| {
                *next_id += 1;
                DataField::new(*next_id, name, data_type)
            });
            return Ok(DataType::row(RowType::new(fields.collect())));
        }
        Ok(DataType::string())
    }
}

impl NumberGuess {
    fn add(&mut self, text: &str) {
        let whole = whole_number(text);
        let digits = text.strip_prefix('-').unwrap_or(text);
        self.int &= whole.is_some_and(|value| i32::try_from(value).is_ok());
        self.big_int &= whole.is_some();
        self.whole &= digits.bytes().all(|byte| byte.is_ascii_digit());
        self.digits = self.digits.max(digits.len());
    }

    fn data_type(&self) -> DataType {
        if self.int {
            DataType::int()
        } else if self.big_int {
            DataType::big_int()
        } else if self.whole && self.digits <= usize::from(MAX_DECIMAL_PRECISION) {
            DataType::decimal(MAX_DECIMAL_PRECISION, 0)
        } else {
            DataType::double()
        }
    }
}
