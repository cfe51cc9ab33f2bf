//! From a batch of the caller to rows of the table: types, nulls, defaults, kinds.
//!
//! Source: spec 02b §2.1; Paimon `table/sink/TableWriteImpl.java`, `RowKindFilter.java`.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int8Array, RecordBatch, Scalar};
use arrow_schema::SchemaRef;
use arrow_select::filter::{filter, filter_record_batch};
use arrow_select::zip::zip;
use tidewater_format::{TableOptions, TableSchema, VALUE_KIND_COLUMN, default_value};
use tidewater_types::arrow_types::{coerce_batch, to_arrow_schema};
use tidewater_types::{RowKind, RowType};

use crate::error::{Result, TableError};

/// Checks and completes rows before they are given a bucket.
#[derive(Debug)]
pub(crate) struct RowPreparer {
    row_type: RowType,
    arrow_schema: SchemaRef,
    /// Column and the value that stands in for its nulls.
    defaults: Vec<(usize, Scalar<ArrayRef>)>,
    /// Position of `rowkind.field`.
    kind_column: Option<usize>,
    keyed: bool,
    drop_deletes: bool,
    drop_update_befores: bool,
}

/// Rows of the table in canonical types.
#[derive(Debug)]
pub(crate) struct PreparedRows {
    pub(crate) values: RecordBatch,
    /// `None` if every row is `+I`.
    pub(crate) kinds: Option<Int8Array>,
}

impl RowPreparer {
    pub(crate) fn new(schema: &TableSchema, options: &TableOptions) -> Result<Self> {
        let row_type = schema.row_type();
        let mut defaults = Vec::new();
        for (index, field) in row_type.fields.iter().enumerate() {
            if let Some(value) = default_value(field)? {
                defaults.push((index, Scalar::new(value)));
            }
        }
        let kind_column = match options.rowkind_field.as_deref() {
            None => None,
            Some(name) => Some(
                row_type
                    .index_of(name)
                    .ok_or_else(|| TableError::NoColumn {
                        column: name.to_owned(),
                        asked_by: "rowkind.field",
                    })?,
            ),
        };
        Ok(Self {
            arrow_schema: to_arrow_schema(&row_type),
            row_type,
            defaults,
            kind_column,
            keyed: schema.is_keyed(),
            drop_deletes: options.ignore_delete,
            drop_update_befores: options.ignore_update_before,
        })
    }

    /// Prepares a batch; columns go by name, `_VALUE_KIND` may bring the kinds. CPU work.
    ///
    /// # Errors
    /// A value that does not fit its column, a null where none may be, a kind that is none, a retraction for an append table.
    pub(crate) fn prepare(
        &self,
        batch: &RecordBatch,
        kinds: Option<Int8Array>,
    ) -> Result<PreparedRows> {
        let (batch, kinds) = split_kinds(batch, kinds)?;
        let mut values = if self.is_canonical(&batch) {
            RecordBatch::try_new(Arc::clone(&self.arrow_schema), batch.columns().to_vec())?
        } else {
            coerce_batch(&batch, &self.row_type)?
        };
        if !self.defaults.is_empty() {
            values = self.with_defaults(&values)?;
        }
        let kinds = match self.kind_column {
            Some(column) => Some(self.kinds_of(&values, column)?),
            None => kinds,
        };
        let Some(kinds) = kinds else {
            return Ok(PreparedRows {
                values,
                kinds: None,
            });
        };
        self.filter_kinds(values, kinds)
    }

    /// Whether nothing is left to convert or to check.
    fn is_canonical(&self, batch: &RecordBatch) -> bool {
        let schema = batch.schema_ref();
        schema.fields().len() == self.arrow_schema.fields().len()
            && schema
                .fields()
                .iter()
                .zip(self.arrow_schema.fields())
                .zip(batch.columns())
                .all(|((given, wanted), column)| {
                    given.name() == wanted.name()
                        && column.data_type() == wanted.data_type()
                        && !wanted.data_type().is_nested()
                        && (wanted.is_nullable() || column.null_count() == 0)
                })
    }

