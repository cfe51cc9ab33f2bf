//! Turns one unit of a file (a row group or a run of its rows) into batches.
//!
//! ```text
//!  UnitDecoder::step   on a worker:  decode a few batches, map them to the asked columns
//!       |- Needs(ranges)             the caller fetches and pushes them, then steps again
//!       |- More(batches)
//!       '- Done(batches)
//! ```

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::ArrowError;
use arrow_select::filter::filter_record_batch;
use bytes::Bytes;
use parquet::DecodeResult;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowPredicateFn, ArrowReaderBuilder, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder, RowFilter, RowSelection,
};
use parquet::arrow::push_decoder::{ParquetPushDecoder, ParquetPushDecoderBuilder};
use parquet::errors::ParquetError;
use tidewater_io::LocalFile;
use tidewater_types::Predicate;

use super::footer::Footer;
use super::local::LocalChunks;
use super::thrift_guard::check_pages;
use crate::error::{FilesError, Result};
use crate::mapping::SchemaMapping;

/// Rows of one row group that are read together.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    pub(crate) row_group: usize,
    /// None is all rows.
    pub(crate) selection: Option<RowSelection>,
}

/// How rows are filtered by value.
#[derive(Debug, Clone)]
pub(crate) enum RowTest {
    /// Not at all.
    None,
    /// On whole batches, after they were decoded.
    After(Predicate),
    /// On the columns of the predicate first; the other columns are then decoded for the rows that are left.
    First(Predicate, Arc<SchemaMapping>),
}

/// What is the same for all units of a read.
#[derive(Debug)]
pub(crate) struct UnitPlan {
    pub(crate) footer: Arc<Footer>,
    pub(crate) mapping: SchemaMapping,
    pub(crate) test: RowTest,
    pub(crate) batch_rows: usize,
    /// The columns that the caller asked for come first; those only read for the predicate follow.
    pub(crate) kept_columns: usize,
    /// Batches decoded in one go.
    pub(crate) batches_per_step: usize,
    /// The file, where its bytes are at hand: then none are fetched.
    pub(crate) local: Option<Arc<LocalFile>>,
}

/// What a step came to.
pub(crate) enum Step {
    /// These bytes of the file are wanted.
    Needs(Vec<Range<u64>>),
    /// There may be more.
    More(Vec<RecordBatch>),
    /// The unit is finished.
    Done(Vec<RecordBatch>),
}

/// Where the pages of a unit come from.
enum Pages {
    /// They are asked for and pushed.
    Pushed(Box<ParquetPushDecoder>),
    /// They are read as they are decoded.
    Local {
        chunks: LocalChunks,
        /// Gone once decoding has begun.
        builder: Option<Box<ParquetRecordBatchReaderBuilder<LocalChunks>>>,
    },
}

/// One unit while it is decoded.
pub(crate) struct UnitDecoder {
    plan: Arc<UnitPlan>,
    pages: Pages,
    batches: Option<ParquetRecordBatchReader>,
    /// Rows that are not decoded yet; unknown if rows are tested before they are.
    rows_left: Option<usize>,
}

impl UnitDecoder {
    pub(crate) fn new(plan: Arc<UnitPlan>, unit: &Unit) -> Result<Self> {
        let metadata = plan.footer.reader().clone();
        let pages = match &plan.local {
            Some(file) => {
                let chunks = LocalChunks::new(Arc::clone(file), plan.footer.metadata());
                let builder =
                    ParquetRecordBatchReaderBuilder::new_with_metadata(chunks.clone(), metadata);
                let builder = Some(Box::new(plan.configured(builder, unit)));
                Pages::Local { chunks, builder }
            }
            None => {
                let builder = ParquetPushDecoderBuilder::new_with_metadata(metadata);
                let decoder = plan.configured(builder, unit).build();
                Pages::Pushed(Box::new(
                    decoder.map_err(|error| FilesError::corrupt(plan.footer.path(), error))?,
                ))
            }
        };
        let rows_left = match (&plan.test, &unit.selection) {
            (RowTest::First(..), _) => None,
            (_, Some(selection)) => Some(selection.row_count()),
            (_, None) => {
                let group = plan.footer.metadata().row_groups().get(unit.row_group);
                group.and_then(|group| usize::try_from(group.num_rows()).ok())
            }
        };
        Ok(Self {
            plan,
            pages,
            batches: None,
            rows_left,
        })
    }

