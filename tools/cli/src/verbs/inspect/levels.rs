//! The levels of each bucket.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tidewater_format::{DataFileMeta, Snapshot};
use tidewater_merge::{KeyComparator, Levels};
use tidewater_table::{Table, TableError};

use super::picture::{Sums, bytes_text, draw};
use super::row_json;
use crate::error::Result;
use crate::output::{Output, OutputMode, grouped};

/// What a bucket holds.
struct BucketFiles {
    partition: Value,
    files: Vec<Arc<DataFileMeta>>,
}

/// Prints the levels: a picture for people, a line a level for scripts.
///
/// # Errors
/// Metadata that is missing or damaged; the output.
pub(crate) async fn show(
    table: &Table,
    snapshot: &Snapshot,
    bucket: Option<i32>,
    output: &mut Output,
) -> Result<()> {
    let schema = table.schema();
    let partition_type = schema.partition_type();
    let mut buckets: BTreeMap<(Vec<u8>, i32), BucketFiles> = BTreeMap::new();
    for entry in table.live_files(snapshot).await? {
        if bucket.is_some_and(|bucket| bucket != entry.bucket) {
            continue;
        }
        let place = (entry.partition.to_serialized(), entry.bucket);
        let partition = row_json(&entry.partition, &partition_type)?;
        let held = buckets.entry(place).or_insert(BucketFiles {
            partition,
            files: Vec::new(),
        });
        held.files.push(entry.file);
    }
    for ((_, bucket), BucketFiles { partition, files }) in buckets {
        match output.mode() {
            OutputMode::Lines => lines(&partition, bucket, &files, output)?,
            OutputMode::Table { width } => {
                output.text(&picture(table, &partition, bucket, files, width)?)?;
            }
        }
    }
    Ok(())
}

fn lines(
    partition: &Value,
    bucket: i32,
    files: &[Arc<DataFileMeta>],
    output: &mut Output,
) -> Result<()> {
    let mut levels: BTreeMap<i32, Vec<&Arc<DataFileMeta>>> = BTreeMap::new();
    for file in files {
        levels.entry(file.level).or_default().push(file);
    }
    for (level, files) in levels {
        let sums = Sums::of(files.iter().copied());
        output.record(&json!({
            "partition": partition,
            "bucket": bucket,
            "level": level,
            "runs": if level == 0 { files.len() } else { 1 },
            "files": files.len(),
            "rows": sums.rows,
            "deletes": sums.deletes,
            "bytes": sums.bytes,
        }))?;
    }
    Ok(())
}

/// One bucket as a picture.
pub(crate) fn picture(
    table: &Table,
    partition: &Value,
    bucket: i32,
    files: Vec<Arc<DataFileMeta>>,
    width: usize,
) -> Result<String> {
    let sums = Sums::of(&files);
    let mut text = match partition {
        Value::Object(members) if !members.is_empty() => format!("partition {partition}, "),
        _ => String::new(),
    };
    text.push_str(&format!(
        "bucket {bucket}: {} {}, {} rows, {}\n",
        files.len(),
        if files.len() == 1 { "file" } else { "files" },
        grouped(sums.rows),
        bytes_text(sums.bytes)
    ));
    let schema = table.schema();
    if schema.is_keyed() {
        let keys = KeyComparator::new(schema.key_type().types());
        let count = usize::try_from(schema.options()?.level_count()).unwrap_or(2);
        let levels = Levels::restore(files, count, keys.clone()).map_err(TableError::from)?;
        for line in draw(&levels.runs(), &keys, width)? {
            text.push_str(&line);
            text.push('\n');
        }
    }
    Ok(text)
}
