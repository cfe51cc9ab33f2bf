//! Parquet files: schema, encoder, reader.

mod assemble;
mod bounds;
mod decode;
mod encoder;
mod file_schema;
mod file_writer;
mod footer;
mod footer_cache;
mod int96;
mod local;
mod options;
mod page_store;
mod prune;
mod reader;
mod rows;
mod schema;
mod shadow;
mod stored;
mod stream;
mod thrift_guard;

pub(crate) use self::bounds::file_bounds;
pub(crate) use self::file_schema::FileSchema;
pub(crate) use self::file_writer::{ParquetFileWriter, ParquetFormat};
pub(crate) use self::footer_cache::FooterCache;
pub(crate) use self::int96::decode_int96;
pub use self::local::LocalChunks;
pub use self::options::ParquetWriteOptions;
pub use self::reader::{
    DEFAULT_BATCH_ROWS, DEFAULT_UNIT_BYTES, FileRead, ParquetFileReader, ReadRequest,
};
pub use self::rows::RowChoice;
pub use self::schema::parquet_schema;
pub use self::stream::BatchStream;
