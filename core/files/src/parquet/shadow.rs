//! Footers as the decoder is shown them: INT96 leaves appear as 12-byte values, bounds of such columns are dropped.

use std::sync::Arc;

use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, ParquetMetaData, ParquetMetaDataBuilder, RowGroupMetaData,
};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::schema::types::{ColumnDescPtr, SchemaDescPtr};

use super::int96::shadow_schema;

/// Rewrites `metadata`; `int96` tells which leaves are INT96.
pub(crate) fn shadow_metadata(
    metadata: ParquetMetaData,
    int96: &[bool],
) -> Result<ParquetMetaData> {
    if !int96.contains(&true) {
        return Ok(metadata);
    }
    let file = metadata.file_metadata();
    let schema: SchemaDescPtr = Arc::new(shadow_schema(file.schema_descr())?);
    let shadow = FileMetaData::new(
        file.version(),
        file.num_rows(),
        file.created_by().map(str::to_owned),
        file.key_value_metadata().cloned(),
        Arc::clone(&schema),
        file.column_orders().cloned(),
    );
    let mut row_groups = Vec::with_capacity(metadata.num_row_groups());
    for row_group in metadata.row_groups() {
        row_groups.push(shadow_row_group(row_group, &schema, int96)?);
    }
    let column_index = metadata.column_index().map(|index| {
        let mut index = index.clone();
        for row_group in &mut index {
            for (column, _) in row_group.iter_mut().zip(int96).filter(|(_, int96)| **int96) {
                *column = ColumnIndexMetaData::NONE;
            }
        }
        index
    });
    let shadow = ParquetMetaDataBuilder::new(shadow)
        .set_row_groups(row_groups)
        .set_column_index(column_index)
        .set_offset_index(metadata.offset_index().cloned());
    Ok(shadow.build())
}

fn shadow_row_group(
    row_group: &RowGroupMetaData,
    schema: &SchemaDescPtr,
    int96: &[bool],
) -> Result<RowGroupMetaData> {
    let mut columns = Vec::with_capacity(row_group.num_columns());
    for ((column, descriptor), &int96) in
        row_group.columns().iter().zip(schema.columns()).zip(int96)
    {
        columns.push(shadow_column(column, descriptor, int96)?);
    }
    if columns.len() != schema.num_columns() {
        return Err(ParquetError::General(
            "a row group has fewer columns than the schema".to_owned(),
        ));
    }
    let mut builder = RowGroupMetaData::builder(Arc::clone(schema))
        .set_num_rows(row_group.num_rows())
        .set_total_byte_size(row_group.total_byte_size())
        .set_column_metadata(columns);
    if let Some(ordinal) = row_group.ordinal() {
        builder = builder.set_ordinal(ordinal);
    }
    if let Some(offset) = row_group.file_offset() {
        builder = builder.set_file_offset(offset);
    }
    builder.build()
}

fn shadow_column(
    column: &ColumnChunkMetaData,
    descriptor: &ColumnDescPtr,
    int96: bool,
) -> Result<ColumnChunkMetaData> {
    let mut builder = ColumnChunkMetaData::builder(Arc::clone(descriptor))
        .set_compression_codec(column.compression_codec())
        .set_encodings_mask(*column.encodings_mask())
        .set_total_compressed_size(column.compressed_size())
        .set_total_uncompressed_size(column.uncompressed_size())
        .set_num_values(column.num_values())
        .set_data_page_offset(column.data_page_offset())
        .set_index_page_offset(column.index_page_offset())
        .set_dictionary_page_offset(column.dictionary_page_offset())
        .set_bloom_filter_offset(column.bloom_filter_offset())
        .set_bloom_filter_length(column.bloom_filter_length())
        .set_column_index_offset(column.column_index_offset())
        .set_column_index_length(column.column_index_length())
        .set_offset_index_offset(column.offset_index_offset())
        .set_offset_index_length(column.offset_index_length());
    match column.statistics() {
        Some(statistics) if int96 => {
            let nulls = ValueStatistics::new(None, None, None, statistics.null_count_opt(), false);
            builder = builder.set_statistics(Statistics::FixedLenByteArray(nulls));
        }
        Some(statistics) => builder = builder.set_statistics(statistics.clone()),
        None => {}
    }
    if int96 {
        // Its values would be taken for 12-byte strings.
        builder = builder
            .set_column_index_offset(None)
            .set_column_index_length(None);
    }
    builder.build()
}
