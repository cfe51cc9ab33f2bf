//! The batches of a file, one after the other, with bytes fetched and batches decoded ahead.
//!
//! ```text
//!  unit 0   fetch ----> step step step …         lane: a task that decodes one unit, step by step
//!  unit 1   fetch ----> step step step …         another, if more than one was asked for
//!  unit 2   fetch ------------> (waits for a lane)
//!  caller               the batches of unit 0, then of unit 1 …
//! ```
//!
//! Ahead of the caller there are at most: the batches of a few steps of each lane ([`LANE_STEPS`]; of one if there is one lane), the bytes
//! of the units that are decoded and of the next one. A step is one job on the worker threads; no job waits for bytes or for the caller.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use futures::{Stream, stream};
use parquet::arrow::ProjectionMask;
use parquet::arrow::push_decoder::ParquetPushDecoderBuilder;
use parquet::{DecodeResult, arrow::arrow_reader::ParquetRecordBatchReader};
use tidewater_io::LocalFile;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::decode::{Step, Unit, UnitDecoder, UnitPlan};
use super::footer::Footer;
use crate::context::FilesContext;
use crate::error::{FilesError, Result};

/// Steps that wait in each of several lanes: what a lane decodes while the lane before it is read.
const LANE_STEPS: usize = 4;

/// Batches of the asked columns, in file order. After an error the stream has ended.
pub struct BatchStream {
    reader: UnitReader,
    units: VecDeque<Unit>,
    /// Lanes at most.
    parallel: usize,
    /// The units that are decoded, in file order.
    lanes: VecDeque<Lane>,
    /// The next unit, whose bytes are being fetched.
    fetch: Option<(Unit, Fetch)>,
    ready: VecDeque<RecordBatch>,
}

/// Bytes on their way; the work ends when nobody waits for it any more.
struct Fetch(JoinHandle<Result<UnitDecoder>>);

impl Drop for Fetch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Future for Fetch {
    type Output = Result<UnitDecoder>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(|outcome| {
            outcome.unwrap_or_else(|error| {
                Err(FilesError::Internal {
                    what: format!("a fetch ended early: {error}"),
                })
            })
        })
    }
}

/// A unit that is decoded by a task of its own; the work ends when nobody waits for it any more.
struct Lane {
    steps: mpsc::Receiver<Result<Vec<RecordBatch>>>,
    task: JoinHandle<()>,
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl BatchStream {
    /// Starts to fetch and decode with `parallel` lanes; needs a tokio runtime.
    pub(crate) fn start(
        context: FilesContext,
        plan: Arc<UnitPlan>,
        units: Vec<Unit>,
        parallel: usize,
    ) -> Self {
        let mut stream = Self {
            reader: UnitReader { context, plan },
            units: units.into(),
            parallel: parallel.max(1),
            lanes: VecDeque::new(),
            fetch: None,
            ready: VecDeque::new(),
        };
        stream.prefetch();
        stream
    }

    /// The schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        let plan = &self.reader.plan;
        let schema = plan.mapping.output_schema();
        let kept: Vec<usize> = (0..plan.kept_columns).collect();
        schema
            .project(&kept)
            .map_or_else(|_| Arc::clone(schema), Arc::new)
    }

