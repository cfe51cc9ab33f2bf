//! Which manifests a commit merges: decisions over sizes, counts and partition bounds, without reading any manifest.
//!
//! Source: Paimon `operation/ManifestFileMerger.java`; spec 01d §7.

use std::collections::HashSet;

use tidewater_types::{BinaryRow, DataType};

use crate::error::Result;
use crate::manifest::file_meta::ManifestFileMeta;
use crate::stats::StatsBounds;

/// When manifests are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ManifestMergeOptions {
    /// `manifest.target-file-size`: smaller manifests are worth merging; new ones roll at this size.
    pub target_file_size: u64,
    /// `manifest.merge-min-count`: so many small manifests at the end of the list are merged.
    pub merge_min_count: usize,
    /// `manifest.full-compaction-threshold-size`: so many bytes of manifests that could be improved start a full compaction.
    pub full_compaction_threshold_size: u64,
}

impl Default for ManifestMergeOptions {
    fn default() -> Self {
        Self {
            target_file_size: 8 << 20,
            merge_min_count: 30,
            full_compaction_threshold_size: 16 << 20,
        }
    }
}

/// A step of a minor compaction. Numbers are indexes of the inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeUnit {
    /// The manifest stays as it is.
    Keep(usize),
    /// Two or more neighbours become one manifest, or as few as the target size allows.
    Merge(Vec<usize>),
}

/// The step list of a minor compaction, in input order.
///
/// Neighbours are gathered until their sizes reach the target; the rest is merged only if it is `merge_min_count` manifests or more.
pub fn plan_minor(inputs: &[ManifestFileMeta], options: &ManifestMergeOptions) -> Vec<MergeUnit> {
    let mut units = Vec::new();
    let mut gathered: Vec<usize> = Vec::new();
    let mut gathered_size = 0u64;
    for (index, manifest) in inputs.iter().enumerate() {
        gathered.push(index);
        gathered_size = gathered_size.saturating_add(size_of(manifest));
        if gathered_size >= options.target_file_size {
            units.push(unit(std::mem::take(&mut gathered)));
            gathered_size = 0;
        }
    }
    if gathered.len() >= options.merge_min_count && !gathered.is_empty() {
        units.push(unit(gathered));
    } else {
        units.extend(gathered.into_iter().map(MergeUnit::Keep));
    }
    units
}

fn unit(gathered: Vec<usize>) -> MergeUnit {
    match gathered.as_slice() {
        [only] => MergeUnit::Keep(*only),
        _ => MergeUnit::Merge(gathered),
    }
}

/// Whether enough bytes lie in manifests that have DELETE entries or are small.
pub fn wants_full(inputs: &[ManifestFileMeta], options: &ManifestMergeOptions) -> bool {
    let improvable: u64 = inputs
        .iter()
        .filter(|manifest| must_change(manifest, options))
        .fold(0, |sum: u64, manifest| {
            sum.saturating_add(size_of(manifest))
        });
    improvable >= options.full_compaction_threshold_size
}

/// Whether a full compaction always rewrites this manifest.
pub(super) fn must_change(manifest: &ManifestFileMeta, options: &ManifestMergeOptions) -> bool {
    manifest.num_deleted_files > 0 || size_of(manifest) < options.target_file_size
}

/// What a full compaction does with its inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullSplit {
    /// Stay as they are, unread.
    pub keep: Vec<usize>,
    /// Are read; those that lose nothing and need not change stay too.
    pub read: Vec<usize>,
}

/// Splits the inputs by whether an entry of theirs may be deleted. `deleted` holds the partitions of all DELETE entries of the inputs.
///
/// `None` if a full compaction would read one manifest or none: there is nothing to gain.
///
/// # Errors
/// The partition statistics of a manifest, or a partition, do not have `partition_types`.
pub fn split_full(
    inputs: &[ManifestFileMeta],
    options: &ManifestMergeOptions,
    deleted: &HashSet<BinaryRow>,
    partition_types: &[DataType],
) -> Result<Option<FullSplit>> {
    let deleted = deleted
        .iter()
        .map(|partition| {
            partition_types
                .iter()
                .enumerate()
                .map(|(index, data_type)| partition.get(index, data_type))
                .collect::<Result<Vec<_>, _>>()
        })
        .collect::<Result<Vec<_>, _>>()?;
    let mut split = FullSplit {
        keep: vec![],
        read: vec![],
    };
    for (index, manifest) in inputs.iter().enumerate() {
        let affected = must_change(manifest, options) || {
            let bounds = StatsBounds::of(&manifest.partition_stats, partition_types)?;
            deleted
                .iter()
                .any(|partition| bounds.may_contain(partition))
        };
        if affected {
            split.read.push(index)
        } else {
            split.keep.push(index)
        }
    }
    Ok((split.read.len() > 1).then_some(split))
}

fn size_of(manifest: &ManifestFileMeta) -> u64 {
    u64::try_from(manifest.file_size).unwrap_or(0)
}
