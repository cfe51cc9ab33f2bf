//! One Parquet file, opened once and read any number of times.
//!
//! ```text
//!  open   footer (cached)
//!  read   map columns -> prune row groups and pages -> units -> BatchStream
//! ```
//!
//! A merge reads keys, sequence numbers and kinds first, decides, and then reads the other columns for the rows that won:
//! [`FileRead::rows`] tells the positions of the batches' rows, [`ReadRequest::rows`] takes them back.

use std::ops::Range;
use std::sync::Arc;

use parquet::arrow::arrow_reader::RowSelection;
use tidewater_index::DeletionVector;
use tidewater_io::LocalFile;
use tidewater_types::{DataField, Predicate};

use super::decode::{RowTest, Unit, UnitPlan};
use super::footer::{Footer, PageIndex};
use super::prune::Pruner;
use super::rows::{RowChoice, UnitSize, intersect, live_rows, selected_ranges, units};
use super::stream::BatchStream;
use crate::context::FilesContext;
use crate::error::{FilesError, Result};
use crate::mapping::SchemaMapping;

/// Rows of a batch unless asked otherwise.
pub const DEFAULT_BATCH_ROWS: usize = 8192;
/// Bytes of a file that are fetched and decoded together unless asked otherwise.
pub const DEFAULT_UNIT_BYTES: u64 = 64 << 20;
/// Rows decoded in one job at most.
const STEP_ROWS: usize = 32 << 10;
/// Rows of a unit, about, if several are decoded at the same time: small enough that all of them have work until the end, large enough
/// that decoding dictionaries again costs little.
const PARALLEL_UNIT_ROWS: usize = 128 << 10;
/// The predicate's columns are decoded before the others only if they are at most this share of the bytes.
const FILTER_FIRST_SHARE: u64 = 2;

/// What to read of a file.
#[derive(Debug, Clone)]
pub struct ReadRequest {
    /// The asked columns in the read schema; ids decide which stored column answers. System columns go by their reserved ids.
    pub columns: Vec<DataField>,
    /// Columns of the schema that the file was written with (`_SCHEMA_ID`). Empty: the file has the asked schema.
    pub file_fields: Vec<DataField>,
    /// The file has all columns of [`ReadRequest::file_fields`]: one that is not there is damage. False for files that were written with
    /// some of them only, which their entry tells.
    pub whole: bool,
    /// Rows that cannot match are left out where the file's statistics tell; all rows that match are read.
    pub filter: Option<Predicate>,
    /// Columns of the filter, by name, that are not among [`ReadRequest::columns`].
    pub filter_columns: Vec<DataField>,
    /// Leave out every row that does not match.
    pub exact_filter: bool,
    /// Positions to read.
    pub rows: RowChoice,
    /// Rows that are not there any more, whatever else is asked for.
    pub deleted: Option<Arc<DeletionVector>>,
    /// Most rows of a batch.
    pub batch_rows: usize,
    /// Bytes that are fetched and decoded together, at most those of the context; row groups are cut to it where their index allows.
    pub unit_bytes: u64,
    /// Parts of the file that are decoded at the same time: one if other files keep the threads busy. More cut row groups into smaller
    /// units, where their index allows; batches come in file order all the same.
    pub parallel: usize,
}

impl ReadRequest {
    /// All rows of these columns, of a file with the same schema.
    pub fn new(columns: Vec<DataField>) -> Self {
        Self {
            columns,
            file_fields: Vec::new(),
            whole: false,
            filter: None,
            filter_columns: Vec::new(),
            exact_filter: false,
            rows: RowChoice::All,
            deleted: None,
            batch_rows: DEFAULT_BATCH_ROWS,
            unit_bytes: DEFAULT_UNIT_BYTES,
            parallel: 1,
        }
    }
}

/// A planned read.
#[derive(Debug)]
pub struct FileRead {
    /// The batches.
    pub batches: BatchStream,
    /// Positions in the file of the rows of `batches`, in order, before an exact filter takes rows out.
    pub rows: Vec<Range<u64>>,
    /// Row groups of the file, and how many of them are read.
    pub row_groups: (usize, usize),
}

impl FileRead {
    /// Rows that are decoded.
    pub fn row_count(&self) -> u64 {
        self.rows.iter().map(|range| range.end - range.start).sum()
    }
}

