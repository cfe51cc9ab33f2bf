//! Splits read at the same time, their batches in one stream.
//!
//! ```text
//!  splits ─queue─> reader task ┐
//!           └────> reader task ┼─ bounded channel ─> RowStream
//!           └────> reader task ┘                      dropped: the tasks end
//! ```
//!
//! There is one reader more than threads, or fewer where memory is short. Of a local store only as many decode as there are threads; the
//! other has opened its split and its first bytes, so that nobody waits when one ends. A remote store has more to wait for: there nobody
//! stands back. Batches come in no order across splits; those of one split keep theirs.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
use tidewater_files::{DEFAULT_BATCH_ROWS, FilesContext};
use tidewater_format::{TableSchema, VALUE_KIND_COLUMN};
use tidewater_store::{ReadSpec, SplitFiles, SplitRead, SplitReader};
use tidewater_types::{Predicate, RowKind};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use super::planner::read_schemas;
use super::splits::{DataSplit, SplitPurpose};
use crate::error::{Result, TableError};
use crate::table_log::TableLog;

/// What is read of each split.
pub(crate) struct RowRequest<'a> {
    pub(crate) schema: &'a Arc<TableSchema>,
    /// Positions of the columns.
    pub(crate) projection: Vec<usize>,
    /// Bound to the schema.
    pub(crate) filter: Option<Predicate>,
    pub(crate) kinds: bool,
    pub(crate) purpose: SplitPurpose,
    pub(crate) limit: Option<usize>,
}

/// Rows of many splits.
///
/// Needs a tokio runtime. Dropping it ends the reading.
#[derive(Debug)]
pub struct RowStream {
    schema: SchemaRef,
    batches: mpsc::Receiver<Result<RecordBatch>>,
    readers: JoinSet<()>,
    rows_left: Option<usize>,
    /// Retractions are no rows of a state; they are only read because kinds were asked for.
    drop_retractions: bool,
}

impl RowStream {
    /// Starts to read the splits.
    pub(crate) async fn start(
        log: &TableLog,
        context: &FilesContext,
        splits: Vec<DataSplit>,
        request: RowRequest<'_>,
    ) -> Result<Self> {
        let files = splits.iter().flat_map(|split| &split.files);
        let schemas = read_schemas(log, files.map(|file| file.schema_id).collect()).await?;
        let options = request.schema.options()?;
        let batch_rows = if options.is_set("read.batch-size") {
            usize::try_from(options.read_batch_size).unwrap_or(DEFAULT_BATCH_ROWS)
        } else {
            DEFAULT_BATCH_ROWS
        };
        let spec = ReadSpec {
            schema: Arc::clone(request.schema),
            schemas: Arc::new(schemas),
            projection: request.projection,
            filter: request.filter,
            kinds: request.kinds,
            batch_rows: batch_rows.min(request.limit.unwrap_or(batch_rows)).max(1),
        };
        let keyed = request.schema.is_keyed();
        let reader = SplitReader::new(context.clone(), spec)?;
        let workers = context.reads().min(splits.len());
        let queue: VecDeque<SplitFiles> = splits
            .into_iter()
            .map(|split| split_files(split, keyed, request.purpose))
            .collect();
        let queue = Arc::new(Mutex::new(queue));
        let (sender, batches) = mpsc::channel(workers.max(1));
        let mut readers = JoinSet::new();
        let turns = if context.io().is_local() {
            context.cpu().threads().min(workers)
        } else {
            workers
        };
        let turns = Arc::new(Semaphore::new(turns.max(1)));
        let wanted = request.limit != Some(0);
        for _ in 0..workers {
            if wanted {
                readers.spawn(read_splits(
                    reader.clone(),
                    context.parallel(),
                    Arc::clone(&queue),
                    Arc::clone(&turns),
                    sender.clone(),
                ));
            }
        }
        Ok(Self {
            schema: Arc::clone(reader.schema()),
            batches,
            readers,
            rows_left: request.limit,
            drop_retractions: request.kinds && request.purpose == SplitPurpose::State,
        })
    }

