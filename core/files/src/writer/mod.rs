//! Data files on the way out: which columns they have, what they are called, when the next one begins, and what the manifest says of them.
//!
//! ```text
//!  batches -> RollingFileWriter -> ParquetFileWriter | AvroFileWriter -> FileSink
//!                  |  closes a file when it is large enough
//!                  '-> DataFileMeta per file: keys, sequence numbers, deletes, statistics
//! ```

mod description;
mod formats;
mod layout;
mod naming;
mod options;
mod rolling;

pub use self::layout::FileLayout;
pub use self::naming::{FileDirectory, FileNames};
pub use self::options::FileWriterOptions;
pub use self::rolling::RollingFileWriter;
