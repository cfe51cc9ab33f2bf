//! One change to a table, as a user asks for it.
//!
//! The JSON form is that of the command line (`alter --change JSON`): `{"op":"add-column","column":"c","type":"INT"}`.

use serde_json::{Map, Value};
use tidewater_types::DataType;

use super::definition::{option_text, without_ids};
use crate::error::{FormatError, Result};
use crate::json::kind_of;

const WHAT: &str = "schema change";

/// Where a column goes among those beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnPosition {
    /// In front of all.
    First,
    /// Behind all.
    Last,
    /// Right behind this column.
    After(String),
    /// Right before this column.
    Before(String),
}

/// One change to a table.
///
/// A `path` is a column's name, or names that lead into it: members of a ROW by name, elements of an ARRAY by `element`,
/// values of a MAP by `value`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SchemaChange {
    /// Sets an option.
    SetOption {
        /// Its key.
        key: String,
        /// Its text.
        value: String,
    },
    /// Removes an option; one that is not set is no error.
    RemoveOption {
        /// Its key.
        key: String,
    },
    /// Sets or removes the table's comment.
    SetComment(Option<String>),
    /// Adds a column, which must be nullable: old rows have no value for it.
    AddColumn {
        /// Path with the new name at the end.
        path: Vec<String>,
        /// Its type; ids inside mean nothing.
        data_type: DataType,
        /// Its comment.
        description: Option<String>,
        /// Its place; last if not given.
        position: Option<ColumnPosition>,
    },
    /// Gives a column another name.
    RenameColumn {
        /// The column.
        path: Vec<String>,
        /// The new name, without a path.
        to: String,
    },
    /// Drops a column; its id is never used again.
    DropColumn {
        /// The column.
        path: Vec<String>,
    },
    /// Gives a column another type; old files are cast when read.
    ChangeType {
        /// The column, or a part of its type.
        path: Vec<String>,
        /// The new type.
        data_type: DataType,
        /// Whether nullability stays as it is, whatever the type says.
        keep_nullability: bool,
    },
    /// Allows or forbids nulls.
    ChangeNullability {
        /// The column, or a part of its type.
        path: Vec<String>,
        /// Whether nulls are allowed.
        nullable: bool,
    },
    /// Sets or removes a column's comment.
    ChangeColumnComment {
        /// The column.
        path: Vec<String>,
        /// The comment.
        comment: Option<String>,
    },
    /// Sets or removes the value that writers put in when none is given.
    ChangeDefaultValue {
        /// The column.
        path: Vec<String>,
        /// The value's text.
        value: Option<String>,
    },
    /// Moves a column of the table.
    MoveColumn {
        /// The column.
        column: String,
        /// Its new place.
        position: ColumnPosition,
    },
}

impl SchemaChange {
    /// Reads one change.
    ///
    /// # Errors
    /// [`FormatError::Request`] that says what is missing, [`FormatError::Type`] for a type that is none.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        Self::from_json_value(parse(bytes)?)
    }

    /// Reads one change, or an array of them.
    ///
    /// # Errors
    /// As [`SchemaChange::from_json`].
    pub fn list_from_json(bytes: &[u8]) -> Result<Vec<Self>> {
        match parse(bytes)? {
            Value::Array(items) => items.into_iter().map(Self::from_json_value).collect(),
            one => Ok(vec![Self::from_json_value(one)?]),
        }
    }

    /// Reads one change from parsed JSON.
    ///
    /// # Errors
    /// As [`SchemaChange::from_json`].
    pub fn from_json_value(json: Value) -> Result<Self> {
        let Value::Object(members) = json else {
            return Err(request(format!(
                "a json object is expected, not {}",
                kind_of(&json)
            )));
        };
        let mut members = ChangeMembers {
            op: String::new(),
            members,
        };
        members.op = members.text("op")?;
        let change = match members.op.as_str() {
            "set-option" => Self::SetOption {
                key: members.text("key")?,
                value: members.option_value()?,
            },
            "remove-option" => Self::RemoveOption {
                key: members.text("key")?,
            },
            "comment" => Self::SetComment(members.nullable_text("value")?),
            "add-column" => Self::AddColumn {
                path: members.path()?,
                data_type: members.data_type()?,
                description: members.nullable_text("description")?,
                position: members.position()?,
            },
            "drop-column" => Self::DropColumn {
                path: members.path()?,
            },
            "rename-column" => Self::RenameColumn {
                path: members.path()?,
                to: members.text("to")?,
            },
            "change-type" => Self::ChangeType {
                path: members.path()?,
                data_type: members.data_type()?,
                keep_nullability: members.flag("keepNullability")?.unwrap_or(false),
            },
            "nullability" => {
                let nullable = members.flag("nullable")?;
                Self::ChangeNullability {
                    path: members.path()?,
                    nullable: nullable.ok_or_else(|| members.missing("nullable"))?,
                }
            }
            "column-comment" => Self::ChangeColumnComment {
                path: members.path()?,
                comment: members.nullable_text("value")?,
            },
            "default-value" => Self::ChangeDefaultValue {
                path: members.path()?,
                value: members.nullable_text("value")?,
            },
            "move-column" => {
                let column = match members.path()?.as_slice() {
                    [column] => column.clone(),
                    path => {
                        let path = path.join(".");
                        return Err(request(format!(
                            "only columns of the table move, not {path:?}"
                        )));
                    }
                };
                let position = members.position()?;
                Self::MoveColumn {
                    column,
                    position: position
                        .ok_or_else(|| members.missing("first, last, after or before"))?,
                }
            }
            other => return Err(request(format!("there is no op {other:?}"))),
        };
        match members.members.keys().next() {
            None => Ok(change),
            Some(unknown) => Err(request(format!(
                "{unknown:?} means nothing to op {:?}",
                members.op
            ))),
        }
    }
}

