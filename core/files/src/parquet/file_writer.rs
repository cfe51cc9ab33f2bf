//! One Parquet file that is written into a sink: encoding on the worker threads, bytes out as row groups end.

use std::fmt;
use std::sync::Arc;

use arrow_array::ArrayRef;
use bytes::Bytes;
use futures::future::try_join_all;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::WriterPropertiesPtr;
use tidewater_io::{CpuPool, FileSink};

use super::encoder::{ColumnTask, ParquetEncoder};
use super::file_schema::FileSchema;
use super::options::ParquetWriteOptions;
use crate::context::FilesContext;
use crate::error::{FilesError, Result};

/// What all files of a rolling writer share.
#[derive(Debug, Clone)]
pub(crate) struct ParquetFormat {
    pub(crate) schema: Arc<FileSchema>,
    properties: WriterPropertiesPtr,
    row_group_bytes: usize,
    checksum: bool,
    /// Jobs that the columns of a batch are spread over.
    jobs: usize,
}

impl ParquetFormat {
    /// `jobs` is how many threads work on one file; 1 when several files are written at a time.
    pub(crate) fn new(
        schema: Arc<FileSchema>,
        options: &ParquetWriteOptions,
        jobs: usize,
    ) -> Result<Self> {
        Ok(Self {
            schema,
            properties: Arc::new(options.writer_properties()?),
            row_group_bytes: options.row_group_bytes(),
            checksum: options.page_checksum(),
            jobs: jobs.max(1),
        })
    }

    /// The same, with row groups that end sooner where memory is short.
    pub(crate) fn with_row_group_bytes_at_most(mut self, bytes: usize) -> Self {
        self.row_group_bytes = self.row_group_bytes.min(bytes);
        self
    }
}

/// A file that is being written.
pub(crate) struct ParquetFileWriter {
    context: FilesContext,
    format: ParquetFormat,
    sink: FileSink,
    /// None after an error.
    encoder: Option<ParquetEncoder>,
}

/// A file that is whole and durable.
pub(crate) struct WrittenFile {
    pub(crate) file_bytes: u64,
    pub(crate) metadata: ParquetMetaData,
}

impl ParquetFileWriter {
    pub(crate) async fn open(
        context: &FilesContext,
        format: &ParquetFormat,
        path: &str,
    ) -> Result<Self> {
        let encoder = ParquetEncoder::new(
            Arc::clone(&format.schema),
            &format.properties,
            format.checksum,
        )
        .map_err(|error| FilesError::encode(path, &error))?;
        let sink = context.io.open_write(path).await?;
        Ok(Self {
            context: context.clone(),
            format: format.clone(),
            sink,
            encoder: Some(encoder),
        })
    }

