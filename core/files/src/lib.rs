//! Data files: Parquet and Avro to batches and back.
//!
//! - **write:** batches -> [`RollingFileWriter`] -> files of about the target size, each described by a `DataFileMeta`. What a file is called
//!   and where it lies: [`FileNames`], [`FileDirectory`]; with which columns and settings: [`FileLayout`], [`FileWriterOptions`].
//! - **read:** [`DataFileReader`] -> [`ReadRequest`] (columns by field id, rows, filter) -> [`FileBatches`] in canonical Arrow types.
//!   [`SchemaMapping`] reads old files as the schema that is asked for.
//!
//! Both run on the pool of a [`FilesContext`]; only bytes are awaited.

mod avro;
mod context;
mod error;
mod mapping;
mod parquet;
mod reader;
mod writer;

pub use self::avro::{AvroBatches, AvroFileReader, avro_schema};
pub use self::context::FilesContext;
pub use self::error::{FilesError, Result};
pub use self::mapping::SchemaMapping;
pub use self::parquet::{
    BatchStream, DEFAULT_BATCH_ROWS, DEFAULT_UNIT_BYTES, FileRead, LocalChunks, ParquetFileReader,
    ParquetWriteOptions, ReadRequest, RowChoice, parquet_schema,
};
pub use self::reader::{DataFileReader, FileBatches};
pub use self::writer::{
    FileDirectory, FileLayout, FileNames, FileWriterOptions, RollingFileWriter,
};
