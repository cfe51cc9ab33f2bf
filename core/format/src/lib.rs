//! A table's metadata: bytes to values and back, without IO.
//!
//! Paths through the crate:
//!
//! - A table begins as a [`SchemaDefinition`], becomes a [`TableSchema`] (`schema/`) and changes by [`SchemaChange`]s.
//! - Its options are [`TableOptions`] (`options/`): declared once each, with type, default and meaning. What this build
//!   cannot do for a table answers [`Unsupported`] (`unsupported.rs`).
//! - A commit is a [`Snapshot`] (`snapshot/`), which names manifest lists.
//! - [`TablePaths`] (`paths.rs`) says where each file is, [`DataFileName`] (`file_names.rs`) what it is called.
//! - A manifest list ([`manifest_list`]) names manifests, a manifest ([`manifest`]) its [`ManifestEntry`]s, an entry a
//!   [`DataFileMeta`]. [`merge_entries`] adds them up to a file set, [`manifest_merge`] keeps them few.
//! - Statistics (`stats/`) are collected by [`StatsCollector`], stored as [`SimpleStats`] and asked through [`StatsBounds`].

pub mod avro;
mod data_file_meta;
mod error;
mod file_names;
mod json;
pub mod manifest;
mod options;
mod paths;
mod schema;
mod snapshot;
mod stats;
mod unsupported;

#[cfg(test)]
mod test_vectors;

pub use avro::{AvroCodec, AvroError};
pub use data_file_meta::{ColumnNames, DataFileMeta, FileSource};
pub use error::{FormatError, Result};
pub use file_names::{
    DataFileName, data_file_format, file_index_name, index_file_name, index_manifest_name,
    manifest_list_name, manifest_name, statistics_name, versioned_file_number,
};
pub use manifest::{
    DvMeta, EncodedManifest, FileIdentity, FileKind, GlobalIndexMeta, IndexFileMeta,
    IndexManifestEntry, ManifestEntry, ManifestError, ManifestFileMeta, ManifestFilter,
    RollingManifestWriter, index as index_manifest, list as manifest_list, live_entries,
    merge_entries, merging as manifest_merge,
};
pub use options::{
    AggregateFunction, BatchScanMode, BucketFunctionType, ChangelogProducer,
    ClusteringIncrementalMode, ClusteringStrategy, ConsumerMode, ExpireExecutionMode,
    ExternalPathStrategy, FreshnessTimeUnit, IcebergStorage, IcebergStorageLocation,
    IncrementalScanMode, LogChangelogMode, LogConsistency, LookupCompactMode, LookupLocalFileType,
    MaterializedTableRefreshMode, MaterializedTableRefreshStatus, MemorySize, MergeEngine,
    NameList, OptionDoc, OptionValue, PATTERNS, PartitionExpireStrategy,
    PartitionMarkDoneActionMode, PartitionSinkStrategy, PatternDoc, PerLevel, RangeStrategy,
    SequenceNumberInitMode, SortEngine, SortOrder, SplitEnumeratorMode, StartupMode, StatsMode,
    StatsTarget, StreamScanMode, StreamingReadMode, TableKind, TableOptions, TagCreationMode,
    TagCreationPeriod, TagPeriodFormatter, WatermarkEmitStrategy, format_duration, parse_duration,
};
pub use paths::{TablePaths, data_file_path, extra_file_path, temporary_name};
pub use schema::{
    BucketMode, ColumnPosition, KEY_FIELD_PREFIX, LEVEL_COLUMN, ROW_ID_COLUMN, ROW_KIND_COLUMN,
    SCHEMA_VERSION, SEQUENCE_NUMBER_COLUMN, SYSTEM_FIELD_ID_START, SchemaChange, SchemaDefinition,
    SchemaWarning, TableSchema, VALUE_KIND_COLUMN, default_value, is_system_column, key_column_id,
    key_column_name, level_field, row_id_field, sequence_number_field, value_kind_field,
};
pub use snapshot::{
    BATCH_COMMIT_IDENTIFIER, CommitKind, Consumer, SNAPSHOT_VERSION, Snapshot, Tag, TagTime,
    format_hint, parse_hint,
};
pub use stats::{
    ColumnStats, FileStatsView, NullCounts, OwnedFileStatsView, PartitionStatsView,
    PartitionValues, SimpleStats, StatsBounds, StatsCollector, StatsMapping, file_stats_view,
    stats_from_columns, truncate_max, truncate_min,
};
pub use unsupported::{
    Unsupported, ensure_readable, ensure_writable, unsupported_features, unsupported_for_read,
    unsupported_for_write,
};
