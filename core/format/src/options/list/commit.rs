//! Options of commits, snapshots, tags and consumers.

macro_rules! commit_options {
    ($then:ident $args:tt) => { $then! { $args {
        /// Time that a commit keeps trying.
        commit_timeout: Option<Duration> = "commit.timeout";
        /// Attempts of a commit after the first.
        commit_max_retries: i32 = "commit.max-retries", default 10, [at_least(0)];
        /// Shortest wait between two attempts.
        commit_min_retry_wait: Duration = "commit.min-retry-wait", default Duration::from_millis(10);
        /// Longest wait between two attempts.
        commit_max_retry_wait: Duration = "commit.max-retry-wait", default Duration::from_secs(10);
        /// Whether a commit waits for compactions under way.
        commit_force_compact: bool = "commit.force-compact", default false;
        /// Whether a commit makes a snapshot though nothing changed.
        commit_force_create_snapshot: bool = "commit.force-create-snapshot", default false;
        /// First part of generated commit users.
        commit_user_prefix: Option<String> = "commit.user-prefix";
        /// Snapshot after which commits of others that compact or overwrite make a commit fail.
        commit_strict_mode_last_safe_snapshot: Option<i64> = "commit.strict-mode.last-safe-snapshot";
        /// Whether a commit drops files that are in the table already.
        commit_discard_duplicate_files: bool = "commit.discard-duplicate-files", default false, [newer()];
        /// Java classes called after a commit.
        commit_callbacks: String = "commit.callbacks", default String::new(), [foreign()];
        /// Parameter of such a class; its name stands for the number sign.
        commit_callback_param: Option<String> = "commit.callback.#.param", [foreign()];
        /// Snapshots that expiry keeps at least.
        snapshot_num_retained_min: i32 = "snapshot.num-retained.min", default 10, [at_least(1)];
        /// Snapshots that expiry keeps at most.
        snapshot_num_retained_max: i32 = "snapshot.num-retained.max", default i32::MAX, [at_least(1)];
        /// Age up to which expiry keeps snapshots.
        snapshot_time_retained: Duration = "snapshot.time-retained", default Duration::from_secs(3_600);
        /// Snapshots that one run of expiry removes.
        snapshot_expire_limit: i32 = "snapshot.expire.limit", default 50, [at_least(1)];
        /// Whether expiry runs in the commit or beside it.
        snapshot_expire_execution_mode: ExpireExecutionMode = "snapshot.expire.execution-mode", default ExpireExecutionMode::Sync;
        /// Whether expiry removes directories that became empty.
        snapshot_clean_empty_directories: bool = "snapshot.clean-empty-directories", default false, [aliases(&["snapshot.expire.clean-empty-directories"])];
        /// Whether commits without changes make no snapshot; depends on the caller if not set.
        snapshot_ignore_empty_commit: Option<bool> = "snapshot.ignore-empty-commit";
        /// Silence after which a snapshot is made so that the watermark moves on.
        snapshot_watermark_idle_timeout: Option<Duration> = "snapshot.watermark-idle-timeout";
        /// Changelogs kept at least; as snapshots if not set.
        changelog_num_retained_min: Option<i32> = "changelog.num-retained.min", [at_least(1)];
        /// Changelogs kept at most; as snapshots if not set.
        changelog_num_retained_max: Option<i32> = "changelog.num-retained.max", [at_least(1)];
        /// Age up to which changelogs are kept; as snapshots if not set.
        changelog_time_retained: Option<Duration> = "changelog.time-retained";
        /// Tasks that delete files; by the number of cores if not set.
        file_operation_thread_num: Option<i32> = "file-operation.thread-num", [aliases(&["delete-file.thread-num"]), at_least(1)];
        /// When tags are made without being asked for.
        tag_automatic_creation: TagCreationMode = "tag.automatic-creation", default TagCreationMode::None;
        /// How often.
        tag_creation_period: TagCreationPeriod = "tag.creation-period", default TagCreationPeriod::Daily;
        /// How often, as a duration; goes before the period.
        tag_creation_period_duration: Option<Duration> = "tag.creation-period-duration";
        /// Wait after the end of a period, for late rows.
        tag_creation_delay: Duration = "tag.creation-delay", default Duration::ZERO;
        /// How the time in a tag's name is written.
        tag_period_formatter: TagPeriodFormatter = "tag.period-formatter", default TagPeriodFormatter::WithDashes;
        /// Whether tags of periods that were missed are made later.
        tag_automatic_completion: bool = "tag.automatic-completion", default false;
        /// Automatic tags that are kept.
        tag_num_retained_max: Option<i32> = "tag.num-retained-max", [at_least(1)];
        /// Time that new tags are kept.
        tag_default_time_retained: Option<Duration> = "tag.default-time-retained";
        /// Whether tags expire by time.
        tag_time_expire_enabled: bool = "tag.time-expire-enabled", default true, [newer()];
        /// Name of the tag that a batch commit makes.
        tag_batch_customized_name: Option<String> = "tag.batch.customized-name";
        /// Whether a marker file is written for each automatic tag.
        tag_create_success_file: bool = "tag.create-success-file", default false;
        /// Java classes called when a tag is made.
        tag_callbacks: String = "tag.callbacks", default String::new(), [foreign()];
        /// Parameter of such a class; its name stands for the number sign.
        tag_callback_param: Option<String> = "tag.callback.#.param", [foreign()];
        /// Time zone of automatic tags; that of the machine if not set.
        sink_process_time_zone: Option<String> = "sink.process-time-zone";
        /// Time zone of tags made by the watermark.
        sink_watermark_time_zone: String = "sink.watermark-time-zone", default "UTC".to_owned();
        /// Whether an engine's savepoints become tags.
        sink_savepoint_auto_tag: bool = "sink.savepoint.auto-tag", default false, [foreign()];
        /// Name under which a reader keeps its progress.
        consumer_id: Option<String> = "consumer-id";
        /// How it keeps its progress.
        consumer_mode: ConsumerMode = "consumer.mode", default ConsumerMode::ExactlyOnce;
        /// Whether it starts without looking at its progress.
        consumer_ignore_progress: bool = "consumer.ignore-progress", default false;
        /// Age from which an unused consumer is forgotten.
        consumer_expiration_time: Option<Duration> = "consumer.expiration-time";
        /// Whether a consumer pins changelogs only.
        consumer_changelog_only: bool = "consumer.changelog-only", default false, [newer()];
        /// Whether a merge of branches is allowed.
        branch_merge_enabled: bool = "branch-merge.enabled", default false, [newer()];
        /// Whether a commit waits until compaction has made its rows visible.
        visibility_callback_enabled: bool = "visibility-callback.enabled", default false, [newer(), foreign()];
        /// How long.
        visibility_callback_timeout: Duration = "visibility-callback.timeout", default Duration::from_secs(1_800), [newer(), foreign()];
        /// How often it looks.
        visibility_callback_check_interval: Duration = "visibility-callback.check-interval", default Duration::from_secs(10), [newer(), foreign()];
    } } };
}
pub(crate) use commit_options;
