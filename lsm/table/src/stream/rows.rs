//! The rows of a stream's plan: what went, then what came.

use std::sync::Arc;

use arrow_array::{Int8Array, RecordBatch};
use arrow_schema::SchemaRef;
use tidewater_types::RowKind;

use crate::error::{Result, TableError};
use crate::scan::RowStream;

/// The rows of a plan, with their kinds in the last column, `_VALUE_KIND`.
///
/// Needs a tokio runtime. Dropping it ends the reading.
#[derive(Debug)]
pub struct ChangeStream {
    /// Rows that an overwrite took away; they come before all others, so a key that is replaced goes before it comes.
    removed: Option<RowStream>,
    rows: RowStream,
}

impl ChangeStream {
    pub(super) fn new(removed: Option<RowStream>, rows: RowStream) -> Self {
        Self { removed, rows }
    }

    /// The schema of all batches.
    pub fn schema(&self) -> &SchemaRef {
        self.rows.schema()
    }

    /// The next rows, at least one; `None` at the end, and after an error.
    ///
    /// # Errors
    /// Files that are missing or damaged.
    pub async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if let Some(removed) = &mut self.removed {
            match removed.next_batch().await? {
                Some(batch) => return as_deletes(&batch).map(Some),
                None => self.removed = None,
            }
        }
        self.rows.next_batch().await
    }
}

/// The same rows, taken away.
fn as_deletes(batch: &RecordBatch) -> Result<RecordBatch> {
    let kinds = Int8Array::from_value(RowKind::Delete.as_i8(), batch.num_rows());
    let mut columns = batch.columns().to_vec();
    columns.pop();
    columns.push(Arc::new(kinds));
    RecordBatch::try_new(batch.schema(), columns).map_err(|_| TableError::Bug {
        what: "the kinds are not the last column of a batch",
    })
}
