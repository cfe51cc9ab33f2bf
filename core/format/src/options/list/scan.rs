//! Options of batch and streaming reads.

macro_rules! scan_options {
    ($then:ident $args:tt) => { $then! { $args {
        /// Where a read starts.
        scan_mode: StartupMode = "scan.mode", default StartupMode::Default, [aliases(&["log.scan"])];
        /// Snapshot to read, or to start from.
        scan_snapshot_id: Option<i64> = "scan.snapshot-id";
        /// Tag to read.
        scan_tag_name: Option<String> = "scan.tag-name";
        /// Tag, watermark or snapshot id to read.
        scan_version: Option<String> = "scan.version";
        /// Watermark whose first snapshot is read.
        scan_watermark: Option<i64> = "scan.watermark";
        /// Local date and time to read at, or to start from.
        scan_timestamp: Option<String> = "scan.timestamp";
        /// Epoch milliseconds to read at, or to start from.
        scan_timestamp_millis: Option<i64> = "scan.timestamp-millis", [aliases(&["log.scan.timestamp-millis"])];
        /// Epoch milliseconds to start from if the table is older.
        scan_creation_time_millis: Option<i64> = "scan.creation-time-millis";
        /// Epoch milliseconds from which files must have been created to be read.
        scan_file_creation_time_millis: Option<i64> = "scan.file-creation-time-millis";
        /// Watermark at which a stream ends.
        scan_bounded_watermark: Option<i64> = "scan.bounded.watermark";
        /// Whether an engine's source is bounded, whatever the job is.
        scan_bounded: Option<bool> = "scan.bounded", [newer(), foreign()];
        /// The one bucket that is read.
        scan_bucket: Option<i32> = "scan.bucket", [newer()];
        /// Partitions that are read.
        scan_partitions: Option<String> = "scan.partitions", [foreign()];
        /// Whether splits are ordered by partition.
        scan_plan_sort_partition: bool = "scan.plan-sort-partition", default false;
        /// Retention of a tag made for each batch plan.
        scan_plan_auto_tag_for_read_time_retained: Option<Duration> = "scan.plan-auto-tag-for-read.time-retained", [newer()];
        /// Manifests read at once; the number of cores if not set.
        scan_manifest_parallelism: Option<i32> = "scan.manifest.parallelism", [at_least(1)];
        /// Splits that wait for one task of an engine's source.
        scan_max_splits_per_task: i32 = "scan.max-splits-per-task", default 10;
        /// Snapshots that an engine's source reads between checkpoints; -1 is any number.
        scan_max_snapshot_count: i32 = "scan.max-snapshot.count", default -1, [foreign()];
        /// How an engine's source hands out splits.
        scan_split_enumerator_mode: SplitEnumeratorMode = "scan.split-enumerator.mode", default SplitEnumeratorMode::Fair, [foreign()];
        /// Splits per assignment of an engine's source.
        scan_split_enumerator_batch_size: i32 = "scan.split-enumerator.batch-size", default 10, [foreign()];
        /// Whether an engine chooses the number of source tasks by itself.
        scan_infer_parallelism: bool = "scan.infer-parallelism", default true, [foreign()];
        /// How many it chooses at most.
        scan_infer_parallelism_max: i32 = "scan.infer-parallelism.max", default 1024, [foreign()];
        /// Number of an engine's source tasks.
        scan_parallelism: Option<i32> = "scan.parallelism", [foreign()];
        /// Whether an engine plans batch reads in a task.
        scan_dedicated_split_generation: bool = "scan.dedicated-split-generation", default false, [foreign()];
        /// Whether an engine leaves out its own normalisation of changes.
        scan_remove_normalize: bool = "scan.remove-normalize", default false, [foreign()];
        /// Branch that partitions missing here are read from.
        scan_fallback_branch: Option<String> = "scan.fallback-branch";
        /// Branch that is read before this one.
        scan_primary_branch: Option<String> = "scan.primary-branch", [newer()];
        /// Whether an error of one branch fails the read.
        scan_fallback_branch_read_fail_fast: bool = "scan.fallback-branch.read-fail-fast", default false, [newer()];
        /// Branch that a chain table takes whole states from.
        scan_fallback_snapshot_branch: Option<String> = "scan.fallback-snapshot-branch", [newer()];
        /// Branch that a chain table takes changes from.
        scan_fallback_delta_branch: Option<String> = "scan.fallback-delta-branch", [newer()];
        /// Whether damaged files are skipped.
        scan_ignore_corrupt_files: bool = "scan.ignore-corrupt-files", default false, [newer()];
        /// Whether missing files are skipped.
        scan_ignore_lost_files: bool = "scan.ignore-lost-files", default false, [newer()];
        /// When an engine's source emits watermarks.
        scan_watermark_emit_strategy: WatermarkEmitStrategy = "scan.watermark.emit.strategy", default WatermarkEmitStrategy::OnEvent, [foreign()];
        /// Silence after which a source task counts as idle.
        scan_watermark_idle_timeout: Option<Duration> = "scan.watermark.idle-timeout", [foreign()];
        /// Sources whose watermarks are kept together.
        scan_watermark_alignment_group: Option<String> = "scan.watermark.alignment.group", [foreign()];
        /// How far they may drift apart.
        scan_watermark_alignment_max_drift: Option<Duration> = "scan.watermark.alignment.max-drift", [foreign()];
        /// How often they are compared.
        scan_watermark_alignment_update_interval: Duration = "scan.watermark.alignment.update-interval", default Duration::from_secs(1), [foreign()];
        /// Two snapshots or tags: what changed after the first, up to the second.
        incremental_between: Option<String> = "incremental-between";
        /// Two times: what changed in between.
        incremental_between_timestamp: Option<String> = "incremental-between-timestamp";
        /// Which rows such a read returns.
        incremental_between_scan_mode: IncrementalScanMode = "incremental-between-scan-mode", default IncrementalScanMode::Auto;
        /// Whether tags stand for their snapshots in it.
        incremental_between_tag_to_snapshot: bool = "incremental-between-tag-to-snapshot", default false, [newer()];
        /// Automatic tag: what changed since the one before it.
        incremental_to_auto_tag: Option<String> = "incremental-to-auto-tag";
        /// Size that files are packed into splits up to.
        source_split_target_size: MemorySize = "source.split.target-size", default MemorySize::from_mib(128), [at_least(1)];
        /// Size that each file counts at least when packed.
        source_split_open_file_cost: MemorySize = "source.split.open-file-cost", default MemorySize::from_mib(4);
        /// Whether an engine's source aligns snapshots with checkpoints.
        source_checkpoint_align_enabled: bool = "source.checkpoint-align.enabled", default false, [foreign()];
        /// How long a checkpoint waits for that.
        source_checkpoint_align_timeout: Duration = "source.checkpoint-align.timeout", default Duration::from_secs(30), [foreign()];
        /// How often a stream looks for the next snapshot.
        continuous_discovery_interval: Duration = "continuous.discovery-interval", default Duration::from_secs(10), [at_least(1)];
        /// Age that a snapshot must have before a stream reads it.
        streaming_read_snapshot_delay: Option<Duration> = "streaming.read.snapshot.delay";
        /// Whether streams of keyed tables read the changes of overwrites.
        streaming_read_overwrite: bool = "streaming-read-overwrite", default false;
        /// Whether streams of append tables read the rows of overwrites.
        streaming_read_append_overwrite: bool = "streaming-read-append-overwrite", default false;
        /// What a streaming plan is for.
        stream_scan_mode: StreamScanMode = "stream-scan-mode", default StreamScanMode::None, [foreign()];
        /// What a batch plan is for.
        batch_scan_mode: BatchScanMode = "batch-scan-mode", default BatchScanMode::None, [foreign()];
        /// Where a stream reads from.
        streaming_read_mode: Option<StreamingReadMode> = "streaming-read-mode", [foreign()];
        /// Rows per batch of a file reader.
        read_batch_size: i32 = "read.batch-size", default 1024, [at_least(1)];
        /// Whether an engine spreads splits by partition and bucket.
        read_shuffle_bucket_with_partition: bool = "read.shuffle-bucket-with-partition", default true, [foreign()];
        /// Whether system tables show sequence numbers.
        table_read_sequence_number_enabled: bool = "table-read.sequence-number.enabled", default false, [newer()];
        /// Whether the catalog is asked for row filters and masks.
        query_auth_enabled: bool = "query-auth.enabled", default false;
        /// Whether reads chain a table's branches.
        chain_table_enabled: bool = "chain-table.enabled", default false, [newer()];
        /// Partition columns that chains go by.
        chain_table_chain_partition_keys: Option<NameList> = "chain-table.chain-partition-keys", [newer()];
        /// Whether splits of chain tables are cut by key.
        chain_table_split_key_range_enabled: bool = "chain-table.split.key-range-enabled", default true, [newer()];
        /// Whether streams of chain tables merge whole states.
        chain_table_streaming_merge_snapshot: bool = "chain-table.streaming.merge-snapshot", default false, [newer()];
    } } };
}
pub(crate) use scan_options;
