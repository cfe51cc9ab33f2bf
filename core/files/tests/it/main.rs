//! Data files: written, read back, read from Java's hands, read damaged.

mod arrays;
mod corrupt;
mod evolution;
mod java_files;
mod json_rows;
mod other_writers;
mod pruning;
mod round_trip;
mod schemas;
mod support;
mod writing;
