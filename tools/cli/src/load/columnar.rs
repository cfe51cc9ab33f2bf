//! Arrow batches of other programs as a table's rows.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, Int8Array, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema};
use tidewater_types::arrow_types::coerce_batch;
use tidewater_types::{DataType, RowType, TypeError};

use super::bad_rows::{BadRow, Place, RowFault};
use super::error::{LoadError, Result};
use super::kinds::kinds_of_column;
use super::reader::Piece;
use super::target::Target;

/// The names of a schema's columns.
pub(super) fn names(schema: &Schema) -> Vec<String> {
    let fields = schema.fields().iter();
    fields.map(|field| field.name().clone()).collect()
}

/// The batch in the table's columns. `row` is the number of rows that stand before it in the file, for errors.
///
/// # Errors
/// [`LoadError::BadRow`] for the first value that does not convert: rows of such files have no text that could be put aside.
pub(super) fn piece(file: &str, row: u64, batch: &RecordBatch, target: &Target) -> Result<Piece> {
    let rows = batch.num_rows();
    let kinds = match target.kind_column.as_deref() {
        Some(name) => kinds(file, row, batch, name)?,
        None => None,
    };
    let kept: Vec<usize> = batch
        .schema_ref()
        .fields()
        .iter()
        .enumerate()
        .filter(|(_, field)| target.row_type.index_of(field.name()).is_some())
        .map(|(index, _)| index)
        .collect();
    let arrow = |source| LoadError::Arrow {
        file: file.to_owned(),
        row,
        source,
    };
    let batch = batch.project(&kept).map_err(arrow)?;
    let batch =
        coerce_batch(&batch, &target.row_type).map_err(|error| refused(file, row, error))?;
    Ok(Piece {
        batch,
        kinds,
        rows_read: u64::try_from(rows).unwrap_or(u64::MAX),
        bad_rows: Vec::new(),
    })
}

fn kinds(file: &str, row: u64, batch: &RecordBatch, name: &str) -> Result<Option<Int8Array>> {
    let Some(column) = batch.column_by_name(name) else {
        return Ok(None);
    };
    let words: ArrayRef = if column.as_primitive_opt::<Int8Type>().is_some() {
        Arc::clone(column)
    } else {
        // Whatever texts there are: large, dictionaries, views.
        let schema = Arc::new(Schema::new(vec![Field::new(
            name,
            column.data_type().clone(),
            true,
        )]));
        let options = RecordBatchOptions::new().with_row_count(Some(column.len()));
        let text = RowType::of([(name, DataType::string())]);
        RecordBatch::try_new_with_options(schema, vec![Arc::clone(column)], &options)
            .map_err(TypeError::from)
            .and_then(|batch| coerce_batch(&batch, &text))
            .map_err(|error| refused(file, row, error))
            .map(|batch| Arc::clone(batch.column(0)))?
    };
    let mut faults = Vec::new();
    let kinds = kinds_of_column(name, &words, &mut faults);
    match faults.into_iter().next() {
        Some((index, fault)) => Err(bad_row(file, row, index, fault)),
        None => Ok(Some(kinds)),
    }
}

fn refused(file: &str, row: u64, error: TypeError) -> LoadError {
    match error {
        TypeError::ColumnValue {
            column,
            row: index,
            value,
            data_type,
        } => {
            let fault = RowFault::Value {
                column,
                value,
                expected: data_type,
            };
            bad_row(file, row, index, fault)
        }
        TypeError::ColumnNull { column, row: index } => {
            bad_row(file, row, index, RowFault::Null { column })
        }
        source => LoadError::Columns {
            file: file.to_owned(),
            source,
        },
    }
}

fn bad_row(file: &str, row: u64, index: usize, fault: RowFault) -> LoadError {
    let index = u64::try_from(index).unwrap_or_default();
    LoadError::BadRow(Box::new(BadRow {
        file: file.to_owned(),
        place: Place::Row(row + index + 1),
        fault,
        text: None,
    }))
}

/// How many rows of `batch` make a piece of about `bytes` bytes.
pub(super) fn rows_for(bytes: usize, batch_bytes: usize, batch_rows: usize) -> usize {
    let row_bytes = (batch_bytes / batch_rows.max(1)).max(1);
    (bytes / row_bytes).max(1)
}
