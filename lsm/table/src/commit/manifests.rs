//! Manifests and their lists, written for a commit and read for its checks.
//!
//! Names are new, so these files need no atomicity: nobody reads them before a snapshot names them. Encoding and decoding run on the CPU
//! pool. Source: spec 01d §2, §7; Paimon `operation/ManifestFileMerger.java`.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::join_all;
use tidewater_format::manifest_merge::{ManifestMerge, ManifestMergeOptions, MergeStep};
use tidewater_format::{
    AvroCodec, EncodedManifest, FormatError, ManifestEntry, ManifestFileMeta,
    RollingManifestWriter, Snapshot, manifest_list, manifest_list_name, manifest_name,
};
use tidewater_types::{BinaryRow, SchemaId};

use super::CommitContext;
use crate::error::{Result, TableError};
use crate::scan::{ManifestKind, ManifestReader, ScanPlanner, only_partitions};

/// A manifest list that was written, and what else was written for it alone.
#[derive(Debug)]
pub(crate) struct WrittenList {
    pub(crate) name: String,
    pub(crate) size: i64,
    /// Manifests that no other list names.
    own_manifests: Vec<String>,
}

/// Writes `entries` as manifests and a list of them; no entries give an empty list.
pub(crate) async fn write_entries(
    context: &CommitContext,
    entries: &[ManifestEntry],
) -> Result<WrittenList> {
    let mut writer = RollingManifestWriter::new(
        codec(context)?,
        target_file_size(context),
        Arc::clone(&context.partition_types),
    );
    let entries = entries.to_vec();
    let encoded = context
        .log
        .cpu()
        .run(move || {
            entries.iter().try_for_each(|entry| writer.write(entry))?;
            writer.finish()
        })
        .await??;
    let mut metas = Vec::with_capacity(encoded.len());
    let mut own_manifests = Vec::with_capacity(encoded.len());
    let mut writes = Vec::with_capacity(encoded.len());
    for manifest in encoded {
        let name = manifest_name(&context.log.env().new_uuid(), 0);
        metas.push(manifest.meta(name.as_str())?);
        writes.push(write(context, name.clone(), manifest.bytes));
        own_manifests.push(name);
    }
    // Nobody reads the list before a snapshot names it, so it need not wait for what it names.
    let (written, list) = tokio::join!(join_all(writes), write_list(context, &metas));
    let written: Result<Vec<()>> = written.into_iter().collect();
    match (written, list) {
        (Ok(_), Ok((name, size))) => Ok(WrittenList {
            name,
            size,
            own_manifests,
        }),
        // All have ended: what was written, in whole or in part, can go.
        (Err(e), list) => {
            own_manifests.extend(list.ok().map(|(name, _)| name));
            remove(context, &own_manifests).await;
            Err(e)
        }
        (_, Err(e)) => {
            remove(context, &own_manifests).await;
            Err(e)
        }
    }
}

/// Writes the list of what the table holds before this commit: the latest snapshot's manifests, merged where that pays.
pub(crate) async fn write_base(
    context: &CommitContext,
    latest: Option<&Snapshot>,
) -> Result<WrittenList> {
    let Some(latest) = latest else {
        return write_entries(context, &[]).await;
    };
    let inputs = ManifestReader::new(&context.log, None)
        .metas(latest, ManifestKind::State)
        .await?;
    let options = ManifestMergeOptions {
        target_file_size: target_file_size(context),
        merge_min_count: usize::try_from(context.options.manifest_merge_min_count).unwrap_or(0),
        full_compaction_threshold_size: context
            .options
            .manifest_full_compaction_threshold_size
            .bytes(),
    };
    let mut merge = ManifestMerge::new(
        inputs,
        options,
        Arc::clone(&context.partition_types),
        codec(context)?,
    );
    let mut stored = Vec::new();
    let merged = loop {
        let (back, step) = context
            .log
            .cpu()
            .run(move || {
                let step = merge.step();
                (merge, step)
            })
            .await?;
        merge = back;
        match next(context, &mut merge, step, &mut stored).await {
            Ok(None) => {}
            Ok(Some(output)) => break output,
            Err(e) => {
                remove(context, &stored).await;
                return Err(e);
            }
        }
    };
    remove(context, &merged.abandoned_files).await;
    match write_list(context, &merged.manifests).await {
        Ok((name, size)) => Ok(WrittenList {
            name,
            size,
            own_manifests: merged.new_files,
        }),
        Err(e) => {
            remove(context, &merged.new_files).await;
            Err(e)
        }
    }
}

