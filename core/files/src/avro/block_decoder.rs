//! Turns the bytes of a file, pushed as they come, into batches.
//!
//! ```text
//!  step   on a worker:  frame a block -> decompress -> rows into builders -> map to the asked columns
//!    |- Needs(bytes)    the block goes on behind the bytes that were pushed
//!    |- More(batches)
//!    '- Done(batches)   the file has ended where a block did
//! ```
//!
//! A batch ends after its rows, or sooner after [`Plan::batch_bytes`] of them: blocks are small, but a row can be large.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use tidewater_format::avro::{
    AvroError, BlockDecompressor, Cursor, Header, SkipTable, WriterSchema, expect_block_end,
};
use tidewater_index::DeletionVector;
use tidewater_types::{Predicate, TypeError};

use super::values::{Shape, Step as FieldStep, Values, walk};
use crate::error::{FilesError, Result};
use crate::mapping::{SchemaMapping, StoredSchema};
use crate::parquet::RowChoice;

/// Most bytes that a block of rows may hold. Java ends a block after 64 kB, so a larger one holds a single larger row.
pub(super) const BLOCK_BYTES_MAX: usize = 256 << 20;
/// What compression may add to bytes that it cannot make fewer, and the frame around them.
const BLOCK_OVERHEAD_MAX: usize = 16 << 20;
/// Batches made in one step.
const STEP_BATCHES: usize = 4;

/// What a file's header says.
#[derive(Debug)]
pub(super) struct FileHead {
    pub(super) path: String,
    pub(super) file_bytes: u64,
    pub(super) header: Header,
    pub(super) schema: WriterSchema,
    pub(super) skips: SkipTable,
    pub(super) stored: StoredSchema,
}

impl FileHead {
    /// An error of the bytes of the whole file.
    pub(super) fn corrupt(&self, error: AvroError) -> FilesError {
        corrupt(&self.path, error)
    }
}

/// Damage, with all that its source knows.
pub(super) fn corrupt(path: &str, error: AvroError) -> FilesError {
    if let AvroError::UnknownCodec { name } = &error {
        return FilesError::Unsupported {
            what: format!("avro codec {name:?}, which {path} is compressed with"),
        };
    }
    FilesError::corrupt(path, described(error))
}

fn described(error: impl std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// What is the same for all blocks of a read.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) head: Arc<FileHead>,
    pub(super) mapping: SchemaMapping,
    /// Rows that do not match are left out.
    pub(super) exact_filter: Option<Predicate>,
    /// The columns that the caller asked for come first; those only read for the filter follow.
    pub(super) kept_columns: usize,
    pub(super) rows: RowChoice,
    /// Rows that are not there any more.
    pub(super) deleted: Option<Arc<DeletionVector>>,
    pub(super) batch_rows: usize,
    /// Bytes of blocks after which a batch ends early.
    pub(super) batch_bytes: usize,
}

impl Plan {
    fn path(&self) -> &str {
        &self.head.path
    }

    /// The schema of the batches.
    pub(super) fn output_schema(&self) -> SchemaRef {
        let schema = self.mapping.output_schema();
        let kept: Vec<usize> = (0..self.kept_columns).collect();
        schema
            .project(&kept)
            .map_or_else(|_| Arc::clone(schema), Arc::new)
    }

    fn finish(&self, decoded: &RecordBatch) -> Result<RecordBatch> {
        let mut batch = self.mapping.apply(self.path(), decoded)?;
        if let Some(predicate) = &self.exact_filter {
            let kept = predicate.eval(&batch)?;
            if kept.true_count() < batch.num_rows() {
                batch = filter_record_batch(&batch, &kept).map_err(TypeError::from)?;
            }
        }
        if self.kept_columns < batch.num_columns() {
            let kept: Vec<usize> = (0..self.kept_columns).collect();
            batch = batch.project(&kept).map_err(TypeError::from)?;
        }
        Ok(batch)
    }
}

/// What a step came to.
pub(super) enum Step {
    /// At least so many bytes of the file are missing.
    Needs(u64),
    /// There may be more.
    More(Vec<RecordBatch>),
    /// The file has ended.
    Done(Vec<RecordBatch>),
}

/// A file while it is decoded.
pub(super) struct BlockDecoder {
    plan: Arc<Plan>,
    decompressor: BlockDecompressor,
    /// Bytes that were pushed and are not decoded yet, and where in the file they begin.
    pending: Vec<u8>,
    pending_start: u64,
    /// The block that is read.
    records: Vec<u8>,
    records_read: usize,
    /// Where the block begins in the file, for errors.
    block_offset: usize,
    /// Ranges of rows of the block that are still to be read, and its first row that was not passed yet.
    wanted: Vec<Range<u64>>,
    next_row: u64,
    block_end: u64,
    steps: Vec<FieldStep>,
    columns: Vec<Values>,
    /// The decoded columns as the file has them.
    schema: SchemaRef,
    rows: usize,
    bytes: usize,
}

