//! The batches of a file, with its bytes fetched and its blocks decoded ahead.
//!
//! ```text
//!  fetch --> fetch --> fetch …      one piece of the file ahead of the decoder
//!      '--> step --> step …         a task: jobs on the worker threads, none of which waits
//!              '--> caller          one step ahead of the caller
//! ```

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::block_decoder::{BlockDecoder, Plan, Step};
use crate::context::FilesContext;
use crate::error::{FilesError, Result};

/// Bytes fetched in one go, where memory is plenty: blocks are decoded as they come, in order.
const PIECE_BYTES: u64 = 8 << 20;

/// Batches of the asked columns, in file order. After an error the stream has ended.
pub struct AvroBatches {
    path: String,
    schema: SchemaRef,
    steps: mpsc::Receiver<Result<Vec<RecordBatch>>>,
    ready: VecDeque<RecordBatch>,
    /// None once the end was seen.
    task: Option<Aborting<()>>,
}

/// A task that ends when nobody waits for it any more.
struct Aborting<T>(JoinHandle<T>);

impl<T> Drop for Aborting<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<T> Aborting<T> {
    async fn join(mut self) -> Result<T> {
        (&mut self.0).await.map_err(|error| FilesError::Internal {
            what: format!("the reading of a file ended early: {error}"),
        })
    }
}

impl AvroBatches {
    /// Begins to fetch and decode; needs a tokio runtime. `start` follows the header in the file.
    pub(super) fn start(
        context: FilesContext,
        plan: Arc<Plan>,
        start: Bytes,
        unit_bytes: u64,
    ) -> Self {
        let (sender, steps) = mpsc::channel(1);
        let (path, schema) = (plan.head.path.clone(), plan.output_schema());
        let pieces = Pieces::new(&context, &plan, start.len() as u64, unit_bytes);
        let task = tokio::spawn(async move {
            if let Err(error) = decode(&context, plan, &start, pieces, &sender).await {
                // Nobody listens if this fails.
                drop(sender.send(Err(error)).await);
            }
        });
        Self {
            path,
            schema,
            steps,
            ready: VecDeque::new(),
            task: Some(Aborting(task)),
        }
    }

    /// The schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The next batch, which has at least one row and at most as many as were asked for; none at the end.
    ///
    /// # Errors
    /// Damage, or values that the asked types do not hold, with file and column; the store's errors.
    pub async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            if self.task.is_none() {
                return Ok(None);
            }
            match self.steps.recv().await {
                Some(Ok(batches)) => self.ready.extend(batches),
                Some(Err(error)) => {
                    self.task = None;
                    return Err(error);
                }
                // If the task panicked, rows are missing.
                None => match self.task.take() {
                    Some(task) => task.join().await?,
                    None => return Ok(None),
                },
            }
        }
    }

    /// The next batch if it is decoded already.
    pub fn take_ready(&mut self) -> Option<RecordBatch> {
        self.ready.pop_front()
    }
}

/// The bytes of the file behind those that were read with its header.
struct Pieces {
    context: FilesContext,
    plan: Arc<Plan>,
    piece_bytes: u64,
    /// Where the piece after the one that is on its way begins.
    next: u64,
    ahead: Option<Aborting<Result<Bytes>>>,
}

impl Pieces {
    fn new(context: &FilesContext, plan: &Arc<Plan>, started: u64, unit_bytes: u64) -> Self {
        let mut pieces = Self {
            context: context.clone(),
            plan: Arc::clone(plan),
            piece_bytes: (unit_bytes / 8).clamp(1, PIECE_BYTES),
            next: plan.head.header.length as u64 + started,
            ahead: None,
        };
        pieces.fetch(0);
        pieces
    }

    fn fetch(&mut self, least: u64) {
        let file_bytes = self.plan.head.file_bytes;
        let start = self.next;
        let end = start
            .saturating_add(self.piece_bytes.max(least))
            .min(file_bytes);
        if start >= end {
            return;
        }
        self.next = end;
        let (context, plan) = (self.context.clone(), Arc::clone(&self.plan));
        self.ahead = Some(Aborting(tokio::spawn(async move {
            Ok(context.io.read_range(&plan.head.path, start..end).await?)
        })));
    }

    /// The next piece; `least` is what is missing, so that the one after it is large enough if this is not.
    async fn take(&mut self, least: u64) -> Result<Bytes> {
        let Some(ahead) = self.ahead.take() else {
            return Err(FilesError::Internal {
                what: format!(
                    "bytes behind the end of {} were asked for",
                    self.plan.head.path
                ),
            });
        };
        let piece = ahead.join().await??;
        self.fetch(least.saturating_sub(piece.len() as u64));
        Ok(piece)
    }
}

/// Decodes the file as fast as its steps are taken.
async fn decode(
    context: &FilesContext,
    plan: Arc<Plan>,
    start: &Bytes,
    mut pieces: Pieces,
    steps: &mpsc::Sender<Result<Vec<RecordBatch>>>,
) -> Result<()> {
    let path = plan.head.path.clone();
    let mut decoder = BlockDecoder::new(plan)?;
    let mut piece = start.clone();
    loop {
        // Room first: what is decoded is never more than was allowed for.
        let Ok(room) = steps.reserve().await else {
            return Ok(());
        };
        loop {
            let pushed = std::mem::take(&mut piece);
            let job = move || {
                decoder.push(&pushed);
                let step = decoder.step();
                (decoder, step)
            };
            let stepped = context.cpu.run(job).await;
            let (back, step) = stepped.map_err(|error| FilesError::from_decoder(&path, error))?;
            decoder = back;
            match step? {
                Step::Needs(missing) => piece = pieces.take(missing).await?,
                Step::More(batches) => {
                    room.send(Ok(batches));
                    break;
                }
                Step::Done(batches) => {
                    room.send(Ok(batches));
                    return Ok(());
                }
            }
        }
    }
}

impl fmt::Debug for AvroBatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AvroBatches")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}
