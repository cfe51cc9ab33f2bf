//! Parquet files as a table's rows. Columns that nobody wants are not read, row groups that are done are not opened.

use std::sync::Arc;

use arrow_array::RecordBatchReader;
use arrow_schema::{DataType as ArrowType, Field, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Type as PhysicalType;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use tidewater_files::LocalChunks;
use tidewater_io::LocalFile;
use tidewater_types::{RowType, TypeKind};

use super::columnar::{names, piece, rows_for};
use super::error::{LoadError, Result};
use super::input::Input;
use super::reader::{Piece, PieceSize, RowReader};
use super::target::Target;

/// How many times larger than wanted a piece may turn out.
const PIECE_BYTES_SLACK: usize = 4;

/// Reads one Parquet input.
pub(super) struct ParquetReader {
    name: String,
    file: LocalChunks,
    metadata: ArrowReaderMetadata,
    target: Target,
    size: PieceSize,
    /// Rows before the next piece.
    row: u64,
    /// Rows of a piece at most.
    rows_max: usize,
    batches: Option<ParquetRecordBatchReader>,
}

/// The schema of a Parquet input.
pub(super) fn schema(input: Input) -> Result<SchemaRef> {
    let name = input.name();
    let (_, metadata) = open(&name, input)?;
    Ok(Arc::clone(metadata.schema()))
}

/// The file as the decoder reads it, and what its footer says.
fn open(name: &str, input: Input) -> Result<(LocalChunks, ArrowReaderMetadata)> {
    let file = LocalFile::opened(input.file()?, name).map_err(|source| LoadError::Read {
        file: name.to_owned(),
        source,
    })?;
    let error = |source| broken(name, 0, source);
    let (file, metadata) = LocalChunks::open(Arc::new(file)).map_err(error)?;
    let options = ArrowReaderOptions::new();
    let metadata = ArrowReaderMetadata::try_new(Arc::new(metadata), options).map_err(error)?;
    Ok((file, metadata))
}

impl ParquetReader {
    pub(super) fn open(input: Input, target: Target, size: PieceSize) -> Result<Self> {
        let name = input.name();
        let (file, mut metadata) = open(&name, input)?;
        let error = |source| broken(&name, 0, source);
        target.check_columns(&name, &names(metadata.schema()))?;
        if let Some(schema) = with_wide_int96(&metadata, &target.row_type) {
            let options = ArrowReaderOptions::new().with_schema(schema);
            metadata = ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)
                .map_err(error)?;
        }
        Ok(Self {
            name,
            file,
            metadata,
            target,
            rows_max: size.rows,
            size,
            row: 0,
            batches: None,
        })
    }

    /// Reads on behind `self.row`.
    fn start(&self) -> Result<ParquetRecordBatchReader> {
        let error = |source| broken(&self.name, self.row, source);
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
            self.file.clone(),
            self.metadata.clone(),
        );
        let wanted = |name: &str| {
            self.target.row_type.index_of(name).is_some() || self.target.is_only_kind(name)
        };
        let fields = builder.schema().fields().iter().enumerate();
        let roots: Vec<usize> = fields
            .filter(|(_, field)| wanted(field.name()))
            .map(|(root, _)| root)
            .collect();
        let mut left = self.row;
        let (mut bytes, mut rows) = (0, 0);
        let mut groups = Vec::new();
        for (index, group) in builder.metadata().row_groups().iter().enumerate() {
            let group_rows = u64::try_from(group.num_rows()).unwrap_or_default();
            if groups.is_empty() && left >= group_rows {
                left -= group_rows;
                continue;
            }
            groups.push(index);
            rows += usize::try_from(group_rows).unwrap_or_default();
            let schema = builder.parquet_schema();
            for (leaf, column) in group.columns().iter().enumerate() {
                let is_wanted = leaf < schema.num_columns()
                    && roots.contains(&schema.get_column_root_idx(leaf));
                bytes += if is_wanted { decoded_bytes(column) } else { 0 };
            }
        }
        let batch_rows = rows_for(self.size.bytes, bytes, rows).min(self.rows_max);
        let mask = ProjectionMask::roots(builder.parquet_schema(), roots);
        let builder = builder
            .with_batch_size(batch_rows)
            .with_projection(mask)
            .with_row_groups(groups);
        let builder = match usize::try_from(left) {
            Ok(left) if left > 0 => builder.with_offset(left),
            _ => builder,
        };
        builder.build().map_err(error)
    }
}