    /// Gives bytes that a step asked for.
    pub(crate) fn push(&mut self, ranges: Vec<Range<u64>>, bytes: Vec<Bytes>) -> Result<()> {
        let Pages::Pushed(decoder) = &mut self.pages else {
            return Err(FilesError::Internal {
                what: "bytes were pushed to a reader of a local file".to_owned(),
            });
        };
        let path = self.plan.footer.path();
        check_ranges(path, &ranges, &bytes)?;
        let pushed = decoder.push_ranges(ranges, bytes);
        pushed.map_err(|error| FilesError::corrupt(path, error))
    }

    /// Asks for the first bytes without decoding anything; none if no bytes are needed.
    pub(crate) fn first_ranges(&mut self) -> Result<Vec<Range<u64>>> {
        let Pages::Pushed(decoder) = &mut self.pages else {
            return Ok(Vec::new());
        };
        match decoder
            .try_next_reader()
            .map_err(|error| parquet_error(self.plan.footer.path(), error))?
        {
            DecodeResult::NeedsData(ranges) => Ok(ranges),
            DecodeResult::Data(batches) => {
                self.batches = Some(batches);
                Ok(Vec::new())
            }
            DecodeResult::Finished => Ok(Vec::new()),
        }
    }

    /// Decodes until bytes are wanted, the unit ends or a few batches are ready.
    pub(crate) fn step(&mut self) -> Result<Step> {
        let step = self.decode();
        match (&step, &self.pages) {
            // Not the file is damaged, but its disk or its end.
            (Err(_), Pages::Local { chunks, .. }) => match chunks.take_fault() {
                Some(fault) => Err(FilesError::Io(fault)),
                None => step,
            },
            _ => step,
        }
    }

    fn decode(&mut self) -> Result<Step> {
        let plan = Arc::clone(&self.plan);
        let path = plan.footer.path();
        let mut ready = Vec::with_capacity(plan.batches_per_step);
        loop {
            let Some(batches) = &mut self.batches else {
                let decoder = match &mut self.pages {
                    Pages::Pushed(decoder) => decoder,
                    Pages::Local { builder, .. } => {
                        let Some(builder) = builder.take() else {
                            return Ok(Step::Done(ready));
                        };
                        let batches = builder.build();
                        self.batches = Some(batches.map_err(|error| parquet_error(path, error))?);
                        continue;
                    }
                };
                match decoder
                    .try_next_reader()
                    .map_err(|error| parquet_error(path, error))?
                {
                    DecodeResult::NeedsData(ranges) if ready.is_empty() => {
                        return Ok(Step::Needs(ranges));
                    }
                    DecodeResult::NeedsData(_) => return Ok(Step::More(ready)),
                    DecodeResult::Data(batches) => self.batches = Some(batches),
                    DecodeResult::Finished => return Ok(Step::Done(ready)),
                }
                continue;
            };
            match batches.next() {
                None => self.batches = None,
                Some(decoded) => {
                    let decoded = decoded.map_err(|error| arrow_error(path, error))?;
                    let batch = plan.finish(&decoded)?;
                    if batch.num_rows() > 0 {
                        ready.push(batch);
                    }
                    // Known to be the end: bytes and pages of the unit need not wait for another step.
                    if let Some(left) = &mut self.rows_left {
                        *left = left.saturating_sub(decoded.num_rows());
                        if *left == 0 {
                            return Ok(Step::Done(ready));
                        }
                    }
                    if ready.len() >= plan.batches_per_step {
                        return Ok(Step::More(ready));
                    }
                }
            }
        }
    }
}

