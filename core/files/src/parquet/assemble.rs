//! Puts encoded column chunks into a file: offsets, page indexes, bloom filters, footer.
//!
//! ```text
//!  PAR1 | chunk chunk … | bloom filters | chunk chunk … | … | column indexes, offset indexes | footer | length PAR1
//!         `- row group 0               -'
//! ```
//!
//! Pages go out as the buffers the encoder made, without a copy, and a chunk may go out twice: `_KEY_x` and `x` hold the same values in
//! the same physical form, so one encoding serves both (pages do not name their column).

use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{ColumnOrder, Type as PhysicalType};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, ParquetMetaData, ParquetMetaDataBuilder,
    ParquetMetaDataReader, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::page_index::offset_index::OffsetIndexMetaData;
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::schema::types::{ColumnDescPtr, SchemaDescPtr};

use super::options::STATISTICS_BYTES_MAX;
use super::page_store::ChunkPages;

const MAGIC: &[u8] = b"PAR1";

/// A column chunk that is encoded but has no place in a file.
#[derive(Debug, Clone)]
pub(crate) struct EncodedChunk {
    pub(crate) pages: ChunkPages,
    pub(crate) close: ColumnCloseResult,
    /// A float column in which NaN occurs has no bounds: NaN is the greatest value, and the encoder leaves it out.
    pub(crate) has_nan: bool,
}

/// A file that is being put together.
#[derive(Debug)]
pub(crate) struct FileAssembler {
    schema: SchemaDescPtr,
    created_by: String,
    version: i32,
    offset: u64,
    row_groups: Vec<RowGroupMetaData>,
    column_indexes: Vec<Vec<ColumnIndexMetaData>>,
    offset_indexes: Vec<Vec<OffsetIndexMetaData>>,
    pieces: Vec<Bytes>,
}

impl FileAssembler {
    pub(crate) fn new(schema: SchemaDescPtr, created_by: String, version: i32) -> Self {
        let mut assembler = Self {
            schema,
            created_by,
            version,
            offset: 0,
            row_groups: Vec::new(),
            column_indexes: Vec::new(),
            offset_indexes: Vec::new(),
            pieces: Vec::new(),
        };
        assembler.put(Bytes::from_static(MAGIC));
        assembler
    }

    /// Bytes of the file so far.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The bytes that are ready to be written, in order.
    pub(crate) fn take_pieces(&mut self) -> Vec<Bytes> {
        std::mem::take(&mut self.pieces)
    }

    fn put(&mut self, piece: Bytes) {
        self.offset += piece.len() as u64;
        self.pieces.push(piece);
    }

    /// Adds a row group. `chunk_of_leaf` tells for each leaf of the schema which of `chunks` it is.
    pub(crate) fn row_group(
        &mut self,
        chunks: &[EncodedChunk],
        chunk_of_leaf: &[usize],
        rows: usize,
    ) -> Result<()> {
        let schema = Arc::clone(&self.schema);
        let start = signed(self.offset)?;
        let ordinal =
            i16::try_from(self.row_groups.len()).map_err(|_| general("too many row groups"))?;
        let mut columns = Vec::with_capacity(chunk_of_leaf.len());
        let mut column_indexes = Vec::with_capacity(chunk_of_leaf.len());
        let mut offset_indexes = Vec::with_capacity(chunk_of_leaf.len());
        let mut blooms = Vec::new();
        for (leaf, (&chunk, column)) in chunk_of_leaf.iter().zip(schema.columns()).enumerate() {
            let chunk = chunks
                .get(chunk)
                .ok_or_else(|| general("a column has no chunk"))?;
            let (metadata, offset_index) = self.chunk(chunk, column)?;
            columns.push(metadata);
            offset_indexes.push(offset_index);
            column_indexes.push(column_index(chunk, column));
            blooms.extend(chunk.close.bloom_filter.as_ref().map(|bloom| (leaf, bloom)));
        }
        for (leaf, bloom) in blooms {
            let mut bytes = Vec::new();
            bloom.write(&mut bytes)?;
            let (at, length) = (signed(self.offset)?, i32::try_from(bytes.len()).ok());
            if let Some(column) = columns.get_mut(leaf) {
                let builder = column
                    .clone()
                    .into_builder()
                    .set_bloom_filter_offset(Some(at));
                *column = builder.set_bloom_filter_length(length).build()?;
            }
            self.put(bytes.into());
        }
        let uncompressed = columns
            .iter()
            .map(ColumnChunkMetaData::uncompressed_size)
            .sum();
        let row_group = RowGroupMetaData::builder(schema)
            .set_column_metadata(columns)
            .set_total_byte_size(uncompressed)
            .set_num_rows(i64::try_from(rows).map_err(|_| general("too many rows"))?)
            .set_ordinal(ordinal)
            .set_file_offset(start)
            .build()?;
        self.row_groups.push(row_group);
        self.column_indexes.push(column_indexes);
        self.offset_indexes.push(offset_indexes);
        Ok(())
    }