    /// The next batch, which has at least one row and at most as many as were asked for; none at the end.
    ///
    /// # Errors
    /// Damage, or values that the asked types do not hold, with file and column; the store's errors.
    pub async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        match self.advance().await {
            Err(error) => {
                self.end();
                Err(error)
            }
            batch => batch,
        }
    }

    /// The next batch if it is decoded already.
    pub fn take_ready(&mut self) -> Option<RecordBatch> {
        self.ready.pop_front()
    }

    /// The batches as a [`Stream`]; it ends after an error.
    pub fn into_stream(self) -> impl Stream<Item = Result<RecordBatch>> + Send + 'static {
        stream::try_unfold(self, |mut batches| async move {
            let batch = batches.next_batch().await?;
            Ok(batch.map(|batch| (batch, batches)))
        })
    }

    fn end(&mut self) {
        self.units.clear();
        self.fetch = None;
        self.lanes.clear();
        self.ready.clear();
    }

    async fn advance(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            self.fill_lanes();
            let Some(lane) = self.lanes.front_mut() else {
                return Ok(None);
            };
            match lane.steps.recv().await {
                Some(step) => self.ready.extend(step?),
                None => {
                    if let Some(lane) = self.lanes.pop_front() {
                        lane.ended().await?;
                    }
                }
            }
        }
    }

    fn fill_lanes(&mut self) {
        while self.lanes.len() < self.parallel {
            let Some((unit, fetch)) = self.fetch.take() else {
                return;
            };
            let waiting = if self.parallel > 1 { LANE_STEPS } else { 1 };
            let (sender, steps) = mpsc::channel(waiting);
            let reader = self.reader.clone();
            let task = tokio::spawn(async move {
                if let Err(error) = reader.decode(fetch, &sender).await {
                    let error = reader.explain(&unit, error).await;
                    // Nobody listens if this fails.
                    drop(sender.send(Err(error)).await);
                }
            });
            self.lanes.push_back(Lane { steps, task });
            self.prefetch();
        }
    }

    fn prefetch(&mut self) {
        if let Some(unit) = self.units.pop_front() {
            let fetch = self.reader.fetch(unit.clone());
            self.fetch = Some((unit, fetch));
        }
    }
}

impl Lane {
    /// Waits for the task of a lane that has no more steps: if it panicked, rows are missing.
    async fn ended(mut self) -> Result<()> {
        (&mut self.task)
            .await
            .map_err(|error| FilesError::Internal {
                what: format!("the decoding of a unit ended early: {error}"),
            })
    }
}

/// Fetches and decodes units of one read.
#[derive(Debug, Clone)]
struct UnitReader {
    context: FilesContext,
    plan: Arc<UnitPlan>,
}

impl UnitReader {
    /// Starts to fetch the first bytes of a unit.
    fn fetch(&self, unit: Unit) -> Fetch {
        let (context, plan) = (self.context.clone(), Arc::clone(&self.plan));
        Fetch(tokio::spawn(async move {
            let path = plan.footer.path().to_owned();
            if let Some(file) = &plan.local {
                load_ahead(&plan, file, &unit).await?;
            }
            let job = move || -> Result<_> {
                let mut decoder = UnitDecoder::new(plan, &unit)?;
                let ranges = decoder.first_ranges()?;
                Ok((decoder, ranges))
            };
            let started = context
                .cpu
                .run(job)
                .await
                .map_err(|error| FilesError::from_decoder(&path, error))?;
            let (mut decoder, ranges) = started?;
            if !ranges.is_empty() {
                let bytes = context.io.read_ranges(&path, &ranges).await?;
                decoder.push(ranges, bytes)?;
            }
            Ok(decoder)
        }))
    }

