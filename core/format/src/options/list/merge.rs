//! Options of merge engines, changelog and deletion vectors.

macro_rules! merge_options {
    ($then:ident $args:tt) => { $then! { $args {
        /// How versions of one key become one row.
        merge_engine: MergeEngine = "merge-engine", default MergeEngine::Deduplicate, [immutable()];
        /// Aggregate function of columns that have none of their own.
        fields_default_aggregate_function: Option<String> = "fields.default-aggregate-function";
        /// Partial update: whether a −D removes the row.
        partial_update_remove_record_on_delete: bool = "partial-update.remove-record-on-delete", default false, [immutable()];
        /// Partial update: sequence columns of the groups whose −D removes the row.
        partial_update_remove_record_on_sequence_group: Option<NameList> = "partial-update.remove-record-on-sequence-group", [immutable()];
        /// Aggregation: whether a −D removes the row.
        aggregation_remove_record_on_delete: bool = "aggregation.remove-record-on-delete", default false, [immutable()];
        /// Where the changes that streams read come from.
        changelog_producer: ChangelogProducer = "changelog-producer", default ChangelogProducer::None;
        /// Whether an update that changes nothing is left out of the changelog.
        changelog_producer_row_deduplicate: bool = "changelog-producer.row-deduplicate", default false;
        /// Columns that do not count as a change.
        changelog_producer_row_deduplicate_ignore_fields: Option<NameList> = "changelog-producer.row-deduplicate-ignore-fields";
        /// Whether rows are deleted by marking positions in files.
        deletion_vectors_enabled: bool = "deletion-vectors.enabled", default false;
        /// Whether deletion vectors have 64-bit positions.
        deletion_vectors_bitmap64: bool = "deletion-vectors.bitmap64", default false;
        /// Size of the index files that hold deletion vectors.
        deletion_vector_index_file_target_size: MemorySize = "deletion-vector.index-file.target-size", default MemorySize::from_mib(2), [at_least(1)];
        /// Whether reads of tables with deletion vectors merge level 0 in.
        deletion_vectors_merge_on_read: bool = "deletion-vectors.merge-on-read", default false, [newer()];
        /// Whether deletion vectors may be switched on and off.
        deletion_vectors_modifiable: bool = "deletion-vectors.modifiable", default false, [newer()];
        /// Age from which rows are dropped by compaction.
        record_level_expire_time: Option<Duration> = "record-level.expire-time";
        /// Column that holds a row's time for that.
        record_level_time_field: Option<String> = "record-level.time-field";
        /// Keys that one dynamic bucket takes.
        dynamic_bucket_target_row_num: i64 = "dynamic-bucket.target-row-num", default 2_000_000, [at_least(1)];
        /// Dynamic buckets that a partition starts with.
        dynamic_bucket_initial_buckets: Option<i32> = "dynamic-bucket.initial-buckets", [at_least(1)];
        /// Dynamic buckets that a partition may have; -1 is any number.
        dynamic_bucket_max_buckets: i32 = "dynamic-bucket.max-buckets", default -1;
        /// Tasks that assign dynamic buckets.
        dynamic_bucket_assigner_parallelism: Option<i32> = "dynamic-bucket.assigner-parallelism", [at_least(1)];
        /// Age from which a key is forgotten by the index of cross-partition upserts.
        cross_partition_upsert_index_ttl: Option<Duration> = "cross-partition-upsert.index-ttl";
        /// Tasks that load that index.
        cross_partition_upsert_bootstrap_parallelism: i32 = "cross-partition-upsert.bootstrap-parallelism", default 10, [at_least(1)];
        /// Buckets of a postponed partition that is compacted for the first time.
        postpone_default_bucket_num: i32 = "postpone.default-bucket-num", default 1, [foreign(), at_least(1)];
        /// Whether batch jobs write the real buckets of postpone tables.
        postpone_batch_write_fixed_bucket: bool = "postpone.batch-write-fixed-bucket", default true, [newer()];
        /// Buckets that such a batch job makes at most.
        postpone_batch_write_fixed_bucket_max_parallelism: i32 = "postpone.batch-write-fixed-bucket.max-parallelism", default 2048, [newer()];
        /// Growth from which such a batch job chooses another number of buckets.
        postpone_batch_write_fixed_bucket_rescale_load_factor: i32 = "postpone.batch-write-fixed-bucket.rescale-load-factor", default 32, [newer()];
        /// Bytes of a bucket that the number of buckets is estimated from.
        postpone_target_size_per_bucket: MemorySize = "postpone.target-size-per-bucket", default MemorySize::from_mib(1024), [newer()];
        /// Rows of a bucket that the number of buckets is estimated from.
        postpone_target_row_num_per_bucket: Option<i64> = "postpone.target-row-num-per-bucket", [newer()];
        /// Whether batch reads see rows that wait for their bucket.
        postpone_merge_on_read: bool = "postpone.merge-on-read", default false, [newer()];
        /// Columns that compaction of append tables sorts by.
        clustering_columns: Option<NameList> = "clustering.columns", [aliases(&["sink.clustering.by-columns"])];
        /// Curve of that order.
        clustering_strategy: ClusteringStrategy = "clustering.strategy", default ClusteringStrategy::Auto, [aliases(&["sink.clustering.strategy"])];
        /// Whether clustering goes on from where it stopped, by levels.
        clustering_incremental: bool = "clustering.incremental", default false;
        /// How far incremental clustering sorts.
        clustering_incremental_mode: ClusteringIncrementalMode = "clustering.incremental.mode", default ClusteringIncrementalMode::GlobalSort, [newer(), foreign()];
        /// Whether writers of such tables sort as well.
        clustering_incremental_optimize_write: bool = "clustering.incremental.optimize-write", default false, [newer()];
        /// Old partitions that one clustering run takes.
        clustering_history_partition_limit: i32 = "clustering.history-partition.limit", default 5;
        /// Quiet time after which an old partition is sorted in full.
        clustering_history_partition_idle_to_full_sort: Option<Duration> = "clustering.history-partition.idle-to-full-sort";
        /// By what sort compaction cuts ranges.
        sort_compaction_range_strategy: RangeStrategy = "sort-compaction.range-strategy", default RangeStrategy::Quantity;
        /// Samples of sort compaction, times the number of tasks.
        sort_compaction_local_sample_magnification: i32 = "sort-compaction.local-sample.magnification", default 1000, [at_least(20)];
        /// Bytes of a text column that count in a z-value.
        zorder_var_length_contribution: i32 = "zorder.var-length-contribution", default 8, [at_least(1)];
    } } };
}
pub(crate) use merge_options;
