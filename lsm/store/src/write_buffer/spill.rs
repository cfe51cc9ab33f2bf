//! A sorted run of a write buffer on the local disk: one Arrow IPC stream, read back a batch at a time.
//!
//! The copies of key columns are left out and put back on reading. Batches are small, since a merge holds one of every run.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use tidewater_io::ScratchDir;

use super::WriteBufferOptions;
use super::sorted::SortedRows;
use crate::error::{Result, StoreError};
use crate::key_value::KeyValueLayout;

/// Most rows of a batch on disk.
const SPILL_ROWS: usize = 8 << 10;

/// Codec of spilled runs. Arrow's writer has one zstd level, so `spill-compression.zstd-level` has no say here; that level costs as much
/// as encoding the data file, so a table that names no codec spills with the fast one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SpillCompression {
    /// Stored as they are.
    None,
    /// Fast.
    #[default]
    Lz4,
    /// Small.
    Zstd,
}

impl SpillCompression {
    /// The codec that `spill-compression` names.
    ///
    /// # Errors
    /// [`StoreError::SpillCodec`] for another name than none, lz4 and zstd.
    pub fn from_option(text: &str) -> Result<Self> {
        match text.to_ascii_lowercase().as_str() {
            "none" | "" => Ok(Self::None),
            "lz4" => Ok(Self::Lz4),
            "zstd" => Ok(Self::Zstd),
            _ => Err(StoreError::SpillCodec {
                found: text.to_owned(),
            }),
        }
    }

    fn ipc(self) -> Option<CompressionType> {
        match self {
            Self::None => None,
            Self::Lz4 => Some(CompressionType::LZ4_FRAME),
            Self::Zstd => Some(CompressionType::ZSTD),
        }
    }
}

/// The file is removed when the run is dropped.
#[derive(Debug)]
pub(crate) struct SpilledRun {
    path: PathBuf,
    bytes: u64,
    rows: u64,
    /// Keeps the folder alive.
    _scratch: Arc<ScratchDir>,
}

impl SpilledRun {
    /// Writes the rows in key order. Blocking; CPU work.
    pub(crate) fn write(
        scratch: &Arc<ScratchDir>,
        rows: &SortedRows,
        options: &WriteBufferOptions,
    ) -> Result<Self> {
        let path = scratch.new_file_path("run.arrow");
        let wanted = options.wanted();
        let failed = |source: arrow_schema::ArrowError| StoreError::Spill {
            path: path.display().to_string(),
            source,
        };
        let io = |source: std::io::Error| failed(source.into());
        let ipc = IpcWriteOptions::default()
            .try_with_compression(options.spill_compression.ipc())
            .map_err(failed)?;
        let mut writer: Option<StreamWriter<BufWriter<File>>> = None;
        let mut from = 0;
        while from < rows.len(wanted) {
            let chunk = rows.chunk(wanted, from, options.chunk_rows.min(SPILL_ROWS))?;
            from += chunk.num_rows();
            let chunk = rows.layout().without_copies(&chunk)?;
            if writer.is_none() {
                let file = BufWriter::with_capacity(1 << 20, File::create(&path).map_err(io)?);
                writer = Some(
                    StreamWriter::try_new_with_options(file, chunk.schema_ref(), ipc.clone())
                        .map_err(failed)?,
                );
            }
            if let Some(writer) = &mut writer {
                writer.write(&chunk).map_err(failed)?;
            }
        }
        if let Some(mut writer) = writer {
            writer.finish().map_err(failed)?;
            writer.get_mut().flush().map_err(io)?;
        }
        let bytes = std::fs::metadata(&path)
            .map(|meta| meta.len())
            .map_err(io)?;
        let rows = rows.len(wanted) as u64;
        Ok(Self {
            path,
            bytes,
            rows,
            _scratch: Arc::clone(scratch),
        })
    }

    /// Size of the file.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Rows in the file.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Reads it from the start.
    pub(crate) fn open(self, layout: Arc<KeyValueLayout>) -> Result<SpilledReader> {
        let failed = |source: arrow_schema::ArrowError| StoreError::Spill {
            path: self.path.display().to_string(),
            source,
        };
        let file = File::open(&self.path).map_err(|source| failed(source.into()))?;
        let reader =
            StreamReader::try_new(BufReader::with_capacity(1 << 18, file), None).map_err(failed)?;
        Ok(SpilledReader {
            layout,
            reader,
            run: self,
        })
    }
}

impl Drop for SpilledRun {
    fn drop(&mut self) {
        // The scratch folder goes as a whole later; this only gives the space back sooner.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A spilled run being read.
pub(crate) struct SpilledReader {
    layout: Arc<KeyValueLayout>,
    reader: StreamReader<BufReader<File>>,
    run: SpilledRun,
}

impl SpilledReader {
    /// The next batch in key order, as data files hold rows.
    pub(crate) fn next(&mut self) -> Result<Option<RecordBatch>> {
        match self.reader.next() {
            None => Ok(None),
            Some(Ok(batch)) => Ok(Some(self.layout.with_copies(&batch)?)),
            Some(Err(source)) => Err(StoreError::Spill {
                path: self.run.path.display().to_string(),
                source,
            }),
        }
    }
}
