//! Data files: written, read back, read from Java's hands, read damaged.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the whole program is a test"
)]

mod arrays;
mod avro;
mod corrupt;
mod deletions;
mod evolution;
mod golden;
mod java_files;
mod json_rows;
mod other_writers;
mod pruning;
mod round_trip;
mod schemas;
mod support;
mod writing;