    /// The schema of all batches: the columns asked for, in canonical Arrow types, and `_VALUE_KIND` if kinds were asked for.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The next rows, at least one; `None` at the end, and after an error.
    ///
    /// # Errors
    /// Files that are missing or damaged.
    pub async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(batch) = self.batches.recv().await {
            let batch = match batch.and_then(|batch| self.kept(batch)) {
                Ok(batch) => batch,
                Err(e) => {
                    self.stop();
                    return Err(e);
                }
            };
            if batch.num_rows() > 0 {
                return Ok(Some(batch));
            }
            if self.rows_left == Some(0) {
                break;
            }
        }
        while let Some(ended) = self.readers.join_next().await {
            if let Err(e) = ended
                && e.is_panic()
            {
                self.stop();
                return Err(TableError::Bug {
                    what: "a split reader panicked",
                });
            }
        }
        Ok(None)
    }

    /// The batch without what the caller does not want; stops reading where the limit is reached.
    fn kept(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let batch = if self.drop_retractions {
            without_retractions(batch)?
        } else {
            batch
        };
        let Some(left) = self.rows_left else {
            return Ok(batch);
        };
        let batch = if batch.num_rows() > left {
            batch.slice(0, left)
        } else {
            batch
        };
        let left = left.saturating_sub(batch.num_rows());
        self.rows_left = Some(left);
        if left == 0 {
            self.stop();
        }
        Ok(batch)
    }

    fn stop(&mut self) {
        self.readers.abort_all();
        self.batches.close();
        while self.batches.try_recv().is_ok() {}
    }
}

/// How a split is read: of a state, without merging only if every file tells that it has no deletes.
fn split_files(split: DataSplit, keyed: bool, purpose: SplitPurpose) -> SplitFiles {
    let told = || {
        split
            .files
            .iter()
            .all(|file| file.delete_row_count.is_some())
    };
    let read = if purpose == SplitPurpose::Changes {
        SplitRead::Changes
    } else if !keyed || split.raw_convertible && told() {
        SplitRead::Raw
    } else {
        SplitRead::Merge
    };
    SplitFiles {
        bucket_path: split.bucket_path.to_string(),
        read,
        files: split.files,
        deletions: split.deletions,
        parallel: 1,
    }
}

/// Reads splits until there are none, nobody listens or one fails.
///
/// While many splits wait, each is decoded by one thread at a time; the last ones share the threads that would have nothing to do.
async fn read_splits(
    reader: SplitReader,
    threads: usize,
    queue: Arc<Mutex<VecDeque<SplitFiles>>>,
    turns: Arc<Semaphore>,
    sender: mpsc::Sender<Result<RecordBatch>>,
) {
    loop {
        let (next, left) = {
            let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
            (queue.pop_front(), queue.len())
        };
        let Some(mut split) = next else {
            return;
        };
        split.parallel = (threads / (left + 1)).max(1);
        let mut rows = match reader.read(split).await {
            Ok(rows) => rows,
            Err(e) => {
                // Nobody listens if this fails.
                let _ = sender.send(Err(e.into())).await;
                return;
            }
        };
        // Closed never; if it were, everybody would have a turn.
        let _turn = turns.acquire().await;
        loop {
            let batch = match rows.next().await {
                Ok(None) => break,
                Ok(Some(batch)) => Ok(batch),
                Err(e) => Err(e.into()),
            };
            let failed = batch.is_err();
            if sender.send(batch).await.is_err() || failed {
                return;
            }
        }
    }
}

fn without_retractions(batch: RecordBatch) -> Result<RecordBatch> {
    let Some(kinds) = batch
        .column_by_name(VALUE_KIND_COLUMN)
        .and_then(|kinds| kinds.as_primitive_opt::<Int8Type>())
    else {
        return Err(TableError::Bug {
            what: "a batch lacks the kinds that were asked for",
        });
    };
    let retracts = |kind: &i8| RowKind::from_i8(*kind).is_ok_and(RowKind::is_retract);
    if !kinds.values().iter().any(retracts) {
        return Ok(batch);
    }
    let kept: BooleanArray = kinds
        .values()
        .iter()
        .map(|kind| Some(!retracts(kind)))
        .collect();
    filter_record_batch(&batch, &kept).map_err(|_| TableError::Bug {
        what: "a batch and its kinds differ in length",
    })
}
