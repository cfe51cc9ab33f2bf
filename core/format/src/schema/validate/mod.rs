//! Whether a schema makes sense: what Java refuses, and what Java accepts and then fails on.
//!
//! Values of options were read already; here options meet the columns and each other. Every refusal names the column or
//! option and says what to do. Source: spec 01a §1 and §5, 02d §11, Paimon `schema/SchemaValidation.java`.

mod buckets;
mod changelog;
mod columns;
mod folding;
mod formats;
mod merge;
mod tracking;

use std::collections::BTreeMap;

use tidewater_types::DataField;

use super::TableSchema;
use crate::error::{FormatError, Result};
use crate::options::{TableKind, TableOptions, validate_startup};
use crate::unsupported::Unsupported;

pub(super) use columns::check_default_value;
pub use columns::default_value;

/// A schema with its options read once.
struct Checked<'a> {
    schema: &'a TableSchema,
    options: &'a TableOptions,
}

/// Checks a schema that is about to be written.
pub(super) fn validate(schema: &TableSchema) -> Result<()> {
    columns::check(schema)?;
    let options = schema.options()?;
    let checked = Checked {
        schema,
        options: &options,
    };
    check_kind(&options)?;
    checked.buckets()?;
    checked.column_options()?;
    checked.sequence_field()?;
    checked.merge_engine()?;
    checked.changelog()?;
    checked.retention()?;
    checked.formats()?;
    checked.tracking_and_clustering()?;
    validate_startup(&options)
}

/// Options that a table cannot be created with, because the place it is created in decides them.
pub(super) fn check_creation_options(options: &BTreeMap<String, String>) -> Result<()> {
    if options.contains_key("path") {
        return Err(FormatError::option_conflict(
            "path",
            "the catalog decides where a table lies",
            "leave it out",
        ));
    }
    let auto_create = options.get("auto-create");
    if auto_create.is_some_and(|text| text.eq_ignore_ascii_case("true")) {
        return Err(FormatError::option_conflict(
            "auto-create",
            "it is a wish to another program's catalog",
            "leave it out",
        ));
    }
    Ok(())
}

fn check_kind(options: &TableOptions) -> Result<()> {
    if options.kind == TableKind::Table {
        return Ok(());
    }
    Err(Unsupported::other(format!("tables of type {}", options.kind)).into())
}

impl Checked<'_> {
    /// The column that an option names.
    fn option_column(&self, key: &str, column: &str) -> Result<&DataField> {
        self.schema
            .field(column)
            .ok_or_else(|| FormatError::OptionColumn {
                key: key.to_owned(),
                column: column.to_owned(),
            })
    }
}
