//! The writer of one bucket of a primary-key table.

use std::sync::Arc;

use arrow_array::{Int8Array, RecordBatch};
use tidewater_files::RollingFileWriter;
use tidewater_format::{DataFileMeta, FileSource};
use tidewater_io::Reservation;
use tidewater_merge::{
    CompactionUnit, FullPickOptions, Levels, PickContext, UniversalCompaction, UniversalOptions,
    drop_delete, full_pick,
};

use super::Health;
use super::context::{BucketPlace, FileMaker, SchemasById, WriterContext};
use crate::commit_message::{CommitMessage, DataIncrement};
use crate::compaction::{
    CompactionResult, KeyedTask, NetCompaction, RecordExpiry, Running, abort_files, finish_files,
    run_keyed,
};
use crate::error::{Result, StoreError};
use crate::write_buffer::{DrainChunk, Drained, WriteBuffer};

/// Buffers rows, flushes them to level 0 and compacts.
#[derive(Debug)]
pub struct KeyedWriter {
    maker: FileMaker,
    schemas: SchemasById,
    buffer: WriteBuffer,
    next_sequence: i64,
    /// `None` for write-only tables: somebody else compacts.
    tree: Option<Tree>,
    new_files: Vec<Arc<DataFileMeta>>,
    changelog_files: Vec<Arc<DataFileMeta>>,
    compacted: NetCompaction,
    health: Health,
}

/// The bucket's files, and the compaction that runs over them.
#[derive(Debug)]
struct Tree {
    levels: Levels,
    picker: UniversalCompaction,
    running: Option<Running>,
    stop_trigger: usize,
}

impl KeyedWriter {
    /// See [`BucketWriter::open`](super::BucketWriter::open).
    pub(super) fn open(
        context: Arc<WriterContext>,
        place: BucketPlace,
        restored: Vec<Arc<DataFileMeta>>,
        schemas: SchemasById,
    ) -> Result<Self> {
        let keyed = context.keyed()?;
        let newest = restored.iter().map(|file| file.max_sequence_number).max();
        let options = &context.options;
        let unsigned = |value: i32| usize::try_from(value).unwrap_or_default();
        let tree = if options.write_only {
            None
        } else {
            Some(Tree {
                levels: Levels::restore(
                    restored,
                    unsigned(options.level_count()),
                    keyed.keys.clone(),
                )?,
                picker: UniversalCompaction::new(UniversalOptions::from_table(options)),
                running: None,
                stop_trigger: unsigned(options.stop_trigger()),
            })
        };
        Ok(Self {
            buffer: WriteBuffer::new(Arc::clone(&keyed.layout), keyed.buffer.clone()),
            maker: FileMaker::new(context, place),
            schemas,
            next_sequence: newest.unwrap_or(-1).max(-1).saturating_add(1),
            tree,
            new_files: Vec::new(),
            changelog_files: Vec::new(),
            compacted: NetCompaction::default(),
            health: Health::default(),
        })
    }

    /// The sequence number that the next row gets.
    pub fn next_sequence(&self) -> i64 {
        self.next_sequence
    }

    pub(super) fn write(
        &mut self,
        values: RecordBatch,
        kinds: Option<Int8Array>,
        memory: Reservation,
    ) -> Result<()> {
        self.health.begin()?;
        let rows = i64::try_from(values.num_rows()).unwrap_or(i64::MAX);
        let first = self.next_sequence;
        let next = first.checked_add(rows).ok_or(StoreError::SequenceExhausted);
        let next = self.health.end(next)?;
        self.buffer.append(values, kinds, first, memory);
        self.next_sequence = next;
        Ok(())
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.buffer.memory_bytes()
    }

    pub(super) async fn release_memory(&mut self) -> Result<()> {
        let options = &self.maker.context.options;
        let room = options.write_buffer_spill_max_disk_size.bytes();
        if !options.write_buffer_spillable || self.buffer.spilled_bytes() >= room {
            return self.flush(false, false).await;
        }
        self.health.begin()?;
        let spilled = match self.maker.context.scratch() {
            Ok(scratch) => {
                let cpu = self.maker.context.files.cpu().clone();
                self.buffer.spill(&scratch, &cpu).await
            }
            Err(error) => Err(error),
        };
        self.health.end(spilled)
    }

    pub(super) async fn compact(&mut self, full: bool) -> Result<()> {
        if full && self.tree.is_none() {
            return Err(StoreError::WriteOnly);
        }
        self.flush(true, full).await
    }

    pub(super) async fn prepare_commit(&mut self, wait: bool) -> Result<CommitMessage> {
        self.flush(wait, false).await?;
        let force = self.maker.context.options.commit_force_compact;
        let crowded = |tree: &Tree| tree.levels.num_runs() > tree.stop_trigger + 1;
        let wait = wait || force || self.tree.as_ref().is_some_and(crowded);
        self.sync(wait).await?;
        let place = &self.maker.place;
        Ok(CommitMessage {
            partition: place.partition.clone(),
            bucket: place.bucket,
            total_buckets: place.total_buckets,
            data: DataIncrement {
                new_files: std::mem::take(&mut self.new_files),
                deleted_files: Vec::new(),
                changelog_files: std::mem::take(&mut self.changelog_files),
            },
            compact: self.compacted.take(),
        })
    }