/// An open file.
#[derive(Debug, Clone)]
pub struct ParquetFileReader {
    context: FilesContext,
    footer: Arc<Footer>,
}

impl ParquetFileReader {
    /// Reads the footer, or takes it from the context's cache. `size` saves a request when it is known.
    ///
    /// # Errors
    /// [`FilesError::CorruptFile`] if the file is not a whole Parquet file; the store's errors.
    pub async fn open(context: &FilesContext, path: &str, size: Option<u64>) -> Result<Self> {
        let footer = Footer::open(context, path, size, PageIndex::Leave).await?;
        Ok(Self {
            context: context.clone(),
            footer,
        })
    }

    /// Path of the file.
    pub fn path(&self) -> &str {
        self.footer.path()
    }

    /// Length of the file in bytes.
    pub fn file_bytes(&self) -> u64 {
        self.footer.file_bytes()
    }

    /// Rows of the file.
    pub fn row_count(&self) -> u64 {
        let rows = self
            .footer
            .metadata()
            .row_groups()
            .iter()
            .map(|group| u64::try_from(group.num_rows()).unwrap_or(0));
        rows.sum()
    }

    /// Whether the file stores a column with this id; files without ids answer none.
    pub fn has_field_id(&self, id: i32) -> Option<bool> {
        let columns = &self.footer.stored().columns;
        let with_ids = columns.iter().any(|column| column.id.is_some());
        with_ids.then(|| columns.iter().any(|column| column.id == Some(id)))
    }

    /// How the file answers these columns, without reading any.
    ///
    /// # Errors
    /// [`FilesError::ColumnType`] if the stored form of a column cannot be read as its type.
    pub fn mapping(
        &self,
        file_fields: &[DataField],
        columns: &[DataField],
    ) -> Result<SchemaMapping> {
        SchemaMapping::new(
            self.footer.path(),
            self.footer.stored(),
            file_fields,
            false,
            columns,
        )
    }

    /// Plans the read and starts to fetch.
    ///
    /// # Errors
    /// [`FilesError::ColumnType`] if the stored form of a column cannot be read as its type; [`FilesError::DeletedBeyondEnd`] if the deletion
    /// vector is not this file's; damage of the page indexes; the store's.
    pub async fn read(&self, mut request: ReadRequest) -> Result<FileRead> {
        request.unit_bytes = request.unit_bytes.min(self.context.unit_bytes());
        let last_deleted = request.deleted.as_ref().and_then(|deleted| deleted.last());
        if let Some(position) = last_deleted.filter(|last| *last >= self.row_count()) {
            return Err(FilesError::DeletedBeyondEnd {
                path: self.footer.path().to_owned(),
                position,
                rows: self.row_count(),
            });
        }
        let footer = if self.wants_page_index(&request) {
            let (path, size) = (self.footer.path(), Some(self.footer.file_bytes()));
            Footer::open(&self.context, path, size, PageIndex::Load).await?
        } else {
            Arc::clone(&self.footer)
        };
        let step_rows = step_rows(self.context.unit_bytes());
        let parallel = request.parallel;
        let local = self.context.io.open_local(self.footer.path()).await?;
        let local = local.map(Arc::new);
        let job = move || plan(footer, request, step_rows, local);
        let planned = self.context.cpu.run(job).await;
        let planned =
            planned.map_err(|error| FilesError::from_decoder(self.footer.path(), error))??;
        let row_groups = (
            planned.plan.footer.metadata().num_row_groups(),
            planned.row_groups_read,
        );
        let batches =
            BatchStream::start(self.context.clone(), planned.plan, planned.units, parallel);
        Ok(FileRead {
            batches,
            rows: planned.rows,
            row_groups,
        })
    }

    /// Page indexes are worth their bytes when rows are left out or row groups are cut.
    fn wants_page_index(&self, request: &ReadRequest) -> bool {
        let large = |bytes: i64| {
            u64::try_from(bytes).is_ok_and(|bytes| bytes > request.unit_bytes.saturating_mul(2))
        };
        request.filter.is_some()
            || !matches!(request.rows, RowChoice::All)
            || self.footer.metadata().row_groups().iter().any(|group| {
                large(group.compressed_size())
                    || request.parallel > 1 && group.num_rows() > 2 * PARALLEL_UNIT_ROWS as i64
            })
    }
}

struct Planned {
    plan: Arc<UnitPlan>,
    units: Vec<Unit>,
    rows: Vec<Range<u64>>,
    row_groups_read: usize,
}

