//! The live files of buckets that a writer is about to go on with.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use tidewater_format::DataFileMeta;
use tidewater_store::SchemasById;
use tidewater_types::BinaryRow;

use crate::error::{Result, TableError};
use crate::scan::{ScanPlanner, only_partitions, read_schemas};
use crate::table_log::TableLog;

/// A partition and a bucket in it.
pub(crate) type BucketKey = (BinaryRow, i32);

/// Live files by bucket, and the schemas they were written with.
#[derive(Debug, Default)]
pub(crate) struct RestoredBuckets {
    pub(crate) files: HashMap<BucketKey, Vec<Arc<DataFileMeta>>>,
    pub(crate) schemas: SchemasById,
}

/// The live files of the latest snapshot in the buckets of `wanted`; of all buckets if that is `None`.
///
/// # Errors
/// [`TableError::BucketCount`] for a partition that was written with another number of buckets; metadata that is missing or damaged.
pub(crate) async fn restore_buckets(
    log: &TableLog,
    wanted: Option<&HashSet<BucketKey>>,
) -> Result<RestoredBuckets> {
    let Some(snapshot) = log.snapshots().latest().await? else {
        return Ok(RestoredBuckets::default());
    };
    let schema = log.schema();
    // Keys of a partition with another number of buckets would be looked for in the wrong ones.
    let partitions: Option<HashSet<BinaryRow>> =
        wanted.map(|wanted| wanted.iter().map(|key| key.0.clone()).collect());
    let filter = match &partitions {
        Some(partitions) => only_partitions(schema, partitions)?,
        None => None,
    };
    let planner = ScanPlanner::new(log, schema, filter.as_ref())?.with_statistics();
    let expected = schema.bucket_mode()?.total_buckets();
    let mut restored = RestoredBuckets::default();
    let mut ids = BTreeSet::new();
    for entry in planner.live(&snapshot).await? {
        let partition_wanted = partitions
            .as_ref()
            .is_none_or(|wanted| wanted.contains(&entry.partition));
        if partition_wanted
            && entry.total_buckets != expected
            && entry.total_buckets > 0
            && expected > 0
        {
            return Err(TableError::BucketCount {
                bucket: entry.bucket,
                written: entry.total_buckets,
                expected,
            });
        }
        let key = (entry.partition, entry.bucket);
        if wanted.is_some_and(|wanted| !wanted.contains(&key)) {
            continue;
        }
        ids.insert(entry.file.schema_id);
        restored.files.entry(key).or_default().push(entry.file);
    }
    restored.schemas = Arc::new(read_schemas(log, ids).await?);
    Ok(restored)
}