    pub(super) async fn abort(mut self) {
        if let Some(running) = self.tree.as_mut().and_then(|tree| tree.running.take()) {
            // What it finished is not known to anybody else.
            if running.is_finished()
                && let Ok(result) = running.result().await
            {
                self.compacted.add(result);
            }
        }
        let made = self.compacted.made();
        let files = self.new_files.iter().chain(&self.changelog_files);
        self.maker.delete(files.chain(&made)).await;
    }

    /// Writes the buffer to level 0, takes a finished compaction and starts the next one.
    async fn flush(&mut self, wait: bool, full: bool) -> Result<()> {
        // Too many runs make reads slow: the writer then waits for its compaction.
        let crowded = |tree: &Tree| tree.levels.num_runs() > tree.stop_trigger;
        let wait = wait || full || self.tree.as_ref().is_some_and(crowded);
        self.health.begin()?;
        let flushed = self.flush_rows().await;
        self.health.end(flushed)?;
        self.sync(wait).await?;
        self.trigger(full)
    }

    async fn flush_rows(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let cpu = self.maker.context.files.cpu().clone();
        let mut rows = self.buffer.drain(&cpu).await?;
        let mut data = self.maker.data(0, FileSource::Append, 0)?;
        let mut changelog = if self.maker.context.keyed()?.buffer.keep_input {
            Some(self.maker.changelog(0)?)
        } else {
            None
        };
        let written = write_rows(&mut rows, &mut data, changelog.as_mut(), &cpu).await;
        if written.is_err()
            && let Some(changelog) = changelog.take()
        {
            abort_files(changelog).await;
        }
        let files = finish_files(data, written).await?;
        self.new_files.extend(files.iter().cloned());
        if let Some(changelog) = changelog {
            let changes = finish_files(changelog, Ok(())).await?;
            self.changelog_files.extend(changes);
        }
        if let Some(tree) = &mut self.tree {
            for file in files {
                tree.levels.add_level0(file)?;
            }
        }
        Ok(())
    }

    /// Takes the result of the running compaction if it is there, or waits for it.
    async fn sync(&mut self, wait: bool) -> Result<()> {
        let Some(tree) = &mut self.tree else {
            return Ok(());
        };
        let ready = |running: &mut Running| wait || running.is_finished();
        let Some(running) = tree.running.take_if(ready) else {
            return Ok(());
        };
        let result: CompactionResult = running.result().await?;
        tree.levels.apply(&result.before, &result.after)?;
        let unused = self.compacted.add(result);
        self.maker.delete(&unused).await;
        Ok(())
    }

    fn trigger(&mut self, full: bool) -> Result<()> {
        let Some(tree) = &mut self.tree else {
            return Ok(());
        };
        if tree.running.is_some() {
            return Ok(());
        }
        let context = &self.maker.context;
        let now_millis = context.files.env().now_millis();
        let expiry = RecordExpiry::at(&context.schema, &context.options, now_millis)?;
        let (runs, top_level) = (tree.levels.runs(), tree.levels.top_level());
        let unit: Option<CompactionUnit> = if full {
            let needs_rewrite = |file: &DataFileMeta| {
                let expiry = expiry.as_ref();
                expiry.is_some_and(|expiry| expiry.is_in(file, &context.schema, &self.schemas))
            };
            let options = FullPickOptions {
                force_rewrite_all_files: context.options.compaction_force_rewrite_all_files,
                needs_rewrite: &needs_rewrite,
            };
            full_pick(&runs, top_level, &options)
        } else {
            let hours = now_millis.div_euclid(3_600_000).rem_euclid(24);
            let now = PickContext {
                now_millis,
                local_hour: u8::try_from(hours).unwrap_or_default(),
            };
            tree.picker.pick(&runs, top_level, now)
        };
        let Some(unit) = unit else {
            return Ok(());
        };
        let task = KeyedTask {
            top_level,
            drop_deletes: drop_delete(unit.output_level, tree.levels.highest_non_empty(), false),
            expiry,
            unit,
        };
        let work = run_keyed(self.maker.clone(), Arc::clone(&self.schemas), task);
        tree.running = Some(Running::start(&self.maker.context.compactions, work));
        Ok(())
    }
}

/// Writes all rows; the next ones are sorted and gathered while the last are encoded.
async fn write_rows(
    rows: &mut Drained,
    data: &mut RollingFileWriter,
    mut changelog: Option<&mut RollingFileWriter>,
    cpu: &tidewater_io::CpuPool,
) -> Result<()> {
    let mut chunk = rows.next(cpu).await?;
    while let Some(current) = chunk {
        let write = write_chunk(&current, data, changelog.as_deref_mut());
        let (written, following) = tokio::join!(write, rows.next(cpu));
        written?;
        chunk = following?;
    }
    Ok(())
}

async fn write_chunk(
    chunk: &DrainChunk,
    data: &mut RollingFileWriter,
    changelog: Option<&mut RollingFileWriter>,
) -> Result<()> {
    // The changelog first: its file takes the lower number, as Java's does.
    if let (Some(batch), Some(writer)) = (&chunk.changelog, changelog) {
        writer.write(batch).await?;
    }
    if let Some(batch) = &chunk.data {
        data.write(batch).await?;
    }
    Ok(())
}
