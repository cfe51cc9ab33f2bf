//! The JSON of schema files.
//!
//! Members are written in Java's order, so that a schema Java wrote comes back byte for byte; options keep the order of
//! the file they came from, and members we do not know are kept. Source: spec 01a §1, Paimon `schema/SchemaSerializer.java`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use tidewater_types::{RowType, SchemaId};

use super::{SCHEMA_VERSION, TableSchema};
use crate::error::{FormatError, Result};
use crate::json::{Members, order_of, text_object, to_java_pretty};

const WHAT: &str = "schema file";

/// What a schema file says beyond its meaning: kept so that it can be written again as it was.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Layout {
    /// Options in the order of the file, if it is not that of their names; options set since come after these.
    option_order: Vec<String>,
    /// Options that the file's version implies and that are not in the file.
    implied_options: Vec<&'static str>,
    /// Members that this build does not know.
    unknown: Map<String, Value>,
}

impl Layout {
    /// The layout of a schema derived from this one: implied options become explicit.
    pub(super) fn derived(&self) -> Self {
        Self {
            implied_options: Vec::new(),
            ..self.clone()
        }
    }
}

impl TableSchema {
    /// Reads a schema file.
    ///
    /// # Errors
    /// [`FormatError::Json`] and [`FormatError::Corrupt`] for what is no schema, [`FormatError::NewerVersion`] for files of
    /// a later layout, [`FormatError::Type`] for types that are none or newer than this build.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        let mut members = Members::parse(WHAT, bytes)?;
        let version = members.int("version")?.unwrap_or(1);
        if version > SCHEMA_VERSION {
            return Err(FormatError::NewerVersion {
                what: WHAT,
                found: version.into(),
                supported: SCHEMA_VERSION.into(),
            });
        }
        let id = members.int("id")?.ok_or_else(|| members.missing("id"))?;
        let fields = members
            .take("fields")
            .ok_or_else(|| members.missing("fields"))?;
        let fields = RowType::from_fields_json(&fields)?.fields;
        let highest_field_id = members.int("highestFieldId")?;
        let partition_keys = members.texts("partitionKeys")?;
        let primary_keys = members.texts("primaryKeys")?;
        let given_options = members.text_map("options")?;
        let comment = members.text("comment")?;
        let time_millis = members.long("timeMillis")?.unwrap_or(0);

        let given_options = given_options.ok_or_else(|| members.missing("options"))?;
        let option_order = order_of(&given_options);
        let mut options: BTreeMap<_, _> = given_options.into_iter().collect();
        let mut implied_options = Vec::new();
        let implied = [(1, "bucket", "1"), (2, "file.format", "orc")];
        for (last_version, key, value) in implied {
            if version <= last_version && !options.contains_key(key) {
                options.insert(key.to_owned(), value.to_owned());
                implied_options.push(key);
            }
        }

        let schema = Self {
            version,
            id: SchemaId(id.into()),
            fields,
            highest_field_id: highest_field_id.ok_or_else(|| members.missing("highestFieldId"))?,
            partition_keys: partition_keys.ok_or_else(|| members.missing("partitionKeys"))?,
            primary_keys: primary_keys.ok_or_else(|| members.missing("primaryKeys"))?,
            options,
            comment,
            time_millis,
            layout: Layout {
                option_order,
                implied_options,
                unknown: members.into_rest(),
            },
        };
        schema.check_references()?;
        Ok(schema)
    }

    /// Names that must be unique are, and keys name columns: what the accessors rely on.
    fn check_references(&self) -> Result<()> {
        let mut names = BTreeSet::new();
        let mut ids = BTreeSet::new();
        for field in &self.fields {
            if !names.insert(field.name.as_str()) || !ids.insert(field.id) {
                let reason = format!("column {:?} (id {}) occurs twice", field.name, field.id);
                return Err(FormatError::corrupt(WHAT, reason));
            }
        }
        let keys = self.partition_keys.iter().chain(&self.primary_keys);
        for key in keys {
            if !names.contains(key.as_str()) {
                let reason = format!("key column {key:?} is no column");
                return Err(FormatError::corrupt(WHAT, reason));
            }
        }
        if self.is_keyed() && self.trimmed_primary_keys().is_empty() {
            let reason = "the primary key has only partition columns";
            return Err(FormatError::corrupt(WHAT, reason));
        }
        Ok(())
    }

    /// The schema file's bytes, as Java would print them.
    pub fn to_json(&self) -> Vec<u8> {
        to_java_pretty(&self.to_json_value())
    }

    /// The schema file as JSON, members in Java's order.
    pub fn to_json_value(&self) -> Value {
        let texts = |texts: &[String]| texts.iter().cloned().map(Value::String).collect();
        let mut members = Map::new();
        let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
        put("version", self.version.into());
        put("id", self.id.0.into());
        put("fields", RowType::new(self.fields.clone()).fields_to_json());
        put("highestFieldId", self.highest_field_id.into());
        put("partitionKeys", texts(&self.partition_keys));
        put("primaryKeys", texts(&self.primary_keys));
        put("options", Value::Object(self.options_to_json()));
        if let Some(comment) = &self.comment {
            put("comment", comment.clone().into());
        }
        put("timeMillis", self.time_millis.into());
        for (name, value) in &self.layout.unknown {
            put(name, value.clone());
        }
        Value::Object(members)
    }

    fn options_to_json(&self) -> Map<String, Value> {
        let mut json = text_object(&self.layout.option_order, &self.options);
        for key in &self.layout.implied_options {
            json.shift_remove(*key);
        }
        json
    }
}
