//! One bucket of a table: rows in memory until they become files.
//!
//! Built so far is the write buffer: [`WriteBuffer`] keeps batches as they come, spills sorted runs to the local disk when memory is
//! short, and drains into batches in key order in the layout of data files ([`KeyValueLayout`]). A [`CommitMessage`] says what a bucket wants
//! committed. A [`SplitReader`] reads files of a bucket as rows, merged where they overlap, and a [`MergeStream`] as files hold them. Bucket
//! writers and compaction are not built yet.

mod commit_message;
mod error;
mod key_value;
mod split_reader;
mod write_buffer;

pub use commit_message::{CommitMessage, CompactIncrement, DataIncrement};
pub use error::{Result, StoreError};
pub use key_value::KeyValueLayout;
pub use split_reader::{
    MergeRequest, MergeStream, ReadSpec, SplitFiles, SplitRead, SplitReader, SplitStream,
};
pub use write_buffer::{DrainChunk, Drained, SpillCompression, WriteBuffer, WriteBufferOptions};
