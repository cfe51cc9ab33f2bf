//! Data types and fields in the JSON of schema files.
//!
//! Atomic types are text (`"DECIMAL(5, 2) NOT NULL"`), constructed ones objects (`{"type":"ARRAY","element":…}`).
//! Fields without ids are numbered from 0 in reading order, parents before children; a tree with both is refused.
//! Source: spec 01a §1 and §2, Paimon `types/DataTypeJsonParser.java`.

use serde_json::{Map, Value};

use super::{DataType, TypeKind};
use crate::error::{Result, TypeError};
use crate::row_type::{DataField, RowType};

impl DataType {
    /// Reads a type from the JSON form of schema files.
    ///
    /// # Errors
    /// [`TypeError::TypeJson`] or [`TypeError::TypeText`] for what is no type, [`TypeError::ParameterRange`] for lengths
    /// and precisions out of range, [`TypeError::Unsupported`] for types of newer versions (BLOB, VECTOR, GEOMETRY, GEOGRAPHY).
    pub fn from_json(json: &Value) -> Result<Self> {
        data_type_from_json(json, &mut FieldIds::default())
    }

    /// The type in the JSON form of schema files.
    pub fn to_json(&self) -> Value {
        let constructed = |name: &str, members: Vec<(&str, Value)>| {
            let mut object = Map::new();
            let name = if self.nullable {
                name.to_owned()
            } else {
                format!("{name} NOT NULL")
            };
            object.insert("type".to_owned(), Value::String(name));
            for (key, value) in members {
                object.insert(key.to_owned(), value);
            }
            Value::Object(object)
        };
        match &self.kind {
            TypeKind::Array(element) => constructed("ARRAY", vec![("element", element.to_json())]),
            TypeKind::Multiset(element) => {
                constructed("MULTISET", vec![("element", element.to_json())])
            }
            TypeKind::Map(key, value) => constructed(
                "MAP",
                vec![("key", key.to_json()), ("value", value.to_json())],
            ),
            TypeKind::Row(row) => {
                let fields = row.fields.iter().map(field_to_json).collect();
                constructed("ROW", vec![("fields", Value::Array(fields))])
            }
            _ => Value::String(self.to_string()),
        }
    }
}

/// Where field ids come from while one tree is read.
#[derive(Debug, Default)]
pub(crate) enum FieldIds {
    /// No field was seen yet.
    #[default]
    Undecided,
    /// Every field brings its own.
    Given,
    /// No field has one: the next is this.
    Counted(i32),
}

impl FieldIds {
    fn id_of(&mut self, object: &Map<String, Value>) -> Result<i32> {
        let given = match object.get("id") {
            None | Some(Value::Null) => None,
            Some(value) => Some(
                value
                    .as_i64()
                    .and_then(|id| i32::try_from(id).ok())
                    .ok_or_else(|| json_error(format!("field id {value} is no 32-bit integer")))?,
            ),
        };
        match (given, &mut *self) {
            (Some(id), Self::Undecided) => {
                *self = Self::Given;
                Ok(id)
            }
            (Some(id), Self::Given) => Ok(id),
            (None, Self::Undecided) => {
                *self = Self::Counted(1);
                Ok(0)
            }
            (None, Self::Counted(next)) => {
                let id = *next;
                *next = next.saturating_add(1);
                Ok(id)
            }
            (Some(_), Self::Counted(_)) | (None, Self::Given) => {
                Err(json_error("some fields have ids and some have none"))
            }
        }
    }
}

fn data_type_from_json(json: &Value, ids: &mut FieldIds) -> Result<DataType> {
    let object = match json {
        Value::String(text) => return DataType::parse_atomic(text),
        Value::Object(object) => object,
        other => {
            return Err(json_error(format!(
                "a type is text or an object, not {other}"
            )));
        }
    };
    let name = text_member(object, "type")?;
    let nullable = !name.contains("NOT NULL");
    let mut part = |member: &str| match object.get(member) {
        Some(json) => data_type_from_json(json, ids).map(Box::new),
        None => Err(json_error(format!(
            "type {name} needs the member {member:?}"
        ))),
    };
    // The prefix decides, as in Java: "ARRAY<INT>" with another element type is an ARRAY of that element.
    let kind = if name.starts_with("ARRAY") {
        TypeKind::Array(part("element")?)
    } else if name.starts_with("MULTISET") {
        TypeKind::Multiset(part("element")?)
    } else if name.starts_with("MAP") {
        TypeKind::Map(part("key")?, part("value")?)
    } else if name.starts_with("ROW") {
        let fields = object
            .get("fields")
            .and_then(Value::as_array)
            .ok_or_else(|| json_error("type ROW needs the array member \"fields\""))?;
        let fields = fields
            .iter()
            .map(|field| field_with_ids(field, ids))
            .collect::<Result<_>>()?;
        TypeKind::Row(RowType { fields })
    } else if name.starts_with("VECTOR") {
        return Err(TypeError::unsupported(
            "data type VECTOR of a newer table format",
        ));
    } else {
        return Err(json_error(format!("{name:?} is no constructed type")));
    };
    Ok(DataType { nullable, kind })
}

fn field_with_ids(json: &Value, ids: &mut FieldIds) -> Result<DataField> {
    let object = json
        .as_object()
        .ok_or_else(|| json_error(format!("a field is an object, not {json}")))?;
    let id = ids.id_of(object)?;
    let name = text_member(object, "name")?.to_owned();
    let data_type = object
        .get("type")
        .ok_or_else(|| json_error(format!("field {name:?} has no type")))
        .and_then(|json| data_type_from_json(json, ids))
        .map_err(|error| error.in_column(&name))?;
    Ok(DataField {
        id,
        name,
        data_type,
        description: optional_text(object, "description")?,
        default_value: optional_text(object, "defaultValue")?,
    })
}

pub(crate) fn field_from_json(json: &Value) -> Result<DataField> {
    field_with_ids(json, &mut FieldIds::default())
}

pub(crate) fn fields_from_json(json: &Value) -> Result<Vec<DataField>> {
    let mut ids = FieldIds::default();
    json.as_array()
        .ok_or_else(|| json_error(format!("fields are an array, not {json}")))?
        .iter()
        .map(|field| field_with_ids(field, &mut ids))
        .collect()
}

pub(crate) fn field_to_json(field: &DataField) -> Value {
    let mut object = Map::new();
    object.insert("id".to_owned(), Value::from(field.id));
    object.insert("name".to_owned(), Value::String(field.name.clone()));
    object.insert("type".to_owned(), field.data_type.to_json());
    if let Some(description) = &field.description {
        object.insert("description".to_owned(), Value::String(description.clone()));
    }
    if let Some(default_value) = &field.default_value {
        object.insert(
            "defaultValue".to_owned(),
            Value::String(default_value.clone()),
        );
    }
    Value::Object(object)
}

fn text_member<'a>(object: &'a Map<String, Value>, member: &str) -> Result<&'a str> {
    object
        .get(member)
        .and_then(Value::as_str)
        .ok_or_else(|| json_error(format!("the text member {member:?} is missing")))
}

fn optional_text(object: &Map<String, Value>, member: &str) -> Result<Option<String>> {
    match object.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(json_error(format!(
            "the member {member:?} is text, not {other}"
        ))),
    }
}

fn json_error(reason: impl Into<String>) -> TypeError {
    TypeError::TypeJson {
        reason: reason.into(),
    }
}
