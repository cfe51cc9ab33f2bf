//! The batches of some files, one file after the other, with the next file opened ahead.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use arrow_array::RecordBatch;
use tidewater_files::{DataFileReader, FileBatches, FilesContext, ReadRequest};
use tidewater_format::{DataFileMeta, TableSchema, data_file_path};
use tidewater_index::{DeletionFile, DeletionVector, read_deletion_vector};
use tidewater_types::{DataField, Predicate, SchemaId};
use tokio::task::JoinHandle;

use super::columns::ReadColumns;
use crate::error::{Result, StoreError};

/// What one file is asked for.
#[derive(Debug)]
pub(super) struct FileTask {
    pub(super) file: Arc<DataFileMeta>,
    pub(super) columns: Arc<ReadColumns>,
    /// Rows that do not match are left out before anything else sees them.
    pub(super) filter: Option<Predicate>,
    /// Where its deletion vector is: those rows are not there any more.
    pub(super) deletion: Option<DeletionFile>,
}

/// Opens files of one bucket.
#[derive(Debug)]
pub(super) struct FileOpener {
    pub(super) context: FilesContext,
    pub(super) bucket_path: String,
    /// The schema that rows are read as.
    pub(super) schema: Arc<TableSchema>,
    /// The schemas that files were written with.
    pub(super) schemas: Arc<HashMap<SchemaId, Arc<TableSchema>>>,
    /// Columns of the filters of its tasks.
    pub(super) filter_fields: Vec<DataField>,
    pub(super) batch_rows: usize,
    /// Parts of each file that are decoded at the same time.
    pub(super) parallel: usize,
}

impl FileOpener {
    /// Bytes fetched in one go when this many files are read side by side: together twice those of one file, but not too few to be
    /// worth a request.
    pub(super) fn unit_bytes(&self, runs: usize) -> u64 {
        let one = self.context.unit_bytes();
        (2 * one / (runs as u64).max(1)).clamp(one / 8, one)
    }

    /// Begins to open a file; needs a tokio runtime.
    fn open(&self, task: FileTask, unit_bytes: u64) -> Result<Opening> {
        let FileTask {
            file,
            columns,
            filter,
            deletion,
        } = task;
        let written = match self.schemas.get(&file.schema_id) {
            Some(schema) => schema,
            None if file.schema_id == self.schema.id => &self.schema,
            None => {
                return Err(StoreError::UnknownSchema {
                    file: file.file_name.clone(),
                    schema: file.schema_id,
                });
            }
        };
        let mut request = ReadRequest {
            file_fields: written.fields.clone(),
            whole: file.write_cols.is_none(),
            filter_columns: match &filter {
                Some(_) => self.filter_fields.clone(),
                None => Vec::new(),
            },
            exact_filter: filter.is_some(),
            filter,
            batch_rows: self.batch_rows,
            unit_bytes,
            parallel: self.parallel,
            ..ReadRequest::new(columns.fields.clone())
        };
        let external = file.external_path.as_deref();
        let path = data_file_path(&self.bucket_path, &file.file_name, external);
        let size = u64::try_from(file.file_size).ok();
        let context = self.context.clone();
        let opened = tokio::spawn(async move {
            let reader = async { Ok(DataFileReader::open(&context, &path, size).await?) };
            let deleted = read_deleted(&context, deletion);
            let (reader, deleted) = tokio::try_join!(reader, deleted)?;
            request.deleted = deleted;
            Ok::<_, StoreError>(reader.read(request).await?)
        });
        Ok(Opening {
            opened,
            columns,
            level: file.level,
        })
    }
}

async fn read_deleted(
    context: &FilesContext,
    deletion: Option<DeletionFile>,
) -> Result<Option<Arc<DeletionVector>>> {
    match deletion {
        Some(place) => {
            let vector = read_deletion_vector(context.io(), &place).await?;
            Ok(Some(Arc::new(vector)))
        }
        None => Ok(None),
    }
}

/// A file on its way; the work ends when nobody waits for it any more.
struct Opening {
    opened: JoinHandle<Result<FileBatches>>,
    columns: Arc<ReadColumns>,
    level: i32,
}

impl Drop for Opening {
    fn drop(&mut self) {
        self.opened.abort();
    }
}

/// Rows of one file, and what their columns are.
pub(super) struct ReadBatch {
    pub(super) rows: RecordBatch,
    pub(super) columns: Arc<ReadColumns>,
    /// Level of the file.
    pub(super) level: i32,
}

/// A file that is being read.
struct Reading {
    batches: FileBatches,
    columns: Arc<ReadColumns>,
    level: i32,
}

impl Reading {
    fn batch(&self, rows: RecordBatch) -> ReadBatch {
        ReadBatch {
            rows,
            columns: Arc::clone(&self.columns),
            level: self.level,
        }
    }
}

/// The batches of some files; see the module.
pub(super) struct FileFeed {
    opener: Arc<FileOpener>,
    unit_bytes: u64,
    waiting: VecDeque<FileTask>,
    ahead: Option<Opening>,
    current: Option<Reading>,
}

impl FileFeed {
    /// Begins to open the first file.
    pub(super) fn start(
        opener: &Arc<FileOpener>,
        files: Vec<FileTask>,
        unit_bytes: u64,
    ) -> Result<Self> {
        let mut feed = Self {
            opener: Arc::clone(opener),
            unit_bytes,
            waiting: files.into(),
            ahead: None,
            current: None,
        };
        feed.open_ahead()?;
        Ok(feed)
    }

    fn open_ahead(&mut self) -> Result<()> {
        self.ahead = match self.waiting.pop_front() {
            Some(task) => Some(self.opener.open(task, self.unit_bytes)?),
            None => None,
        };
        Ok(())
    }

    /// The next rows if they are decoded already.
    pub(super) fn take_ready(&mut self) -> Option<ReadBatch> {
        let reading = self.current.as_mut()?;
        let rows = reading.batches.take_ready()?;
        Some(reading.batch(rows))
    }

    /// The next rows, which are at least one; none at the end. Not to be called again once dropped in the middle.
    pub(super) async fn next(&mut self) -> Result<Option<ReadBatch>> {
        loop {
            if let Some(reading) = &mut self.current {
                if let Some(rows) = reading.batches.next_batch().await? {
                    return Ok(Some(reading.batch(rows)));
                }
                self.current = None;
            }
            let Some(opening) = &mut self.ahead else {
                return Ok(None);
            };
            let opened = (&mut opening.opened).await;
            let batches = opened.map_err(|_| StoreError::Bug {
                what: "opening a data file ended early",
            })??;
            self.current = Some(Reading {
                batches,
                columns: Arc::clone(&opening.columns),
                level: opening.level,
            });
            self.open_ahead()?;
        }
    }
}
