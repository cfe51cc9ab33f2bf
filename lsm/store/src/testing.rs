//! Values that the tests of this crate share.

use std::sync::Arc;

use tidewater_format::{DataFileMeta, SimpleStats};
use tidewater_types::{BinaryRow, SchemaId};

/// A file entry with nothing but a name and a level.
pub(crate) fn data_file(name: &str, level: i32) -> Arc<DataFileMeta> {
    Arc::new(DataFileMeta {
        file_name: name.to_owned(),
        file_size: 1,
        row_count: 1,
        min_key: BinaryRow::empty(),
        max_key: BinaryRow::empty(),
        key_stats: SimpleStats::empty(),
        value_stats: SimpleStats::empty(),
        min_sequence_number: 0,
        max_sequence_number: 0,
        schema_id: SchemaId(0),
        level,
        extra_files: Vec::new(),
        creation_time_millis: None,
        delete_row_count: Some(0),
        embedded_file_index: None,
        file_source: None,
        value_stats_cols: None,
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    })
}
