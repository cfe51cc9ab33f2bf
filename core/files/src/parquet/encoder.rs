//! Record batches to the bytes of a Parquet file: no IO, no threads.
//!
//! ```text
//!  arrays -> ColumnTask per column -> encode (any thread) -> back into the row group
//!                                                                | encoded pages fill the row group
//!                                                                v
//!                                     close each column (any thread) -> FileAssembler -> pieces of the file
//! ```
//!
//! Columns do not know of each other until a row group ends, so the caller may encode all in one job or spread them over threads.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType as ArrowType, FieldRef};
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::SerializedFileWriter;

use bytes::Bytes;

use super::assemble::{EncodedChunk, FileAssembler};
use super::file_schema::{FileSchema, encodable};
use super::page_store::{SharedPages, SharedStores};

/// One column of the row group that is being filled, and what is to be encoded into it.
pub(crate) struct ColumnTask {
    field: FieldRef,
    has_int96: bool,
    leaves: Vec<Leaf>,
    has_nan: bool,
    input: Option<ArrayRef>,
}

struct Leaf {
    writer: ArrowColumnWriter,
    pages: SharedPages,
}

impl ColumnTask {
    /// Encodes the array that the task was given.
    pub(crate) fn encode(&mut self) -> Result<()> {
        let Some(array) = self.input.take() else {
            return Ok(());
        };
        self.has_nan |= contains_nan(&array);
        let array = if self.has_int96 {
            encodable(&array)?
        } else {
            array
        };
        let columns = compute_leaves(&self.field, &array)?;
        if columns.len() != self.leaves.len() {
            return Err(ParquetError::General(format!(
                "column {:?} has another shape",
                self.field.name()
            )));
        }
        for (leaf, column) in self.leaves.iter_mut().zip(&columns) {
            leaf.writer.write(column)?;
        }
        Ok(())
    }

    /// Bytes of memory of the array that waits, a measure of the work.
    pub(crate) fn input_bytes(&self) -> usize {
        self.input.as_ref().map_or(0, Array::get_array_memory_size)
    }

    /// Bytes that wait in buffers to be encoded, a measure of the work of closing.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.memory_bytes()
            .saturating_sub(self.encoded_bytes())
            .max(1)
    }

    /// Encodes what is left in buffers; the answer has one chunk per leaf.
    pub(crate) fn close(self) -> Result<Vec<EncodedChunk>> {
        let has_nan = self.has_nan;
        let close = |leaf: Leaf| {
            let chunk = leaf.writer.close()?;
            Ok(EncodedChunk {
                close: chunk.close().clone(),
                pages: leaf.pages.take(),
                has_nan,
            })
        };
        self.leaves.into_iter().map(close).collect()
    }

    fn encoded_bytes(&self) -> usize {
        self.leaves
            .iter()
            .map(|leaf| leaf.writer.get_estimated_total_bytes())
            .sum()
    }

    fn memory_bytes(&self) -> usize {
        self.leaves
            .iter()
            .map(|leaf| leaf.writer.memory_size())
            .sum()
    }
}

/// Without an early end, so that it runs many values at a time.
fn any<T: Copy>(values: &[T], test: impl Fn(T) -> bool) -> bool {
    values
        .iter()
        .fold(false, |found, &value| found | test(value))
}

fn contains_nan(array: &ArrayRef) -> bool {
    match array.data_type() {
        ArrowType::Float32 => {
            let floats = array.as_primitive::<Float32Type>();
            any(floats.values(), f32::is_nan) && floats.iter().flatten().any(f32::is_nan)
        }
        ArrowType::Float64 => {
            let floats = array.as_primitive::<Float64Type>();
            any(floats.values(), f64::is_nan) && floats.iter().flatten().any(f64::is_nan)
        }
        _ => false,
    }
}

/// One Parquet file on its way from batches to bytes.
pub(crate) struct ParquetEncoder {
    schema: Arc<FileSchema>,
    factory: ArrowRowGroupWriterFactory,
    stores: Arc<SharedStores>,
    assembler: FileAssembler,
    columns: Vec<ColumnTask>,
    rows_in_group: usize,
    row_groups: usize,
}

