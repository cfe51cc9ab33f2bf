//! A batch read: what to read is collected, then planned, read or counted.

use tidewater_files::FilesContext;
use tidewater_types::{Predicate, RowType, SnapshotId, TypeError};
use tokio::sync::OnceCell;

use super::planner::{ScanPlan, ScanPlanner};
use super::rows::{RowRequest, RowStream};
use super::splits::{DataSplit, SplitPurpose};
use super::travel::{ReadAt, ReadPoint};
use crate::error::Result;
use crate::table_log::TableLog;

/// Reads the state of a table at one snapshot.
///
/// Without [`ScanBuilder::snapshot`] or [`ScanBuilder::timestamp_millis`] the options `scan.*` of the table decide, and without those it is
/// the newest snapshot. The first call that needs the snapshot finds it; from then on this builder stays with it, so that
/// [`ScanBuilder::row_type`], [`ScanBuilder::plan`] and [`ScanBuilder::read`] agree while others write.
#[derive(Debug, Clone)]
pub struct ScanBuilder {
    log: TableLog,
    context: FilesContext,
    at: Option<ReadAt>,
    point: OnceCell<ReadPoint>,
    projection: Option<Vec<String>>,
    filter: Option<Predicate>,
    limit: Option<usize>,
    with_kinds: bool,
}

impl ScanBuilder {
    /// A read of all columns and rows. `log` carries the schema with the options of the job.
    pub fn new(log: TableLog, context: FilesContext) -> Self {
        Self {
            log,
            context,
            at: None,
            point: OnceCell::new(),
            projection: None,
            filter: None,
            limit: None,
            with_kinds: false,
        }
    }

    /// Reads this snapshot, with the columns it had.
    #[must_use]
    pub fn snapshot(self, id: SnapshotId) -> Self {
        self.at(ReadAt::Snapshot(id))
    }

    /// Reads the newest snapshot that was committed at or before this time, with the columns it had.
    #[must_use]
    pub fn timestamp_millis(self, millis: i64) -> Self {
        self.at(ReadAt::TimestampMillis(millis))
    }

    fn at(self, at: ReadAt) -> Self {
        Self {
            at: Some(at),
            point: OnceCell::new(),
            ..self
        }
    }

    /// Reads these columns, in this order.
    ///
    /// # Errors
    /// A column that is named twice, or is not there. Whether it is there is known after [`ScanBuilder::row_type`]; without that the read
    /// fails.
    pub fn project<S: AsRef<str>>(mut self, columns: &[S]) -> Result<Self> {
        let columns: Vec<String> = columns
            .iter()
            .map(|column| column.as_ref().to_owned())
            .collect();
        for (number, column) in columns.iter().enumerate() {
            if columns.iter().take(number).any(|before| before == column) {
                let what = format!("column {column:?} is asked for twice");
                return Err(TypeError::invalid(what).into());
            }
        }
        if let Some(point) = self.point.get() {
            point.schema.row_type().indices_of(&columns)?;
        }
        self.projection = Some(columns);
        Ok(self)
    }

    /// Reads only rows that match; the columns need not be among those that are projected. It is bound to [`ScanBuilder::row_type`], or
    /// to a row type with the same names. A second filter must hold too.
    ///
    /// # Errors
    /// A column that is not there, as in [`ScanBuilder::project`].
    pub fn filter(mut self, filter: Predicate) -> Result<Self> {
        if let Some(point) = self.point.get() {
            filter.rebind(&point.schema.row_type())?;
        }
        self.filter = Some(match self.filter.take() {
            Some(before) => Predicate::and([before, filter]),
            None => filter,
        });
        Ok(self)
    }

    /// Reads at most this many rows; which ones is not said.
    #[must_use]
    pub fn limit(self, rows: usize) -> Self {
        Self {
            limit: Some(rows),
            ..self
        }
    }

    /// Adds the column `_VALUE_KIND` behind the others: `+I`, or `+U` for rows that a merge found to be updates, as Java has it.
    #[must_use]
    pub fn with_kinds(self, with_kinds: bool) -> Self {
        Self { with_kinds, ..self }
    }

    /// All columns that can be projected and filtered by.
    ///
    /// # Errors
    /// A snapshot that does not exist; a table that this build cannot read.
    pub async fn row_type(&self) -> Result<RowType> {
        Ok(self.point().await?.schema.row_type())
    }

    /// The splits that the read takes. A table without snapshots has none.
    ///
    /// # Errors
    /// As [`ScanBuilder::row_type`]; metadata that is missing or damaged.
    pub async fn plan(&self) -> Result<ScanPlan> {
        let point = self.point().await?;
        let Some(snapshot) = &point.snapshot else {
            return Ok(ScanPlan::empty());
        };
        let filter = self.bound_filter(point)?;
        let planner = ScanPlanner::new(&self.log, &point.schema, filter.as_ref())?;
        let mut plan = planner.plan(snapshot).await?;
        if let Some(limit) = self.limit {
            plan.limit(u64::try_from(limit).unwrap_or(u64::MAX));
        }
        Ok(plan)
    }

    /// Reads the rows, many splits at the same time, in no order. Needs a tokio runtime.
    ///
    /// # Errors
    /// As [`ScanBuilder::plan`]; columns that are not there.
    pub async fn read(&self) -> Result<RowStream> {
        let plan = self.plan().await?;
        let point = self.point().await?;
        let projection = match &self.projection {
            Some(columns) => point.schema.row_type().indices_of(columns)?,
            None => (0..point.schema.fields.len()).collect(),
        };
        self.start(point, plan.splits, projection, self.with_kinds)
            .await
    }

    /// The number of rows that [`ScanBuilder::read`] gives. Only splits whose files do not tell are read.
    ///
    /// # Errors
    /// As [`ScanBuilder::read`].
    pub async fn count(&self) -> Result<u64> {
        let plan = self.plan().await?;
        let most = self.limit.map_or(u64::MAX, |limit| limit as u64);
        let mut count = 0_u64;
        let mut to_read = Vec::new();
        let tells = !plan.filters_rows();
        for split in plan.splits {
            match split.exact_row_count().filter(|_| tells) {
                Some(rows) => count = count.saturating_add(rows),
                None => to_read.push(split),
            }
        }
        if to_read.is_empty() || count >= most {
            return Ok(count.min(most));
        }
        let mut rows = self
            .start(self.point().await?, to_read, Vec::new(), false)
            .await?;
        while let Some(batch) = rows.next_batch().await? {
            count = count.saturating_add(batch.num_rows() as u64);
        }
        Ok(count.min(most))
    }

    async fn start(
        &self,
        point: &ReadPoint,
        splits: Vec<DataSplit>,
        projection: Vec<usize>,
        kinds: bool,
    ) -> Result<RowStream> {
        let request = RowRequest {
            schema: &point.schema,
            projection,
            filter: self.bound_filter(point)?,
            kinds,
            purpose: SplitPurpose::State,
            limit: self.limit,
        };
        RowStream::start(&self.log, &self.context, splits, request).await
    }

    async fn point(&self) -> Result<&ReadPoint> {
        self.point
            .get_or_try_init(|| async {
                let at = match self.at {
                    Some(at) => at,
                    None => ReadAt::of_options(self.log.schema())?,
                };
                ReadPoint::find(&self.log, at).await
            })
            .await
    }

    fn bound_filter(&self, point: &ReadPoint) -> Result<Option<Predicate>> {
        let row_type = point.schema.row_type();
        let bound = self.filter.as_ref().map(|filter| filter.rebind(&row_type));
        Ok(bound.transpose()?)
    }
}
