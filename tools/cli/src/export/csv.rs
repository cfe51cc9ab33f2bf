//! Rows as CSV: a header, `\n` at each end, fields quoted where they must be.
//!
//! Null is an empty field, the empty text `""`. Values have the contract's texts, without the quotes of JSON; nested values are JSON.

use std::io::Write;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BinaryArray, RecordBatch, StringArray};
use tidewater_types::variant::variant_to_json;
use tidewater_types::{RowType, TypeError, TypeKind};

use super::destination::Destination;
use super::error::{ExportError, Result};
use crate::json::{JsonError, RowEncoder};

/// Bytes collected before they are written.
const BUFFER_BYTES: usize = 256 << 10;

/// Writes CSV.
pub(super) struct CsvWriter {
    row_type: RowType,
    encoder: RowEncoder,
    destination: Destination,
    lines: Vec<u8>,
    value: Vec<u8>,
}

/// How a column's values become text.
enum Texts<'a> {
    /// As they are.
    Bare(&'a StringArray),
    /// The JSON text of a VARIANT.
    Variant {
        value: &'a BinaryArray,
        metadata: &'a BinaryArray,
    },
    /// JSON, of which quotes around the whole are taken off: what is inside needs no escapes.
    Json,
}

impl CsvWriter {
    pub(super) fn new(row_type: &RowType, destination: Destination) -> Result<Self> {
        let mut writer = Self {
            row_type: row_type.clone(),
            encoder: RowEncoder::new(row_type),
            destination,
            lines: Vec::with_capacity(BUFFER_BYTES + (BUFFER_BYTES >> 2)),
            value: Vec::new(),
        };
        for (index, name) in row_type.names().enumerate() {
            if index > 0 {
                writer.lines.push(b',');
            }
            push_field(&mut writer.lines, name.as_bytes());
        }
        writer.lines.push(b'\n');
        Ok(writer)
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = self.row_type.fields.iter().map(|field| {
            let array = batch
                .column_by_name(&field.name)
                .ok_or_else(|| TypeError::UnknownColumn {
                    name: field.name.clone(),
                })
                .map_err(JsonError::from)?;
            let bytes = |name| {
                let part = array.as_struct_opt()?.column_by_name(name)?;
                part.as_binary_opt::<i32>()
            };
            let texts = match &field.data_type.kind {
                TypeKind::Char(_) | TypeKind::VarChar(_) => array.as_string_opt().map(Texts::Bare),
                TypeKind::Variant => bytes("value")
                    .zip(bytes("metadata"))
                    .map(|(value, metadata)| Texts::Variant { value, metadata }),
                _ => Some(Texts::Json),
            };
            // The encoder says what is wrong with a column of another type.
            Ok((array.as_ref(), texts.unwrap_or(Texts::Json)))
        });
        let columns: Vec<(&dyn Array, Texts<'_>)> = columns.collect::<Result<_>>()?;
        let mut rows = self.encoder.bind(batch)?;
        for row in 0..batch.num_rows() {
            for (index, (array, texts)) in columns.iter().enumerate() {
                if index > 0 {
                    self.lines.push(b',');
                }
                if array.is_null(row) {
                    continue;
                }
                match texts {
                    Texts::Bare(texts) => push_field(&mut self.lines, texts.value(row).as_bytes()),
                    Texts::Variant { value, metadata } => {
                        let json = variant_to_json(value.value(row), metadata.value(row))
                            .map_err(JsonError::from)?;
                        push_field(&mut self.lines, json.as_bytes());
                    }
                    Texts::Json => {
                        self.value.clear();
                        rows.write_value(row, index, &mut self.value)?;
                        let bare = match self.value.as_slice() {
                            [b'"', inside @ .., b'"'] => inside,
                            value => value,
                        };
                        push_field(&mut self.lines, bare);
                    }
                }
            }
            self.lines.push(b'\n');
            if self.lines.len() >= BUFFER_BYTES {
                flush(&mut self.lines, &mut self.destination)?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Destination> {
        flush(&mut self.lines, &mut self.destination)?;
        Ok(self.destination)
    }
}

fn flush(lines: &mut Vec<u8>, destination: &mut Destination) -> Result<()> {
    destination
        .write_all(lines)
        .map_err(|source| ExportError::Write {
            file: destination.name(),
            source,
        })?;
    lines.clear();
    Ok(())
}

/// Appends a value that is not null.
fn push_field(out: &mut Vec<u8>, value: &[u8]) {
    let special = |byte: &u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
    if !value.is_empty() && !value.iter().any(special) {
        out.extend_from_slice(value);
        return;
    }
    out.push(b'"');
    for &byte in value {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}
