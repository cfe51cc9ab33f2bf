//! Sections of a bucket merged into rows as data files hold them: what a compaction writes.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use tidewater_files::FilesContext;
use tidewater_format::TableSchema;
use tidewater_index::DeletionFiles;
use tidewater_merge::{FoldEngine, MergeEngine, MergeMode, Section, Versions};
use tidewater_types::{Predicate, SchemaId};

use super::columns::{Extra, OutputColumn, ReadColumns};
use super::feed::{FileOpener, FileTask};
use super::output::RowOutput;
use super::pieces::{PieceStream, StreamPlan, plan_sections};
use super::section::MergeRules;
use crate::error::Result;
use crate::folding::fold_engine;
use crate::key_value::KeyValueLayout;

/// What to merge.
#[derive(Debug, Clone)]
pub struct MergeRequest {
    /// The schema and options that rows are merged and answered as.
    pub schema: Arc<TableSchema>,
    /// The schemas that the files were written with, by id; that of `schema` may be left out.
    pub schemas: Arc<HashMap<SchemaId, Arc<TableSchema>>>,
    /// Folder of the bucket; a file with an external path lies there instead.
    pub bucket_path: String,
    /// Files in key order, as [`interval_partition`](tidewater_merge::interval_partition) cuts them.
    pub sections: Vec<Section>,
    /// Where the deletion vectors of the files are: their rows are gone before the merge.
    pub deletions: Arc<DeletionFiles>,
    /// Rows that do not match are left out before they are merged: those that have expired.
    pub keep: Option<Predicate>,
    /// Whether results of kind `-U` and `-D` are left out ([`drop_delete`](tidewater_merge::drop_delete)).
    pub drop_deletes: bool,
    /// Most rows of a batch.
    pub batch_rows: usize,
}

/// Merged rows in key order, with their sequence numbers and kinds.
pub struct MergeStream {
    pieces: PieceStream,
}

impl MergeStream {
    /// Plans the merge and begins to open the first files; needs a tokio runtime.
    ///
    /// # Errors
    /// A merge engine that is not built, a file of an unknown schema or format, options that are not valid.
    pub fn open(context: &FilesContext, request: MergeRequest) -> Result<Self> {
        let layout = Arc::new(KeyValueLayout::new(&request.schema)?);
        let first_value = layout.values_at();
        let mut output = Vec::with_capacity(layout.file_schema().fields().len());
        // The copies of key columns, unless the files are thin.
        let copies = first_value.saturating_sub(2);
        output.extend(
            layout
                .key_columns()
                .iter()
                .take(copies)
                .map(|index| OutputColumn::Table(*index)),
        );
        output.extend([OutputColumn::Sequence, OutputColumn::Kind]);
        output.extend((0..request.schema.fields.len()).map(OutputColumn::Table));
        let options = request.schema.options()?;
        let engine = MergeEngine::from_table(&options)?;
        let fold = fold_engine(engine, &request.schema)?;
        let extra = Extra {
            sequence: true,
            kind: true,
            merged: Some(&layout),
            filter: &[],
            fold: fold.as_ref().map(FoldEngine::columns).unwrap_or_default(),
        };
        let columns = Arc::new(ReadColumns::new(&request.schema, &output, extra)?);
        let deletions = request.deletions;
        let pieces = plan_sections(request.sections, |file, _| {
            Ok(FileTask {
                file: Arc::clone(file),
                columns: Arc::clone(&columns),
                filter: request.keep.clone(),
                deletion: deletions.get(&file.file_name).cloned(),
            })
        })?;
        let rules = MergeRules {
            engine,
            mode: MergeMode::Picks {
                chunk_rows: request.batch_rows,
                versions: match &fold {
                    Some(_) => Versions::Groups,
                    None => Versions::Winners,
                },
            },
            levels_are_complete: fold.is_some() && options.needs_lookup(),
            fold,
            filter: None,
            layout: Arc::clone(&layout),
        };
        let opener = FileOpener {
            context: context.clone(),
            bucket_path: request.bucket_path,
            schema: request.schema,
            schemas: request.schemas,
            filter_fields: Vec::new(),
            batch_rows: request.batch_rows,
            parallel: 1,
        };
        let plan = StreamPlan {
            opener: Arc::new(opener),
            output: Arc::new(RowOutput {
                schema: Arc::clone(layout.file_schema()),
                drop_retractions: request.drop_deletes,
            }),
            rules: Some(Arc::new(rules)),
        };
        Ok(Self {
            pieces: PieceStream::start(plan, pieces)?,
        })
    }

    /// The columns of a data file: [`KeyValueLayout::file_schema`].
    pub fn schema(&self) -> &SchemaRef {
        &self.pieces.output().schema
    }

    pub(crate) fn pieces(&mut self) -> &mut PieceStream {
        &mut self.pieces
    }

    /// The next rows, at least one; none at the end and after an error.
    ///
    /// # Errors
    /// Damaged or lost files; [`StoreError::ReadCancelled`](crate::StoreError::ReadCancelled) after a call that was dropped while it waited.
    pub async fn next(&mut self) -> Result<Option<RecordBatch>> {
        self.pieces.next().await
    }
}

impl fmt::Debug for MergeStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MergeStream").finish_non_exhaustive()
    }
}
