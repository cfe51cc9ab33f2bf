//! Record batches as JSON lines.

use arrow_array::{Array, RecordBatch};
use tidewater_types::{DataType, RowType, TypeError};

use super::cells::{Column, Scratch, name_prefix};
use super::error::JsonError;

/// Writes rows of one row type; made once for a query.
#[derive(Debug)]
pub struct RowEncoder {
    fields: Vec<Field>,
}

#[derive(Debug)]
struct Field {
    name: String,
    prefix: Vec<u8>,
    data_type: DataType,
}

/// A batch whose columns are resolved.
pub struct BoundRows<'a> {
    columns: Vec<(&'a [u8], Column<'a>)>,
    scratch: Scratch,
}

impl RowEncoder {
    /// Writes the fields of `row_type`, in its order.
    pub fn new(row_type: &RowType) -> Self {
        let fields = row_type
            .fields
            .iter()
            .map(|field| Field {
                name: field.name.clone(),
                prefix: name_prefix(&field.name),
                data_type: field.data_type.clone(),
            })
            .collect();
        Self { fields }
    }

    /// Finds the columns of `batch` by name; further columns are left alone.
    ///
    /// # Errors
    /// [`JsonError::Type`] if a column is missing or not of the Arrow type that belongs to its field.
    pub fn bind<'a>(&'a self, batch: &'a RecordBatch) -> Result<BoundRows<'a>, JsonError> {
        let columns =
            self.fields
                .iter()
                .map(|field| {
                    let array = batch.column_by_name(&field.name).ok_or_else(|| {
                        TypeError::UnknownColumn {
                            name: field.name.clone(),
                        }
                    })?;
                    let array: &dyn Array = array.as_ref();
                    let column = Column::bind(array, &field.data_type)
                        .map_err(|error| error.in_column(&field.name))?;
                    Ok((field.prefix.as_slice(), column))
                })
                .collect::<Result<_, JsonError>>()?;
        Ok(BoundRows {
            columns,
            scratch: Scratch::default(),
        })
    }
}

impl BoundRows<'_> {
    /// Appends the row as an object without blanks.
    ///
    /// # Errors
    /// [`JsonError::Type`] for a VARIANT whose bytes are corrupt.
    pub fn write_row(&mut self, row: usize, out: &mut Vec<u8>) -> Result<(), JsonError> {
        out.push(b'{');
        for (index, (prefix, column)) in self.columns.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            out.extend_from_slice(prefix);
            column.write(row, out, &mut self.scratch)?;
        }
        out.push(b'}');
        Ok(())
    }

    /// Appends one value as JSON.
    ///
    /// # Errors
    /// As [`BoundRows::write_row`].
    pub fn write_value(
        &mut self,
        row: usize,
        column: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), JsonError> {
        if let Some((_, column)) = self.columns.get(column) {
            column.write(row, out, &mut self.scratch)?;
        }
        Ok(())
    }

    /// The value as a person reads it in a table: text, dates and numbers bare, nested values as JSON; none for null.
    ///
    /// # Errors
    /// As [`BoundRows::write_row`].
    pub fn cell(&mut self, row: usize, column: usize) -> Result<Option<String>, JsonError> {
        let Some((_, cells)) = self.columns.get(column) else {
            return Ok(None);
        };
        if cells.is_null(row) {
            return Ok(None);
        }
        if let Some(text) = cells.text(row) {
            return Ok(Some(text.to_owned()));
        }
        let mut out = Vec::new();
        cells.write(row, &mut out, &mut self.scratch)?;
        let text = String::from_utf8_lossy(&out);
        let bare = text
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
            .filter(|inside| !inside.contains('\\'));
        Ok(Some(bare.unwrap_or(&text).to_owned()))
    }
}
