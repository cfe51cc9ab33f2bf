//! Makes the first schema of a table from its definition.

use std::collections::BTreeMap;

use tidewater_types::{DataField, SchemaId};

use super::field_ids::FieldIdCounter;
use super::wire::Layout;
use super::{SCHEMA_VERSION, SchemaDefinition, TableSchema, validate};
use crate::error::{FormatError, Result};
use crate::options::{NameList, TableOptions};

impl TableSchema {
    /// The schema with id 0: fields numbered, key columns NOT NULL, everything checked.
    ///
    /// `time_millis` is the moment of creation. Features that tables may have but this build lacks are no error here: ask
    /// [`unsupported_for_write`](crate::unsupported_for_write) as well.
    ///
    /// # Errors
    /// What the definition gets wrong, naming column or option: see the variants of [`FormatError`].
    pub fn create(definition: SchemaDefinition, time_millis: i64) -> Result<Self> {
        let SchemaDefinition {
            mut fields,
            primary_keys,
            partition_keys,
            options,
            comment,
        } = definition;
        for (key, text) in &options {
            TableOptions::check(key, text)?;
        }
        validate::check_creation_options(&options)?;
        let mut ids = FieldIdCounter::after(-1);
        for field in &mut fields {
            ids.number_column(field)?;
        }
        let mut schema = Self {
            version: SCHEMA_VERSION,
            id: SchemaId::FIRST,
            fields,
            highest_field_id: ids.highest(),
            partition_keys,
            primary_keys,
            options,
            comment,
            time_millis,
            layout: Layout::default(),
        };
        schema.normalize()?;
        validate::validate(&schema)?;
        Ok(schema)
    }

    /// Moves keys given as options into the schema, makes key columns NOT NULL, and takes the blanks out of lists of
    /// names that Java reads with them.
    pub(super) fn normalize(&mut self) -> Result<()> {
        move_key(&mut self.options, "primary-key", &mut self.primary_keys)?;
        move_key(&mut self.options, "partition", &mut self.partition_keys)?;
        for field in &mut self.fields {
            make_key_not_null(field, &self.primary_keys);
        }
        for key in ["bucket-key", "sequence.field"] {
            if let Some(text) = self.options.get_mut(key) {
                *text = NameList::split(text).to_string();
            }
        }
        Ok(())
    }
}

fn make_key_not_null(field: &mut DataField, primary_keys: &[String]) {
    if primary_keys.contains(&field.name) {
        field.data_type.nullable = false;
    }
}

fn move_key(
    options: &mut BTreeMap<String, String>,
    option: &'static str,
    key: &mut Vec<String>,
) -> Result<()> {
    let Some(text) = options.remove(option) else {
        return Ok(());
    };
    if !key.is_empty() {
        return Err(FormatError::option_conflict(
            option,
            "the table definition names these columns too",
            "keep one of the two",
        ));
    }
    *key = NameList::split(&text).names().to_vec();
    Ok(())
}
