//! Rows into as many files as their size asks for.

use std::fmt;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use tidewater_format::{DataFileMeta, TableSchema};

use super::description::{Describer, RowSummary};
use super::formats::{FileWriter, Format};
use super::layout::FileColumns;
use super::naming::{FileDirectory, FileNames};
use super::options::{FileWriterOptions, SIZE_CHECK_ROWS};
use crate::context::FilesContext;
use crate::error::Result;

/// Most rows that are encoded in one go.
const STEP_ROWS: u64 = 64_000;
/// Encoded rows are taken to need at most this many times their memory when the next look at the size is planned.
const GROWTH: u64 = 2;

/// Writes rows in the order given and begins a new file when one has reached its target size.
///
/// The size is looked at where Java does: when the rows written, over all files, are a multiple of 1000. Between two looks rows
/// are encoded in larger pieces while the file is far from its target. Nothing is written before the first row.
///
/// A writer that is dropped leaves the files that it had finished; [`RollingFileWriter::abort`] removes them.
/// Source: spec 02a §1.6, Paimon `io/RollingFileWriterImpl.java`.
pub struct RollingFileWriter {
    context: FilesContext,
    names: FileNames,
    options: FileWriterOptions,
    describer: Describer,
    format: Format,
    rows: u64,
    next_sequence: i64,
    current: Option<OpenFile>,
    finished: Vec<DataFileMeta>,
}

struct OpenFile {
    name: String,
    writer: FileWriter,
    summary: RowSummary,
}

impl RollingFileWriter {
    /// A writer of files in `directory` with the columns of `schema`.
    ///
    /// # Errors
    /// [`FilesError::Unsupported`](crate::FilesError::Unsupported) for a column that the format cannot hold; an option that is not valid.
    pub fn new(
        context: &FilesContext,
        names: FileNames,
        directory: FileDirectory,
        schema: Arc<TableSchema>,
        options: FileWriterOptions,
    ) -> Result<Self> {
        let columns = FileColumns::new(&schema, options.layout, |column| {
            options.encodes_alone(column)
        })?;
        let stats = options.stats(&columns)?;
        let format = Format::new(context, &options, &columns, &stats)?;
        Ok(Self {
            context: context.clone(),
            names,
            describer: Describer {
                schema,
                columns,
                stats,
                directory,
            },
            format,
            rows: 0,
            next_sequence: options.first_sequence_number,
            options,
            current: None,
            finished: Vec::new(),
        })
    }