    fn chunk(
        &mut self,
        chunk: &EncodedChunk,
        column: &ColumnDescPtr,
    ) -> Result<(ColumnChunkMetaData, OffsetIndexMetaData)> {
        let dictionary_at = chunk
            .pages
            .dictionary
            .as_ref()
            .map(|_| signed(self.offset))
            .transpose()?;
        let mut growth = 0;
        if let Some(page) = &chunk.pages.dictionary {
            growth += page.growth;
            self.put(page.header.clone());
            self.put(page.body.clone());
        }
        let data_at = signed(self.offset)?;
        let mut offset_index = chunk
            .close
            .offset_index
            .clone()
            .ok_or_else(|| general("no offset index"))?;
        if offset_index.page_locations.len() != chunk.pages.data.len() {
            return Err(general("the offset index does not fit the pages"));
        }
        for (page, location) in chunk
            .pages
            .data
            .iter()
            .zip(&mut offset_index.page_locations)
        {
            growth += page.growth;
            location.offset = signed(self.offset)?;
            location.compressed_page_size =
                i32::try_from(page.len()).map_err(|_| general("a page is too large"))?;
            self.put(page.header.clone());
            self.put(page.body.clone());
        }
        let (encoded, growth) = (&chunk.close.metadata, signed(growth as u64)?);
        let mut metadata = ColumnChunkMetaData::builder(Arc::clone(column))
            .set_compression_codec(encoded.compression_codec())
            .set_encodings_mask(*encoded.encodings_mask())
            .set_total_compressed_size(encoded.compressed_size() + growth)
            .set_total_uncompressed_size(encoded.uncompressed_size() + growth)
            .set_num_values(encoded.num_values())
            .set_data_page_offset(data_at)
            .set_dictionary_page_offset(dictionary_at)
            .set_unencoded_byte_array_data_bytes(encoded.unencoded_byte_array_data_bytes())
            .set_repetition_level_histogram(encoded.repetition_level_histogram().cloned())
            .set_definition_level_histogram(encoded.definition_level_histogram().cloned());
        if let Some(stats) = encoded.page_encoding_stats() {
            metadata = metadata.set_page_encoding_stats(stats.clone());
        }
        if let Some(statistics) = encoded.statistics() {
            metadata = metadata.set_statistics(file_statistics(statistics, column, chunk.has_nan));
        }
        Ok((metadata.build()?, offset_index))
    }

    /// Adds page indexes and footer; the answer is what a reader of the file will see.
    pub(crate) fn finish(&mut self) -> Result<ParquetMetaData> {
        let base = signed(self.offset)?;
        let indexed = ParquetMetaDataBuilder::new(self.file_metadata()?)
            .set_row_groups(self.row_groups.clone())
            .set_column_index(Some(std::mem::take(&mut self.column_indexes)))
            .set_offset_index(Some(std::mem::take(&mut self.offset_indexes)))
            .build();
        // The writer of the library counts offsets from its own first byte: write the indexes with it once to learn their places,
        // then write the footer again with the places moved to where the indexes really are.
        let draft = Self::serialize(&indexed)?;
        let placed = read_footer(&draft)?;
        let mut index_bytes = 0;
        for (row_group, placed) in self.row_groups.iter_mut().zip(placed.row_groups()) {
            for (column, placed) in row_group.columns_mut().iter_mut().zip(placed.columns()) {
                let mut builder = column.clone().into_builder();
                if let (Some(at), Some(length)) =
                    (placed.column_index_offset(), placed.column_index_length())
                {
                    builder = builder
                        .set_column_index_offset(Some(base + at))
                        .set_column_index_length(Some(length));
                    index_bytes = index_bytes.max(at + i64::from(length));
                }
                if let (Some(at), Some(length)) =
                    (placed.offset_index_offset(), placed.offset_index_length())
                {
                    builder = builder
                        .set_offset_index_offset(Some(base + at))
                        .set_offset_index_length(Some(length));
                    index_bytes = index_bytes.max(at + i64::from(length));
                }
                *column = builder.build()?;
            }
        }
        let index_bytes = usize::try_from(index_bytes)
            .map_err(|_| general("page indexes at a negative offset"))?;
        let draft = Bytes::from(draft);
        if index_bytes > draft.len() {
            return Err(general("page indexes end behind the footer"));
        }
        self.put(draft.slice(..index_bytes));
        let row_groups = std::mem::take(&mut self.row_groups);
        let footer = ParquetMetaDataBuilder::new(self.file_metadata_of(&row_groups)?)
            .set_row_groups(row_groups)
            .build();
        self.put(Self::serialize(&footer)?.into());
        Ok(footer)
    }