fn parse(bytes: &[u8]) -> Result<Value> {
    serde_json::from_slice(bytes).map_err(|error| request(error.to_string()))
}

fn request(reason: String) -> FormatError {
    FormatError::Request { what: WHAT, reason }
}

/// The members of one change; each is taken out as it is read.
struct ChangeMembers {
    op: String,
    members: Map<String, Value>,
}

impl ChangeMembers {
    fn missing(&self, name: &str) -> FormatError {
        request(format!("op {:?} needs {name}", self.op))
    }

    fn wrong(&self, name: &str, expected: &str, found: &Value) -> FormatError {
        request(format!("{name:?} is {}, not {expected}", kind_of(found)))
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.members.shift_remove(name)
    }

    fn text(&mut self, name: &str) -> Result<String> {
        match self.take(name) {
            Some(Value::String(text)) => Ok(text),
            Some(other) => Err(self.wrong(name, "text", &other)),
            None => Err(self.missing(name)),
        }
    }

    fn nullable_text(&mut self, name: &str) -> Result<Option<String>> {
        match self.take(name) {
            Some(Value::String(text)) => Ok(Some(text)),
            Some(Value::Null) | None => Ok(None),
            Some(other) => match option_text(&other) {
                Some(text) => Ok(Some(text)),
                None => Err(self.wrong(name, "text", &other)),
            },
        }
    }

    fn option_value(&mut self) -> Result<String> {
        let value = self.take("value").ok_or_else(|| self.missing("value"))?;
        option_text(&value).ok_or_else(|| self.wrong("value", "text", &value))
    }

    fn flag(&mut self, name: &str) -> Result<Option<bool>> {
        match self.take(name) {
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(Value::Null) | None => Ok(None),
            Some(other) => Err(self.wrong(name, "true or false", &other)),
        }
    }

    fn data_type(&mut self) -> Result<DataType> {
        let json = self.take("type").ok_or_else(|| self.missing("type"))?;
        Ok(DataType::from_json(&without_ids(json))?)
    }

    fn path(&mut self) -> Result<Vec<String>> {
        let names = match self.take("column") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(items)) if !items.is_empty() => items
                .into_iter()
                .map(|item| match item {
                    Value::String(name) => Ok(name),
                    other => Err(self.wrong("column", "a name or an array of names", &other)),
                })
                .collect::<Result<_>>()?,
            Some(other) => return Err(self.wrong("column", "a name or an array of names", &other)),
            None => return Err(self.missing("column")),
        };
        Ok(names)
    }

    fn position(&mut self) -> Result<Option<ColumnPosition>> {
        let mut positions = Vec::new();
        if self.flag("first")? == Some(true) {
            positions.push(ColumnPosition::First);
        }
        if self.flag("last")? == Some(true) {
            positions.push(ColumnPosition::Last);
        }
        positions.extend(self.nullable_text("after")?.map(ColumnPosition::After));
        positions.extend(self.nullable_text("before")?.map(ColumnPosition::Before));
        match positions.len() {
            0 | 1 => Ok(positions.pop()),
            _ => Err(request(
                "a column has one place: first, last, after or before".to_owned(),
            )),
        }
    }
}
