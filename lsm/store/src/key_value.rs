//! How a row of a primary-key table lies in memory and in its files.
//!
//! ```text
//!  in memory   columns of the table                                       + kind + sequence number (given on arrival)
//!  in a file   _KEY_k1 .. _KEY_kn | _SEQUENCE_NUMBER | _VALUE_KIND | columns of the table     (thin mode: no _KEY_*)
//! ```
//!
//! Key columns are stored twice and are always equal, so the file's copies are the same arrays (spec 02a §1.1).

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int8Array, Int64Array, RecordBatch};
use arrow_schema::SchemaRef;
use tidewater_format::{NameList, SortOrder, TableSchema};
use tidewater_types::{KeyEncoder, Keys, SequenceOrder, arrow_types};

use crate::error::{Result, StoreError};

/// The columns of one table, and how its keys and versions compare.
#[derive(Debug)]
pub struct KeyValueLayout {
    value_schema: SchemaRef,
    file_schema: SchemaRef,
    key_columns: Vec<usize>,
    keys: KeyEncoder,
    version_columns: Vec<usize>,
    versions: Option<KeyEncoder>,
    thin: bool,
}

impl KeyValueLayout {
    /// The layout that `schema` and its options ask for.
    ///
    /// # Errors
    /// Key or sequence columns that the schema does not have, or of types that cannot be keys.
    pub fn new(schema: &TableSchema) -> Result<Self> {
        let options = schema.options()?;
        let row_type = schema.row_type();
        let columns = |names: &[String]| -> Result<(Vec<usize>, Vec<_>)> {
            let mut at = Vec::with_capacity(names.len());
            let mut types = Vec::with_capacity(names.len());
            for name in names {
                let index = row_type
                    .index_of(name)
                    .ok_or_else(|| StoreError::UnknownColumn {
                        column: name.clone(),
                    })?;
                if let Some(field) = row_type.fields.get(index) {
                    at.push(index);
                    types.push(field.data_type.clone());
                }
            }
            Ok((at, types))
        };
        let (key_columns, key_types) = columns(&schema.trimmed_primary_keys())?;
        let version_names = options
            .sequence_field
            .as_ref()
            .map_or(&[][..], NameList::names);
        let (version_columns, version_types) = columns(version_names)?;
        let newest = if options.sequence_field_sort_order == SortOrder::Descending {
            SequenceOrder::Descending
        } else {
            SequenceOrder::Ascending
        };
        let thin = options.data_file_thin_mode;
        Ok(Self {
            value_schema: arrow_types::to_arrow_schema(&row_type),
            file_schema: arrow_types::to_arrow_schema(&schema.key_value_type(thin)),
            key_columns,
            keys: KeyEncoder::new(&key_types)?,
            versions: if version_columns.is_empty() {
                None
            } else {
                Some(KeyEncoder::for_sequence(&version_types, newest)?)
            },
            version_columns,
            thin,
        })
    }

    /// The table's columns.
    pub fn value_schema(&self) -> &SchemaRef {
        &self.value_schema
    }

    /// The columns of a data file.
    pub fn file_schema(&self) -> &SchemaRef {
        &self.file_schema
    }

    /// Positions of the trimmed primary key among the table's columns.
    pub fn key_columns(&self) -> &[usize] {
        &self.key_columns
    }

    /// Positions of `sequence.field` among the table's columns.
    pub fn version_columns(&self) -> &[usize] {
        &self.version_columns
    }

    /// Where the table's columns begin in a data file.
    pub fn values_at(&self) -> usize {
        self.file_schema
            .fields()
            .len()
            .saturating_sub(self.value_schema.fields().len())
    }

    /// Encodes the keys of rows whose table columns are `values`.
    pub fn encode_keys(&self, values: &[ArrayRef]) -> Result<Keys> {
        Ok(self.keys.encode(&pick(values, &self.key_columns)?)?)
    }

    /// Encodes `sequence.field`, `None` if the table has none.
    pub fn encode_versions(&self, values: &[ArrayRef]) -> Result<Option<Keys>> {
        match &self.versions {
            None => Ok(None),
            Some(encoder) => Ok(Some(encoder.encode(&pick(values, &self.version_columns)?)?)),
        }
    }

    /// What encodes keys, for columns picked by the caller.
    pub(crate) fn key_encoder(&self) -> &KeyEncoder {
        &self.keys
    }

    /// What encodes `sequence.field`, if the table has one.
    pub(crate) fn version_encoder(&self) -> Option<&KeyEncoder> {
        self.versions.as_ref()
    }

    /// A batch as a data file holds it.
    ///
    /// # Errors
    /// Columns of other types or lengths than the layout's.
    pub fn file_batch(
        &self,
        values: &[ArrayRef],
        sequence: Int64Array,
        kinds: Int8Array,
    ) -> Result<RecordBatch> {
        let mut columns = Vec::with_capacity(self.file_schema.fields().len());
        if !self.thin {
            columns.extend(pick(values, &self.key_columns)?);
        }
        columns.push(Arc::new(sequence) as ArrayRef);
        columns.push(Arc::new(kinds));
        columns.extend(values.iter().cloned());
        Ok(RecordBatch::try_new(
            Arc::clone(&self.file_schema),
            columns,
        )?)
    }

    /// Rows of [`KeyValueLayout::file_batch`] without the copies of the key columns, which are a good part of a row.
    pub(crate) fn without_copies(&self, rows: &RecordBatch) -> Result<RecordBatch> {
        let own: Vec<usize> = (self.copies()..rows.num_columns()).collect();
        Ok(rows.project(&own)?)
    }

    /// The reverse of [`KeyValueLayout::without_copies`].
    ///
    /// # Errors
    /// Columns of other types than the layout's.
    pub(crate) fn with_copies(&self, rows: &RecordBatch) -> Result<RecordBatch> {
        let own = rows.columns();
        let values = own
            .get(self.values_at().saturating_sub(self.copies())..)
            .unwrap_or_default();
        let mut columns = Vec::with_capacity(self.file_schema.fields().len());
        if !self.thin {
            columns.extend(pick(values, &self.key_columns)?);
        }
        columns.extend(own.iter().cloned());
        Ok(RecordBatch::try_new(
            Arc::clone(&self.file_schema),
            columns,
        )?)
    }

    /// How many columns of a file are copies of key columns.
    fn copies(&self) -> usize {
        if self.thin { 0 } else { self.key_columns.len() }
    }
}

/// The columns at these positions.
fn pick(columns: &[ArrayRef], at: &[usize]) -> Result<Vec<ArrayRef>> {
    at.iter()
        .map(|index| {
            columns.get(*index).cloned().ok_or(StoreError::ColumnCount {
                expected: index + 1,
                found: columns.len(),
            })
        })
        .collect()
}

/// Memory that a batch keeps alive, in bytes.
pub(crate) fn batch_bytes(batch: &RecordBatch) -> usize {
    batch
        .columns()
        .iter()
        .map(|column| column.get_array_memory_size())
        .sum()
}
