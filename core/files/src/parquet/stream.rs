//! The batches of a file, one after the other, with bytes fetched and batches decoded ahead.
//!
//! ```text
//!  unit 0   fetch ----> step step step …
//!  unit 1          fetch ------------> (pushed, waits)   step step …
//!  caller                next_batch next_batch …
//! ```
//!
//! Ahead of the caller there are at most: the batches of two steps, and the bytes of the unit being decoded and of the next one.
//! A step is one job on the worker threads; no job waits for bytes or for the caller.

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
use tidewater_io::CpuTask;
use tokio::task::JoinHandle;

use super::decode::{Step, Unit, UnitDecoder, UnitPlan};
use super::footer::Footer;
use crate::context::FilesContext;
use crate::error::{FilesError, Result};

/// Batches of the asked columns, in file order. After an error the stream has ended.
pub struct BatchStream {
    context: FilesContext,
    plan: Arc<UnitPlan>,
    units: VecDeque<Unit>,
    /// The next unit, whose bytes are being fetched.
    fetch: Option<(Unit, Fetch)>,
    /// The unit that is being decoded, and the job that decodes it.
    current: Option<Unit>,
    step: Option<CpuTask<(UnitDecoder, Result<Step>)>>,
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

impl BatchStream {
    /// Starts to fetch the first unit; needs a tokio runtime.
    pub(crate) fn start(context: FilesContext, plan: Arc<UnitPlan>, units: Vec<Unit>) -> Self {
        let mut stream = Self {
            context,
            plan,
            units: units.into(),
            fetch: None,
            current: None,
            step: None,
            ready: VecDeque::new(),
        };
        stream.prefetch();
        stream
    }

    /// The schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        let schema = self.plan.mapping.output_schema();
        let kept: Vec<usize> = (0..self.plan.kept_columns).collect();
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
        self.step = None;
        self.current = None;
        self.ready.clear();
    }

    async fn advance(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            let Some(task) = &mut self.step else {
                let Some((unit, fetch)) = self.fetch.take() else {
                    return Ok(None);
                };
                self.current = Some(unit.clone());
                let decoder = self.explained(fetch.await).await?;
                self.run(decoder);
                self.prefetch();
                continue;
            };
            let outcome = task.await;
            self.step = None;
            let outcome =
                outcome.map_err(|error| FilesError::from_decoder(self.plan.footer.path(), error));
            let (mut decoder, step) = match outcome {
                Ok(outcome) => outcome,
                Err(error) => return self.explained(Err(error)).await,
            };
            match self.explained(step).await? {
                Step::Needs(ranges) => {
                    let bytes = self
                        .context
                        .io
                        .read_ranges(self.plan.footer.path(), &ranges)
                        .await?;
                    decoder.push(ranges, bytes)?;
                    self.run(decoder);
                }
                Step::More(batches) => {
                    self.run(decoder);
                    self.ready.extend(batches);
                }
                Step::Done(batches) => self.ready.extend(batches),
            }
        }
    }

    fn run(&mut self, mut decoder: UnitDecoder) {
        let job = move || {
            let step = decoder.step();
            (decoder, step)
        };
        self.step = Some(self.context.cpu.run(job));
    }

    fn prefetch(&mut self) {
        let Some(unit) = self.units.pop_front() else {
            return;
        };
        let (context, plan, wanted) = (self.context.clone(), Arc::clone(&self.plan), unit.clone());
        let fetch = tokio::spawn(async move {
            let path = plan.footer.path().to_owned();
            let job = move || -> Result<_> {
                let mut decoder = UnitDecoder::new(plan, &wanted)?;
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
        });
        self.fetch = Some((unit, Fetch(fetch)));
    }

    /// Finds out which column is to blame for damage: each is decoded by itself. Other outcomes stay as they are.
    async fn explained<T>(&self, outcome: Result<T>) -> Result<T> {
        let (Err(FilesError::CorruptFile { path, reason }), Some(unit)) = (&outcome, &self.current)
        else {
            return outcome;
        };
        self.context.footers.remove(path);
        let damaged = |column: String| FilesError::CorruptColumn {
            path: path.clone(),
            column,
            reason: reason.clone(),
        };
        for (name, leaf) in leaves_by_name(&self.plan.footer, self.plan.mapping.leaves()) {
            let part = Part {
                context: &self.context,
                footer: &self.plan.footer,
                unit,
                leaf,
            };
            if part.is_damaged().await {
                return Err(damaged(name));
            }
        }
        outcome
    }
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
            .field("path", &self.plan.footer.path())
            .field("units_left", &self.units.len())
            .finish()
    }
}
