//! What tables may ask for and this build does not do yet.
//!
//! Reading and writing are asked about apart: a table whose new files should carry indexes can be read without them, but
//! writing it without them would not be what its owner asked for.
//! A feature that is missing here is refused, never left out in silence.

use std::fmt;

use crate::error::Result;
use crate::options::{
    ChangelogProducer, ExternalPathStrategy, MergeEngine, StartupMode, TableKind, TableOptions,
};
use crate::schema::{BucketMode, TableSchema};

/// A feature that this build does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Unsupported {
    /// What it is, with the option or column that asks for it.
    pub what: String,
    /// The issue of this project that brings it, if there is one.
    pub issue: Option<u32>,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not supported yet: {}", self.what)?;
        match self.issue {
            Some(issue) => write!(f, " (issue {issue})"),
            None => Ok(()),
        }
    }
}

/// Issue of merge engines, changelog producers, deletion vectors and bucket modes.
const MERGE_TREE: u32 = 4;
/// Issue of time travel, incremental reads, tags, branches and consumers.
const SNAPSHOT_LOG: u32 = 5;

impl Unsupported {
    /// A feature without an issue.
    pub fn other(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            issue: None,
        }
    }

    fn of_issue(issue: u32, what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            issue: Some(issue),
        }
    }
}

/// What keeps this build from reading tables with this schema; empty if nothing does.
///
/// Formats of data files are not looked at: each file says its own (see [`data_file_format`](crate::data_file_format)),
/// and what reads a file refuses formats it does not know.
///
/// # Errors
/// [`FormatError::InvalidOption`](crate::FormatError::InvalidOption) if an option does not read as its type.
pub fn unsupported_for_read(schema: &TableSchema) -> Result<Vec<Unsupported>> {
    let options = schema.options()?;
    let mut missing = missing_for_both(schema, &options)?;
    missing.extend(missing_starting_points(&options));
    Ok(missing)
}

/// What keeps this build from writing tables with this schema (rows, compactions); empty if nothing does.
///
/// # Errors
/// As [`unsupported_for_read`].
pub fn unsupported_for_write(schema: &TableSchema) -> Result<Vec<Unsupported>> {
    let options = schema.options()?;
    let mut missing = missing_for_both(schema, &options)?;
    missing.extend(missing_for_write(schema, &options)?);
    Ok(missing)
}

/// The first feature that keeps this build from reading or writing tables with this schema.
///
/// # Errors
/// As [`unsupported_for_read`].
pub fn unsupported_features(schema: &TableSchema) -> Result<Option<Unsupported>> {
    let missing = unsupported_for_write(schema)?;
    Ok(missing
        .into_iter()
        .chain(unsupported_for_read(schema)?)
        .next())
}

/// Refuses a table that this build cannot read.
///
/// # Errors
/// [`FormatError::Unsupported`](crate::FormatError::Unsupported) with the first missing feature.
pub fn ensure_readable(schema: &TableSchema) -> Result<()> {
    match unsupported_for_read(schema)?.into_iter().next() {
        Some(missing) => Err(missing.into()),
        None => Ok(()),
    }
}

/// Refuses a table that this build cannot write.
///
/// # Errors
/// [`FormatError::Unsupported`](crate::FormatError::Unsupported) with the first missing feature.
pub fn ensure_writable(schema: &TableSchema) -> Result<()> {
    match unsupported_for_write(schema)?.into_iter().next() {
        Some(missing) => Err(missing.into()),
        None => Ok(()),
    }
}

fn missing_for_both(schema: &TableSchema, options: &TableOptions) -> Result<Vec<Unsupported>> {
    let mut missing = Vec::new();
    let mut add = |unsupported| missing.push(unsupported);
    if options.kind != TableKind::Table {
        add(Unsupported::other(format!(
            "tables of type {}",
            options.kind
        )));
    }
    if schema.is_keyed() && schema.bucket_mode()? == BucketMode::Postpone {
        add(Unsupported::of_issue(
            MERGE_TREE,
            "postpone buckets (bucket = -2)",
        ));
    }
    if !options.manifest_format.eq_ignore_ascii_case("avro") {
        add(Unsupported::other(format!(
            "manifest.format {}",
            options.manifest_format
        )));
    }
    // Rules of versions after 1.3 that change what files mean.
    let newer_rules = [
        (options.data_evolution_enabled, "data-evolution.enabled"),
        (options.primary_key_nullable, "primary-key.nullable"),
        (options.pk_clustering_override, "pk-clustering-override"),
        (
            options.sequence_snapshot_ordering,
            "sequence.snapshot-ordering",
        ),
        (options.chain_table_enabled, "chain-table.enabled"),
        (options.query_auth_enabled, "query-auth.enabled"),
    ];
    for (_, key) in newer_rules.into_iter().filter(|(asked, _)| *asked) {
        add(Unsupported::other(format!("{key} = true")));
    }
    Ok(missing)
}

