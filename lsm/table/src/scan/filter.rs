//! A condition on rows, taken apart by what each part can be asked of: partitions, buckets, keys, files.
//!
//! ```text
//!  filter ──conjuncts──> only partition columns ─> partition   decides partitions exactly
//!                        the others             ─> rows        files may hold such rows, or not
//!                          of these only key columns ─> keys   the same by the statistics of keys
//!                          values of the bucket key  ─> buckets
//! ```
//!
//! Source: spec 02c §4.1; Paimon `table/source/snapshot/SnapshotReaderImpl.java`, `operation/BucketSelectConverter.java`.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use arrow_array::RecordBatch;
use tidewater_format::{
    BucketMode, ManifestFileMeta, ManifestFilter, PartitionStatsView, PartitionValues,
    TableOptions, TableSchema,
};
use tidewater_types::{
    BinaryRow, BucketFunction, DataType, Datum, Predicate, PredicateOp, RowType, datums_to_array,
};

use crate::error::Result;

/// Most partitions that are asked for one by one; beyond, all manifests are read.
const PARTITIONS_MAX: usize = 64;

/// What a scan asks of partitions, buckets and files.
#[derive(Debug, Clone, Default)]
pub(crate) struct ScanFilter {
    partition: Option<Arc<PartitionTest>>,
    buckets: Option<Arc<BucketTest>>,
    /// What is left for files and rows, bound to the read schema.
    pub(crate) rows: Option<Predicate>,
    /// The part of `rows` that looks at key columns only.
    pub(crate) keys: Option<Predicate>,
}

impl ScanFilter {
    /// Takes `filter` apart; it is bound to the columns of `schema`.
    pub(crate) fn new(
        filter: Option<&Predicate>,
        schema: &TableSchema,
        options: &TableOptions,
    ) -> Result<Self> {
        let Some(filter) = filter else {
            return Ok(Self::default());
        };
        let in_partition = |name: &str| schema.partition_keys.iter().any(|key| key == name);
        let partition = asked(filter.project_to(in_partition))
            .map(|predicate| PartitionTest::new(&predicate, schema.partition_type()))
            .transpose()?;
        let rows = filter.split_and().into_iter();
        let rows = rows.filter(|part| !part.columns().into_iter().all(in_partition));
        let rows = asked(Predicate::and(rows.cloned()));
        let key = schema.trimmed_primary_keys();
        let keys = rows.as_ref().and_then(|rows| {
            asked(rows.project_to(|name| key.iter().any(|column| column == name)))
        });
        let buckets = match schema.bucket_mode()? {
            BucketMode::Fixed(_) => rows
                .as_ref()
                .map(|rows| BucketTest::new(rows, schema, options))
                .transpose()?
                .flatten(),
            _ => None,
        };
        Ok(Self {
            partition: partition.map(Arc::new),
            buckets: buckets.map(Arc::new),
            rows,
            keys,
        })
    }

    /// Whether the manifest may hold entries of partitions that are asked for.
    pub(crate) fn may_hold(&self, manifest: &ManifestFileMeta) -> bool {
        self.partition.as_ref().is_none_or(|test| {
            test.predicate
                .may_match(&PartitionStatsView::new(manifest, &test.types))
        })
    }

    /// The same for single entries, while they are decoded. Statistics are left out when nothing asks for them, unless they are to
    /// be kept.
    pub(crate) fn for_entries(&self, keep_statistics: bool) -> ManifestFilter {
        let mut filter = ManifestFilter::all();
        if let Some(test) = &self.partition {
            let test = Arc::clone(test);
            filter = filter.with_partition(move |partition| test.keeps(partition));
        }
        if let Some(test) = &self.buckets {
            let test = Arc::clone(test);
            filter = filter.with_bucket(move |bucket, total| test.keeps(bucket, total));
        }
        if !keep_statistics {
            if self.keys.is_none() {
                filter = filter.without_key_stats();
            }
            if self.rows.is_none() {
                filter = filter.without_value_stats();
            }
        }
        filter
    }
}

/// The predicate, if it asks anything.
fn asked(predicate: Predicate) -> Option<Predicate> {
    (predicate != Predicate::AlwaysTrue).then_some(predicate)
}

/// Decides partitions.
#[derive(Debug)]
pub(crate) struct PartitionTest {
    /// Bound to the partition columns.
    predicate: Predicate,
    names: Vec<String>,
    types: Vec<DataType>,
    /// Whether bounds do not decide single values: patterns other than prefixes.
    has_patterns: bool,
}

impl PartitionTest {
    pub(crate) fn new(predicate: &Predicate, partition: RowType) -> Result<Self> {
        let predicate = predicate.rebind(&partition)?;
        Ok(Self {
            has_patterns: has_patterns(&predicate),
            predicate,
            names: partition.names().map(str::to_owned).collect(),
            types: partition.types(),
        })
    }

