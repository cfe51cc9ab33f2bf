//! Loads from files in a temporary folder, each held against the rows it must give.

mod columnar;
mod csv;
mod infer;
mod json_lines;
mod resume;

use std::path::PathBuf;

use arrow_array::Int8Array;
use tempfile::TempDir;
use tidewater_types::{RowKind, RowType};

use super::{Input, LoadError, Position, Source, SourceBatch, SourceOptions};
use crate::json::RowEncoder;

/// A folder for one test.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file; the source that reads it.
    fn source(&self, name: &str, bytes: impl AsRef<[u8]>) -> SourceOptions {
        std::fs::write(self.path(name), bytes).unwrap();
        self.named(name)
    }

    fn named(&self, name: &str) -> SourceOptions {
        SourceOptions::new(vec![Input::Path(self.path(name))])
    }
}

/// All batches, or the error that ended them.
fn batches(options: SourceOptions, row_type: &RowType) -> Result<Vec<SourceBatch>, LoadError> {
    batches_from(options, row_type, Position::default())
}

fn batches_from(
    options: SourceOptions,
    row_type: &RowType,
    position: Position,
) -> Result<Vec<SourceBatch>, LoadError> {
    let mut source = Source::open(options, row_type)?;
    source.skip_to(position, 0)?;
    let mut batches = Vec::new();
    while let Some(batch) = source.next_batch_blocking()? {
        batches.push(batch);
    }
    Ok(batches)
}

/// The rows as JSON objects.
fn lines(batches: &[SourceBatch], row_type: &RowType) -> Vec<String> {
    let encoder = RowEncoder::new(row_type);
    let mut lines = Vec::new();
    for batch in batches {
        let mut rows = encoder.bind(&batch.batch).unwrap();
        for row in 0..batch.batch.num_rows() {
            let mut line = Vec::new();
            rows.write_row(row, &mut line).unwrap();
            lines.push(String::from_utf8(line).unwrap());
        }
    }
    lines
}

fn rows(options: SourceOptions, row_type: &RowType) -> Vec<String> {
    lines(&batches(options, row_type).unwrap(), row_type)
}

fn error(options: SourceOptions, row_type: &RowType) -> String {
    batches(options, row_type).unwrap_err().to_string()
}

fn kinds(batches: &[SourceBatch]) -> Vec<&'static str> {
    let kinds = batches.iter().flat_map(|batch| {
        let none = Int8Array::from(vec![0; batch.batch.num_rows()]);
        let kinds = batch.kinds.as_ref().unwrap_or(&none).clone();
        (0..kinds.len())
            .map(|row| RowKind::from_i8(kinds.value(row)).unwrap().short())
            .collect::<Vec<_>>()
    });
    kinds.collect()
}

/// Without the folder's name, which differs from run to run.
fn plain(text: &str, folder: &Folder) -> String {
    text.replace(&format!("{}/", folder.0.path().display()), "")
}
