//! Options of writers: buffers, spilling, what happens to retracts.

macro_rules! writer_options {
    ($then:ident $args:tt) => { $then! { $args {
        /// Whether a writer neither compacts nor expires, because another job does.
        write_only: bool = "write-only", default false, [aliases(&["write.compaction-skip"])];
        /// Bytes of rows that a writer keeps in memory before it sorts and flushes them.
        write_buffer_size: MemorySize = "write-buffer-size", default MemorySize::from_mib(256), [at_least(1)];
        /// Whether a full buffer is spilled to local disk before it is flushed.
        write_buffer_spillable: bool = "write-buffer-spillable", default true;
        /// Bytes on local disk from which a spilled buffer is flushed.
        write_buffer_spill_max_disk_size: MemorySize = "write-buffer-spill.max-disk-size", default MemorySize::UNLIMITED;
        /// Whether writers of append tables keep rows in memory too.
        write_buffer_for_append: bool = "write-buffer-for-append", default false;
        /// Open buckets of an append writer from which all of them buffer and spill.
        write_max_writers_to_spill: i32 = "write-max-writers-to-spill", default 10;
        /// Bytes of one memory page.
        page_size: MemorySize = "page-size", default MemorySize::from_kib(64), [at_least(1)];
        /// Bytes of one page of a cache.
        cache_page_size: MemorySize = "cache-page-size", default MemorySize::from_kib(64), [at_least(1)];
        /// Spilled runs that are merged at once.
        local_sort_max_num_file_handles: i32 = "local-sort.max-num-file-handles", default 128, [at_least(2)];
        /// Codec of spill files.
        spill_compression: String = "spill-compression", default "zstd".to_owned();
        /// Level of zstd in spill files.
        spill_compression_zstd_level: i32 = "spill-compression.zstd-level", default 1;
        /// Runs of one merge beyond which the smallest are spilled first; stop trigger + 1 if not set.
        sort_spill_threshold: Option<i32> = "sort-spill-threshold", [at_least(2)];
        /// Bytes that sorting for such a spill may use.
        sort_spill_buffer_size: MemorySize = "sort-spill-buffer-size", default MemorySize::from_mib(64), [at_least(1)];
        /// How runs are merged.
        sort_engine: SortEngine = "sort-engine", default SortEngine::LoserTree;
        /// Bytes that an engine merges rows in before it shuffles them.
        local_merge_buffer_size: Option<MemorySize> = "local-merge-buffer-size";
        /// Whether −U and −D rows are dropped.
        ignore_delete: bool = "ignore-delete", default false, [immutable(), aliases(&["first-row.ignore-delete", "deduplicate.ignore-delete", "partial-update.ignore-delete"])];
        /// Whether −U rows are dropped.
        ignore_update_before: bool = "ignore-update-before", default false, [immutable()];
        /// How a writer finds the first sequence number of a bucket.
        write_sequence_number_init_mode: SequenceNumberInitMode = "write.sequence-number-init-mode", default SequenceNumberInitMode::Scan, [newer()];
        /// Whether versions are ordered by the snapshot that committed them first.
        sequence_snapshot_ordering: bool = "sequence.snapshot-ordering", default false, [newer()];
        /// Whether DELETE and UPDATE statements write rows that a changelog can show.
        delete_force_produce_changelog: bool = "delete.force-produce-changelog", default false;
        /// Whether an overwrite replaces only the partitions that occur in it.
        dynamic_partition_overwrite: bool = "dynamic-partition-overwrite", default true;
        /// Whether an overwrite of a keyed table tries to put its files on the top level.
        overwrite_upgrade: bool = "overwrite-upgrade", default true, [newer()];
        /// Commits after which a streaming sink compacts in full.
        full_compaction_delta_commits: Option<i32> = "full-compaction.delta-commits", [at_least(1)];
        /// How an engine routes rows of partitioned append tables to writers.
        partition_sink_strategy: PartitionSinkStrategy = "partition.sink-strategy", default PartitionSinkStrategy::None, [foreign()];
    } } };
}
pub(crate) use writer_options;