    /// Whether the partition is asked for. What is no partition of the table is kept: naming its folder fails later.
    pub(crate) fn keeps(&self, partition: &BinaryRow) -> bool {
        let Ok(values) = PartitionValues::new(partition, &self.types) else {
            return true;
        };
        self.predicate.may_match(&values)
            && (!self.has_patterns || self.matches(values.values()).unwrap_or(true))
    }

    fn matches(&self, values: &[Datum]) -> Option<bool> {
        let columns = self.names.iter().zip(&self.types).zip(values);
        let columns = columns
            .map(|((name, data_type), value)| {
                let array = datums_to_array(data_type, std::slice::from_ref(value)).ok()?;
                Some((name, array, true))
            })
            .collect::<Option<Vec<_>>>()?;
        let batch = RecordBatch::try_from_iter_with_nullable(columns).ok()?;
        Some(self.predicate.eval(&batch).ok()?.true_count() == 1)
    }
}

fn has_patterns(predicate: &Predicate) -> bool {
    match predicate {
        Predicate::And(parts) | Predicate::Or(parts) => parts.iter().any(has_patterns),
        Predicate::Not(part) => has_patterns(part),
        Predicate::Leaf { op, .. } => matches!(
            op,
            PredicateOp::StartsWith
                | PredicateOp::EndsWith
                | PredicateOp::Contains
                | PredicateOp::Like
        ),
        Predicate::AlwaysTrue | Predicate::AlwaysFalse => false,
    }
}

/// Decides buckets by the values that the bucket key is limited to; each entry says how many buckets its partition had.
struct BucketTest {
    function: BucketFunction,
    types: Vec<DataType>,
    keys: Vec<Vec<Datum>>,
    /// The buckets per number of buckets; `None` where the function does not say.
    known: RwLock<HashMap<i32, Option<Arc<[i32]>>>>,
}

impl BucketTest {
    /// Nothing if the bucket key is not limited to a few values.
    fn new(rows: &Predicate, schema: &TableSchema, options: &TableOptions) -> Result<Option<Self>> {
        let names = schema.bucket_keys();
        if names.is_empty() {
            return Ok(None);
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let Some(keys) = rows.equality_values(&names) else {
            return Ok(None);
        };
        Ok(Some(Self {
            function: bucket_function(options)?,
            types: schema.bucket_key_type().types(),
            keys,
            known: RwLock::default(),
        }))
    }

    fn keeps(&self, bucket: i32, total_buckets: i32) -> bool {
        if total_buckets < 1 {
            return true;
        }
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let buckets = match known.get(&total_buckets) {
            Some(buckets) => buckets.clone(),
            None => {
                drop(known);
                let buckets = self.assign(total_buckets);
                self.known
                    .write()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(total_buckets, buckets.clone());
                buckets
            }
        };
        buckets.is_none_or(|buckets| buckets.binary_search(&bucket).is_ok())
    }

    fn assign(&self, total_buckets: i32) -> Option<Arc<[i32]>> {
        let assign = |key: &Vec<Datum>| {
            self.function
                .assign_datums(key, &self.types, total_buckets)
                .ok()
        };
        let mut buckets = self.keys.iter().map(assign).collect::<Option<Vec<i32>>>()?;
        buckets.sort_unstable();
        buckets.dedup();
        Some(buckets.into())
    }
}

impl fmt::Debug for BucketTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BucketTest")
            .field("function", &self.function)
            .field("keys", &self.keys.len())
            .finish_non_exhaustive()
    }
}

/// The function that gave the table's rows their buckets.
///
/// # Errors
/// A function that this build does not know.
pub(crate) fn bucket_function(options: &TableOptions) -> Result<BucketFunction> {
    Ok(BucketFunction::parse(&options.bucket_function.to_string())?)
}

/// A condition that these partitions meet, so that manifests of others need not be read.
pub(crate) fn only_partitions(
    schema: &TableSchema,
    partitions: &HashSet<BinaryRow>,
) -> Result<Option<Predicate>> {
    let partition_type = schema.partition_type();
    if partition_type.fields.is_empty() || partitions.len() > PARTITIONS_MAX {
        return Ok(None);
    }
    let row_type = schema.row_type();
    let mut any = Vec::with_capacity(partitions.len());
    for partition in partitions {
        let values = partition.to_datums(&partition_type.types())?;
        let all = partition_type.names().zip(values).map(|(name, value)| {
            if value == Datum::Null {
                Predicate::leaf(&row_type, name, PredicateOp::IsNull, Vec::new())
            } else {
                Predicate::leaf(&row_type, name, PredicateOp::Eq, vec![value])
            }
        });
        any.push(Predicate::and(
            all.collect::<std::result::Result<Vec<_>, _>>()?,
        ));
    }
    Ok(Some(Predicate::or(any)))
}
