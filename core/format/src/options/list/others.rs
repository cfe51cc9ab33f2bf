//! Options of other systems: Iceberg metadata, outside logs, materialized tables, lookup joins of engines.

macro_rules! other_system_options {
    ($then:ident $args:tt) => { $then! { $args {
        /// Where Iceberg metadata is kept.
        metadata_iceberg_storage: IcebergStorage = "metadata.iceberg.storage", default IcebergStorage::Disabled, [foreign()];
        /// Below which folder it lies.
        metadata_iceberg_storage_location: Option<IcebergStorageLocation> = "metadata.iceberg.storage-location", [foreign()];
        /// Version of the Iceberg format.
        metadata_iceberg_format_version: i32 = "metadata.iceberg.format-version", default 2, [foreign()];
        /// Small Iceberg manifests that are merged.
        metadata_iceberg_compaction_min_file_num: i32 = "metadata.iceberg.compaction.min.file-num", default 10, [foreign()];
        /// Iceberg manifests from which all are merged.
        metadata_iceberg_compaction_max_file_num: i32 = "metadata.iceberg.compaction.max.file-num", default 50, [foreign()];
        /// Old Iceberg metadata files that are kept.
        metadata_iceberg_previous_versions_max: i32 = "metadata.iceberg.previous-versions-max", default 0, [foreign()];
        /// Whether older ones are deleted.
        metadata_iceberg_delete_after_commit_enabled: bool = "metadata.iceberg.delete-after-commit.enabled", default true, [foreign()];
        /// Avro codec of Iceberg manifests.
        metadata_iceberg_manifest_compression: String = "metadata.iceberg.manifest-compression", default "snappy".to_owned(), [foreign()];
        /// Whether Iceberg manifest lists use the field names of Iceberg 1.4.
        metadata_iceberg_manifest_legacy_version: bool = "metadata.iceberg.manifest-legacy-version", default false, [foreign()];
        /// Database in the Iceberg catalog.
        metadata_iceberg_database: Option<String> = "metadata.iceberg.database", [foreign()];
        /// Table in the Iceberg catalog.
        metadata_iceberg_table: Option<String> = "metadata.iceberg.table", [foreign()];
        /// Address of the Hive metastore.
        metadata_iceberg_uri: Option<String> = "metadata.iceberg.uri", [foreign()];
        /// Folder of Hive's configuration.
        metadata_iceberg_hive_conf_dir: Option<String> = "metadata.iceberg.hive-conf-dir", [foreign()];
        /// Folder of Hadoop's configuration.
        metadata_iceberg_hadoop_conf_dir: Option<String> = "metadata.iceberg.hadoop-conf-dir", [foreign()];
        /// Java class of the Hive client.
        metadata_iceberg_hive_client_class: String = "metadata.iceberg.hive-client-class", default "org.apache.hadoop.hive.metastore.HiveMetaStoreClient".to_owned(), [foreign()];
        /// Whether AWS Glue keeps no archive of old versions.
        metadata_iceberg_glue_skip_archive: bool = "metadata.iceberg.glue.skip-archive", default false, [foreign()];
        /// Whether Hive's statistics are left as they are.
        metadata_iceberg_hive_skip_update_stats: bool = "metadata.iceberg.hive-skip-update-stats", default false, [foreign()];
        /// Consistency of an outside log.
        log_consistency: LogConsistency = "log.consistency", default LogConsistency::Transactional, [foreign()];
        /// Which changes go to it.
        log_changelog_mode: LogChangelogMode = "log.changelog-mode", default LogChangelogMode::Auto, [foreign()];
        /// Format of its keys.
        log_key_format: String = "log.key.format", default "json".to_owned(), [foreign()];
        /// Format of its values.
        log_format: String = "log.format", default "debezium-json".to_owned(), [foreign()];
        /// Whether deletes are kept from it.
        log_ignore_delete: bool = "log.ignore-delete", default false, [foreign()];
        /// Query of a materialized table.
        materialized_table_definition_query: Option<String> = "materialized-table.definition-query", [foreign()];
        /// Freshness of a materialized table.
        materialized_table_interval_freshness: Option<String> = "materialized-table.interval-freshness", [foreign()];
        /// Unit of that freshness.
        materialized_table_interval_freshness_time_unit: Option<FreshnessTimeUnit> = "materialized-table.interval-freshness.time-unit", [foreign()];
        /// How a materialized table is meant to be refreshed.
        materialized_table_logical_refresh_mode: Option<MaterializedTableRefreshMode> = "materialized-table.logical-refresh-mode", [foreign()];
        /// How it is refreshed.
        materialized_table_refresh_mode: Option<MaterializedTableRefreshMode> = "materialized-table.refresh-mode", [foreign()];
        /// State of its refresh.
        materialized_table_refresh_status: Option<MaterializedTableRefreshStatus> = "materialized-table.refresh-status", [foreign()];
        /// What its refresh is.
        materialized_table_refresh_handler_description: Option<String> = "materialized-table.refresh-handler-description", [foreign()];
        /// What its refresh needs to be found again.
        materialized_table_refresh_handler_bytes: Option<String> = "materialized-table.refresh-handler-bytes", [foreign()];
        /// How a lookup join of an engine caches.
        lookup_cache: String = "lookup.cache", default "AUTO".to_owned(), [foreign()];
        /// Whether a lookup join is asynchronous.
        lookup_async: bool = "lookup.async", default false, [foreign()];
        /// Threads of an asynchronous lookup join.
        lookup_async_thread_number: i32 = "lookup.async-thread-number", default 16, [foreign()];
        /// Whether a lookup join refreshes its cache in the background.
        lookup_refresh_async: bool = "lookup.refresh.async", default false, [foreign()];
        /// Snapshots it may lag before it refreshes at once.
        lookup_refresh_async_pending_snapshot_count: i32 = "lookup.refresh.async.pending-snapshot-count", default 5, [foreign()];
        /// Snapshots it may lag before it loads everything anew.
        lookup_refresh_full_load_threshold: Option<i32> = "lookup.refresh.full-load-threshold", [foreign()];
        /// How often it looks for the largest partition.
        lookup_dynamic_partition_refresh_interval: Duration = "lookup.dynamic-partition.refresh-interval", default Duration::from_secs(3_600), [foreign()];
        /// Tasks that load its cache.
        lookup_bootstrap_parallelism: i32 = "lookup.bootstrap-parallelism", default 4, [foreign()];
    } } };
}
pub(crate) use other_system_options;
