//! Avro data files: row after row in compressed blocks, with a schema in front and nothing behind.
//!
//! ```text
//!  read   header -> columns the mapping picks -> block by block: decompress, values into one builder per column -> batches
//!  write  columns -> row by row into a block -> compressed near 64 kB
//! ```
//!
//! A file knows neither its rows nor their statistics: those stand in its entry, and a reader goes through all of it. Containers, codecs
//! and schemas are those of the metadata (`tidewater_format::avro`); docs/decisions/4-avro-data-files.md says why no general library is used.
//! Source: spec 02a §2.3, 01e §2; Paimon `format/avro/`.

mod block_decoder;
mod columns;
mod encode;
mod file_writer;
mod reader;
mod schema;
mod stream;
mod values;

pub(crate) use self::file_writer::{AvroFileWriter, AvroFormat};
pub use self::reader::AvroFileReader;
pub use self::schema::avro_schema;
pub use self::stream::AvroBatches;
