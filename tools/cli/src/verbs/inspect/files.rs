//! Live files and manifests of a snapshot.

use serde_json::json;
use tidewater_format::{FileSource, Snapshot};
use tidewater_table::Table;

use super::row_json;
use crate::error::Result;
use crate::output::Output;

pub(super) async fn files(
    table: &Table,
    snapshot: &Snapshot,
    bucket: Option<i32>,
    output: &mut Output,
) -> Result<()> {
    let schema = table.schema();
    let (partition, key) = (schema.partition_type(), schema.key_type());
    for entry in table.live_files(snapshot).await? {
        if bucket.is_some_and(|bucket| bucket != entry.bucket) {
            continue;
        }
        let file = &entry.file;
        output.record(&json!({
            "partition": row_json(&entry.partition, &partition)?,
            "bucket": entry.bucket,
            "level": file.level,
            "name": file.file_name,
            "rows": file.row_count,
            "deletes": file.delete_row_count,
            "bytes": file.file_size,
            "minKey": row_json(&file.min_key, &key)?,
            "maxKey": row_json(&file.max_key, &key)?,
            "minSequence": file.min_sequence_number,
            "maxSequence": file.max_sequence_number,
            "schema": file.schema_id.0,
            "source": match file.file_source {
                Some(FileSource::Append) => "append",
                Some(FileSource::Compact) => "compact",
                None => "unknown",
            },
        }))?;
    }
    Ok(())
}

pub(super) async fn manifests(
    table: &Table,
    snapshot: &Snapshot,
    output: &mut Output,
) -> Result<()> {
    let partition = table.schema().partition_type();
    for (list, manifest) in table.manifests(snapshot).await? {
        let stats = &manifest.partition_stats;
        output.record(&json!({
            "list": list,
            "name": manifest.file_name,
            "bytes": manifest.file_size,
            "added": manifest.num_added_files,
            "deleted": manifest.num_deleted_files,
            "schema": manifest.schema_id.0,
            "minPartition": row_json(&stats.min_values, &partition)?,
            "maxPartition": row_json(&stats.max_values, &partition)?,
        }))?;
    }
    Ok(())
}
