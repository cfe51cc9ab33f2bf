//! From a snapshot to the splits that a read takes.
//!
//! ```text
//!  lists ─> manifests ─by partition bounds─> entries ─by partition, bucket, level─> folded ─by statistics─> buckets ─pack─> splits
//!           fetched in parallel              decoded in parallel                    one job on the pool               |
//!  index manifest ─> places of deletion vectors ───────────────────────────────────────────────────────────────────'
//! ```
//!
//! Source: spec 03 §5; Paimon `operation/AbstractFileStoreScan.java`, `table/source/snapshot/SnapshotReaderImpl.java`.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use tidewater_format::{
    ChangelogProducer, DataFileMeta, FileKind, FormatError, ManifestEntry, MergeEngine,
    PartitionValues, Snapshot, TableOptions, TablePaths, TableSchema, live_entries,
};
use tidewater_types::{BinaryRow, Bucket, Datum, Predicate, RowType, SchemaId, SnapshotId};

use super::deletions::BucketDeletions;
use super::filter::ScanFilter;
use super::manifests::{ManifestKind, ManifestReader};
use super::prune::FilePruner;
use super::splits::{BucketFiles, DataSplit, SplitPacker, SplitPurpose, Versions};
use crate::error::Result;
use crate::table_log::TableLog;

/// What a read of one snapshot takes.
#[derive(Debug, Clone)]
pub struct ScanPlan {
    /// The snapshot; `None` while the table has none.
    pub snapshot: Option<SnapshotId>,
    /// The splits, by partition and bucket in the order in which manifests name them first.
    pub splits: Vec<DataSplit>,
    /// Whether a condition is left that rows of the splits may fail.
    filters_rows: bool,
}

impl ScanPlan {
    /// The plan of a table without snapshots.
    pub(crate) fn empty() -> Self {
        Self {
            snapshot: None,
            splits: Vec::new(),
            filters_rows: false,
        }
    }

    /// The number of rows that reading all splits gives, if manifests tell: nothing is to be merged, there are no deletes, and whatever
    /// was filtered by is decided by whole partitions.
    pub fn exact_row_count(&self) -> Option<u64> {
        if self.filters_rows {
            return None;
        }
        self.splits.iter().try_fold(0_u64, |sum, split| {
            sum.checked_add(split.exact_row_count()?)
        })
    }

    /// Whether rows are left out that the splits hold.
    pub(crate) fn filters_rows(&self) -> bool {
        self.filters_rows
    }

    /// Keeps no more splits than `rows` rows need, as far as manifests tell.
    pub(crate) fn limit(&mut self, rows: u64) {
        if self.filters_rows {
            return;
        }
        let mut held = 0_u64;
        let mut enough = None;
        for (number, split) in self.splits.iter().enumerate() {
            if let Some(count) = split.exact_row_count() {
                held = held.saturating_add(count);
                if held >= rows {
                    enough = Some(number);
                    break;
                }
            }
        }
        if let Some(last) = enough {
            self.splits.truncate(last + 1);
            self.splits
                .retain(|split| split.exact_row_count().is_some());
        }
    }
}

/// Plans reads of one table with one schema and one condition.
#[derive(Debug, Clone)]
pub struct ScanPlanner {
    log: TableLog,
    rules: Arc<PlanRules>,
    batch_levels: Levels,
    first_stream_levels: Levels,
    parallelism: Option<i32>,
    keep_statistics: bool,
}

/// Which entries are planned.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    /// Those of files that are there after all entries.
    Live,
    /// Those of this kind.
    Kind(FileKind),
}

impl Wanted {
    fn of(self, entries: Vec<Vec<ManifestEntry>>) -> Result<Vec<ManifestEntry>> {
        let entries = entries.into_iter().flatten();
        match self {
            Self::Live => Ok(live_entries(entries).map_err(FormatError::from)?),
            Self::Kind(kind) => Ok(entries.filter(|entry| entry.kind == kind).collect()),
        }
    }
}

/// Levels whose files are read of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Levels {
    All,
    /// Level 0 is not visible yet, or its rows come as changes later.
    AboveZero,
    /// Rows of lower levels come as changes later.
    Only(i32),
}