/// Looks over the headers of the pages that were fetched: the decoder asks for whole pages, or for whole chunks of them.
pub(crate) fn check_ranges(path: &str, ranges: &[Range<u64>], bytes: &[Bytes]) -> Result<()> {
    for (range, bytes) in ranges.iter().zip(bytes) {
        check_pages(bytes).map_err(|fault| {
            let what = format!("pages from byte {} on: {fault}", range.start);
            FilesError::corrupt(path, what)
        })?;
    }
    Ok(())
}

impl UnitPlan {
    /// What both kinds of readers are told.
    fn configured<T>(&self, builder: ArrowReaderBuilder<T>, unit: &Unit) -> ArrowReaderBuilder<T> {
        let mut builder = builder
            .with_projection(self.mask(self.mapping.leaves()))
            .with_row_groups(vec![unit.row_group])
            .with_batch_size(self.batch_rows);
        if let Some(selection) = &unit.selection {
            builder = builder.with_row_selection(selection.clone());
        }
        if let RowTest::First(predicate, mapping) = &self.test {
            let (predicate, mapping) = (predicate.clone(), Arc::clone(mapping));
            let mask = self.mask(mapping.leaves());
            let path = self.footer.path().to_owned();
            let test = move |batch: RecordBatch| -> Result<BooleanArray, ArrowError> {
                let external = |error: FilesError| ArrowError::ExternalError(Box::new(error));
                let mapped = mapping.apply(&path, &batch).map_err(external)?;
                predicate
                    .eval(&mapped)
                    .map_err(|error| external(error.into()))
            };
            let test = ArrowPredicateFn::new(mask, test);
            builder = builder.with_row_filter(RowFilter::new(vec![Box::new(test)]));
        }
        builder
    }

    /// Where the columns that are read lie in a row group.
    pub(crate) fn chunks(&self, row_group: usize) -> Vec<Range<u64>> {
        let Some(group) = self.footer.metadata().row_groups().get(row_group) else {
            return Vec::new();
        };
        let leaves = self.mapping.leaves().iter();
        let chunks = leaves.filter_map(|&leaf| group.columns().get(leaf));
        chunks
            .map(|chunk| {
                let (start, length) = chunk.byte_range();
                start..start.saturating_add(length)
            })
            .collect()
    }

    fn mask(&self, leaves: &[usize]) -> ProjectionMask {
        let schema = self.footer.metadata().file_metadata().schema_descr();
        ProjectionMask::leaves(schema, leaves.iter().copied())
    }

    fn finish(&self, decoded: &RecordBatch) -> Result<RecordBatch> {
        let mut batch = self.mapping.apply(self.footer.path(), decoded)?;
        if let RowTest::After(predicate) = &self.test {
            let kept = predicate.eval(&batch)?;
            if kept.true_count() < batch.num_rows() {
                batch =
                    filter_record_batch(&batch, &kept).map_err(tidewater_types::TypeError::from)?;
            }
        }
        if self.kept_columns < batch.num_columns() {
            let kept: Vec<usize> = (0..self.kept_columns).collect();
            batch = batch
                .project(&kept)
                .map_err(tidewater_types::TypeError::from)?;
        }
        Ok(batch)
    }
}

/// An error of the decoder, which may wrap one of ours from a row test.
fn parquet_error(path: &str, error: ParquetError) -> FilesError {
    match error {
        ParquetError::External(inner) => match inner.downcast::<ArrowError>() {
            Ok(arrow) => arrow_error(path, *arrow),
            Err(other) => FilesError::corrupt(path, other),
        },
        other => FilesError::corrupt(path, other),
    }
}

fn arrow_error(path: &str, error: ArrowError) -> FilesError {
    match error {
        ArrowError::ExternalError(inner) => match inner.downcast::<FilesError>() {
            Ok(ours) => *ours,
            Err(other) => FilesError::corrupt(path, other),
        },
        other => FilesError::corrupt(path, other),
    }
}
