//! The Avro schema of a row type, as text.
//!
//! Byte for byte what Java writes: records are named after the columns above them, a nullable type is a union with null first, a map whose
//! keys are not text is an array of records. Two records of one name (column `a_b`, and member `b` of column `a`) Java writes only if they
//! are equal; here the second gets a number behind its name, which no reader looks at.
//! Source: spec 01e §2; Paimon `format/avro/AvroSchemaConverter.java`, Java Avro `Schema.toString`.

use std::collections::HashSet;
use std::fmt::Write;

use tidewater_types::{DataType, RowType, TypeKind};

use crate::error::{FilesError, Result};

const NAMESPACE: &str = "org.apache.paimon.avro.generated";
const ROOT: &str = "record";

/// The schema of files with these columns.
///
/// # Errors
/// [`FilesError::Unsupported`] for a column that Avro files cannot hold, by its type or its name.
pub fn avro_schema(row: &RowType) -> Result<String> {
    let mut writer = SchemaWriter::default();
    let mut text = String::new();
    writer.row(&mut text, row, ROOT)?;
    Ok(text)
}

#[derive(Default)]
struct SchemaWriter {
    /// Names of the records that are written.
    records: HashSet<String>,
}

impl SchemaWriter {
    fn data_type(&mut self, text: &mut String, data_type: &DataType, record: &str) -> Result<()> {
        if data_type.nullable {
            text.push_str("[\"null\",");
        }
        self.not_null(text, data_type, record)?;
        if data_type.nullable {
            text.push(']');
        }
        Ok(())
    }

    fn not_null(&mut self, text: &mut String, data_type: &DataType, record: &str) -> Result<()> {
        let refused = || FilesError::Unsupported {
            what: format!("columns of type {data_type} in avro files"),
        };
        let simple = match &data_type.kind {
            TypeKind::Boolean => "\"boolean\"",
            TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::Int => "\"int\"",
            TypeKind::BigInt => "\"long\"",
            TypeKind::Float => "\"float\"",
            TypeKind::Double => "\"double\"",
            TypeKind::Char(_) | TypeKind::VarChar(_) => "\"string\"",
            TypeKind::Binary(_) | TypeKind::VarBinary(_) => "\"bytes\"",
            TypeKind::Date => r#"{"type":"int","logicalType":"date"}"#,
            TypeKind::Time(0..=3) => r#"{"type":"int","logicalType":"time-millis"}"#,
            TypeKind::Timestamp(0..=3) => r#"{"type":"long","logicalType":"timestamp-millis"}"#,
            TypeKind::Timestamp(4..=6) => r#"{"type":"long","logicalType":"timestamp-micros"}"#,
            TypeKind::TimestampLtz(0..=3) => {
                r#"{"type":"long","logicalType":"local-timestamp-millis"}"#
            }
            TypeKind::TimestampLtz(4..=6) => {
                r#"{"type":"long","logicalType":"local-timestamp-micros"}"#
            }
            TypeKind::Time(_)
            | TypeKind::Timestamp(_)
            | TypeKind::TimestampLtz(_)
            | TypeKind::Variant => return Err(refused()),
            TypeKind::Decimal { precision, scale } => {
                put(
                    text,
                    format_args!(
                        r#"{{"type":"bytes","logicalType":"decimal","precision":{precision},"scale":{scale}}}"#
                    ),
                );
                return Ok(());
            }
            TypeKind::Array(element) => {
                text.push_str(r#"{"type":"array","items":"#);
                self.data_type(text, element, record)?;
                text.push('}');
                return Ok(());
            }
            TypeKind::Map(key, value) => return self.map(text, key, value, record),
            // Java fails on others.
            TypeKind::Multiset(element) if is_text(element) => {
                return self.map(text, element, &DataType::int(), record);
            }
            TypeKind::Multiset(_) => return Err(refused()),
            TypeKind::Row(row) => return self.row(text, row, record),
        };
        text.push_str(simple);
        Ok(())
    }

    fn map(
        &mut self,
        text: &mut String,
        key: &DataType,
        value: &DataType,
        record: &str,
    ) -> Result<()> {
        if is_text(key) {
            text.push_str(r#"{"type":"map","values":"#);
            self.data_type(text, value, record)?;
            text.push('}');
            return Ok(());
        }
        // Java names records before their parts are known and writes them after.
        let parts = [("key", key, false), ("value", value, value.nullable)];
        text.push_str(r#"{"type":"array","items":"#);
        self.record(text, record, &parts)?;
        text.push_str(r#","logicalType":"map"}"#);
        Ok(())
    }

    fn row(&mut self, text: &mut String, row: &RowType, record: &str) -> Result<()> {
        for field in &row.fields {
            if !is_avro_name(&field.name) {
                return Err(FilesError::Unsupported {
                    what: format!(
                        "column name {:?} in avro files, which take letters, digits and underscores",
                        field.name
                    ),
                });
            }
        }
        let members: Vec<_> = row
            .fields
            .iter()
            .map(|field| {
                (
                    field.name.as_str(),
                    &field.data_type,
                    field.data_type.nullable,
                )
            })
            .collect();
        self.record(text, record, &members)
    }

    /// A record of fields with name, type and whether it has the default null.
    fn record(
        &mut self,
        text: &mut String,
        name: &str,
        fields: &[(&str, &DataType, bool)],
    ) -> Result<()> {
        let mut body = String::from(r#""fields":["#);
        for (at, (field, data_type, optional)) in fields.iter().enumerate() {
            let separator = if at > 0 { "," } else { "" };
            put(
                &mut body,
                format_args!(r#"{separator}{{"name":"{field}","type":"#),
            );
            self.data_type(&mut body, data_type, &format!("{name}_{field}"))?;
            if *optional {
                body.push_str(r#","default":null"#);
            }
            body.push('}');
        }
        body.push_str("]}");
        let mut unique = name.to_owned();
        let mut number = 1;
        while self.records.contains(&unique) {
            unique = format!("{name}_{number}");
            number += 1;
        }
        let namespace = if name == ROOT {
            format!(r#""namespace":"{NAMESPACE}","#)
        } else {
            String::new()
        };
        put(
            text,
            format_args!(r#"{{"type":"record","name":"{unique}",{namespace}{body}"#),
        );
        self.records.insert(unique);
        Ok(())
    }
}

fn put(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = text.write_fmt(arguments);
}

/// Whether maps with such keys are maps in Avro.
pub(super) fn is_text(key: &DataType) -> bool {
    matches!(key.kind, TypeKind::Char(_) | TypeKind::VarChar(_))
}

/// Whether Avro takes this for a name.
fn is_avro_name(name: &str) -> bool {
    let mut characters = name.chars();
    let first = characters.next();
    first.is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|next| next.is_ascii_alphanumeric() || next == '_')
}