impl Levels {
    /// Of a batch read (spec 03 §5.3).
    fn of_batch(schema: &TableSchema, options: &TableOptions) -> Self {
        let unmerged = options.deletion_vectors_enabled && !options.deletion_vectors_merge_on_read
            || options.merge_engine == MergeEngine::FirstRow;
        if schema.is_keyed() && unmerged {
            Self::AboveZero
        } else {
            Self::All
        }
    }

    /// Of the state that a stream begins with (spec 03 §5.2).
    fn of_first_stream(schema: &TableSchema, options: &TableOptions) -> Self {
        match options.changelog_producer {
            _ if !schema.is_keyed() => Self::All,
            ChangelogProducer::Lookup => Self::AboveZero,
            ChangelogProducer::FullCompaction => Self::Only(options.max_level()),
            _ => Self::All,
        }
    }

    fn hold(self, level: i32) -> bool {
        match self {
            Self::All => true,
            Self::AboveZero => level > 0,
            Self::Only(only) => level == only,
        }
    }
}

/// What turns entries into splits.
#[derive(Debug)]
struct PlanRules {
    /// Whether files may have deletion vectors.
    deletion_vectors: bool,
    versions_above_zero: Versions,
    /// Whether the merge engine folds versions.
    folds: bool,
    schema: Arc<TableSchema>,
    partition_type: RowType,
    paths: TablePaths,
    filter: ScanFilter,
    packer: SplitPacker,
    sort_partitions: bool,
}

impl ScanPlanner {
    /// Plans with `schema`, to which `filter` is bound.
    ///
    /// # Errors
    /// Options that do not read as their types.
    pub fn new(
        log: &TableLog,
        schema: &Arc<TableSchema>,
        filter: Option<&Predicate>,
    ) -> Result<Self> {
        let options = schema.options()?;
        let rules = PlanRules {
            deletion_vectors: options.deletion_vectors_enabled,
            versions_above_zero: Versions::above_zero(&options),
            folds: matches!(
                options.merge_engine,
                MergeEngine::PartialUpdate | MergeEngine::Aggregation
            ),
            partition_type: schema.partition_type(),
            paths: log.paths().clone(),
            filter: ScanFilter::new(filter, schema, &options)?,
            packer: SplitPacker::new(schema, &options)?,
            sort_partitions: options.scan_plan_sort_partition,
            schema: Arc::clone(schema),
        };
        Ok(Self {
            log: log.clone(),
            rules: Arc::new(rules),
            batch_levels: Levels::of_batch(schema, &options),
            first_stream_levels: Levels::of_first_stream(schema, &options),
            parallelism: options.scan_manifest_parallelism,
            keep_statistics: false,
        })
    }

    /// Keeps the statistics of all files, for callers that commit the files again. Without this they are only read where they are needed.
    #[must_use]
    pub fn with_statistics(self) -> Self {
        Self {
            keep_statistics: true,
            ..self
        }
    }

    /// The splits that make up the state of the table at `snapshot`.
    ///
    /// # Errors
    /// [`TableError::SnapshotNotFound`](crate::TableError::SnapshotNotFound) if the snapshot expires meanwhile; manifests that are missing or damaged.
    pub async fn plan(&self, snapshot: &Snapshot) -> Result<ScanPlan> {
        self.plan_levels(snapshot, self.batch_levels).await
    }

    /// The splits that make up the state that a stream begins with: without rows that it will see as changes of later snapshots.
    pub(crate) async fn plan_first_of_stream(&self, snapshot: &Snapshot) -> Result<ScanPlan> {
        self.plan_levels(snapshot, self.first_stream_levels).await
    }

    async fn plan_levels(&self, snapshot: &Snapshot, levels: Levels) -> Result<ScanPlan> {
        let (entries, deletions) = tokio::try_join!(
            self.entries(snapshot, ManifestKind::State, levels),
            self.deletions(snapshot)
        )?;
        let splits = self
            .assemble(
                snapshot.id,
                entries,
                deletions,
                Wanted::Live,
                SplitPurpose::State,
            )
            .await?;
        Ok(ScanPlan {
            snapshot: Some(snapshot.id),
            splits,
            filters_rows: self.rules.filter.rows.is_some(),
        })
    }

    /// The splits with the rows that `snapshot` added: of its changelog, or of its delta.
    pub(crate) async fn plan_changes(
        &self,
        snapshot: &Snapshot,
        kind: ManifestKind,
    ) -> Result<Vec<DataSplit>> {
        let entries = self.entries(snapshot, kind, Levels::All).await?;
        self.assemble(
            snapshot.id,
            entries,
            BucketDeletions::default(),
            Wanted::Kind(FileKind::Add),
            SplitPurpose::Changes,
        )
        .await
    }

