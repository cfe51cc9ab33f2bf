//! The formats that a rolling writer writes, behind one face.

use std::sync::Arc;

use arrow_array::ArrayRef;
use tidewater_format::ColumnStats;

use super::description::Describer;
use super::layout::FileColumns;
use super::options::{FileWriterOptions, FormatOptions, StatsOptions};
use crate::avro::{AvroFileWriter, AvroFormat};
use crate::context::FilesContext;
use crate::error::Result;
use crate::parquet::{FileSchema, ParquetFileWriter, ParquetFormat};

/// What all files of a writer share.
#[derive(Debug)]
pub(super) enum Format {
    Parquet(ParquetFormat),
    Avro(AvroFormat),
}

impl Format {
    pub(super) fn new(
        context: &FilesContext,
        options: &FileWriterOptions,
        columns: &FileColumns,
        stats: &StatsOptions,
    ) -> Result<Self> {
        match &options.format {
            FormatOptions::Parquet(parquet) => {
                let schema = FileSchema::new(&columns.file_type, &columns.copies)?;
                let format = ParquetFormat::new(Arc::new(schema), parquet, options.encode_threads)?;
                Ok(Self::Parquet(
                    format.with_row_group_bytes_at_most(context.row_group_bytes()),
                ))
            }
            FormatOptions::Avro(codec) => {
                let (row_type, stats) = (columns.file_type.clone(), stats.modes.clone());
                Ok(Self::Avro(AvroFormat::new(row_type, *codec, stats)?))
            }
        }
    }
}

/// One file that is written.
pub(super) enum FileWriter {
    Parquet(ParquetFileWriter),
    Avro(AvroFileWriter),
}

impl FileWriter {
    pub(super) async fn open(context: &FilesContext, format: &Format, path: &str) -> Result<Self> {
        match format {
            Format::Parquet(format) => Ok(Self::Parquet(
                ParquetFileWriter::open(context, format, path).await?,
            )),
            Format::Avro(format) => Ok(Self::Avro(
                AvroFileWriter::open(context, format, path).await?,
            )),
        }
    }

    /// Appends rows; `arrays` are the columns of the file, in order.
    pub(super) async fn write(
        &mut self,
        format: &Format,
        arrays: &[ArrayRef],
        rows: usize,
    ) -> Result<()> {
        match (self, format) {
            (Self::Parquet(file), Format::Parquet(format)) => {
                let encoded = format.schema.encoded_columns().iter();
                let encoded = encoded.filter_map(|&column| arrays.get(column)).cloned();
                file.write(encoded.collect(), rows).await
            }
            (Self::Avro(file), _) => file.write(arrays.to_vec(), rows).await,
            (Self::Parquet(_), Format::Avro(_)) => Err(crate::FilesError::Internal {
                what: "a file of another format than its writer".to_owned(),
            }),
        }
    }

    /// Bytes of the file so far, as well as they are known.
    pub(super) fn file_bytes(&self) -> u64 {
        match self {
            Self::Parquet(file) => file.file_bytes(),
            Self::Avro(file) => file.file_bytes(),
        }
    }

    /// Compresses what waits for it, so that the size is known.
    pub(super) async fn settle(&mut self) -> Result<()> {
        match self {
            Self::Parquet(file) => file.cut_row_group().await,
            // Its blocks are small.
            Self::Avro(_) => Ok(()),
        }
    }

    /// Memory that rows hold until they are in the file.
    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            Self::Parquet(file) => file.memory_bytes(),
            Self::Avro(file) => file.memory_bytes(),
        }
    }

    /// Makes the file whole and durable. Answers its length and the statistics of its columns.
    pub(super) async fn finish(self, describer: &Describer) -> Result<(u64, Vec<ColumnStats>)> {
        match self {
            Self::Parquet(file) => {
                let written = file.finish().await?;
                let stats = describer.stats_of_footer(&written.metadata);
                Ok((written.file_bytes, stats))
            }
            Self::Avro(file) => {
                let written = file.finish().await?;
                Ok((written.file_bytes, written.stats))
            }
        }
    }

    /// Removes what was written.
    pub(super) async fn abort(self) -> Result<()> {
        match self {
            Self::Parquet(file) => file.abort().await,
            Self::Avro(file) => file.abort().await,
        }
    }
}
