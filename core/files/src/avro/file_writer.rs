//! One Avro file that is written into a sink: rows encoded and blocks compressed on a worker thread, statistics collected on the way.

use std::fmt;
use std::sync::Arc;

use arrow_array::ArrayRef;
use bytes::Bytes;
use tidewater_format::avro::{AvroCodec, AvroError, ContainerWriter};
use tidewater_format::{ColumnStats, StatsCollector, StatsMode};
use tidewater_io::FileSink;
use tidewater_types::RowType;

use super::block_decoder::BLOCK_BYTES_MAX;
use super::encode::Column;
use super::schema::avro_schema;
use crate::context::FilesContext;
use crate::error::{FilesError, Result};

/// What all files of a rolling writer share.
#[derive(Debug, Clone)]
pub(crate) struct AvroFormat {
    row_type: Arc<RowType>,
    schema: Arc<str>,
    codec: AvroCodec,
    /// Per column of the file.
    stats: Vec<StatsMode>,
}

impl AvroFormat {
    pub(crate) fn new(row_type: RowType, codec: AvroCodec, stats: Vec<StatsMode>) -> Result<Self> {
        Ok(Self {
            schema: avro_schema(&row_type)?.into(),
            row_type: Arc::new(row_type),
            codec,
            stats,
        })
    }
}

/// A file that is being written.
pub(crate) struct AvroFileWriter {
    context: FilesContext,
    sink: FileSink,
    /// None after an error.
    encoder: Option<Encoder>,
    ended_bytes: u64,
    memory_bytes: usize,
}

/// A file that is whole and durable.
pub(crate) struct WrittenAvro {
    pub(crate) file_bytes: u64,
    /// Of each column of the file, cut by its mode.
    pub(crate) stats: Vec<ColumnStats>,
}

struct Encoder {
    path: String,
    row_type: Arc<RowType>,
    container: ContainerWriter,
    stats: StatsCollector,
}

impl Encoder {
    fn write(&mut self, arrays: &[ArrayRef], rows: usize) -> Result<()> {
        let fields = self.row_type.fields.iter();
        let columns = fields.zip(arrays).map(|(field, array)| {
            Column::new(&field.name, array, &field.data_type).ok_or_else(|| FilesError::Batch {
                reason: format!("column {:?} is {}", field.name, array.data_type()),
            })
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        for row in 0..rows {
            self.container
                .try_append(|out| {
                    let start = out.len();
                    for column in &columns {
                        column
                            .put(row, out)
                            .map_err(|name| Refused::Null(name.to_owned()))?;
                    }
                    // A reader would refuse it.
                    if out.len() - start > BLOCK_BYTES_MAX / 2 {
                        return Err(Refused::Large(out.len() - start));
                    }
                    Ok(())
                })
                .map_err(|refused| refused.of_file(&self.path))?;
        }
        self.stats.update(arrays)?;
        Ok(())
    }
}

/// Why a row was not written.
enum Refused {
    Null(String),
    Large(usize),
    Codec(AvroError),
}

impl From<AvroError> for Refused {
    fn from(error: AvroError) -> Self {
        Self::Codec(error)
    }
}

impl Refused {
    fn of_file(self, path: &str) -> FilesError {
        match self {
            Self::Null(column) => FilesError::NullValue {
                path: path.to_owned(),
                column,
            },
            Self::Large(bytes) => FilesError::Unsupported {
                what: format!("a row of {bytes} bytes in an avro file"),
            },
            Self::Codec(error) => FilesError::Encode {
                path: path.to_owned(),
                reason: error.to_string(),
            },
        }
    }
}

impl AvroFileWriter {
    pub(crate) async fn open(
        context: &FilesContext,
        format: &AvroFormat,
        path: &str,
    ) -> Result<Self> {
        let container = ContainerWriter::new(format.schema.to_string(), format.codec)
            .map_err(|error| Refused::Codec(error).of_file(path))?;
        let encoder = Encoder {
            path: path.to_owned(),
            row_type: Arc::clone(&format.row_type),
            container,
            stats: StatsCollector::new(&format.row_type.types(), &format.stats),
        };
        Ok(Self {
            context: context.clone(),
            sink: context.io.open_write(path).await?,
            encoder: Some(encoder),
            ended_bytes: 0,
            memory_bytes: 0,
        })
    }

    /// Bytes of the blocks that have ended, which is what Java compares with the target.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.ended_bytes
    }

    /// Memory that the open block holds.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// Encodes `rows` rows; `arrays` are the columns of the file, in order.
    pub(crate) async fn write(&mut self, arrays: Vec<ArrayRef>, rows: usize) -> Result<()> {
        let mut encoder = self.take_encoder()?;
        let job = move || {
            encoder.write(&arrays, rows)?;
            let ready = encoder.container.take();
            Ok::<_, FilesError>((encoder, ready))
        };
        let (encoder, ready) = self.context.cpu.run(job).await??;
        self.ended_bytes = encoder.container.written_bytes() as u64;
        self.memory_bytes = encoder.container.memory_bytes();
        self.encoder = Some(encoder);
        self.put(ready).await
    }

    /// Ends the last block and makes the file durable.
    pub(crate) async fn finish(mut self) -> Result<WrittenAvro> {
        let encoder = self.take_encoder()?;
        let job = move || {
            let Encoder {
                path,
                container,
                stats,
                ..
            } = encoder;
            let rest = container.finish();
            let rest = rest.map_err(|error| Refused::Codec(error).of_file(&path))?;
            Ok::<_, FilesError>((rest, stats.finish()))
        };
        let (rest, stats) = self.context.cpu.run(job).await??;
        self.put(rest).await?;
        let file_bytes = self.sink.finish().await?;
        Ok(WrittenAvro { file_bytes, stats })
    }

    /// Removes what was written.
    pub(crate) async fn abort(self) -> Result<()> {
        Ok(self.sink.abort().await?)
    }

    fn take_encoder(&mut self) -> Result<Encoder> {
        self.encoder.take().ok_or_else(|| FilesError::Internal {
            what: format!("the writer of {} was used after an error", self.sink.path()),
        })
    }

    async fn put(&mut self, ready: Vec<u8>) -> Result<()> {
        if !ready.is_empty() {
            self.sink.write(Bytes::from(ready)).await?;
        }
        Ok(())
    }
}

impl fmt::Debug for AvroFileWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AvroFileWriter")
            .field("path", &self.sink.path())
            .field("ended_bytes", &self.ended_bytes)
            .finish()
    }
}
