//! Data files.

mod context;
mod error;
mod parquet;
mod writer;

pub use self::context::FilesContext;
pub use self::error::{FilesError, Result};
pub use self::parquet::{
    BatchStream, DEFAULT_BATCH_ROWS, DEFAULT_UNIT_BYTES, FileRead, ParquetFileReader,
    ParquetWriteOptions, ReadRequest, RowChoice, SchemaMapping, parquet_schema,
};
pub use self::writer::{
    FileDirectory, FileLayout, FileNames, FileWriterOptions, RollingFileWriter,
};