/// Options that make a read return something else than the latest state or a snapshot chosen by id or time.
fn missing_starting_points(options: &TableOptions) -> Vec<Unsupported> {
    let keys = [
        "scan.tag-name",
        "scan.version",
        "scan.watermark",
        "scan.bounded.watermark",
        "scan.creation-time-millis",
        "scan.file-creation-time-millis",
        "scan.fallback-branch",
        "scan.primary-branch",
        "incremental-between",
        "incremental-between-timestamp",
        "incremental-to-auto-tag",
        "consumer-id",
    ];
    let set = keys.into_iter().filter(|key| options.is_set(key));
    let mut missing: Vec<_> = set
        .map(|key| Unsupported::of_issue(SNAPSHOT_LOG, format!("reading with option {key}")))
        .collect();
    if let mode @ (StartupMode::CompactedFull
    | StartupMode::FromFileCreationTime
    | StartupMode::FromCreationTimestamp
    | StartupMode::Incremental) = options.scan_mode
    {
        missing.push(Unsupported::of_issue(
            SNAPSHOT_LOG,
            format!("scan.mode {mode}"),
        ));
    }
    missing
}

fn missing_for_write(schema: &TableSchema, options: &TableOptions) -> Result<Vec<Unsupported>> {
    let mut missing = Vec::new();
    let mut add = |unsupported| missing.push(unsupported);
    if schema.is_keyed() {
        if let producer @ (ChangelogProducer::Lookup | ChangelogProducer::FullCompaction) =
            options.changelog_producer
        {
            add(Unsupported::of_issue(
                MERGE_TREE,
                format!("changelog-producer {producer}"),
            ));
        }
        if options.force_lookup {
            add(Unsupported::of_issue(
                MERGE_TREE,
                "lookup compaction (force-lookup)",
            ));
        }
        if options.merge_engine == MergeEngine::FirstRow {
            let what = format!("merge-engine {}", options.merge_engine);
            add(Unsupported::of_issue(MERGE_TREE, what));
        }
    }
    match schema.bucket_mode()? {
        BucketMode::Dynamic => {
            let what =
                "dynamic buckets (a primary key with bucket = -1); set bucket to a positive number";
            add(Unsupported::of_issue(MERGE_TREE, what));
        }
        BucketMode::KeyDynamic => {
            let what =
                "keys that move between partitions (a primary key without the partition columns)";
            add(Unsupported::of_issue(MERGE_TREE, what));
        }
        BucketMode::Fixed(_) | BucketMode::Unaware | BucketMode::Postpone => {}
    }
    let mut formats = vec![("file.format", &options.file_format)];
    formats.extend(
        options
            .file_format_per_level
            .iter()
            .map(|(_, format)| ("file.format.per.level", format)),
    );
    formats.extend(
        options
            .changelog_file_format
            .iter()
            .map(|format| ("changelog-file.format", format)),
    );
    for (key, format) in formats {
        if !["parquet", "avro"].contains(&format.to_ascii_lowercase().as_str()) {
            add(Unsupported::other(format!(
                "{key} {format}: only parquet and avro files are written"
            )));
        }
    }
    if options.deletion_vectors_enabled {
        let what = "deletion vectors (deletion-vectors.enabled)";
        add(Unsupported::of_issue(MERGE_TREE, what));
    }
    for (index_type, columns) in options.file_index_columns() {
        let what =
            format!("file index {index_type} on {columns} (file-index.{index_type}.columns)");
        add(Unsupported::other(what));
    }
    if options.row_tracking_enabled {
        add(Unsupported::other("row tracking (row-tracking.enabled)"));
    }
    if options.clustering_incremental {
        let what = "incremental clustering (clustering.incremental)";
        add(Unsupported::of_issue(MERGE_TREE, what));
    }
    match options.data_file_external_paths_strategy {
        ExternalPathStrategy::None => {}
        ExternalPathStrategy::RoundRobin | ExternalPathStrategy::SpecificFs => {
            let remote = |path: &&str| !(path.starts_with('/') || path.starts_with("file:"));
            if let Some(path) = options.external_paths().into_iter().find(remote) {
                let what = format!("external path {path}: only file: paths are written");
                add(Unsupported::other(what));
            }
        }
        strategy => {
            add(Unsupported::other(format!(
                "data-file.external-paths.strategy {strategy}"
            )));
        }
    }
    Ok(missing)
}
