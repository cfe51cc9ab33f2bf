//! Options of partitions: expiry, being done, names in a metastore.

macro_rules! partition_options {
    ($then:ident $args:tt) => { $then! { $args {
        /// Age from which a partition is dropped.
        partition_expiration_time: Option<Duration> = "partition.expiration-time";
        /// How often that is checked.
        partition_expiration_check_interval: Duration = "partition.expiration-check-interval", default Duration::from_secs(3_600);
        /// How a partition's age is found.
        partition_expiration_strategy: PartitionExpireStrategy = "partition.expiration-strategy", default PartitionExpireStrategy::ValuesTime;
        /// Partitions that one run drops.
        partition_expiration_max_num: i32 = "partition.expiration-max-num", default 100, [at_least(1)];
        /// Partitions that one commit drops.
        partition_expiration_batch_size: Option<i32> = "partition.expiration-batch-size", [at_least(1)];
        /// Java pattern of the time in partition values.
        partition_timestamp_formatter: Option<String> = "partition.timestamp-formatter";
        /// How that time is put together from partition columns, such as `$dt $hour:00:00`.
        partition_timestamp_pattern: Option<String> = "partition.timestamp-pattern";
        /// Whether writers refuse partition values without a readable time.
        partition_timestamp_format_strict: bool = "partition.timestamp-format.strict", default false, [newer()];
        /// Whether a bounded job checks partition expiry at its end.
        end_input_check_partition_expire: bool = "end-input.check-partition-expire", default false;
        /// Watermark that a bounded job commits at its end.
        end_input_watermark: Option<i64> = "end-input.watermark", [foreign()];
        /// Silence after which a partition is marked as done.
        partition_idle_time_to_done: Option<Duration> = "partition.idle-time-to-done", [foreign()];
        /// Length of a partition's time, for marking it as done.
        partition_time_interval: Option<Duration> = "partition.time-interval", [foreign()];
        /// What marking does.
        partition_mark_done_action: NameList = "partition.mark-done-action", default NameList::split("success-file");
        /// Which clock marks.
        partition_mark_done_action_mode: PartitionMarkDoneActionMode = "partition.mark-done-action.mode", default PartitionMarkDoneActionMode::ProcessTime, [foreign()];
        /// Java class of a marking of one's own.
        partition_mark_done_action_custom_class: Option<String> = "partition.mark-done-action.custom.class", [foreign()];
        /// Address that marking reports to.
        partition_mark_done_action_http_url: Option<String> = "partition.mark-done-action.http.url", [foreign()];
        /// What it reports there.
        partition_mark_done_action_http_params: Option<String> = "partition.mark-done-action.http.params", [foreign()];
        /// Whether a restarted job knows what it has marked.
        partition_mark_done_recover_from_state: bool = "partition.mark-done.recover-from-state", default true, [foreign()];
        /// Whether a bounded job marks its partitions as done at its end.
        partition_end_input_to_done: bool = "partition.end-input-to-done", default false;
        /// Silence after which a partition's statistics go to the metastore; zero is never.
        partition_idle_time_to_report_statistic: Duration = "partition.idle-time-to-report-statistic", default Duration::ZERO, [foreign()];
        /// Whether the metastore knows the partitions.
        metastore_partitioned_table: bool = "metastore.partitioned-table", default false, [foreign()];
        /// Partition column of the metastore that tags are shown as.
        metastore_tag_to_partition: Option<String> = "metastore.tag-to-partition", [foreign()];
        /// Which tags are shown before they exist.
        metastore_tag_to_partition_preview: TagCreationMode = "metastore.tag-to-partition.preview", default TagCreationMode::None, [foreign()];
    } } };
}
pub(crate) use partition_options;
