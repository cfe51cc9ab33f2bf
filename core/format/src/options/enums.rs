//! Options that are one of a few words.

use super::value::option_enum;

option_enum! {
    /// What a table is; everything but [`TableKind::Table`] is another system's business.
    TableKind {
        /// A table of this format.
        Table = "table",
        /// Plain files in folders, without metadata.
        FormatTable = "format-table",
        /// A table kept fresh by an engine's query.
        MaterializedTable = "materialized-table",
        /// A folder of objects shown as rows.
        ObjectTable = "object-table",
        /// A Lance data set.
        LanceTable = "lance-table",
        /// An Iceberg table.
        IcebergTable = "iceberg-table",
    }
    /// How versions of one key become one row.
    MergeEngine {
        /// The last version wins.
        Deduplicate = "deduplicate",
        /// The last non-null value of each column wins.
        PartialUpdate = "partial-update",
        /// Each column is folded by its aggregate function.
        Aggregation = "aggregation",
        /// The first version wins.
        FirstRow = "first-row",
    }
    /// Where the changes that a stream reads come from.
    ChangelogProducer {
        /// No changelog files; a stream reads the files of each commit.
        None = "none",
        /// What was written, as it was written.
        Input = "input",
        /// Computed by full compactions.
        FullCompaction = "full-compaction",
        /// Computed by looking up the old value of each changed key.
        Lookup = "lookup",
    }
    /// How a row finds its bucket (spec 01c §6).
    BucketFunctionType {
        /// Murmur hash of the key's bytes.
        Default = "default",
        /// Remainder of one integer column.
        Mod = "mod",
        /// Hive's hash.
        Hive = "hive",
    }
    /// Which of two sequence values is newer.
    SortOrder {
        /// The larger value is newer.
        Ascending = "ascending",
        /// The smaller value is newer.
        Descending = "descending",
    }
    /// How data files are spread over external paths.
    ExternalPathStrategy {
        /// Not at all.
        None = "none",
        /// All to the paths of one file system.
        SpecificFs = "specific-fs",
        /// One path after the other.
        RoundRobin = "round-robin",
        /// Round robin, with hashed directories in between (2.x).
        EntropyInject = "entropy-inject",
        /// Round robin by weights (2.x).
        WeightRobin = "weight-robin",
    }
    /// Where a read starts (spec 03 §2).
    StartupMode {
        /// Decided by the other `scan.` options that are set.
        Default = "default",
        /// The latest snapshot in full, then what follows.
        LatestFull = "latest-full",
        /// Old name of [`StartupMode::LatestFull`].
        Full = "full",
        /// Only what follows the latest snapshot.
        Latest = "latest",
        /// The latest compacted snapshot in full, then what follows.
        CompactedFull = "compacted-full",
        /// What follows a time.
        FromTimestamp = "from-timestamp",
        /// As `from-timestamp`, or full if the table is younger.
        FromCreationTimestamp = "from-creation-timestamp",
        /// Files created from a time on.
        FromFileCreationTime = "from-file-creation-time",
        /// The changes from a snapshot on (batch: that snapshot).
        FromSnapshot = "from-snapshot",
        /// A snapshot in full, then what follows.
        FromSnapshotFull = "from-snapshot-full",
        /// What changed between two points (batch only).
        Incremental = "incremental",
    }
    /// Which rows an incremental read returns.
    IncrementalScanMode {
        /// Changelog if the table has one, delta otherwise.
        Auto = "auto",
        /// Files added by APPEND commits.
        Delta = "delta",
        /// Changelog files.
        Changelog = "changelog",
        /// Difference of two full reads.
        Diff = "diff",
    }
    /// How a consumer keeps its progress.
    ConsumerMode {
        /// With the reader's checkpoints.
        ExactlyOnce = "exactly-once",
        /// From time to time.
        AtLeastOnce = "at-least-once",
    }
    /// When expiry runs.
    ExpireExecutionMode {
        /// In the commit.
        Sync = "sync",
        /// Beside it.
        Async = "async",
    }
    /// How sorted runs are merged; the result is the same.
    SortEngine {
        /// A binary heap.
        MinHeap = "min-heap",
        /// A loser tree.
        LoserTree = "loser-tree",
    }
    /// How eagerly lookup compaction runs.
    LookupCompactMode {
        /// With every commit.
        Radical = "radical",
        /// At intervals.
        Gentle = "gentle",
    }
    /// Layout of local lookup files.
    LookupLocalFileType {
        /// Sorted blocks.
        Sort = "sort",
        /// A hash table.
        Hash = "hash",
    }
    /// How a partition's age is found.
    PartitionExpireStrategy {
        /// From its values.
        ValuesTime = "values-time",
        /// From its last change.
        UpdateTime = "update-time",
        /// By the user's own class.
        Custom = "custom",
    }
    /// When tags are made without being asked for.
    TagCreationMode {
        /// Never.
        None = "none",
        /// By the machine's clock.
        ProcessTime = "process-time",
        /// By the watermark.
        Watermark = "watermark",
        /// After each batch commit.
        Batch = "batch",
    }
    /// How often tags are made.
    TagCreationPeriod {
        /// Each day.
        Daily = "daily",
        /// Each hour.
        Hourly = "hourly",
        /// Each second hour.
        TwoHours = "two-hours",
    }
    /// How the time in a tag's name is written.
    TagPeriodFormatter {
        /// `2023-07-18 11`.
        WithDashes = "with_dashes",
        /// `20230718 11`.
        WithoutDashes = "without_dashes",
        /// `2023071811`.
        WithoutDashesAndSpaces = "without_dashes_and_spaces",
    }
    /// Which clock marks partitions as done.
    PartitionMarkDoneActionMode {
        /// The machine's.
        ProcessTime = "process-time",
        /// The watermark.
        Watermark = "watermark",
    }
    /// How an engine routes rows of append tables to its writers.
    PartitionSinkStrategy {
        /// As they come.
        None = "none",
        /// By partition.
        Hash = "hash",
    }
    /// By what sort compaction cuts ranges.
    RangeStrategy {
        /// Bytes.
        Size = "size",
        /// Rows.
        Quantity = "quantity",
    }
    /// Curve of clustering.
    ClusteringStrategy {
        /// Order for one column, z-order up to four, Hilbert beyond.
        Auto = "auto",
        /// Column by column.
        Order = "order",
        /// Bits interleaved.
        Zorder = "zorder",
        /// Along a Hilbert curve.
        Hilbert = "hilbert",
    }
    /// How far incremental clustering sorts (2.x).
    ClusteringIncrementalMode {
        /// Over all files.
        GlobalSort = "global-sort",
        /// Inside each file.
        LocalSort = "local-sort",
    }
    /// How a writer finds the first sequence number of a bucket (2.x).
    SequenceNumberInitMode {
        /// From the live files.
        Scan = "scan",
        /// From the clock.
        Timestamp = "timestamp",
    }
    /// What a streaming plan is for; set by engines for themselves.
    StreamScanMode {
        /// Reading.
        None = "none",
        /// Feeding a compaction job.
        CompactBucketTable = "compact-bucket-table",
        /// Watching files.
        FileMonitor = "file-monitor",
    }
    /// What a batch plan is for; set by engines for themselves.
    BatchScanMode {
        /// Reading.
        None = "none",
        /// Feeding a compaction job.
        Compact = "compact",
    }
    /// Where a stream reads from.
    StreamingReadMode {
        /// An outside log.
        Log = "log",
        /// The table's files.
        File = "file",
    }
    /// How an engine's source hands out splits.
    SplitEnumeratorMode {
        /// Evenly, ahead of time.
        Fair = "fair",
        /// To whoever asks.
        Preemptive = "preemptive",
    }
    /// When an engine's source emits watermarks.
    WatermarkEmitStrategy {
        /// At intervals.
        OnPeriodic = "on-periodic",
        /// With each row.
        OnEvent = "on-event",
    }
    /// Consistency of an outside log.
    LogConsistency {
        /// Visible at commit.
        Transactional = "transactional",
        /// Visible at once.
        Eventual = "eventual",
    }
    /// Which changes go to an outside log.
    LogChangelogMode {
        /// As the table has it.
        Auto = "auto",
        /// All four kinds.
        All = "all",
        /// Without −U.
        Upsert = "upsert",
    }
    /// Where Iceberg metadata is kept.
    IcebergStorage {
        /// None is written.
        Disabled = "disabled",
        /// In the table's folder.
        TableLocation = "table-location",
        /// In a Hadoop catalog's folders.
        HadoopCatalog = "hadoop-catalog",
        /// In a Hive catalog.
        HiveCatalog = "hive-catalog",
        /// In a REST catalog.
        RestCatalog = "rest-catalog",
    }
    /// Below which folder Iceberg metadata lies.
    IcebergStorageLocation {
        /// The table's.
        TableLocation = "table-location",
        /// The catalog's.
        CatalogLocation = "catalog-location",
    }
    /// Unit of a materialized table's freshness.
    FreshnessTimeUnit {
        /// Seconds.
        Second = "SECOND",
        /// Minutes.
        Minute = "MINUTE",
        /// Hours.
        Hour = "HOUR",
        /// Days.
        Day = "DAY",
    }
    /// How a materialized table is refreshed.
    MaterializedTableRefreshMode {
        /// By a running job.
        Continuous = "CONTINUOUS",
        /// Anew each time.
        Full = "FULL",
        /// As the engine decides.
        Automatic = "AUTOMATIC",
    }
    /// State of a materialized table's refresh.
    MaterializedTableRefreshStatus {
        /// Being set up.
        Initializing = "INITIALIZING",
        /// Running.
        Activated = "ACTIVATED",
        /// Halted.
        Suspended = "SUSPENDED",
    }
}