impl BlockDecoder {
    pub(super) fn new(plan: Arc<Plan>) -> Result<Self> {
        let head = &plan.head;
        let shape = Shape {
            schema: &head.schema,
            skips: &head.skips,
            leaves: plan.mapping.leaves(),
        };
        let fields = head.schema.record(head.schema.root()).unwrap_or_default();
        let (steps, columns) =
            shape
                .steps(fields, &head.stored.columns)
                .ok_or_else(|| FilesError::Internal {
                    what: format!(
                        "a column of {} that cannot be decoded was mapped",
                        head.path
                    ),
                })?;
        let decoded = head.stored.columns.iter().filter_map(|node| {
            let arrow = node.decoded_type(shape.leaves)?;
            Some(node.field.as_ref().clone().with_data_type(arrow))
        });
        Ok(Self {
            decompressor: BlockDecompressor::new(head.header.codec, BLOCK_BYTES_MAX)
                .map_err(|error| head.corrupt(error))?,
            pending: Vec::new(),
            pending_start: head.header.length as u64,
            records: Vec::new(),
            records_read: 0,
            block_offset: 0,
            wanted: Vec::new(),
            next_row: 0,
            block_end: 0,
            steps,
            columns,
            schema: Arc::new(Schema::new(decoded.collect::<Vec<_>>())),
            rows: 0,
            bytes: 0,
            plan,
        })
    }

    /// Takes the next bytes of the file; the first follow the header.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// Decodes until bytes are wanted, the file ends or a few batches are ready.
    pub(super) fn step(&mut self) -> Result<Step> {
        let mut ready = Vec::new();
        let mut framed = 0;
        let step = loop {
            if self.read_rows()? {
                let batch = self.take_batch()?;
                if batch.num_rows() > 0 {
                    ready.push(batch);
                }
                if ready.len() >= STEP_BATCHES {
                    break Step::More(ready);
                }
                continue;
            }
            match self.next_block(&mut framed)? {
                None => {}
                Some(0) => {
                    if self.rows > 0 {
                        let batch = self.take_batch()?;
                        if batch.num_rows() > 0 {
                            ready.push(batch);
                        }
                    }
                    break Step::Done(ready);
                }
                Some(_) if !ready.is_empty() => break Step::More(ready),
                Some(missing) => break Step::Needs(missing),
            }
        };
        self.pending.drain(..framed);
        self.pending_start += framed as u64;
        Ok(step)
    }

    /// Reads rows of the block until it ends or the batch is full; tells whether it is full.
    fn read_rows(&mut self) -> Result<bool> {
        let plan = Arc::clone(&self.plan);
        let head = &plan.head;
        let records = std::mem::take(&mut self.records);
        let mut cursor = Cursor::new(records.get(self.records_read..).unwrap_or_default());
        let pass = head.skips.compile(&head.schema, head.schema.root());
        let full = loop {
            if self.rows >= plan.batch_rows || self.bytes >= plan.batch_bytes && self.rows > 0 {
                break true;
            }
            if self.next_row == self.block_end {
                break false;
            }
            let read = match self.wanted.last() {
                // Nothing more of this block: its other rows need not be passed.
                None => {
                    self.next_row = self.block_end;
                    break false;
                }
                Some(range) => range.contains(&self.next_row),
            };
            if read {
                let start = cursor.offset();
                walk(&self.steps, &mut self.columns, &mut cursor, &head.skips)
                    .map_err(|(part, fault)| self.damage(part, described(*fault)))?;
                self.rows += 1;
                self.bytes += cursor.offset() - start;
            } else {
                head.skips
                    .pass(&pass, &mut cursor)
                    .map_err(|fault| self.damage(None, described(*fault)))?;
            }
            self.next_row += 1;
            if self
                .wanted
                .last()
                .is_some_and(|range| range.end <= self.next_row)
            {
                self.wanted.pop();
            }
            if self.next_row == self.block_end {
                expect_block_end(&cursor).map_err(|error| head.corrupt(error))?;
            }
        };
        self.records_read += cursor.offset();
        self.records = records;
        Ok(full)
    }

