//! Options of data, changelog and manifest files.

macro_rules! file_options {
    ($then:ident $args:tt) => { $then! { $args {
        /// Format of data files.
        file_format: String = "file.format", default "parquet".to_owned();
        /// Format of the data files of some levels.
        file_format_per_level: PerLevel = "file.format.per.level", default PerLevel::default();
        /// Codec of data files.
        file_compression: String = "file.compression", default "zstd".to_owned();
        /// Level of zstd, in data files, manifests and Avro files.
        file_compression_zstd_level: i32 = "file.compression.zstd-level", default 1;
        /// Codec of the data files of some levels.
        file_compression_per_level: PerLevel = "file.compression.per.level", default PerLevel::default();
        /// Bytes of a Parquet row group (128 MB if not set) or an ORC stripe (64 MB if not set).
        file_block_size: Option<MemorySize> = "file.block-size", [at_least(1)];
        /// Whether the codec is part of the names of data files.
        file_suffix_include_compression: bool = "file.suffix.include.compression", default false;
        /// Size from which a data file is closed and the next begun; 128 MB for keyed and 256 MB for append tables if not set.
        target_file_size: Option<MemorySize> = "target-file-size", [at_least(1)];
        /// Rows from which a data file is closed and the next begun.
        target_file_row_num: Option<i64> = "target-file-row-num", [newer(), at_least(1)];
        /// Rows that a file writer takes at once.
        write_batch_size: i32 = "write.batch-size", default 1024, [aliases(&["orc.write.batch-size"]), at_least(1)];
        /// Bytes of the rows that a file writer takes at once.
        write_batch_memory: MemorySize = "write.batch-memory", default MemorySize::from_mib(128), [at_least(1)];
        /// Whether files are encoded and written beside the thread that produces the rows.
        async_file_write: bool = "async-file-write", default true;
        /// Whether Parquet columns are dictionary encoded; a number is the rule of old versions.
        parquet_enable_dictionary: Option<String> = "parquet.enable.dictionary";
        /// What is kept about the values of each column.
        metadata_stats_mode: StatsMode = "metadata.stats-mode", default StatsMode::Truncate(16);
        /// What is kept about values in the files of some levels.
        metadata_stats_mode_per_level: PerLevel<StatsMode> = "metadata.stats-mode.per.level", default PerLevel::default();
        /// Whether columns without statistics are left out of a file's metadata.
        metadata_stats_dense_store: bool = "metadata.stats-dense-store", default true;
        /// How many columns from the left have statistics; -1 is all.
        metadata_stats_keep_first_n_columns: i32 = "metadata.stats-keep-first-n-columns", default -1, [at_least(-1)];
        /// Format of changelog files; that of data files if not set.
        changelog_file_format: Option<String> = "changelog-file.format";
        /// Codec of changelog files; that of data files if not set.
        changelog_file_compression: Option<String> = "changelog-file.compression";
        /// What changelog files keep about values; as data files if not set.
        changelog_file_stats_mode: Option<StatsMode> = "changelog-file.stats-mode";
        /// File indexes up to this size are kept in the manifest, larger ones in a file beside the data file.
        file_index_in_manifest_threshold: MemorySize = "file-index.in-manifest-threshold", default MemorySize::from_bytes(500);
        /// Whether file indexes are used when reading.
        file_index_read_enabled: bool = "file-index.read.enabled", default true;
        /// Files larger than this are read in the background.
        file_reader_async_threshold: MemorySize = "file-reader-async-threshold", default MemorySize::from_mib(10);
        /// Format of manifests.
        manifest_format: String = "manifest.format", default "avro".to_owned();
        /// Codec of manifests.
        manifest_compression: String = "manifest.compression", default "zstd".to_owned();
        /// Size that manifests are merged to.
        manifest_target_file_size: MemorySize = "manifest.target-file-size", default MemorySize::from_mib(8), [at_least(1)];
        /// Small manifests that a commit leaves before it merges them.
        manifest_merge_min_count: i32 = "manifest.merge-min-count", default 30;
        /// Size of changed manifests from which a commit rewrites them in full.
        manifest_full_compaction_threshold_size: MemorySize = "manifest.full-compaction-threshold-size", default MemorySize::from_mib(16);
        /// Whether entries of deleted files drop their statistics.
        manifest_delete_file_drop_stats: bool = "manifest.delete-file-drop-stats", default false;
        /// Whether manifests are merged in ways of newer versions.
        manifest_merge_optimize_enabled: bool = "manifest.merge-optimize.enabled", default false, [newer()];
    } } };
}
pub(crate) use file_options;