    /// The states that `snapshot` took away, and those that it put in their place.
    pub(crate) async fn plan_overwrite(
        &self,
        snapshot: &Snapshot,
    ) -> Result<(Vec<DataSplit>, Vec<DataSplit>)> {
        let entries = self
            .entries(snapshot, ManifestKind::Delta, Levels::All)
            .await?;
        let of = |kind, entries, deletions| {
            self.assemble(
                snapshot.id,
                entries,
                deletions,
                Wanted::Kind(kind),
                SplitPurpose::State,
            )
        };
        let gone = self.deletions_before(snapshot).await?;
        let removed = of(FileKind::Delete, entries.clone(), gone).await?;
        let left = self.deletions(snapshot).await?;
        Ok((removed, of(FileKind::Add, entries, left).await?))
    }

    /// Where the deletion vectors of the snapshot are.
    async fn deletions(&self, snapshot: &Snapshot) -> Result<BucketDeletions> {
        if !self.rules.deletion_vectors {
            return Ok(BucketDeletions::default());
        }
        let files = ManifestReader::new(&self.log, self.parallelism)
            .index_files(snapshot)
            .await?;
        Ok(BucketDeletions::new(files))
    }

    /// Where they were before the snapshot: it took them away with their files.
    async fn deletions_before(&self, snapshot: &Snapshot) -> Result<BucketDeletions> {
        let before = SnapshotId(snapshot.id.0.saturating_sub(1));
        if !self.rules.deletion_vectors || before.0 < 1 {
            return Ok(BucketDeletions::default());
        }
        self.deletions(&self.log.snapshots().read(before).await?)
            .await
    }

    /// The live files of `snapshot` in the partitions and buckets that may hold rows of the condition.
    pub(crate) async fn live(&self, snapshot: &Snapshot) -> Result<Vec<ManifestEntry>> {
        let entries = self
            .entries(snapshot, ManifestKind::State, Levels::All)
            .await?;
        let fold = move || live_entries(entries.into_iter().flatten());
        let live = self.log.cpu().run(fold).await?;
        live.map_err(|error| tidewater_format::FormatError::from(error).into())
    }

    async fn entries(
        &self,
        snapshot: &Snapshot,
        kind: ManifestKind,
        levels: Levels,
    ) -> Result<Vec<Vec<ManifestEntry>>> {
        let reader = ManifestReader::new(&self.log, self.parallelism);
        let mut metas = reader.metas(snapshot, kind).await?;
        metas.retain(|meta| self.rules.filter.may_hold(meta));
        let mut filter = self.rules.filter.for_entries(self.keep_statistics);
        if levels != Levels::All {
            filter = filter.with_level(move |level| levels.hold(level));
        }
        reader.entries(snapshot, metas, &filter).await
    }

    async fn assemble(
        &self,
        snapshot: SnapshotId,
        entries: Vec<Vec<ManifestEntry>>,
        deletions: BucketDeletions,
        wanted: Wanted,
        purpose: SplitPurpose,
    ) -> Result<Vec<DataSplit>> {
        let schemas = if self.rules.filter.rows.is_some() {
            self.schemas(&entries).await?
        } else {
            HashMap::new()
        };
        let rules = Arc::clone(&self.rules);
        self.log
            .cpu()
            .run(move || {
                let entries = wanted.of(entries)?;
                rules.splits(snapshot, entries, &deletions, &schemas, purpose)
            })
            .await?
    }

    /// The schemas that the entries' files were written with.
    async fn schemas(
        &self,
        entries: &[Vec<ManifestEntry>],
    ) -> Result<HashMap<SchemaId, Arc<TableSchema>>> {
        let ids: BTreeSet<SchemaId> = entries
            .iter()
            .flatten()
            .map(|entry| entry.file.schema_id)
            .collect();
        read_schemas(&self.log, ids).await
    }
}

/// These schemas of the table.
pub(crate) async fn read_schemas(
    log: &TableLog,
    ids: BTreeSet<SchemaId>,
) -> Result<HashMap<SchemaId, Arc<TableSchema>>> {
    let mut schemas = HashMap::with_capacity(ids.len());
    for id in ids {
        schemas.insert(id, log.schemas().read(id).await?);
    }
    Ok(schemas)
}

