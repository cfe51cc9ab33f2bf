//! Decoded batches to batches of the asked columns.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};

use super::SchemaMapping;
use super::convert::ConvertError;
use crate::error::{FilesError, Result};

impl SchemaMapping {
    /// Makes the asked columns of a decoded batch.
    ///
    /// # Errors
    /// [`FilesError::ValueOutOfRange`], [`FilesError::Convert`], [`FilesError::NullValue`] or [`FilesError::CorruptColumn`], with the column.
    pub(crate) fn apply(&self, path: &str, decoded: &RecordBatch) -> Result<RecordBatch> {
        let rows = decoded.num_rows();
        let mut columns = Vec::with_capacity(self.columns().len());
        for (mapped, field) in self.columns().iter().zip(self.output_schema().fields()) {
            let column = match &mapped.stored {
                None => arrow_array::new_null_array(field.data_type(), rows),
                Some(stored) => {
                    let array = decoded.columns().get(stored.decoded).ok_or_else(|| {
                        FilesError::Internal {
                            what: format!("column {:?} was not decoded", field.name()),
                        }
                    })?;
                    stored
                        .convert
                        .apply(array)
                        .map_err(|error| convert_error(path, field.name(), error))?
                }
            };
            if !field.is_nullable() && column.null_count() > 0 {
                return Err(FilesError::NullValue {
                    path: path.to_owned(),
                    column: field.name().clone(),
                });
            }
            columns.push(column);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch =
            RecordBatch::try_new_with_options(Arc::clone(self.output_schema()), columns, &options);
        batch.map_err(|error| FilesError::Internal {
            what: format!("a mapped batch of {path} is inconsistent: {error}"),
        })
    }
}

fn convert_error(path: &str, column: &str, error: ConvertError) -> FilesError {
    let (path, column) = (path.to_owned(), column.to_owned());
    match error {
        ConvertError::OutOfRange(reason) => FilesError::ValueOutOfRange {
            path,
            column,
            reason,
        },
        ConvertError::Damaged(reason) => FilesError::CorruptColumn {
            path,
            column,
            reason,
        },
        ConvertError::Cast(source) => FilesError::Convert {
            path,
            column,
            source: Box::new(source),
        },
    }
}
