//! A data file that is read, whatever its format.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use tidewater_format::data_file_format;

use crate::avro::{AvroBatches, AvroFileReader};
use crate::context::FilesContext;
use crate::error::{FilesError, Result};
use crate::parquet::{BatchStream, ParquetFileReader, ReadRequest};

/// An open data file of a format that its name tells: options of the table may have changed since it was written.
#[derive(Debug, Clone)]
pub enum DataFileReader {
    /// Columns in row groups.
    Parquet(ParquetFileReader),
    /// Rows in blocks.
    Avro(AvroFileReader),
}

impl DataFileReader {
    /// Opens a file. `size` saves a request when it is known.
    ///
    /// # Errors
    /// [`FilesError::Unsupported`] for a format that this build does not read; [`FilesError::CorruptFile`] if the file is not of its
    /// format; the store's errors.
    pub async fn open(context: &FilesContext, path: &str, size: Option<u64>) -> Result<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let format = data_file_format(name).unwrap_or_default();
        match format.to_ascii_lowercase().as_str() {
            "parquet" => Ok(Self::Parquet(
                ParquetFileReader::open(context, path, size).await?,
            )),
            "avro" => Ok(Self::Avro(AvroFileReader::open(context, path, size).await?)),
            _ => Err(FilesError::Unsupported {
                what: format!("reading {path}: data files of format {format:?}"),
            }),
        }
    }

    /// Plans the read and starts to fetch; needs a tokio runtime.
    ///
    /// # Errors
    /// [`FilesError::ColumnType`] if the stored form of a column cannot be read as its type; damage; the store's.
    pub async fn read(&self, request: ReadRequest) -> Result<FileBatches> {
        match self {
            Self::Parquet(file) => Ok(FileBatches::Parquet(file.read(request).await?.batches)),
            Self::Avro(file) => Ok(FileBatches::Avro(file.read(request).await?)),
        }
    }
}

/// The batches of a data file, in file order. After an error they have ended.
#[derive(Debug)]
pub enum FileBatches {
    /// Of a Parquet file.
    Parquet(BatchStream),
    /// Of an Avro file.
    Avro(AvroBatches),
}

impl FileBatches {
    /// The schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        match self {
            Self::Parquet(batches) => batches.schema(),
            Self::Avro(batches) => batches.schema(),
        }
    }

    /// The next batch, which has at least one row and at most as many as were asked for; none at the end.
    ///
    /// # Errors
    /// Damage, or values that the asked types do not hold, with file and column; the store's errors.
    pub async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        match self {
            Self::Parquet(batches) => batches.next_batch().await,
            Self::Avro(batches) => batches.next_batch().await,
        }
    }

    /// The next batch if it is decoded already.
    pub fn take_ready(&mut self) -> Option<RecordBatch> {
        match self {
            Self::Parquet(batches) => batches.take_ready(),
            Self::Avro(batches) => batches.take_ready(),
        }
    }
}