    fn serialize(metadata: &ParquetMetaData) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        ParquetMetaDataWriter::new(&mut bytes, metadata).finish()?;
        Ok(bytes)
    }

    fn file_metadata(&self) -> Result<FileMetaData> {
        self.file_metadata_of(&self.row_groups)
    }

    fn file_metadata_of(&self, row_groups: &[RowGroupMetaData]) -> Result<FileMetaData> {
        let rows = row_groups.iter().map(RowGroupMetaData::num_rows).sum();
        let orders = self.schema.columns().iter().map(|column| {
            let order = ColumnOrder::sort_order_for_type(
                column.logical_type_ref(),
                column.converted_type(),
                column.physical_type(),
            );
            ColumnOrder::TYPE_DEFINED_ORDER(order)
        });
        let orders = Some(orders.collect());
        let (schema, created_by) = (Arc::clone(&self.schema), Some(self.created_by.clone()));
        Ok(FileMetaData::new(
            self.version,
            rows,
            created_by,
            None,
            schema,
            orders,
        ))
    }
}

fn read_footer(bytes: &[u8]) -> Result<ParquetMetaData> {
    let end = bytes
        .len()
        .checked_sub(8)
        .ok_or_else(|| general("the footer has no tail"))?;
    let length = bytes
        .get(end..)
        .and_then(|tail| tail.first_chunk::<4>())
        .map(|length| u32::from_le_bytes(*length));
    let length = length
        .and_then(|length| usize::try_from(length).ok())
        .ok_or_else(|| general("the footer has no length"))?;
    let footer = end
        .checked_sub(length)
        .and_then(|start| bytes.get(start..end));
    ParquetMetaDataReader::decode_metadata(
        footer.ok_or_else(|| general("the footer is longer than its bytes"))?,
    )
}

/// Java has no column index for INT96; pages with NaN have no usable bounds.
fn column_index(chunk: &EncodedChunk, column: &ColumnDescPtr) -> ColumnIndexMetaData {
    match &chunk.close.column_index {
        Some(index) if !chunk.has_nan && column.physical_type() != PhysicalType::INT96 => {
            index.clone()
        }
        _ => ColumnIndexMetaData::NONE,
    }
}

/// The statistics that go into the file: bounds only where they hold in Java's order and are of bearable size.
fn file_statistics(statistics: &Statistics, column: &ColumnDescPtr, has_nan: bool) -> Statistics {
    let bytes = statistics.min_bytes_opt().map_or(0, <[u8]>::len)
        + statistics.max_bytes_opt().map_or(0, <[u8]>::len);
    let int96 = column.physical_type() == PhysicalType::INT96;
    if !has_nan && !int96 && bytes < STATISTICS_BYTES_MAX {
        return statistics.clone();
    }
    let nulls = statistics.null_count_opt();
    match column.physical_type() {
        PhysicalType::BOOLEAN => {
            Statistics::Boolean(ValueStatistics::new(None, None, None, nulls, false))
        }
        PhysicalType::INT32 => {
            Statistics::Int32(ValueStatistics::new(None, None, None, nulls, false))
        }
        PhysicalType::INT64 => {
            Statistics::Int64(ValueStatistics::new(None, None, None, nulls, false))
        }
        PhysicalType::INT96 => {
            Statistics::Int96(ValueStatistics::new(None, None, None, nulls, false))
        }
        PhysicalType::FLOAT => {
            Statistics::Float(ValueStatistics::new(None, None, None, nulls, false))
        }
        PhysicalType::DOUBLE => {
            Statistics::Double(ValueStatistics::new(None, None, None, nulls, false))
        }
        PhysicalType::BYTE_ARRAY => {
            Statistics::ByteArray(ValueStatistics::new(None, None, None, nulls, false))
        }
        PhysicalType::FIXED_LEN_BYTE_ARRAY => {
            Statistics::FixedLenByteArray(ValueStatistics::new(None, None, None, nulls, false))
        }
    }
}

fn signed(value: u64) -> Result<i64> {
    i64::try_from(value).map_err(|_| general("the file is too large"))
}

fn general(reason: &str) -> ParquetError {
    ParquetError::General(reason.to_owned())
}
