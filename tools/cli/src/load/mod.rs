//! Rows of files and of standard input, on their way into a table.
//!
//! ```text
//!  csv | json lines | parquet | arrow ipc --> RowReader -- Piece --> thread of Source -- queue --> Source::next_batch
//!                                                |                        |
//!                                           row faults             BadRowPolicy: refuse, or hand over for the dead letters
//! ```
//!
//! - [`Source`] is the way in: canonical batches, each with the [`Position`] behind it, so that a load that was killed goes on with
//!   exactly the rows that no commit holds. [`Checkpoint`] is what a snapshot's properties say about that position.
//! - [`infer_schema`] makes a table's definition out of the same inputs.
//! - [`CommitPace`] decides when to commit. Everything but reading is plain values: no store, no clock.
//!
//! Readers count *rows read*, good or bad; that is what positions count, so bad rows are not looked at again after a restart.

mod args;
mod bad_rows;
mod checkpoint;
mod columnar;
mod csv;
mod error;
mod guard;
mod infer;
mod input;
mod ipc;
mod json_lines;
mod kinds;
mod pace;
mod parquet;
mod reader;
mod source;
mod target;
#[cfg(test)]
mod tests;

pub use self::args::{
    CommitArgs, CsvArgs, LikeArgs, LoadArgs, ReadInputArgs, ShapeArgs, SourceArgs,
};
pub use self::bad_rows::{BadRow, BadRowPolicy, DeadLetters, Place, RowFault};
pub use self::checkpoint::{
    Checkpoint, LoadIdentity, LoadProgress, PROPERTY_PREFIX, Resume, SourceFile,
};
pub use self::csv::CsvOptions;
pub use self::error::LoadError;
pub use self::infer::{InferOptions, infer_schema};
pub use self::input::{Input, InputFormat};
pub use self::kinds::kind_of_word;
pub use self::pace::{CommitPace, batch_rows_for};
pub use self::source::{Position, Source, SourceBatch, SourceOptions};