impl PlanRules {
    fn splits(
        &self,
        snapshot: SnapshotId,
        entries: Vec<ManifestEntry>,
        deletions: &BucketDeletions,
        schemas: &HashMap<SchemaId, Arc<TableSchema>>,
        purpose: SplitPurpose,
    ) -> Result<Vec<DataSplit>> {
        let pruner = FilePruner::new(
            &self.filter,
            &self.schema,
            schemas,
            self.versions_above_zero,
            self.folds,
        );
        let mut buckets = by_bucket(entries, |file| !pruner.prunes() || pruner.keeps_file(file));
        if self.sort_partitions {
            self.sort_by_partition(&mut buckets)?;
        }
        let mut splits = Vec::with_capacity(buckets.len());
        for mut bucket in buckets {
            if purpose == SplitPurpose::State && pruner.prunes() {
                pruner.prune_bucket(&mut bucket.files);
            }
            if bucket.files.is_empty() {
                continue;
            }
            let path: Arc<str> = Arc::from(self.paths.bucket_dir(
                &bucket.partition,
                bucket.bucket.0,
                &self.partition_type,
            )?);
            let deletions = deletions.of(&bucket.partition, bucket.bucket, |name| {
                self.paths.index_file(&path, name)
            })?;
            for (files, raw_convertible) in self.packer.pack(bucket.files, purpose)? {
                splits.push(DataSplit {
                    snapshot,
                    partition: bucket.partition.clone(),
                    bucket: bucket.bucket,
                    total_buckets: bucket.total_buckets,
                    bucket_path: Arc::clone(&path),
                    files,
                    raw_convertible,
                    deletions: Arc::clone(&deletions),
                });
            }
        }
        Ok(splits)
    }

    /// Orders buckets by the values of their partitions, nulls first; those of one partition stay as they are.
    fn sort_by_partition(&self, buckets: &mut Vec<BucketFiles>) -> Result<()> {
        let types = self.partition_type.types();
        let mut keyed = std::mem::take(buckets)
            .into_iter()
            .map(|bucket| Ok((PartitionValues::new(&bucket.partition, &types)?, bucket)))
            .collect::<Result<Vec<_>>>()?;
        keyed.sort_by(|(left, _), (right, _)| {
            let columns = left.values().iter().zip(right.values());
            columns
                .map(|(left, right)| match (left, right) {
                    (Datum::Null, Datum::Null) => std::cmp::Ordering::Equal,
                    (Datum::Null, _) => std::cmp::Ordering::Less,
                    (_, Datum::Null) => std::cmp::Ordering::Greater,
                    (left, right) => left.compare(right).unwrap_or(std::cmp::Ordering::Equal),
                })
                .find(|order| order.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        buckets.extend(keyed.into_iter().map(|(_, bucket)| bucket));
        Ok(())
    }
}

/// Groups files by partition and bucket: partitions, and the buckets in each, in the order of first appearance.
fn by_bucket(
    entries: Vec<ManifestEntry>,
    keeps: impl Fn(&DataFileMeta) -> bool,
) -> Vec<BucketFiles> {
    let mut partitions: HashMap<BinaryRow, usize> = HashMap::new();
    let mut places: HashMap<(usize, i32), usize> = HashMap::new();
    let mut groups: Vec<Vec<BucketFiles>> = Vec::new();
    for entry in entries {
        if !keeps(&entry.file) {
            continue;
        }
        let partition = match partitions.get(&entry.partition) {
            Some(partition) => *partition,
            None => {
                groups.push(Vec::new());
                partitions.insert(entry.partition.clone(), groups.len() - 1);
                groups.len() - 1
            }
        };
        let Some(buckets) = groups.get_mut(partition) else {
            continue;
        };
        let place = *places.entry((partition, entry.bucket)).or_insert_with(|| {
            buckets.push(BucketFiles {
                partition: entry.partition.clone(),
                bucket: Bucket(entry.bucket),
                total_buckets: entry.total_buckets,
                files: Vec::new(),
            });
            buckets.len() - 1
        });
        if let Some(bucket) = buckets.get_mut(place) {
            bucket.files.push(entry.file);
        }
    }
    groups.into_iter().flatten().collect()
}
