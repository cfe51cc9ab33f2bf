//! Files decoded, nothing merged.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};

use super::Limit;
use crate::answer::Answer;
use crate::error::{BenchError, Result};
use crate::input::{SUMMED, sum_of};

/// Rows decoded at once by a scan.
const BATCH_ROWS: usize = 8_192;

impl Limit {
    /// All rows of the files whose names end so; of an upserted table that is all versions.
    pub(super) fn scan(&self, columns: Option<&[&str]>, suffix: &str) -> Result<Answer> {
        let start = self.env.monotonic();
        let summed = if columns.is_some() {
            "l_orderkey"
        } else {
            SUMMED
        };
        let parts = self.spread(&self.files(suffix)?, |path| {
            let (mut rows, mut sum) = (0, 0_i64);
            for batch in open(path, columns, BATCH_ROWS)? {
                let batch = batch?;
                rows += batch.num_rows() as u64;
                sum = sum.wrapping_add(sum_of(&batch, summed));
            }
            Ok((rows, sum))
        })?;
        let rows = parts.iter().map(|part| part.0).sum();
        let sum = parts
            .iter()
            .fold(0_i64, |sum, part| sum.wrapping_add(part.1));
        Ok(Answer::new(self.since(start), rows).with("checksum", sum))
    }

    /// The rows that footers tell of: all versions.
    pub(super) fn count(&self) -> Result<Answer> {
        let start = self.env.monotonic();
        let counts = self.spread(&self.files(".parquet")?, |path| {
            let file = File::open(path).map_err(BenchError::file(path))?;
            let footer = ArrowReaderMetadata::load(&file, ArrowReaderOptions::default())?;
            Ok(footer.metadata().file_metadata().num_rows().unsigned_abs())
        })?;
        Ok(Answer::new(self.since(start), counts.iter().sum()))
    }
}

fn open(
    path: &Path,
    columns: Option<&[&str]>,
    batch_rows: usize,
) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
    let file = File::open(path).map_err(BenchError::file(path))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
    let mask = match columns {
        None => ProjectionMask::all(),
        Some(columns) => ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied()),
    };
    let reader = builder
        .with_projection(mask)
        .with_batch_size(batch_rows)
        .build()?;
    Ok(reader.map(|batch| batch.map_err(BenchError::from)))
}

/// All rows of these files in one batch.
pub(super) fn read_whole(files: &[PathBuf], batch_rows: usize) -> Result<RecordBatch> {
    let mut batches = Vec::new();
    for path in files {
        for batch in open(path, None, batch_rows)? {
            batches.push(batch?);
        }
    }
    let first = batches
        .first()
        .ok_or_else(|| BenchError::Wrong("there are no files".to_owned()))?;
    Ok(concat_batches(&first.schema(), &batches)?)
}