    /// Appends the rows of `batch`: canonical Arrow types, columns by name; others are left aside.
    ///
    /// Keyed files want the table's columns, `_SEQUENCE_NUMBER` (Int64) and `_VALUE_KIND` (Int8), rows in key order; `_KEY_*` columns are
    /// made from the table's. Append files want the table's columns.
    ///
    /// # Errors
    /// [`FilesError::Batch`](crate::FilesError::Batch) if the batch does not fit; the store's errors. After an error the writer is
    /// good for [`RollingFileWriter::abort`] only.
    pub async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let arrays = self.describer.columns.arrays(batch)?;
        let total = batch.num_rows();
        let row_bytes = bytes_per_row(&arrays, total);
        let mut start = 0;
        while start < total {
            let rows = usize::try_from(self.rows_to_next_look(row_bytes))
                .unwrap_or(usize::MAX)
                .min(total - start);
            let part: Vec<ArrayRef> = arrays
                .iter()
                .map(|array| array.slice(start, rows))
                .collect();
            self.write_part(&part, rows).await?;
            start += rows;
            if self.rows.is_multiple_of(SIZE_CHECK_ROWS) && self.target_reached().await? {
                self.close_file().await?;
            }
        }
        Ok(())
    }

    /// Whether the file has its target size.
    ///
    /// Dictionaries and open pages wait uncompressed. When the target seems reached with them, the row group is ended to see what is
    /// left of them, and the file goes on if that is less than seven eighths of the target. Java takes the first look for the answer
    /// and makes smaller files.
    async fn target_reached(&mut self) -> Result<bool> {
        let target = self.options.target_file_bytes;
        if self.file_bytes() < target {
            return Ok(false);
        }
        if let Some(file) = &mut self.current {
            file.writer.settle().await?;
        }
        Ok(self.file_bytes() >= target - target / 8)
    }

    /// Rows that can be encoded before the size has to be looked at: up to the next multiple of 1000, or further while the file
    /// cannot be near its target.
    fn rows_to_next_look(&self, row_bytes: u64) -> u64 {
        let next = SIZE_CHECK_ROWS - self.rows % SIZE_CHECK_ROWS;
        let room = self
            .options
            .target_file_bytes
            .saturating_sub(self.file_bytes());
        let safe_rows = room / row_bytes.saturating_mul(GROWTH).max(1);
        let more = safe_rows.min(STEP_ROWS).saturating_sub(next) / SIZE_CHECK_ROWS;
        next + more * SIZE_CHECK_ROWS
    }

    async fn write_part(&mut self, arrays: &[ArrayRef], rows: usize) -> Result<()> {
        let mut file = match self.current.take() {
            Some(file) => file,
            None => {
                let name = self.options.file_name(&self.names);
                let path = self.describer.directory.file(&name);
                let writer = FileWriter::open(&self.context, &self.format, &path).await?;
                OpenFile {
                    name,
                    writer,
                    summary: RowSummary::default(),
                }
            }
        };
        let summarised = file
            .summary
            .add(&self.describer.columns, arrays, self.next_sequence);
        let written = match summarised {
            Ok(()) => file.writer.write(&self.format, arrays, rows).await,
            Err(error) => Err(error),
        };
        self.current = Some(file);
        written?;
        self.rows += rows as u64;
        self.next_sequence = self
            .next_sequence
            .saturating_add(i64::try_from(rows).unwrap_or(i64::MAX));
        Ok(())
    }

    async fn close_file(&mut self) -> Result<()> {
        let Some(file) = self.current.take() else {
            return Ok(());
        };
        let (file_bytes, stats) = file.writer.finish(&self.describer).await?;
        let now = self.context.env.now_millis();
        let entry = self.describer.describe(
            &self.options,
            file.name,
            file_bytes,
            &stats,
            &file.summary,
            now,
        )?;
        self.finished.push(entry);
        Ok(())
    }

    fn file_bytes(&self) -> u64 {
        self.current
            .as_ref()
            .map_or(0, |file| file.writer.file_bytes())
    }

    /// Rows written so far, over all files.
    pub fn row_count(&self) -> u64 {
        self.rows
    }

    /// Memory that encoded rows hold until their row group ends.
    pub fn memory_bytes(&self) -> usize {
        self.current
            .as_ref()
            .map_or(0, |file| file.writer.memory_bytes())
    }

    /// The sequence number that the next row of an append file gets.
    pub fn next_sequence_number(&self) -> i64 {
        self.next_sequence
    }

    /// Ends the last file and answers all of them, in the order in which they were written. They are durable.
    ///
    /// # Errors
    /// The store's. All files of the writer are then removed as well as that goes.
    pub async fn finish(mut self) -> Result<Vec<DataFileMeta>> {
        match self.close_file().await {
            Ok(()) => Ok(std::mem::take(&mut self.finished)),
            Err(error) => {
                if let Err(left) = self.abort().await {
                    tracing::debug!(error = %left, "could not remove the files of a failed writer");
                }
                Err(error)
            }
        }
    }

    /// Removes all files that were written.
    ///
    /// # Errors
    /// The store's; the other files are removed all the same.
    pub async fn abort(mut self) -> Result<()> {
        let mut outcome = Ok(());
        if let Some(file) = self.current.take() {
            outcome = file.writer.abort().await;
        }
        for file in std::mem::take(&mut self.finished) {
            let removed = self
                .context
                .io
                .delete(&self.describer.directory.file(&file.file_name))
                .await;
            outcome = outcome.and(removed.map_err(Into::into));
        }
        outcome
    }
}

/// Memory of one row, on average.
fn bytes_per_row(arrays: &[ArrayRef], rows: usize) -> u64 {
    let bytes: usize = arrays
        .iter()
        .map(|array| array.to_data().get_slice_memory_size().unwrap_or(0))
        .sum();
    (bytes as u64).div_ceil(rows.max(1) as u64).max(1)
}

impl fmt::Debug for RollingFileWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RollingFileWriter")
            .field("directory", &self.describer.directory.path())
            .field("rows", &self.rows)
            .field("finished", &self.finished.len())
            .finish_non_exhaustive()
    }
}