impl ParquetEncoder {
    pub(crate) fn new(
        schema: Arc<FileSchema>,
        properties: &WriterPropertiesPtr,
        checksum: bool,
    ) -> Result<Self> {
        // The factory can only be had from a file writer; this one never writes a row group.
        let root = schema.encode_schema().root_schema_ptr();
        let unused = SerializedFileWriter::new(Vec::new(), root, Arc::clone(properties))?;
        let stores = Arc::new(SharedStores::new(checksum));
        let factory = ArrowRowGroupWriterFactory::new(&unused, Arc::clone(schema.encode_arrow()))
            .with_page_store_factory(Arc::<SharedStores>::clone(&stores));
        let assembler = FileAssembler::new(
            Arc::clone(schema.schema()),
            properties.created_by().to_owned(),
            properties.writer_version().as_num(),
        );
        Ok(Self {
            schema,
            factory,
            stores,
            assembler,
            columns: Vec::new(),
            rows_in_group: 0,
            row_groups: 0,
        })
    }

    /// Hands out the columns with the arrays to encode, one per encoded column of the schema. The caller runs
    /// [`ColumnTask::encode`] on each and gives them to [`ParquetEncoder::put_back`].
    pub(crate) fn take_tasks(&mut self, arrays: Vec<ArrayRef>) -> Result<Vec<ColumnTask>> {
        if self.columns.is_empty() {
            self.columns = self.start_row_group()?;
        }
        if arrays.len() != self.columns.len() {
            return Err(ParquetError::General(format!(
                "{} arrays for {} columns",
                arrays.len(),
                self.columns.len()
            )));
        }
        let mut tasks = std::mem::take(&mut self.columns);
        for (task, array) in tasks.iter_mut().zip(arrays) {
            task.input = Some(array);
        }
        Ok(tasks)
    }

    /// Takes columns back, in their order, after `rows` rows were encoded into each.
    pub(crate) fn put_back(&mut self, tasks: Vec<ColumnTask>, rows: usize) {
        self.columns = tasks;
        self.rows_in_group += rows;
    }

    fn start_row_group(&mut self) -> Result<Vec<ColumnTask>> {
        let mut writers = self
            .factory
            .create_column_writers(self.row_groups)?
            .into_iter();
        let mut pages = self.stores.take_handles().into_iter();
        self.row_groups += 1;
        let arrow = Arc::clone(self.schema.encode_arrow());
        let mut tasks = Vec::with_capacity(arrow.fields().len());
        for (column, field) in arrow.fields().iter().enumerate() {
            let mut leaves = Vec::with_capacity(1);
            for _ in 0..leaf_count(field.data_type()) {
                let (Some(writer), Some(pages)) = (writers.next(), pages.next()) else {
                    return Err(ParquetError::General(
                        "fewer column writers than columns".to_owned(),
                    ));
                };
                leaves.push(Leaf { writer, pages });
            }
            let (field, has_int96) = (Arc::clone(field), self.schema.has_int96(column));
            tasks.push(ColumnTask {
                field,
                has_int96,
                leaves,
                has_nan: false,
                input: None,
            });
        }
        Ok(tasks)
    }

    /// Rows of the row group that is being filled.
    pub(crate) fn rows_in_group(&self) -> usize {
        self.rows_in_group
    }

    /// The columns of the row group that ends; the caller closes each and gives the chunks to [`ParquetEncoder::end_row_group`].
    pub(crate) fn take_columns(&mut self) -> Vec<ColumnTask> {
        std::mem::take(&mut self.columns)
    }

    /// Puts the chunks of a row group into the file; they come in column order.
    pub(crate) fn end_row_group(&mut self, chunks: &[EncodedChunk]) -> Result<()> {
        let rows = std::mem::take(&mut self.rows_in_group);
        self.assembler
            .row_group(chunks, self.schema.chunk_of_leaf(), rows)
    }

    /// Bytes of the row groups that have ended.
    pub(crate) fn ended_bytes(&self) -> u64 {
        self.assembler.offset()
    }

    /// Bytes of the unfinished row group, of which dictionaries and open pages are not compressed yet.
    pub(crate) fn open_bytes(&self) -> u64 {
        self.columns
            .iter()
            .map(ColumnTask::encoded_bytes)
            .sum::<usize>() as u64
    }

    /// Memory that the unfinished row group holds.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.columns.iter().map(ColumnTask::memory_bytes).sum()
    }

    /// Bytes of the file that are ready, in order.
    pub(crate) fn take_pieces(&mut self) -> Vec<Bytes> {
        self.assembler.take_pieces()
    }

    /// Writes the footer; all row groups must have ended.
    pub(crate) fn finish(&mut self) -> Result<ParquetMetaData> {
        self.assembler.finish()
    }
}

fn leaf_count(data_type: &ArrowType) -> usize {
    match data_type {
        ArrowType::List(field) | ArrowType::Map(field, _) => leaf_count(field.data_type()),
        ArrowType::Struct(fields) => fields
            .iter()
            .map(|field| leaf_count(field.data_type()))
            .sum(),
        _ => 1,
    }
}
