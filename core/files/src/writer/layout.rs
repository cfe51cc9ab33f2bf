//! The columns of a file and where a writer finds them in its batches.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType as ArrowType;
use tidewater_format::{
    KEY_FIELD_PREFIX, SEQUENCE_NUMBER_COLUMN, TableSchema, VALUE_KIND_COLUMN, key_column_name,
};
use tidewater_types::arrow_types::to_arrow_type;
use tidewater_types::{DataType, RowType};

use crate::error::{FilesError, Result};

/// Which columns a file has. Source: spec 02a §1.1, §1.2, §3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileLayout {
    /// Files of a primary-key table: `_KEY_*` (unless thin), `_SEQUENCE_NUMBER`, `_VALUE_KIND`, the table's columns.
    KeyValue {
        /// Whether the copies of the key columns are left out.
        thin: bool,
    },
    /// The table's columns only.
    Append,
}

impl FileLayout {
    /// The layout that a table's options ask for.
    ///
    /// # Errors
    /// An option of the table is not valid.
    pub fn of(schema: &TableSchema) -> Result<Self> {
        if !schema.is_keyed() {
            return Ok(Self::Append);
        }
        Ok(Self::KeyValue {
            thin: schema.options()?.data_file_thin_mode,
        })
    }
}

/// The columns of the files of one writer.
#[derive(Debug)]
pub(crate) struct FileColumns {
    /// All columns of a file, in order.
    pub(crate) file_type: RowType,
    /// Of the table's columns, which follow the system columns.
    pub(crate) table_type: RowType,
    /// Trimmed primary key; empty for append files.
    pub(crate) key_type: RowType,
    /// Positions in `table_type` of the key columns.
    pub(crate) key_in_table: Vec<usize>,
    pub(crate) layout: FileLayout,
    /// Columns that have the values of another, for the encoder: (copy, original), positions in `file_type`.
    pub(crate) copies: Vec<(usize, usize)>,
    arrow_types: Vec<ArrowType>,
}

impl FileColumns {
    /// `encodes_alone` tells whether a column has encoder settings of its own, so that it cannot share another's encoding.
    pub(crate) fn new(
        schema: &TableSchema,
        layout: FileLayout,
        encodes_alone: impl Fn(&str) -> bool,
    ) -> Result<Self> {
        let table_type = schema.row_type();
        let (file_type, key_type) = match layout {
            FileLayout::KeyValue { thin } => (schema.key_value_type(thin), schema.key_type()),
            FileLayout::Append => (table_type.clone(), RowType::new(Vec::new())),
        };
        let key_in_table = key_type.fields.iter().map(|key| {
            let position = table_type.index_of(&key.name);
            position.ok_or_else(|| FilesError::Internal {
                what: format!("key column {:?} is not in the table", key.name),
            })
        });
        let key_in_table = key_in_table.collect::<Result<Vec<_>>>()?;
        let first_table_column = file_type.len() - table_type.len();
        let mut copies = Vec::new();
        for (key, &position) in key_type.fields.iter().zip(&key_in_table) {
            let copy_name = key_column_name(&key.name);
            let alone =
                encodes_alone(&key.name) || encodes_alone(&copy_name) || key.data_type.nullable;
            if let Some(copy) = file_type.index_of(&copy_name).filter(|_| !alone) {
                copies.push((copy, first_table_column + position));
            }
        }
        let arrow_types = file_type
            .fields
            .iter()
            .map(|field| to_arrow_type(&field.data_type))
            .collect();
        Ok(Self {
            file_type,
            table_type,
            key_type,
            key_in_table,
            layout,
            copies,
            arrow_types,
        })
    }

    /// The batch's arrays in the order of the file's columns. `_KEY_*` columns that the batch does not have are taken from the table's.
    ///
    /// # Errors
    /// [`FilesError::Batch`] for a column that is missing, of another type, or null where it must not be.
    pub(crate) fn arrays(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let mut arrays = Vec::with_capacity(self.file_type.len());
        for (field, arrow_type) in self.file_type.fields.iter().zip(&self.arrow_types) {
            let name = field.name.as_str();
            let original = name.strip_prefix(KEY_FIELD_PREFIX);
            let array = batch
                .column_by_name(name)
                .or_else(|| batch.column_by_name(original?));
            let array = array.ok_or_else(|| refused(name, "is missing"))?;
            if array.data_type() != arrow_type {
                return Err(refused(
                    name,
                    &format!("is {}, not {arrow_type}", array.data_type()),
                ));
            }
            if !field.data_type.nullable && array.null_count() > 0 {
                return Err(refused(name, "has nulls, which it must not"));
            }
            arrays.push(Arc::clone(array));
        }
        Ok(arrays)
    }

    /// Sequence numbers and kinds of a batch in the keyed layout; none for append files.
    pub(crate) fn system_values<'a>(
        &self,
        arrays: &'a [ArrayRef],
    ) -> Option<(&'a [i64], &'a [i8])> {
        let of = |name: &str| arrays.get(self.file_type.index_of(name)?);
        let (sequence, kind) = (of(SEQUENCE_NUMBER_COLUMN)?, of(VALUE_KIND_COLUMN)?);
        let keyed = matches!(self.layout, FileLayout::KeyValue { .. });
        let (sequence, kind) = (
            sequence.as_primitive_opt::<Int64Type>()?,
            kind.as_primitive_opt::<Int8Type>()?,
        );
        keyed.then(|| (sequence.values().as_ref(), kind.values().as_ref()))
    }

    /// The arrays of the key columns, and their types.
    pub(crate) fn key_arrays<'a>(&self, arrays: &'a [ArrayRef]) -> Vec<&'a ArrayRef> {
        let first = arrays.len().saturating_sub(self.table_type.len());
        self.key_in_table
            .iter()
            .filter_map(|position| arrays.get(first + position))
            .collect()
    }

    /// Types of the key columns.
    pub(crate) fn key_types(&self) -> Vec<DataType> {
        self.key_type.types()
    }

    /// Position in the file of the first of the table's columns.
    pub(crate) fn first_table_column(&self) -> usize {
        self.file_type.len() - self.table_type.len()
    }
}

fn refused(column: &str, reason: &str) -> FilesError {
    FilesError::Batch {
        reason: format!("column {column:?} {reason}"),
    }
}
