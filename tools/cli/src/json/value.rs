//! Single values as JSON and back, for filters, partitions and plans.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use tidewater_types::{
    DataField, DataType, Datum, RowType, arrow_types::to_arrow_schema, datums_to_array,
};

use super::column_builder::ColumnBuilder;
use super::encoder::RowEncoder;
use super::error::JsonError;
use super::scanner::Scanner;

/// Reads one value of `data_type`; `what` names it in errors.
///
/// # Errors
/// [`JsonError::Filter`] if the text is no such value.
pub fn datum_from_json(
    json: &serde_json::Value,
    data_type: &DataType,
    what: &str,
) -> Result<Datum, JsonError> {
    let text = json.to_string();
    let mut builder = ColumnBuilder::new(data_type)?;
    let mut scanner = Scanner::new(&text);
    builder
        .value(&mut scanner, false)
        .map_err(|_| JsonError::Filter {
            what: format!("{what}: {text} is not {data_type}"),
        })?;
    Ok(Datum::from_array(&builder.finish()?, 0, data_type)?)
}

/// Writes values as one JSON object, as a partition is shown.
///
/// # Errors
/// [`JsonError::Type`] if a value is not of its field's type.
pub fn datums_to_json_row(fields: &[DataField], values: &[Datum]) -> Result<String, JsonError> {
    let row_type = RowType::new(
        fields
            .iter()
            .map(|field| DataField {
                data_type: field.data_type.clone().with_nullable(true),
                ..field.clone()
            })
            .collect(),
    );
    let columns = row_type
        .fields
        .iter()
        .zip(values)
        .map(|(field, value)| datums_to_array(&field.data_type, std::slice::from_ref(value)))
        .collect::<Result<_, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let batch = RecordBatch::try_new_with_options(
        Arc::clone(&to_arrow_schema(&row_type)),
        columns,
        &options,
    )?;
    let encoder = RowEncoder::new(&row_type);
    let mut out = Vec::new();
    encoder.bind(&batch)?.write_row(0, &mut out)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// A column built from the JSON text of each value, as CSV files carry nested ones.
#[derive(Debug)]
pub struct JsonColumn {
    data_type: DataType,
    column: ColumnBuilder,
    /// Reads each text first: a text that fails half way leaves its parts behind, and must not do so in `column`.
    probe: ColumnBuilder,
}

impl JsonColumn {
    /// An empty column.
    ///
    /// # Errors
    /// [`JsonError::Type`] if the type cannot be held in memory.
    pub fn new(data_type: &DataType) -> Result<Self, JsonError> {
        Ok(Self {
            data_type: data_type.clone(),
            column: ColumnBuilder::new(data_type)?,
            probe: ColumnBuilder::new(data_type)?,
        })
    }

    /// Appends a null.
    pub fn push_null(&mut self) {
        self.column.null();
    }

    /// Appends the value that `text` spells; after an error the column is as it was.
    ///
    /// # Errors
    /// As those of a line, under the number 1.
    pub fn push(&mut self, text: &str) -> Result<(), JsonError> {
        let read = |column: &mut ColumnBuilder| {
            let mut scanner = Scanner::new(text);
            column.value(&mut scanner, false)?;
            scanner.end()
        };
        match read(&mut self.probe).and_then(|()| read(&mut self.column)) {
            Ok(()) => Ok(()),
            Err(fault) => {
                self.probe = ColumnBuilder::new(&self.data_type)?;
                Err(fault.at_line(1, text))
            }
        }
    }

    /// The column; empty again.
    ///
    /// # Errors
    /// [`JsonError::Arrow`] if Arrow refuses the parts.
    pub fn finish(&mut self) -> Result<ArrayRef, JsonError> {
        self.probe = ColumnBuilder::new(&self.data_type)?;
        self.column.finish()
    }
}
