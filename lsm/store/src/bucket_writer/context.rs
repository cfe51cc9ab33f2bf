//! What the bucket writers of one table writer share, and where one bucket's files lie.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tidewater_files::{FileDirectory, FileWriterOptions, FilesContext, RollingFileWriter};
use tidewater_format::{ChangelogProducer, FileSource, TableOptions, TableSchema};
use tidewater_io::ScratchDir;
use tidewater_merge::{KeyComparator, MergeEngine};
use tidewater_types::{BinaryRow, SchemaId};
use tokio::sync::Semaphore;

use crate::error::{Result, StoreError};
use crate::folding::fold_engine;
use crate::key_value::KeyValueLayout;
use crate::write_buffer::{SpillCompression, WriteBufferOptions};

/// Rows of a batch on its way from the buffer into a file.
pub(crate) const CHUNK_ROWS: usize = 32 << 10;

/// Schemas by id, at least those of the files that are read.
pub type SchemasById = Arc<HashMap<SchemaId, Arc<TableSchema>>>;

/// Table, options and resources of all bucket writers of one table writer.
#[derive(Debug)]
pub struct WriterContext {
    pub(crate) files: FilesContext,
    pub(crate) schema: Arc<TableSchema>,
    pub(crate) options: TableOptions,
    pub(crate) keyed: Option<KeyedSettings>,
    /// Compactions that may run at once.
    pub(crate) compactions: Arc<Semaphore>,
    scratch_base: PathBuf,
    scratch: Mutex<Option<Arc<ScratchDir>>>,
}

/// What only primary-key tables need.
#[derive(Debug)]
pub(crate) struct KeyedSettings {
    pub(crate) layout: Arc<KeyValueLayout>,
    pub(crate) keys: KeyComparator,
    pub(crate) buffer: WriteBufferOptions,
}

impl WriterContext {
    /// The context for tables of `schema`; spilled rows go below `scratch_base`.
    ///
    /// # Errors
    /// Options that are refused, or ask for what is not built.
    pub fn new(
        files: FilesContext,
        schema: Arc<TableSchema>,
        scratch_base: PathBuf,
    ) -> Result<Self> {
        let options = schema.options()?;
        let spill_compression = if options.is_set("spill-compression") {
            SpillCompression::from_option(&options.spill_compression)?
        } else {
            SpillCompression::default()
        };
        let keyed = if schema.is_keyed() {
            let engine = MergeEngine::from_table(&options)?;
            Some(KeyedSettings {
                layout: Arc::new(KeyValueLayout::new(&schema)?),
                keys: KeyComparator::new(schema.key_type().types()),
                buffer: WriteBufferOptions {
                    engine,
                    fold: fold_engine(engine, &schema)?.map(Arc::new),
                    keep_input: options.changelog_producer == ChangelogProducer::Input,
                    chunk_rows: CHUNK_ROWS,
                    spill_compression,
                },
            })
        } else {
            None
        };
        let compactions = Arc::new(Semaphore::new(files.cpu().threads().max(1)));
        Ok(Self {
            files,
            schema,
            options,
            keyed,
            compactions,
            scratch_base,
            scratch: Mutex::new(None),
        })
    }

    /// The same with at most `at_once` compactions at the same time, where that is less than there are threads.
    #[must_use]
    pub fn with_compactions(mut self, at_once: usize) -> Self {
        let threads = self.files.cpu().threads().max(1);
        self.compactions = Arc::new(Semaphore::new(at_once.clamp(1, threads)));
        self
    }

    /// The table as it is written.
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.schema
    }

    /// Its options.
    pub fn options(&self) -> &TableOptions {
        &self.options
    }

    pub(crate) fn keyed(&self) -> Result<&KeyedSettings> {
        self.keyed.as_ref().ok_or(StoreError::Bug {
            what: "a keyed writer of a table without keys",
        })
    }

    /// The folder for spilled rows, made when it is first needed.
    pub(crate) fn scratch(&self) -> Result<Arc<ScratchDir>> {
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(scratch) = scratch.as_ref() {
            return Ok(Arc::clone(scratch));
        }
        // Processes that were killed could not remove theirs; one that cannot be looked at now is tried again by the next writer.
        if let Err(error) = ScratchDir::sweep(&self.scratch_base) {
            tracing::debug!(%error, "folders of dead writers stay");
        }
        let made = Arc::new(ScratchDir::create(&self.scratch_base, self.files.env())?);
        *scratch = Some(Arc::clone(&made));
        Ok(made)
    }
}

/// One bucket: which, and where its files are.
#[derive(Debug, Clone, PartialEq)]
pub struct BucketPlace {
    /// The partition columns; arity 0 without partitions.
    pub partition: BinaryRow,
    /// The bucket.
    pub bucket: i32,
    /// The table's number of buckets; -1 for tables without.
    pub total_buckets: i32,
    /// Folder of the bucket in the table.
    pub path: String,
    /// Where new files go: that folder, or one outside the table.
    pub directory: FileDirectory,
}

/// Makes the file writers of one bucket.
#[derive(Debug, Clone)]
pub(crate) struct FileMaker {
    pub(crate) context: Arc<WriterContext>,
    pub(crate) place: BucketPlace,
    pub(crate) names: tidewater_files::FileNames,
}

impl FileMaker {
    pub(crate) fn new(context: Arc<WriterContext>, place: BucketPlace) -> Self {
        let names = tidewater_files::FileNames::new(context.files.env());
        Self {
            context,
            place,
            names,
        }
    }

    /// A writer of data files of `level`; append files count their rows from `first_sequence`.
    pub(crate) fn data(
        &self,
        level: i32,
        source: FileSource,
        first_sequence: i64,
    ) -> Result<RollingFileWriter> {
        let mut options = FileWriterOptions::data(&self.context.schema, level, source)?;
        options.first_sequence_number = first_sequence;
        self.writer(options)
    }

    /// A writer of changelog files of `level`.
    pub(crate) fn changelog(&self, level: i32) -> Result<RollingFileWriter> {
        self.writer(FileWriterOptions::changelog(&self.context.schema, level)?)
    }

    fn writer(&self, mut options: FileWriterOptions) -> Result<RollingFileWriter> {
        options.encode_threads = self.context.files.cpu().threads();
        Ok(RollingFileWriter::new(
            &self.context.files,
            self.names.clone(),
            self.place.directory.clone(),
            Arc::clone(&self.context.schema),
            options,
        )?)
    }

    /// Removes files that nobody names; what cannot be removed is left for the orphan cleaner.
    pub(crate) async fn delete<'a>(
        &self,
        files: impl IntoIterator<Item = &'a Arc<tidewater_format::DataFileMeta>>,
    ) {
        for file in files {
            let path = tidewater_format::data_file_path(
                &self.place.path,
                &file.file_name,
                file.external_path.as_deref(),
            );
            if let Err(error) = self.context.files.io().delete(&path).await {
                tracing::debug!(%error, path, "an unused file stays until orphans are cleaned");
            }
        }
    }
}
