//! One Avro file, opened once and read any number of times.

use std::sync::Arc;

use bytes::Bytes;
use tidewater_format::avro::{AvroError, Header, SkipTable, WriterSchema};
use tidewater_types::DataField;

use super::block_decoder::{FileHead, Plan, corrupt};
use super::columns::stored_schema;
use super::stream::AvroBatches;
use crate::context::FilesContext;
use crate::error::{FilesError, Result};
use crate::mapping::SchemaMapping;
use crate::parquet::ReadRequest;

/// Bytes read from the start of a file at first.
const START_BYTES: u64 = 64 << 10;
/// A header this long is taken for damage before memory is given to it.
const HEADER_BYTES_MAX: u64 = 16 << 20;
/// Bytes of rows after which a batch ends early, where memory is plenty.
const BATCH_BYTES: u64 = 16 << 20;

/// An open file.
#[derive(Debug, Clone)]
pub struct AvroFileReader {
    context: FilesContext,
    head: Arc<FileHead>,
    /// What was read of the file with its header.
    start: Bytes,
}

impl AvroFileReader {
    /// Reads the header. `size` is that of the file's entry, if it is known: a file that is shorter is damaged, which the file itself
    /// does not tell if it ends where a block does.
    ///
    /// # Errors
    /// [`FilesError::CorruptFile`] if the file does not start as one of rows in Avro; [`FilesError::Unsupported`] for a codec that this
    /// build does not have; the store's errors.
    pub async fn open(context: &FilesContext, path: &str, size: Option<u64>) -> Result<Self> {
        let file_bytes = match size {
            Some(size) => size,
            None => context.io.size(path).await?,
        };
        let mut wanted = START_BYTES;
        let (header, start) = loop {
            let start = context
                .io
                .read_range(path, 0..wanted.min(file_bytes))
                .await?;
            match Header::parse(&start) {
                Ok(header) => break (header, start),
                Err(AvroError::Truncated { .. })
                    if wanted < file_bytes && wanted < HEADER_BYTES_MAX =>
                {
                    wanted *= 16;
                }
                Err(error) => return Err(corrupt(path, error)),
            }
        };
        let decode = {
            let path = path.to_owned();
            move || {
                let schema = WriterSchema::parse_logical(&header.schema)
                    .map_err(|error| corrupt(&path, error))?;
                let stored =
                    stored_schema(&schema).map_err(|reason| FilesError::corrupt(&path, reason))?;
                Ok::<_, FilesError>(FileHead {
                    path,
                    file_bytes,
                    header,
                    skips: SkipTable::new(&schema),
                    schema,
                    stored,
                })
            }
        };
        let decoded = context.cpu.run(decode).await;
        let head = decoded.map_err(|error| FilesError::from_decoder(path, error))??;
        Ok(Self {
            context: context.clone(),
            head: Arc::new(head),
            start,
        })
    }

    /// Path of the file.
    pub fn path(&self) -> &str {
        &self.head.path
    }

    /// Length of the file in bytes.
    pub fn file_bytes(&self) -> u64 {
        self.head.file_bytes
    }

    /// The schema in the file's header, as JSON.
    pub fn schema_text(&self) -> &[u8] {
        &self.head.header.schema
    }

    /// Plans the read and starts to fetch; needs a tokio runtime.
    ///
    /// A file has no statistics, so a filter that is not exact leaves no row out.
    ///
    /// # Errors
    /// [`FilesError::ColumnType`] if the stored form of a column cannot be read as its type.
    pub async fn read(&self, request: ReadRequest) -> Result<AvroBatches> {
        let head = Arc::clone(&self.head);
        let unit_bytes = request.unit_bytes.min(self.context.unit_bytes());
        let planned = self
            .context
            .cpu
            .run(move || plan(head, request, unit_bytes))
            .await;
        let plan = planned.map_err(|error| FilesError::from_decoder(self.path(), error))??;
        let rows = self
            .start
            .slice(self.head.header.length.min(self.start.len())..);
        Ok(AvroBatches::start(
            self.context.clone(),
            Arc::new(plan),
            rows,
            unit_bytes,
        ))
    }
}

fn plan(head: Arc<FileHead>, request: ReadRequest, unit_bytes: u64) -> Result<Plan> {
    // All parts by name, so that none that a caller may ask for is left aside unseen.
    let ReadRequest {
        mut columns,
        file_fields,
        whole,
        filter,
        filter_columns,
        exact_filter,
        rows,
        deleted,
        batch_rows,
        unit_bytes: _,
        // Blocks follow each other, and only the block before tells where one begins.
        parallel: _,
    } = request;
    let kept_columns = columns.len();
    let exact_filter = filter.filter(|_| exact_filter);
    if exact_filter.is_some() {
        let extra: Vec<DataField> = filter_columns
            .into_iter()
            .filter(|column| columns.iter().all(|asked| asked.name != column.name))
            .collect();
        columns.extend(extra);
    }
    let mapping = SchemaMapping::new(&head.path, &head.stored, &file_fields, whole, &columns)?;
    Ok(Plan {
        mapping,
        exact_filter,
        kept_columns,
        rows,
        deleted,
        batch_rows: batch_rows.max(1),
        batch_bytes: usize::try_from(unit_bytes.min(BATCH_BYTES)).unwrap_or(usize::MAX),
        head,
    })
}
