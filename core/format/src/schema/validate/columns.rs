//! Columns and keys: names, types, defaults.

use std::collections::BTreeSet;

use arrow_array::{Array, ArrayRef};
use tidewater_types::cast::cast_array;
use tidewater_types::{DataField, DataType, Datum, TypeError, TypeKind, datums_to_array};

use super::super::{KEY_FIELD_PREFIX, TableSchema, is_system_column};
use crate::error::{FormatError, Result};
use crate::unsupported::Unsupported;

pub(super) fn check(schema: &TableSchema) -> Result<()> {
    check_names(&schema.fields, "")?;
    for field in &schema.fields {
        if is_system_column(&field.name) {
            return Err(FormatError::invalid_column(
                &field.name,
                format!(
                    "data files have columns of their own with such a name ({KEY_FIELD_PREFIX}…, _SEQUENCE_NUMBER, _VALUE_KIND, _LEVEL, _ROW_ID, rowkind)"
                ),
                "choose another name",
            ));
        }
        check_inside(&field.data_type, &field.name)?;
        check_default_value(&field.name, field)?;
    }
    check_key(schema, "primary key", &schema.primary_keys)?;
    check_key(schema, "partition key", &schema.partition_keys)?;
    if schema.is_keyed() && schema.trimmed_primary_keys().is_empty() {
        return Err(invalid_key(
            "primary key",
            &schema.primary_keys,
            "it has only partition columns, so a partition could hold one row",
            "add another column to it",
        ));
    }
    let legacy_names = schema.options.get("partition.legacy-name");
    let legacy_names = legacy_names.is_none_or(|text| !text.eq_ignore_ascii_case("false"));
    for field in &schema.partition_type().fields {
        if legacy_names && field.data_type.kind.is_bytes() {
            return Err(FormatError::invalid_column(
                &field.name,
                format!(
                    "a partition directory cannot be named by {}",
                    field.data_type.kind.name()
                ),
                "set partition.legacy-name to false, or use another type",
            ));
        }
    }
    Ok(())
}

/// Names inside one row are unique and not blank.
fn check_names(fields: &[DataField], place: &str) -> Result<()> {
    let mut seen = BTreeSet::new();
    for field in fields {
        let path = format!("{place}{}", field.name);
        if field.name.trim().is_empty() {
            return Err(FormatError::invalid_column(
                path,
                "its name is blank",
                "name it",
            ));
        }
        if !seen.insert(&field.name) {
            return Err(FormatError::invalid_column(
                path,
                "the name occurs twice",
                "choose another name",
            ));
        }
    }
    Ok(())
}

fn check_inside(data_type: &DataType, path: &str) -> Result<()> {
    match &data_type.kind {
        TypeKind::Row(row) => {
            check_names(&row.fields, &format!("{path}."))?;
            for field in &row.fields {
                let path = format!("{path}.{}", field.name);
                check_inside(&field.data_type, &path)?;
                check_default_value(&path, field)?;
            }
            Ok(())
        }
        TypeKind::Array(element) | TypeKind::Multiset(element) => check_inside(element, path),
        TypeKind::Map(key, value) => {
            check_inside(key, path)?;
            check_inside(value, path)
        }
        _ => Ok(()),
    }
}

/// A default reads as a value of its column.
pub(in crate::schema) fn check_default_value(path: &str, field: &DataField) -> Result<()> {
    if field.default_value.is_some()
        && (field.data_type.is_nested() || field.data_type.kind == TypeKind::Variant)
    {
        let what = format!(
            "default value of column {path:?}: defaults of type {}",
            field.data_type.kind.name()
        );
        return Err(Unsupported::other(what).into());
    }
    match default_value(field) {
        Ok(_) => Ok(()),
        Err(source) => Err(FormatError::DefaultValue {
            column: path.to_owned(),
            source,
        }),
    }
}

/// The value that writers put in place of a null in this column: an array of one row, `None` if the column has no default.
///
/// The text in the schema, without one pair of single quotes around it, is cast to the column's type. Source: spec 02a §6.2.
///
/// # Errors
/// Text that is no value of the column's type.
pub fn default_value(field: &DataField) -> std::result::Result<Option<ArrayRef>, TypeError> {
    let Some(text) = &field.default_value else {
        return Ok(None);
    };
    let bare = text
        .strip_prefix('\'')
        .and_then(|text| text.strip_suffix('\''));
    let text = Datum::String(bare.unwrap_or(text).to_owned());
    let string = DataType::string();
    let array = cast_array(
        &datums_to_array(&string, std::slice::from_ref(&text))?,
        &string,
        &field.data_type,
    )?;
    if array.null_count() > 0 {
        // A decimal that does not fit casts to null, which is no default.
        return Err(TypeError::invalid(format!(
            "{text:?} does not fit {}",
            field.data_type
        )));
    }
    Ok(Some(array))
}

fn check_key(schema: &TableSchema, key: &'static str, columns: &[String]) -> Result<()> {
    let mut seen = BTreeSet::new();
    for column in columns {
        let Some(field) = schema.field(column) else {
            return Err(invalid_key(
                key,
                columns,
                format!(
                    "there is no column {column:?} among {}",
                    schema.column_names()
                ),
                "correct the name",
            ));
        };
        if !seen.insert(column) {
            return Err(invalid_key(
                key,
                columns,
                format!("it names column {column:?} twice"),
                "name each column once",
            ));
        }
        if !field.data_type.kind.is_ordered() {
            return Err(invalid_key(
                key,
                columns,
                format!(
                    "column {column:?} has type {}, whose values have no order",
                    field.data_type.kind.name()
                ),
                "use columns of atomic types",
            ));
        }
    }
    Ok(())
}

pub(super) fn invalid_key(
    key: &'static str,
    columns: &[String],
    problem: impl Into<String>,
    remedy: impl Into<String>,
) -> FormatError {
    FormatError::InvalidKey {
        key,
        columns: format!("({})", columns.join(", ")),
        problem: problem.into(),
        remedy: remedy.into(),
    }
}
