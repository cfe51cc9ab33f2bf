//! What a user says of a new table.
//!
//! The JSON form is that of the command line (`create --schema FILE`): as a schema file, with ids and versions left out.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tidewater_types::{DataField, RowType};

use crate::error::{FormatError, Result};
use crate::json::kind_of;

const WHAT: &str = "table definition";

/// Columns, keys and options of a table that does not exist yet. Field ids in it mean nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SchemaDefinition {
    /// Columns in table order.
    pub fields: Vec<DataField>,
    /// Primary key columns; empty for an append table.
    pub primary_keys: Vec<String>,
    /// Partition columns, in directory order.
    pub partition_keys: Vec<String>,
    /// Options as text.
    pub options: BTreeMap<String, String>,
    /// Comment of the table.
    pub comment: Option<String>,
}

impl SchemaDefinition {
    /// A table whose rows are added and stay.
    pub fn append(columns: RowType) -> Self {
        Self {
            fields: columns.fields,
            ..Self::default()
        }
    }

    /// A table that keeps the newest row of each primary key. Key columns must be NOT NULL.
    pub fn keyed<N: Into<String>>(columns: RowType, key: impl IntoIterator<Item = N>) -> Self {
        Self {
            primary_keys: key.into_iter().map(Into::into).collect(),
            ..Self::append(columns)
        }
    }

    /// The same, partitioned by these columns.
    #[must_use]
    pub fn partitioned_by<N: Into<String>>(mut self, keys: impl IntoIterator<Item = N>) -> Self {
        self.partition_keys = keys.into_iter().map(Into::into).collect();
        self
    }

    /// The same with an option set.
    #[must_use]
    pub fn with_option(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.insert(key.into(), value.into());
        self
    }

    /// Reads the JSON form. Members of a schema file that a definition does not need (ids, version, time) are let pass, so
    /// that the schema file of one table defines another.
    ///
    /// # Errors
    /// [`FormatError::Request`] that names the member, [`FormatError::Type`] for a type that is none.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        let request = |reason: String| FormatError::Request { what: WHAT, reason };
        let json: Value =
            serde_json::from_slice(bytes).map_err(|error| request(error.to_string()))?;
        let Value::Object(members) = json else {
            return Err(request(format!(
                "a json object is expected, not {}",
                kind_of(&json)
            )));
        };
        let mut definition = Self::default();
        let mut fields_seen = false;
        for (name, value) in members {
            match name.as_str() {
                "fields" => {
                    fields_seen = true;
                    definition.fields = RowType::from_fields_json(&without_ids(value))?.fields;
                }
                "primaryKeys" => definition.primary_keys = names(&name, value)?,
                "partitionKeys" => definition.partition_keys = names(&name, value)?,
                "options" => definition.options = option_texts(value)?,
                "comment" => {
                    definition.comment = match value {
                        Value::Null => None,
                        Value::String(text) => Some(text),
                        other => {
                            let found = kind_of(&other);
                            return Err(request(format!("\"comment\" is text, not {found}")));
                        }
                    };
                }
                "version" | "id" | "highestFieldId" | "timeMillis" => {}
                other => {
                    let known = "fields, primaryKeys, partitionKeys, options, comment";
                    return Err(request(format!(
                        "{other:?} is none of its members ({known})"
                    )));
                }
            }
        }
        if !fields_seen {
            return Err(request("the member \"fields\" is missing".to_owned()));
        }
        Ok(definition)
    }
}

/// The same JSON with the ids of all fields taken out, at every depth.
pub(super) fn without_ids(json: Value) -> Value {
    match json {
        Value::Array(items) => items.into_iter().map(without_ids).collect(),
        Value::Object(mut members) => {
            if members.contains_key("name") && members.contains_key("type") {
                members.shift_remove("id");
            }
            let members = members
                .into_iter()
                .map(|(name, value)| (name, without_ids(value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        other => other,
    }
}

fn names(member: &str, json: Value) -> Result<Vec<String>> {
    let wrong = || FormatError::Request {
        what: WHAT,
        reason: format!("{member:?} is an array of column names"),
    };
    match json {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => items
            .into_iter()
            .map(|item| match item {
                Value::String(name) => Ok(name),
                _ => Err(wrong()),
            })
            .collect(),
        _ => Err(wrong()),
    }
}

/// Option values are text; numbers and booleans stand for their text.
fn option_texts(json: Value) -> Result<BTreeMap<String, String>> {
    let members = match json {
        Value::Null => return Ok(BTreeMap::new()),
        Value::Object(members) => members,
        other => {
            let found = kind_of(&other);
            return Err(FormatError::Request {
                what: WHAT,
                reason: format!("\"options\" is an object of text, not {found}"),
            });
        }
    };
    members
        .into_iter()
        .map(|(key, value)| match option_text(&value) {
            Some(text) => Ok((key, text)),
            None => Err(FormatError::Request {
                what: WHAT,
                reason: format!("option '{key}' is text, not {}", kind_of(&value)),
            }),
        })
        .collect()
}

/// The text of an option's value in a request.
pub(super) fn option_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    }
}
