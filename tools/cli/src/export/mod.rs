//! Rows into files of other programs: JSON lines, CSV, Parquet, Arrow IPC.
//!
//! ```text
//!  RecordBatch -- ExportWriter::write --> json lines | csv | parquet | arrow -- Destination --> file.tmp -> rename | standard output
//! ```
//!
//! Source of the values' text in CSV: the command-line contract's section 2; `load` reads it back to the same values.

mod csv;
mod destination;
mod error;
mod json_lines;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{Field, Fields, Schema, SchemaRef};
use clap::ValueEnum;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use tidewater_types::arrow_types::to_arrow_schema;
use tidewater_types::{RowType, TypeKind};

pub use self::destination::Destination;
pub use self::error::ExportError;

use self::csv::CsvWriter;
use self::error::Result;
use self::json_lines::JsonLinesWriter;

/// Encoded bytes that a Parquet row group holds in memory before it goes out.
const ROW_GROUP_BYTES: usize = 64 << 20;

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// One JSON object a line, as load reads it
    #[value(alias = "json", alias = "ndjson")]
    Jsonl,
    /// Comma-separated values with a header
    Csv,
    /// Parquet, compressed with zstd
    Parquet,
    /// Arrow IPC: a file with --output, a stream on standard output
    #[value(alias = "ipc")]
    Arrow,
}

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportSummary {
    /// Rows.
    pub rows: u64,
}

/// Writes batches. What is not finished is not there: dropping it leaves no file.
pub struct ExportWriter {
    schema: SchemaRef,
    format: Format,
    rows: u64,
}

enum Format {
    Jsonl(JsonLinesWriter),
    Csv(CsvWriter),
    Parquet(Box<ArrowWriter<Destination>>),
    ArrowFile(Box<FileWriter<Destination>>),
    ArrowStream(Box<StreamWriter<Destination>>),
}

impl ExportFormat {
    /// The format that a file's extension says.
    pub fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "jsonl" | "json" | "ndjson" => Self::Jsonl,
            "csv" => Self::Csv,
            "parquet" | "pq" => Self::Parquet,
            "arrow" | "ipc" | "feather" => Self::Arrow,
            _ => return None,
        })
    }
}

impl std::fmt::Debug for ExportWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExportWriter")
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

impl ExportWriter {
    /// Begins with what stands before the first row. Batches must have the columns of `row_type` in canonical types; further columns
    /// are left out.
    ///
    /// # Errors
    /// [`ExportError::Write`], [`ExportError::Parquet`] or [`ExportError::Arrow`].
    pub fn new(format: ExportFormat, row_type: &RowType, destination: Destination) -> Result<Self> {
        let schema = schema_of(row_type);
        let format = match format {
            ExportFormat::Jsonl => Format::Jsonl(JsonLinesWriter::new(row_type, destination)),
            ExportFormat::Csv => Format::Csv(CsvWriter::new(row_type, destination)?),
            ExportFormat::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::default()))
                    .build();
                let schema = Arc::clone(&schema);
                let writer = ArrowWriter::try_new(destination, schema, Some(properties))?;
                Format::Parquet(Box::new(writer))
            }
            ExportFormat::Arrow if destination.is_file() => {
                Format::ArrowFile(Box::new(FileWriter::try_new(destination, &schema)?))
            }
            ExportFormat::Arrow => {
                Format::ArrowStream(Box::new(StreamWriter::try_new(destination, &schema)?))
            }
        };
        Ok(Self {
            schema,
            format,
            rows: 0,
        })
    }

    /// Writes the rows of a batch.
    ///
    /// # Errors
    /// As [`ExportWriter::new`]; [`ExportError::Values`] for a column that is missing or of another type.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        match &mut self.format {
            Format::Jsonl(writer) => writer.write(batch)?,
            Format::Csv(writer) => writer.write(batch)?,
            Format::Parquet(writer) => {
                writer.write(&in_order(&self.schema, batch)?)?;
                if writer.in_progress_size() >= ROW_GROUP_BYTES {
                    writer.flush()?;
                }
            }
            Format::ArrowFile(writer) => writer.write(&in_order(&self.schema, batch)?)?,
            Format::ArrowStream(writer) => writer.write(&in_order(&self.schema, batch)?)?,
        }
        self.rows += u64::try_from(batch.num_rows()).unwrap_or_default();
        Ok(())
    }

    /// Writes what stands behind the last row and puts the file under its name.
    ///
    /// # Errors
    /// As [`ExportWriter::new`].
    pub fn finish(self) -> Result<ExportSummary> {
        let destination = match self.format {
            Format::Jsonl(writer) => writer.finish(),
            Format::Csv(writer) => writer.finish()?,
            Format::Parquet(writer) => writer.into_inner()?,
            Format::ArrowFile(mut writer) => {
                writer.finish()?;
                writer.into_inner()?
            }
            Format::ArrowStream(mut writer) => {
                writer.finish()?;
                writer.into_inner()?
            }
        };
        destination.finish()?;
        Ok(ExportSummary { rows: self.rows })
    }
}

/// The columns of `schema`, by name.
fn in_order(schema: &SchemaRef, batch: &RecordBatch) -> Result<RecordBatch> {
    let columns = schema.fields().iter().map(|field| {
        let column = batch.column_by_name(field.name());
        column.map(Arc::clone).ok_or_else(|| {
            ExportError::Values(
                tidewater_types::TypeError::UnknownColumn {
                    name: field.name().clone(),
                }
                .into(),
            )
        })
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let batch = RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?;
    Ok(batch)
}

/// The canonical schema; VARIANT columns carry the mark by which other programs know them.
fn schema_of(row_type: &RowType) -> SchemaRef {
    let canonical = to_arrow_schema(row_type);
    let fields = row_type
        .fields
        .iter()
        .zip(canonical.fields())
        .map(|(field, arrow)| {
            let mut metadata: HashMap<String, String> = arrow.metadata().clone();
            if field.data_type.kind == TypeKind::Variant {
                metadata.insert(
                    "ARROW:extension:name".to_owned(),
                    "arrow.parquet.variant".to_owned(),
                );
            }
            Field::clone(arrow).with_metadata(metadata)
        });
    Arc::new(Schema::new(fields.collect::<Fields>()))
}
