//! The rows that a table wants, as a reader sees them.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Int8Array, RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use arrow_select::filter::{filter, filter_record_batch};
use tidewater_types::arrow_types::to_arrow_schema;
use tidewater_types::{DataField, RowType};

use super::bad_rows::RowFault;
use super::error::{LoadError, Result};

/// Columns of the table, and what else is to be read from an input.
#[derive(Debug, Clone)]
pub(super) struct Target {
    /// The table's columns; those with a default value take nulls, which the table replaces.
    pub(super) row_type: RowType,
    /// The canonical schema of `row_type`.
    pub(super) schema: SchemaRef,
    /// Column of the input that holds row kinds; it may be a column of the table as well.
    pub(super) kind_column: Option<String>,
    /// Whether columns that the table does not have are left out.
    pub(super) ignores_extra: bool,
}

impl Target {
    pub(super) fn new(
        row_type: &RowType,
        kind_column: Option<String>,
        ignores_extra: bool,
    ) -> Self {
        let fields = row_type.fields.iter().map(|field| {
            let nullable = field.data_type.nullable || field.default_value.is_some();
            DataField {
                data_type: field.data_type.clone().with_nullable(nullable),
                ..field.clone()
            }
        });
        let row_type = RowType::new(fields.collect());
        Self {
            schema: to_arrow_schema(&row_type),
            row_type,
            kind_column,
            ignores_extra,
        }
    }

    /// Whether `name` is read from the input only for the kinds in it.
    pub(super) fn is_only_kind(&self, name: &str) -> bool {
        self.kind_column.as_deref() == Some(name) && self.row_type.index_of(name).is_none()
    }

    /// Holds the columns of an input against the table's, once and before any row.
    ///
    /// # Errors
    /// [`LoadError::ExtraColumns`], [`LoadError::MissingColumn`], [`LoadError::NoKindColumn`], or [`LoadError::Header`] for a name that
    /// comes twice.
    pub(super) fn check_columns(&self, file: &str, names: &[String]) -> Result<()> {
        for (index, name) in names.iter().enumerate() {
            if names.iter().take(index).any(|other| other == name) {
                return Err(LoadError::Header {
                    file: file.to_owned(),
                    reason: format!("two columns are named {name:?}"),
                });
            }
        }
        let extra: Vec<&str> = names
            .iter()
            .filter(|name| self.row_type.index_of(name).is_none() && !self.is_only_kind(name))
            .map(String::as_str)
            .collect();
        if !extra.is_empty() && !self.ignores_extra {
            return Err(LoadError::ExtraColumns {
                file: file.to_owned(),
                columns: extra.join(", "),
            });
        }
        for field in &self.row_type.fields {
            if !field.data_type.nullable && !names.contains(&field.name) {
                return Err(LoadError::MissingColumn {
                    file: file.to_owned(),
                    column: field.name.clone(),
                });
            }
        }
        match &self.kind_column {
            Some(column) if !names.contains(column) => Err(LoadError::NoKindColumn {
                file: file.to_owned(),
                column: column.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// Adds a fault for each null where the table has none, but not for rows that have a fault in that column already.
    pub(super) fn refuse_nulls(
        &self,
        columns: &[ArrayRef],
        rows: usize,
        faults: &mut Vec<(usize, RowFault)>,
    ) {
        let before = faults.len();
        let known: std::collections::BTreeSet<usize> =
            faults.iter().take(before).map(|(row, _)| *row).collect();
        for (field, column) in self.row_type.fields.iter().zip(columns) {
            if field.data_type.nullable || column.null_count() == 0 {
                continue;
            }
            let nulls = (0..rows).filter(|row| column.is_null(*row) && !known.contains(row));
            faults.extend(nulls.map(|row| {
                let column = field.name.clone();
                (row, RowFault::Null { column })
            }));
        }
    }

    /// The batch of these columns without the rows that have faults.
    pub(super) fn assemble(
        &self,
        file: &str,
        columns: Vec<ArrayRef>,
        kinds: Option<Int8Array>,
        rows: usize,
        faults: &[(usize, RowFault)],
    ) -> Result<(RecordBatch, Option<Int8Array>)> {
        let arrow = |source| LoadError::Arrow {
            file: file.to_owned(),
            row: 0,
            source,
        };
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        if faults.is_empty() {
            let schema = Arc::clone(&self.schema);
            let batch = RecordBatch::try_new_with_options(schema, columns, &options);
            return Ok((batch.map_err(arrow)?, kinds));
        }
        let mut good = vec![true; rows];
        for (row, _) in faults {
            if let Some(slot) = good.get_mut(*row) {
                *slot = false;
            }
        }
        let good = BooleanArray::from(good);
        // Bad rows hold nulls, also where none may be, until they are taken out.
        let fields = self.schema.fields().iter();
        let lenient: arrow_schema::Fields = fields
            .map(|field| arrow_schema::Field::clone(field).with_nullable(true))
            .collect();
        let lenient = Arc::new(arrow_schema::Schema::new(lenient));
        let batch = RecordBatch::try_new_with_options(lenient, columns, &options).map_err(arrow)?;
        let batch = filter_record_batch(&batch, &good).map_err(arrow)?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let columns = batch.columns().to_vec();
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options);
        let kinds = kinds.map(|kinds| filter(&kinds, &good)).transpose();
        let kinds = kinds
            .map_err(arrow)?
            .and_then(|kinds| kinds.as_any().downcast_ref::<Int8Array>().cloned());
        Ok((batch.map_err(arrow)?, kinds))
    }
}