impl RowReader for ParquetReader {
    fn skip(&mut self, rows: u64) -> Result<u64> {
        let all = self.metadata.metadata().file_metadata().num_rows();
        self.row = rows.min(u64::try_from(all).unwrap_or_default());
        Ok(self.row)
    }

    fn next_piece(&mut self) -> Result<Option<Piece>> {
        let batches = match &mut self.batches {
            Some(batches) => batches,
            None => {
                let batches = self.start()?;
                self.batches.insert(batches)
            }
        };
        debug_assert!(batches.schema().fields().len() <= self.metadata.schema().fields().len());
        let Some(batch) = batches.next() else {
            return Ok(None);
        };
        let batch = batch.map_err(|source| LoadError::Arrow {
            file: self.name.clone(),
            row: self.row,
            source,
        })?;
        let piece = piece(&self.name, self.row, &batch, &self.target)?;
        self.row += piece.rows_read;
        let bytes = batch.get_array_memory_size();
        if bytes > self.size.bytes.saturating_mul(PIECE_BYTES_SLACK) {
            // The file did not say how wide its rows are: read on in smaller pieces.
            let rows = rows_for(self.size.bytes, bytes, batch.num_rows());
            if rows < batch.num_rows() {
                self.rows_max = rows;
                self.batches = None;
            }
        }
        Ok(Some(piece))
    }
}

/// Bytes of a column chunk's values in memory. What it occupies in the file says little where a dictionary is at work.
fn decoded_bytes(column: &ColumnChunkMetaData) -> usize {
    let values = usize::try_from(column.num_values()).unwrap_or_default();
    let width = match column.column_type() {
        PhysicalType::BOOLEAN => 1,
        PhysicalType::INT32 | PhysicalType::FLOAT => 4,
        PhysicalType::INT64 | PhysicalType::DOUBLE | PhysicalType::INT96 => 8,
        PhysicalType::BYTE_ARRAY | PhysicalType::FIXED_LEN_BYTE_ARRAY => 16,
    };
    let said = column.unencoded_byte_array_data_bytes();
    let in_file = column.uncompressed_size();
    let text = usize::try_from(said.unwrap_or(in_file)).unwrap_or_default();
    let text = match column.column_type() {
        PhysicalType::BYTE_ARRAY => text,
        _ => 0,
    };
    values.saturating_mul(width).saturating_add(text)
}

/// INT96 holds more moments than 64 bits of nanoseconds do, and the reader lets them wrap. Where the table keeps no nanoseconds,
/// microseconds are asked for instead. None if there is nothing to change.
fn with_wide_int96(metadata: &ArrowReaderMetadata, row_type: &RowType) -> Option<SchemaRef> {
    let parquet = metadata.parquet_schema();
    let mut changed = false;
    let fields: Vec<Field> = metadata
        .schema()
        .fields()
        .iter()
        .enumerate()
        .map(|(root, field)| {
            let int96 = (0..parquet.num_columns()).any(|leaf| {
                parquet.get_column_root_idx(leaf) == root
                    && parquet.column(leaf).physical_type() == PhysicalType::INT96
            });
            let coarse = row_type.field(field.name()).is_some_and(|field| {
                matches!(
                    field.data_type.kind,
                    TypeKind::Timestamp(0..=6) | TypeKind::TimestampLtz(0..=6)
                )
            });
            match field.data_type() {
                ArrowType::Timestamp(TimeUnit::Nanosecond, zone) if int96 && coarse => {
                    changed = true;
                    let micros = ArrowType::Timestamp(TimeUnit::Microsecond, zone.clone());
                    Field::clone(field).with_data_type(micros)
                }
                _ => Field::clone(field),
            }
        })
        .collect();
    let schema = Schema::new_with_metadata(fields, metadata.schema().metadata().clone());
    changed.then(|| Arc::new(schema))
}

fn broken(file: &str, row: u64, source: ParquetError) -> LoadError {
    LoadError::Parquet {
        file: file.to_owned(),
        row,
        source,
    }
}
