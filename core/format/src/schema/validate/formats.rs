//! File formats and the types they can hold.

use tidewater_types::{DataType, TypeKind};

use super::Checked;
use crate::error::{FormatError, Result};

const DATA_FORMATS: [&str; 6] = ["parquet", "orc", "avro", "csv", "json", "text"];
const MANIFEST_FORMATS: [&str; 3] = ["avro", "orc", "parquet"];

impl Checked<'_> {
    pub(super) fn formats(&self) -> Result<()> {
        let options = self.options;
        let mut formats = vec![("file.format", options.file_format.as_str())];
        formats.extend(
            options
                .file_format_per_level
                .iter()
                .map(|(_, format)| ("file.format.per.level", format.as_str())),
        );
        let changelog = options.changelog_file_format.as_deref();
        formats.extend(changelog.map(|format| ("changelog-file.format", format)));
        for (key, format) in formats {
            let name = format.to_ascii_lowercase();
            known_format(key, format, &name, &DATA_FORMATS)?;
            for field in &self.schema.fields {
                check_name(key, &name, &field.name)?;
                check_type(key, &name, &field.name, &field.data_type)?;
            }
        }
        let manifests = &options.manifest_format;
        known_format(
            "manifest.format",
            manifests,
            &manifests.to_ascii_lowercase(),
            &MANIFEST_FORMATS,
        )
    }
}

fn known_format(key: &str, text: &str, name: &str, known: &[&str]) -> Result<()> {
    if known.contains(&name) {
        return Ok(());
    }
    Err(FormatError::InvalidOption {
        key: key.to_owned(),
        value: text.to_owned(),
        expected: format!("one of {}", known.join(", ")),
    })
}

/// Avro takes letters, digits and underscores for names. Java sees that only when it writes.
fn check_name(key: &str, format: &str, column: &str) -> Result<()> {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let taken = column.starts_with(first) && column.chars().all(|c| first(c) || c.is_ascii_digit());
    if format != "avro" || taken {
        return Ok(());
    }
    Err(FormatError::option_conflict(
        key,
        format!("avro files cannot hold a column with the name {column:?}"),
        "use parquet, or another name",
    ))
}

fn check_type(key: &str, format: &str, column: &str, data_type: &DataType) -> Result<()> {
    let fits = match (&data_type.kind, format) {
        (TypeKind::Variant, "orc" | "avro" | "csv" | "json" | "text") => false,
        (TypeKind::Timestamp(precision) | TypeKind::TimestampLtz(precision), "avro") => {
            *precision <= 6
        }
        (TypeKind::Time(precision), "avro") => *precision <= 3,
        (TypeKind::Array(element) | TypeKind::Multiset(element), _) => {
            return check_type(key, format, column, element);
        }
        (TypeKind::Map(map_key, value), _) => {
            check_type(key, format, column, map_key)?;
            return check_type(key, format, column, value);
        }
        (TypeKind::Row(row), _) => {
            return row.fields.iter().try_for_each(|field| {
                check_name(key, format, &field.name)?;
                check_type(
                    key,
                    format,
                    &format!("{column}.{}", field.name),
                    &field.data_type,
                )
            });
        }
        _ => true,
    };
    if fits {
        return Ok(());
    }
    Err(FormatError::option_conflict(
        key,
        format!("{format} files cannot hold column {column:?} of type {data_type}"),
        "use parquet, or another type",
    ))
}