    /// Bytes of the file so far; those of the unfinished row group as they wait, partly uncompressed.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.encoder
            .as_ref()
            .map_or(0, |encoder| encoder.ended_bytes() + encoder.open_bytes())
    }

    /// Ends the row group early, so that its size is known.
    pub(crate) async fn cut_row_group(&mut self) -> Result<()> {
        let path = self.sink.path().to_owned();
        let mut encoder = self.encoder.take().ok_or_else(|| failed_before(&path))?;
        if encoder.rows_in_group() > 0 {
            encoder = self.spread_row_group(encoder).await?;
        }
        let pieces = encoder.take_pieces();
        self.encoder = Some(encoder);
        self.put(pieces).await
    }

    /// Memory that encoded rows hold until their row group ends.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.encoder
            .as_ref()
            .map_or(0, ParquetEncoder::memory_bytes)
    }

    /// Encodes `rows` rows; `arrays` are the encoded columns of the schema, in order.
    pub(crate) async fn write(&mut self, arrays: Vec<ArrayRef>, rows: usize) -> Result<()> {
        let path = self.sink.path().to_owned();
        let encode_error = |error: ParquetError| FilesError::encode(&path, &error);
        let mut encoder = self.encoder.take().ok_or_else(|| failed_before(&path))?;
        let mut pieces = Vec::new();
        if self.format.jobs == 1 {
            let row_group_bytes = self.format.row_group_bytes;
            let job = move || -> Result<_, ParquetError> {
                let mut tasks = encoder.take_tasks(arrays)?;
                tasks.iter_mut().try_for_each(ColumnTask::encode)?;
                encoder.put_back(tasks, rows);
                if encoder.memory_bytes() >= row_group_bytes {
                    end_row_group(&mut encoder)?;
                }
                let pieces = encoder.take_pieces();
                Ok((encoder, pieces))
            };
            (encoder, pieces) = self.context.cpu.run(job).await?.map_err(encode_error)?;
        } else {
            let tasks = encoder.take_tasks(arrays).map_err(encode_error)?;
            let encode = |mut task: ColumnTask| task.encode().map(|()| task);
            let weight = ColumnTask::input_bytes;
            let tasks = spread(&self.context.cpu, self.format.jobs, tasks, weight, encode)
                .await?
                .map_err(encode_error)?;
            encoder.put_back(tasks, rows);
            if encoder.memory_bytes() >= self.format.row_group_bytes {
                encoder = self.spread_row_group(encoder).await?;
                pieces = encoder.take_pieces();
            }
        }
        self.encoder = Some(encoder);
        self.put(pieces).await
    }

    async fn put(&mut self, pieces: Vec<Bytes>) -> Result<()> {
        for piece in pieces {
            self.sink.write(piece).await?;
        }
        Ok(())
    }

    /// Ends the row group with its columns spread over jobs. Takes no shared borrow of itself across a wait: the sink is not `Sync`.
    async fn spread_row_group(&mut self, mut encoder: ParquetEncoder) -> Result<ParquetEncoder> {
        let encode_error = |path: &str, error: ParquetError| FilesError::encode(path, &error);
        let columns = encoder.take_columns();
        let (cpu, jobs) = (self.context.cpu.clone(), self.format.jobs);
        let chunks = spread(
            &cpu,
            jobs,
            columns,
            ColumnTask::waiting_bytes,
            ColumnTask::close,
        )
        .await?
        .map_err(|error| encode_error(self.sink.path(), error))?;
        let chunks: Vec<_> = chunks.into_iter().flatten().collect();
        encoder
            .end_row_group(&chunks)
            .map_err(|error| encode_error(self.sink.path(), error))?;
        Ok(encoder)
    }

    /// Ends the last row group, writes the footer and makes the file durable.
    pub(crate) async fn finish(mut self) -> Result<WrittenFile> {
        let path = self.sink.path().to_owned();
        let mut encoder = self.encoder.take().ok_or_else(|| failed_before(&path))?;
        if self.format.jobs > 1 && encoder.rows_in_group() > 0 {
            encoder = self.spread_row_group(encoder).await?;
        }
        let job = move || -> Result<_, ParquetError> {
            if encoder.rows_in_group() > 0 {
                end_row_group(&mut encoder)?;
            }
            let metadata = encoder.finish()?;
            Ok((encoder.take_pieces(), metadata))
        };
        let finished = self.context.cpu.run(job).await?;
        let (pieces, metadata) = finished.map_err(|error| FilesError::encode(&path, &error))?;
        self.put(pieces).await?;
        let file_bytes = self.sink.finish().await?;
        Ok(WrittenFile {
            file_bytes,
            metadata,
        })
    }

    /// Removes what was written.
    pub(crate) async fn abort(self) -> Result<()> {
        Ok(self.sink.abort().await?)
    }
}

/// Runs `work` on each task, on as many jobs as said; the answers keep the order.
async fn spread<T, W>(
    cpu: &CpuPool,
    jobs: usize,
    tasks: Vec<ColumnTask>,
    weight: fn(&ColumnTask) -> usize,
    work: W,
) -> Result<Result<Vec<T>, ParquetError>>
where
    T: Send + 'static,
    W: Fn(ColumnTask) -> Result<T, ParquetError> + Clone + Send + 'static,
{
    let mut weighted: Vec<(usize, usize, ColumnTask)> = tasks
        .into_iter()
        .enumerate()
        .map(|(index, task)| (weight(&task), index, task))
        .collect();
    weighted.sort_by_key(|(weight, index, _)| (std::cmp::Reverse(*weight), *index));
    let mut shares: Vec<(usize, Vec<(usize, ColumnTask)>)> = Vec::new();
    shares.resize_with(jobs, Default::default);
    for (weight, index, task) in weighted {
        if let Some((total, share)) = shares.iter_mut().min_by_key(|(total, _)| *total) {
            *total += weight;
            share.push((index, task));
        }
    }
    let running = shares
        .into_iter()
        .filter(|(_, share)| !share.is_empty())
        .map(|(_, share)| {
            let work = work.clone();
            cpu.run(move || {
                let done = share
                    .into_iter()
                    .map(|(index, task)| work(task).map(|done| (index, done)));
                done.collect::<Result<Vec<_>, ParquetError>>()
            })
        });
    let done = try_join_all(running)
        .await?
        .into_iter()
        .collect::<Result<Vec<_>, _>>();
    Ok(done.map(|shares| {
        let mut done: Vec<(usize, T)> = shares.into_iter().flatten().collect();
        done.sort_by_key(|(index, _)| *index);
        done.into_iter().map(|(_, done)| done).collect()
    }))
}

fn end_row_group(encoder: &mut ParquetEncoder) -> Result<(), ParquetError> {
    let mut chunks = Vec::new();
    for column in encoder.take_columns() {
        chunks.extend(column.close()?);
    }
    encoder.end_row_group(&chunks)
}

fn failed_before(path: &str) -> FilesError {
    FilesError::Internal {
        what: format!("the writer of {path} was used after an error"),
    }
}

impl fmt::Debug for ParquetFileWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParquetFileWriter")
            .field("path", &self.sink.path())
            .field("file_bytes", &self.file_bytes())
            .finish()
    }
}
