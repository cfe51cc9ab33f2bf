//! Single values as JSON and back, for filters, partitions and plans.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
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