    fn with_defaults(&self, values: &RecordBatch) -> Result<RecordBatch> {
        let mut columns = values.columns().to_vec();
        for (index, default) in &self.defaults {
            if let Some(column) = columns.get_mut(*index)
                && column.null_count() > 0
            {
                let given = arrow_is_not_null(column);
                *column = zip(&given, column as &dyn arrow_array::Datum, default)?;
            }
        }
        Ok(RecordBatch::try_new(
            Arc::clone(&self.arrow_schema),
            columns,
        )?)
    }

    /// The kinds that `rowkind.field` spells out.
    fn kinds_of(&self, values: &RecordBatch, column: usize) -> Result<Int8Array> {
        let Some(texts) = values
            .columns()
            .get(column)
            .and_then(|column| column.as_string_opt::<i32>())
        else {
            return Err(TableError::Bug {
                what: "rowkind.field is no text",
            });
        };
        let mut kinds = Vec::with_capacity(texts.len());
        for (row, text) in texts.iter().enumerate() {
            let kind = text.and_then(|text| RowKind::from_short(text).ok());
            let kind = kind.ok_or_else(|| TableError::BadRowKind {
                column: values.schema_ref().field(column).name().clone(),
                row,
                found: text.map_or_else(|| "null".to_owned(), |text| format!("{text:?}")),
            })?;
            kinds.push(kind.as_i8());
        }
        Ok(Int8Array::from(kinds))
    }

    /// Leaves out what `ignore-delete` and `ignore-update-before` leave out, and refuses what an append table cannot take.
    fn filter_kinds(&self, values: RecordBatch, kinds: Int8Array) -> Result<PreparedRows> {
        let (mut retractions, mut dropped, mut plain) = (false, 0_usize, true);
        let keeps = |kind: i8| {
            let before = kind == RowKind::UpdateBefore.as_i8();
            let retract = before || kind == RowKind::Delete.as_i8();
            !(self.drop_deletes && retract || self.drop_update_befores && before)
        };
        for (row, kind) in kinds.values().iter().enumerate() {
            let known = RowKind::from_i8(*kind).ok().filter(|_| kinds.is_valid(row));
            let known = known.ok_or_else(|| TableError::BadRowKind {
                column: VALUE_KIND_COLUMN.to_owned(),
                row,
                found: kind.to_string(),
            })?;
            if !keeps(*kind) {
                dropped += 1;
            } else {
                retractions |= known.is_retract();
                plain &= known == RowKind::Insert;
            }
        }
        if !self.keyed && retractions {
            return Err(TableError::RetractionInAppendTable);
        }
        let (values, kinds) = if dropped == 0 {
            (values, kinds)
        } else {
            let kept: BooleanArray = kinds
                .values()
                .iter()
                .map(|kind| Some(keeps(*kind)))
                .collect();
            let kinds = filter(&kinds, &kept)?;
            let kinds = kinds.as_primitive::<Int8Type>().clone();
            (filter_record_batch(&values, &kept)?, kinds)
        };
        Ok(PreparedRows {
            values,
            kinds: (!plain).then_some(kinds),
        })
    }
}

/// Takes the column `_VALUE_KIND` out of a batch, if it has one.
fn split_kinds(
    batch: &RecordBatch,
    kinds: Option<Int8Array>,
) -> Result<(RecordBatch, Option<Int8Array>)> {
    let Ok(at) = batch.schema_ref().index_of(VALUE_KIND_COLUMN) else {
        return Ok((batch.clone(), kinds));
    };
    let mut batch = batch.clone();
    let column = batch.remove_column(at);
    let found = column
        .as_primitive_opt::<Int8Type>()
        .cloned()
        .ok_or_else(|| TableError::BadRowKind {
            column: VALUE_KIND_COLUMN.to_owned(),
            row: 0,
            found: format!("a column of type {}", column.data_type()),
        })?;
    Ok((batch, Some(kinds.unwrap_or(found))))
}

fn arrow_is_not_null(column: &ArrayRef) -> BooleanArray {
    match column.logical_nulls() {
        Some(nulls) => BooleanArray::new(nulls.into_inner(), None),
        None => BooleanArray::from(vec![true; column.len()]),
    }
}
