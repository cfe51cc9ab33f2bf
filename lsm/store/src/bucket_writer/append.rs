//! The writer of one bucket of an append table: rows go into an open file as they come.

use std::sync::Arc;

use arrow_array::RecordBatch;
use tidewater_files::RollingFileWriter;
use tidewater_format::{DataFileMeta, FileSource};
use tidewater_io::Reservation;
use tidewater_merge::{BucketedAppendCompaction, BucketedAppendOptions};

use super::Health;
use super::context::{BucketPlace, FileMaker, SchemasById, WriterContext};
use crate::commit_message::{CommitMessage, DataIncrement};
use crate::compaction::{NetCompaction, Running, abort_files, finish_files, run_concat};
use crate::error::{Result, StoreError};

/// Writes files, and concatenates small neighbours in tables with buckets.
#[derive(Debug)]
pub struct AppendWriter {
    maker: FileMaker,
    schemas: SchemasById,
    open: Option<RollingFileWriter>,
    /// What the open file holds in memory; taken over from the first rows given.
    memory: Option<Reservation>,
    next_sequence: i64,
    /// `None` for write-only tables and those without buckets: somebody else compacts.
    files: Option<Files>,
    new_files: Vec<Arc<DataFileMeta>>,
    compacted: NetCompaction,
    health: Health,
}

/// The bucket's files that may be concatenated, and the compaction that runs.
#[derive(Debug)]
struct Files {
    candidates: BucketedAppendCompaction,
    running: Option<Running>,
}

impl AppendWriter {
    /// See [`BucketWriter::open`](super::BucketWriter::open).
    pub(super) fn open(
        context: Arc<WriterContext>,
        place: BucketPlace,
        restored: Vec<Arc<DataFileMeta>>,
        schemas: SchemasById,
    ) -> Self {
        let bucketed = place.total_buckets > 0;
        // Without buckets every writer counts from 0 (spec 02a §5.1).
        let newest = restored
            .iter()
            .filter(|_| bucketed)
            .map(|file| file.max_sequence_number)
            .max();
        let files = (bucketed && !context.options.write_only).then(|| Files {
            candidates: BucketedAppendCompaction::new(
                restored,
                BucketedAppendOptions::from_table(&context.options),
            ),
            running: None,
        });
        Self {
            maker: FileMaker::new(context, place),
            schemas,
            open: None,
            memory: None,
            next_sequence: newest.unwrap_or(-1).max(-1).saturating_add(1),
            files,
            new_files: Vec::new(),
            compacted: NetCompaction::default(),
            health: Health::default(),
        }
    }

    pub(super) async fn write(&mut self, values: &RecordBatch, memory: Reservation) -> Result<()> {
        self.health.begin()?;
        let written = self.write_rows(values, memory).await;
        self.health.end(written)
    }

    async fn write_rows(&mut self, values: &RecordBatch, mut memory: Reservation) -> Result<()> {
        let mut writer = match self.open.take() {
            Some(writer) => writer,
            None => self.maker.data(0, FileSource::Append, self.next_sequence)?,
        };
        let written = writer.write(values).await;
        self.next_sequence = writer.next_sequence_number();
        // The rows are encoded; what is held now is the writer's.
        match &mut self.memory {
            Some(held) => held.resize(writer.memory_bytes()),
            None => {
                memory.resize(writer.memory_bytes());
                self.memory = Some(memory);
            }
        }
        self.open = Some(writer);
        Ok(written?)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.memory.as_ref().map_or(0, Reservation::size)
    }

    pub(super) async fn compact(&mut self, full: bool) -> Result<()> {
        if full && self.files.is_none() {
            return Err(StoreError::WriteOnly);
        }
        self.flush(true).await?;
        self.trigger(full);
        Ok(())
    }

    pub(super) async fn prepare_commit(&mut self, wait: bool) -> Result<CommitMessage> {
        self.flush(false).await?;
        self.trigger(false);
        let wait = wait || self.maker.context.options.commit_force_compact;
        self.sync(wait).await?;
        let place = &self.maker.place;
        Ok(CommitMessage {
            partition: place.partition.clone(),
            bucket: place.bucket,
            total_buckets: place.total_buckets,
            data: DataIncrement {
                new_files: std::mem::take(&mut self.new_files),
                ..DataIncrement::default()
            },
            compact: self.compacted.take(),
        })
    }

    pub(super) async fn abort(mut self) {
        if let Some(writer) = self.open.take() {
            abort_files(writer).await;
        }
        if let Some(running) = self.files.as_mut().and_then(|files| files.running.take())
            && running.is_finished()
            && let Ok(result) = running.result().await
        {
            self.compacted.add(result);
        }
        let made = self.compacted.made();
        self.maker.delete(self.new_files.iter().chain(&made)).await;
    }

    /// Ends the open file. The compaction that runs is taken in if it is through, or waited for.
    pub(super) async fn flush(&mut self, wait: bool) -> Result<()> {
        self.health.begin()?;
        let flushed = match self.open.take() {
            None => Ok(Vec::new()),
            Some(writer) => finish_files(writer, Ok(())).await,
        };
        self.memory = None;
        let flushed = self.health.end(flushed)?;
        if let Some(files) = &mut self.files {
            for file in &flushed {
                files.candidates.add(Arc::clone(file));
            }
        }
        self.new_files.extend(flushed);
        self.sync(wait).await
    }

    async fn sync(&mut self, wait: bool) -> Result<()> {
        let Some(files) = &mut self.files else {
            return Ok(());
        };
        let ready = |running: &mut Running| wait || running.is_finished();
        let Some(running) = files.running.take_if(ready) else {
            return Ok(());
        };
        let result = running.result().await?;
        files.candidates.compacted(&result.after);
        let unused = self.compacted.add(result);
        self.maker.delete(&unused).await;
        Ok(())
    }

    fn trigger(&mut self, full: bool) {
        let Some(files) = &mut self.files else {
            return;
        };
        if files.running.is_some() {
            return;
        }
        let picked = if full {
            files.candidates.full_pick(false, &|_| false)
        } else {
            files.candidates.auto_pick()
        };
        if let Some(picked) = picked {
            let work = run_concat(self.maker.clone(), Arc::clone(&self.schemas), picked);
            files.running = Some(Running::start(&self.maker.context.compactions, work));
        }
    }
}