/// Rows decoded in one job: fewer where memory is short.
fn step_rows(unit_bytes: u64) -> usize {
    let share = STEP_ROWS as u64 * unit_bytes / DEFAULT_UNIT_BYTES;
    usize::try_from(share).map_or(STEP_ROWS, |share| share.min(STEP_ROWS))
}

fn plan(
    footer: Arc<Footer>,
    request: ReadRequest,
    step_rows: usize,
    local: Option<Arc<LocalFile>>,
) -> Result<Planned> {
    let kept_columns = request.columns.len();
    let exact = request.filter.as_ref().filter(|_| request.exact_filter);
    let mut all = request.columns;
    let extra: Vec<DataField> = request
        .filter_columns
        .into_iter()
        .filter(|column| all.iter().all(|asked| asked.name != column.name))
        .collect();
    let pruning_columns: Vec<DataField> = all.iter().chain(&extra).cloned().collect();
    if exact.is_some() {
        all.extend(extra);
    }
    let map = |columns: &[DataField]| {
        SchemaMapping::new(
            footer.path(),
            footer.stored(),
            &request.file_fields,
            request.whole,
            columns,
        )
    };
    let mapping = map(&all)?;
    let test = match exact {
        None => RowTest::None,
        Some(predicate) => {
            let names = predicate.columns();
            let tested: Vec<DataField> = all
                .iter()
                .filter(|column| names.contains(column.name.as_str()))
                .cloned()
                .collect();
            let tested = map(&tested)?;
            let share = leaf_bytes(&footer, tested.leaves()).saturating_mul(FILTER_FIRST_SHARE);
            if !tested.leaves().is_empty() && share <= leaf_bytes(&footer, mapping.leaves()) {
                RowTest::First(predicate.clone(), Arc::new(tested))
            } else {
                RowTest::After(predicate.clone())
            }
        }
    };
    let pruner = match &request.filter {
        None => None,
        Some(predicate) => Some(Pruner::new(&footer, predicate, &map(&pruning_columns)?)),
    };
    let (mut planned_units, mut rows, mut row_groups_read, mut first_row) =
        (Vec::new(), Vec::new(), 0, 0);
    for (group, metadata) in footer.metadata().row_groups().iter().enumerate() {
        let group_rows = first_row..first_row + u64::try_from(metadata.num_rows()).unwrap_or(0);
        first_row = group_rows.end;
        if group_rows.is_empty() {
            continue;
        }
        let chosen = request.rows.in_row_group(group_rows.clone());
        let pruned = match &pruner {
            None => None,
            Some(pruner) => match pruner.row_group(group) {
                None => continue,
                Some(selection) => selection,
            },
        };
        let live = request.deleted.as_deref();
        let live = live.and_then(|deleted| live_rows(deleted, group_rows.clone()));
        let selection: Option<RowSelection> = [chosen, pruned, live]
            .into_iter()
            .flatten()
            .reduce(|left, right| intersect(&left, &right));
        if selection
            .as_ref()
            .is_some_and(|selection| !selection.selects_any())
        {
            continue;
        }
        selected_ranges(selection.as_ref(), group_rows, &mut rows);
        row_groups_read += 1;
        planned_units.extend(units(
            footer.metadata(),
            group,
            selection,
            mapping.leaves(),
            UnitSize {
                bytes: request.unit_bytes,
                rows: if request.parallel > 1 {
                    PARALLEL_UNIT_ROWS
                } else {
                    usize::MAX
                },
            },
        ));
    }
    let batch_rows = request.batch_rows.min(step_rows).max(1);
    let batches_per_step = (step_rows / batch_rows).max(1);
    let plan = UnitPlan {
        footer: Arc::clone(&footer),
        mapping,
        test,
        batch_rows,
        kept_columns,
        batches_per_step,
        local,
    };
    Ok(Planned {
        plan: Arc::new(plan),
        units: planned_units,
        rows,
        row_groups_read,
    })
}

fn leaf_bytes(footer: &Footer, leaves: &[usize]) -> u64 {
    let groups = footer.metadata().row_groups().iter();
    let columns =
        groups.flat_map(|group| leaves.iter().filter_map(|&leaf| group.columns().get(leaf)));
    columns
        .map(|column| u64::try_from(column.compressed_size()).unwrap_or(0))
        .sum()
}