    /// Decodes a unit as fast as its steps are taken.
    async fn decode(
        &self,
        fetch: Fetch,
        steps: &mpsc::Sender<Result<Vec<RecordBatch>>>,
    ) -> Result<()> {
        let path = self.plan.footer.path();
        let mut decoder = fetch.await?;
        loop {
            // Room first: what is decoded is never more than was allowed for.
            let Ok(room) = steps.reserve().await else {
                return Ok(());
            };
            loop {
                let job = move || {
                    let step = decoder.step();
                    (decoder, step)
                };
                let stepped = self.context.cpu.run(job).await;
                let (back, step) =
                    stepped.map_err(|error| FilesError::from_decoder(path, error))?;
                decoder = back;
                match step? {
                    Step::Needs(ranges) => {
                        let bytes = self.context.io.read_ranges(path, &ranges).await?;
                        decoder.push(ranges, bytes)?;
                    }
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

    /// Finds out which column is to blame for damage: each is decoded by itself. Other errors stay as they are.
    async fn explain(&self, unit: &Unit, error: FilesError) -> FilesError {
        let FilesError::CorruptFile { path, reason } = &error else {
            return error;
        };
        self.context.footers.remove(path);
        for (name, leaf) in leaves_by_name(&self.plan.footer, self.plan.mapping.leaves()) {
            let part = Part {
                context: &self.context,
                footer: &self.plan.footer,
                unit,
                leaf,
            };
            if part.is_damaged().await {
                return FilesError::CorruptColumn {
                    path: path.clone(),
                    column: name,
                    reason: reason.clone(),
                };
            }
        }
        error
    }
}

/// Has the kernel load what a unit reads of a local file, so that the threads that decode do not wait for the disk. A small part of a row
/// group may leave out most of it: there the kernel sees for itself.
async fn load_ahead(plan: &UnitPlan, file: &Arc<LocalFile>, unit: &Unit) -> Result<()> {
    if unit
        .selection
        .as_ref()
        .is_some_and(|selection| selection.row_count() < selection.skipped_row_count())
    {
        return Ok(());
    }
    let (file, chunks) = (Arc::clone(file), plan.chunks(unit.row_group));
    let advised = tokio::task::spawn_blocking(move || file.will_need(&chunks));
    advised.await.map_err(|error| FilesError::Internal {
        what: format!("read-ahead ended early: {error}"),
    })
}

fn leaves_by_name(footer: &Footer, leaves: &[usize]) -> Vec<(String, usize)> {
    let schema = footer.metadata().file_metadata().schema_descr();
    let name = |leaf: usize| Some((schema.columns().get(leaf)?.path().string(), leaf));
    leaves.iter().filter_map(|&leaf| name(leaf)).collect()
}

/// One leaf of a unit.
struct Part<'a> {
    context: &'a FilesContext,
    footer: &'a Arc<Footer>,
    unit: &'a Unit,
    leaf: usize,
}

impl Part<'_> {
    /// Whether decoding this leaf alone fails.
    async fn is_damaged(&self) -> bool {
        let (footer, unit, leaf) = (Arc::clone(self.footer), self.unit.clone(), self.leaf);
        let start = move || {
            let schema = footer.metadata().file_metadata().schema_descr();
            let mut builder = ParquetPushDecoderBuilder::new_with_metadata(footer.reader().clone())
                .with_projection(ProjectionMask::leaves(schema, [leaf]))
                .with_row_groups(vec![unit.row_group]);
            if let Some(selection) = unit.selection {
                builder = builder.with_row_selection(selection);
            }
            let mut decoder = builder.build()?;
            let wanted = decoder.try_next_reader()?;
            Ok::<_, parquet::errors::ParquetError>((decoder, wanted))
        };
        let Ok(Ok((mut decoder, wanted))) = self.context.cpu.run(start).await else {
            return true;
        };
        let DecodeResult::NeedsData(ranges) = wanted else {
            return false;
        };
        let Ok(bytes) = self
            .context
            .io
            .read_ranges(self.footer.path(), &ranges)
            .await
        else {
            return false;
        };
        let decode = move || {
            decoder.push_ranges(ranges, bytes)?;
            match decoder.try_next_reader()? {
                DecodeResult::Data(batches) => drain(batches),
                DecodeResult::NeedsData(_) | DecodeResult::Finished => Ok(()),
            }
        };
        !matches!(self.context.cpu.run(decode).await, Ok(Ok(())))
    }
}

fn drain(batches: ParquetRecordBatchReader) -> Result<(), parquet::errors::ParquetError> {
    for batch in batches {
        batch?;
    }
    Ok(())
}

impl fmt::Debug for BatchStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchStream")
            .field("path", &self.reader.plan.footer.path())
            .field("units_left", &self.units.len())
            .finish()
    }
}
