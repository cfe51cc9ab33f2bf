//! One bucket: rows in, files out; files in, rows out.
//!
//! - **write:** [`BucketWriter`] buffers rows ([`WriteBuffer`]), flushes them to level 0 and keeps its tree in shape with compactions;
//!   a [`CommitMessage`] says what it wants committed.
//! - **read:** [`SplitReader`] streams the rows of some files of a bucket, merged where versions of a key may meet.

mod bucket_writer;
mod commit_message;
mod compaction;
mod error;
mod folding;
mod key_value;
mod split_reader;
#[cfg(test)]
mod testing;
mod write_buffer;

pub use bucket_writer::{
    AppendWriter, BucketPlace, BucketWriter, KeyedWriter, SchemasById, WriterContext,
};
pub use commit_message::{CommitMessage, CompactIncrement, DataIncrement};
pub use compaction::concat_files;
pub use error::{Result, StoreError};
pub use key_value::KeyValueLayout;
pub use split_reader::{
    MergeRequest, MergeStream, ReadSpec, SplitFiles, SplitRead, SplitReader, SplitStream,
};
pub use write_buffer::{DrainChunk, Drained, SpillCompression, WriteBuffer, WriteBufferOptions};