    /// Frames the next block and decompresses it if rows of it are wanted. `framed` is where it begins in the pending bytes. Answers
    /// the bytes that are missing, 0 if the file has ended.
    fn next_block(&mut self, framed: &mut usize) -> Result<Option<u64>> {
        let head = Arc::clone(&self.plan.head);
        let pending = self.pending.get(*framed..).unwrap_or_default();
        let start = self.pending_start + *framed as u64;
        let left = head.file_bytes.saturating_sub(start);
        if left == 0 && pending.is_empty() {
            let deleted = self.plan.deleted.as_deref().and_then(DeletionVector::last);
            if let Some(position) = deleted.filter(|last| *last >= self.block_end) {
                return Err(FilesError::DeletedBeyondEnd {
                    path: head.path.clone(),
                    position,
                    rows: self.block_end,
                });
            }
            return Ok(Some(0));
        }
        let mut cursor = Cursor::new(pending);
        let offset = usize::try_from(start).unwrap_or(usize::MAX);
        let block = match head.header.block(&mut cursor, offset) {
            Ok(block) => block,
            Err(AvroError::Truncated {
                needed, available, ..
            }) => {
                let missing = needed.saturating_sub(available).max(1);
                let all = pending.len().saturating_add(missing);
                if all as u64 > left {
                    let reason = format!("the block at offset {start} is cut off");
                    return Err(FilesError::corrupt(&head.path, reason));
                }
                if all > BLOCK_BYTES_MAX + BLOCK_OVERHEAD_MAX {
                    return Err(head.corrupt(AvroError::BlockTooLarge {
                        offset,
                        limit: BLOCK_BYTES_MAX,
                    }));
                }
                return Ok(Some(missing as u64));
            }
            Err(error) => return Err(head.corrupt(error)),
        };
        let first = self.block_end;
        self.block_end = first.saturating_add(block.count as u64);
        self.next_row = first;
        self.wanted = chosen(&self.plan.rows, first..self.block_end);
        if let Some(deleted) = &self.plan.deleted {
            self.wanted = live(deleted, &self.wanted);
        }
        self.wanted.reverse();
        self.block_offset = block.offset;
        self.records_read = 0;
        if !self.wanted.is_empty() {
            block
                .decompress(&mut self.decompressor, &mut self.records)
                .map_err(|error| head.corrupt(error))?;
            if block.count == 0 && !self.records.is_empty() {
                return Err(head.corrupt(AvroError::TrailingBytes {
                    left: self.records.len(),
                }));
            }
        } else {
            self.next_row = self.block_end;
        }
        *framed += cursor.offset();
        Ok(None)
    }

    fn take_batch(&mut self) -> Result<RecordBatch> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.columns.len());
        for part in 0..self.columns.len() {
            let made = match self.columns.get_mut(part) {
                Some(values) => values.finish(),
                None => continue,
            };
            arrays.push(made.map_err(|error| self.damage(Some(part), error.to_string()))?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options)
            .map_err(|error| FilesError::Internal {
            what: format!(
                "a decoded batch of {} is inconsistent: {error}",
                self.plan.path()
            ),
        })?;
        self.plan.finish(&batch)
    }

    /// An error of a decoded column, or of one that is not asked for.
    fn damage(&self, part: Option<usize>, reason: String) -> FilesError {
        let reason = format!("block at offset {}: {reason}", self.block_offset);
        let field = part.and_then(|part| self.schema.fields().get(part));
        match field {
            Some(field) => FilesError::CorruptColumn {
                path: self.plan.path().to_owned(),
                column: field.name().clone(),
                reason,
            },
            None => FilesError::corrupt(self.plan.path(), reason),
        }
    }
}

/// The chosen rows among `rows` of a file, as ranges that rise.
fn chosen(choice: &RowChoice, rows: Range<u64>) -> Vec<Range<u64>> {
    let cut = |range: Range<u64>| range.start.max(rows.start)..range.end.min(rows.end);
    match choice {
        RowChoice::All => vec![rows],
        RowChoice::Ranges(ranges) => {
            let inside = ranges.iter().cloned().map(cut);
            inside.filter(|range| range.start < range.end).collect()
        }
        RowChoice::Mask(mask) => {
            let place = |row: u64| usize::try_from(row).unwrap_or(usize::MAX).min(mask.len());
            let (start, end) = (place(rows.start), place(rows.end));
            let part = mask.slice(start, end - start);
            let runs = part.set_slices();
            runs.map(|(from, to)| (start + from) as u64..(start + to) as u64)
                .collect()
        }
    }
}

/// The rows of `chosen` that are not deleted.
fn live(deleted: &DeletionVector, chosen: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut live = Vec::with_capacity(chosen.len());
    for rows in chosen {
        let mut at = rows.start;
        for stretch in deleted.stretches(rows.clone()) {
            live.push(at..stretch.start);
            at = stretch.end;
        }
        live.push(at..rows.end);
    }
    live.retain(|rows| rows.start < rows.end);
    live
}
