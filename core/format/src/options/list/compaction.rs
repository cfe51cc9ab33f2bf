//! Options of compaction and of the lookups it makes.

macro_rules! compaction_options {
    ($then:ident $args:tt) => { $then! { $args {
        /// Sorted runs of a bucket that start a compaction.
        num_sorted_run_compaction_trigger: i32 = "num-sorted-run.compaction-trigger", default 5, [at_least(1)];
        /// Sorted runs of a bucket at which writers wait; compaction trigger + 3 if not set, and never below the trigger.
        num_sorted_run_stop_trigger: Option<i32> = "num-sorted-run.stop-trigger", [at_least(1)];
        /// Levels of the tree; compaction trigger + 1 if not set.
        num_levels: Option<i32> = "num-levels", [at_least(2)];
        /// Percent that upper runs may add to the size of the last one before everything is compacted.
        compaction_max_size_amplification_percent: i32 = "compaction.max-size-amplification-percent", default 200, [at_least(0)];
        /// Percent by which a run may be larger than those before it and still be picked with them.
        compaction_size_ratio: i32 = "compaction.size-ratio", default 1, [at_least(0)];
        /// Local hour at which quiet hours begin; -1 is never.
        compaction_offpeak_start_hour: i32 = "compaction.offpeak.start.hour", default -1, [at_least(-1)];
        /// Local hour at which quiet hours end; -1 is never.
        compaction_offpeak_end_hour: i32 = "compaction.offpeak.end.hour", default -1, [at_least(-1)];
        /// Percent added to the size ratio in quiet hours.
        compaction_offpeak_ratio: i32 = "compaction.offpeak-ratio", default 0, [at_least(0)];
        /// Time after which a bucket is compacted in full though nothing else asks for it.
        compaction_optimization_interval: Option<Duration> = "compaction.optimization-interval";
        /// Size of a bucket up to which it is always compacted in full.
        compaction_total_size_threshold: Option<MemorySize> = "compaction.total-size-threshold";
        /// Size above the top level from which a bucket is compacted in full.
        compaction_incremental_size_threshold: Option<MemorySize> = "compaction.incremental-size-threshold", [newer()];
        /// Whether each compaction includes level 0.
        compaction_force_up_level_0: bool = "compaction.force-up-level-0", default false;
        /// Whether full compactions rewrite files that need no rewrite.
        compaction_force_rewrite_all_files: bool = "compaction.force-rewrite-all-files", default false;
        /// Part of the target size below which a file is small.
        compaction_small_file_ratio: f64 = "compaction.small-file-ratio", default 0.7, [newer()];
        /// Whether partitions about to expire are left alone.
        compaction_skip_expired_partitions: bool = "compaction.skip-expired-partitions", default false, [newer()];
        /// Small files of an append table that make one compaction.
        compaction_min_file_num: i32 = "compaction.min.file-num", default 5, [at_least(1)];
        /// Part of deleted rows from which a file of an append table is rewritten.
        compaction_delete_ratio_threshold: f64 = "compaction.delete-ratio-threshold", default 0.2;
        /// Files that one compaction plan of an append table takes.
        compaction_file_num_limit: i32 = "compaction.file-num-limit", default 100_000, [newer()];
        /// Whether an engine's sink merges the small files of a commit before committing.
        precommit_compact: bool = "precommit-compact", default false, [foreign()];
        /// Whether keyed tables compact by looking up old values without another reason to.
        force_lookup: bool = "force-lookup", default false, [immutable()];
        /// Whether a commit waits for lookup compaction.
        lookup_wait: bool = "lookup-wait", default true, [aliases(&["changelog-producer.lookup-wait"])];
        /// How eagerly lookup compaction runs.
        lookup_compact: LookupCompactMode = "lookup-compact", default LookupCompactMode::Radical;
        /// Commits between gentle lookup compactions; twice the compaction trigger if not set.
        lookup_compact_max_interval: Option<i32> = "lookup-compact.max-interval";
        /// Layout of local lookup files.
        lookup_local_file_type: LookupLocalFileType = "lookup.local-file-type", default LookupLocalFileType::Sort;
        /// Fill of the hash tables in local lookup files.
        lookup_hash_load_factor: f64 = "lookup.hash-load-factor", default 0.75;
        /// Time that unused lookup files stay on disk.
        lookup_cache_file_retention: Duration = "lookup.cache-file-retention", default Duration::from_secs(3_600);
        /// Bytes of lookup files on local disk.
        lookup_cache_max_disk_size: MemorySize = "lookup.cache-max-disk-size", default MemorySize::UNLIMITED;
        /// Bytes of lookup data in memory.
        lookup_cache_max_memory_size: MemorySize = "lookup.cache-max-memory-size", default MemorySize::from_mib(256);
        /// Part of that memory reserved for indexes and filters.
        lookup_cache_high_priority_pool_ratio: f64 = "lookup.cache.high-priority-pool-ratio", default 0.25;
        /// Codec of local lookup files.
        lookup_cache_spill_compression: String = "lookup.cache-spill-compression", default "zstd".to_owned();
        /// Whether local lookup files have bloom filters.
        lookup_cache_bloom_filter_enabled: bool = "lookup.cache.bloom.filter.enabled", default true;
        /// False positives of those filters.
        lookup_cache_bloom_filter_fpp: f64 = "lookup.cache.bloom.filter.fpp", default 0.05;
        /// Versions of one key that a lookup merge keeps in memory.
        lookup_merge_records_threshold: i32 = "lookup.merge-records-threshold", default 1024;
        /// Bytes of versions of one key before a lookup merge spills.
        lookup_merge_buffer_size: MemorySize = "lookup.merge-buffer-size", default MemorySize::from_mib(8);
        /// Whether lookup files are kept beside the data files.
        lookup_remote_file_enabled: bool = "lookup.remote-file.enabled", default false, [newer()];
        /// Level from which lookup files are kept.
        lookup_remote_file_level_threshold: Option<i32> = "lookup.remote-file.level-threshold", [newer()];
        /// Bytes of a block in local stores.
        local_kv_db_block_size: MemorySize = "local-kv-db.block-size", default MemorySize::from_kib(4), [newer()];
    } } };
}
pub(crate) use compaction_options;