/// Does what the merge asks for; answers when it is over.
async fn next(
    context: &CommitContext,
    merge: &mut ManifestMerge,
    step: std::result::Result<MergeStep, FormatError>,
    stored: &mut Vec<String>,
) -> Result<Option<tidewater_format::manifest_merge::ManifestMergeOutput>> {
    match step? {
        MergeStep::Read(indexes) => {
            for index in indexes {
                let input = merge
                    .input(index)
                    .map(|input| context.log.paths().manifest(&input.file_name));
                let path = input.ok_or_else(|| TableError::Bug {
                    what: "a manifest merge asks for an input it has not",
                })?;
                let bytes = context.log.io().read(&path).await?;
                merge.supply(index, bytes);
            }
            Ok(None)
        }
        MergeStep::Write(EncodedManifest { bytes, .. }) => {
            let name = store(context, bytes).await?;
            stored.push(name.clone());
            merge.stored(name)?;
            Ok(None)
        }
        MergeStep::Done(output) => Ok(Some(output)),
    }
}

/// The live entries of a snapshot in these partitions, without statistics.
pub(crate) async fn live_entries(
    context: &CommitContext,
    snapshot: &Snapshot,
    partitions: &HashSet<BinaryRow>,
) -> Result<Vec<ManifestEntry>> {
    let filter = only_partitions(context.log.schema(), partitions)?;
    let planner = ScanPlanner::new(&context.log, context.log.schema(), filter.as_ref())?;
    let mut entries = planner.live(snapshot).await?;
    entries.retain(|entry| partitions.contains(&entry.partition));
    Ok(entries)
}

/// Rows in all live files: for a snapshot of an old version that does not say.
pub(crate) async fn count_rows(context: &CommitContext, snapshot: &Snapshot) -> Result<i64> {
    let planner = ScanPlanner::new(&context.log, context.log.schema(), None)?;
    let entries = planner.live(snapshot).await?;
    Ok(entries.iter().map(|entry| entry.file.row_count).sum())
}

/// Names of a snapshot's live files.
#[cfg(test)]
pub(crate) async fn live_of(context: &CommitContext, snapshot: &Snapshot) -> Result<Vec<String>> {
    let planner = ScanPlanner::new(&context.log, context.log.schema(), None)?;
    let entries = planner.live(snapshot).await?;
    Ok(entries
        .iter()
        .map(|entry| entry.file.file_name.clone())
        .collect())
}

/// The statistics file that a snapshot on top of `latest` keeps: the one it has, while the schema is the one it was made for.
pub(crate) async fn statistics_for(
    context: &CommitContext,
    latest: &Snapshot,
    schema: SchemaId,
) -> Result<Option<String>> {
    let Some(name) = &latest.statistics else {
        return Ok(None);
    };
    let path = context.log.paths().statistics(name);
    let bytes = context.log.io().read(&path).await?;
    let made_for = serde_json::from_slice::<serde_json::Value>(&bytes)
        .ok()
        .and_then(|json| json.get("schemaId")?.as_i64())
        .ok_or_else(|| TableError::StatisticsDamaged { path })?;
    Ok((made_for == schema.0).then(|| name.clone()))
}

/// Removes a list and the manifests that only it names, as far as that goes: what stays is an orphan that no reader sees.
pub(crate) async fn discard(context: &CommitContext, list: &WrittenList) {
    remove(context, std::slice::from_ref(&list.name)).await;
    remove(context, &list.own_manifests).await;
}

async fn remove(context: &CommitContext, names: &[String]) {
    for name in names {
        if let Err(error) = context
            .log
            .io()
            .delete(&context.log.paths().manifest(name))
            .await
        {
            tracing::warn!(%name, %error, "left an orphan in manifest/");
        }
    }
}

/// Writes a list; the answer is its name and size.
async fn write_list(
    context: &CommitContext,
    manifests: &[ManifestFileMeta],
) -> Result<(String, i64)> {
    let bytes = manifest_list::encode(manifests, codec(context)?)?;
    let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
    let name = manifest_list_name(&context.log.env().new_uuid(), 0);
    write(context, name.clone(), bytes).await?;
    Ok((name, size))
}

/// Stores a manifest under a new name.
async fn store(context: &CommitContext, bytes: Vec<u8>) -> Result<String> {
    let name = manifest_name(&context.log.env().new_uuid(), 0);
    write(context, name.clone(), bytes).await?;
    Ok(name)
}

async fn write(context: &CommitContext, name: String, bytes: Vec<u8>) -> Result<()> {
    let path = context.log.paths().manifest(&name);
    Ok(context.log.io().write(&path, Bytes::from(bytes)).await?)
}

fn codec(context: &CommitContext) -> Result<AvroCodec> {
    let options = &context.options;
    let codec = AvroCodec::from_name(
        &options.manifest_compression,
        options.file_compression_zstd_level,
    );
    Ok(codec.map_err(FormatError::from)?)
}

fn target_file_size(context: &CommitContext) -> u64 {
    context.options.manifest_target_file_size.bytes()
}
