//! Options that say what a table is: buckets, keys, names of its files.

macro_rules! table_shape_options {
    ($then:ident $args:tt) => { $then! { $args {
        /// Kind of table; this build works on `table` only.
        kind: TableKind = "type", default TableKind::Table;
        /// Number of buckets of each partition; -1 is dynamic (keyed) or unaware (append), -2 postpone (keyed). Changes only between positive numbers.
        bucket: i32 = "bucket", default -1;
        /// Columns that are hashed to a bucket; the primary key without partition columns if not set.
        bucket_key: Option<NameList> = "bucket-key", [immutable()];
        /// How a bucket is computed from the bucket key.
        bucket_function: BucketFunctionType = "bucket-function.type", default BucketFunctionType::Default, [immutable()];
        /// Whether rows of one bucket of an append table are read in the order they were written.
        bucket_append_ordered: bool = "bucket-append-ordered", default true;
        /// Primary key, instead of a clause of the table definition; moved into the schema.
        primary_key: Option<NameList> = "primary-key", [immutable()];
        /// Partition columns, instead of a clause of the table definition; moved into the schema.
        partition: Option<NameList> = "partition", [immutable()];
        /// Key of an upserting sink into a table without primary key; a hint to engines.
        upsert_key: Option<NameList> = "upsert-key";
        /// Columns that say which version of a key is newer, compared before the sequence number.
        sequence_field: Option<NameList> = "sequence.field";
        /// Which sequence values are newer; nulls are oldest in both orders.
        sequence_field_sort_order: SortOrder = "sequence.field.sort-order", default SortOrder::Ascending;
        /// Column that holds each row's kind (+I, -U, +U, -D).
        rowkind_field: Option<String> = "rowkind.field", [immutable()];
        /// Directory of the table; chosen by the catalog, never stored with the table.
        path: Option<String> = "path";
        /// Branch that a table handle works on.
        branch: String = "branch", default "main".to_owned();
        /// Whether an engine creates the folder of a table with its definition.
        auto_create: bool = "auto-create", default false;
        /// Absolute URIs that data files are written to instead of the table's folder.
        data_file_external_paths: Option<NameList> = "data-file.external-paths";
        /// How data files are spread over the external paths.
        data_file_external_paths_strategy: ExternalPathStrategy = "data-file.external-paths.strategy", default ExternalPathStrategy::None;
        /// Scheme of the external paths to use with the strategy specific-fs.
        data_file_external_paths_specific_fs: Option<String> = "data-file.external-paths.specific-fs";
        /// Weights of the external paths with the strategy weight-robin.
        data_file_external_paths_weights: Option<NameList> = "data-file.external-paths.weights", [newer()];
        /// Directory below the table's folder that holds all partitions.
        data_file_path_directory: Option<String> = "data-file.path-directory", [immutable()];
        /// First part of the names of data files.
        data_file_prefix: String = "data-file.prefix", default "data-".to_owned();
        /// Whether keyed data files leave out the copies of the key columns.
        data_file_thin_mode: bool = "data-file.thin-mode", default false;
        /// First part of the names of changelog files.
        changelog_file_prefix: String = "changelog-file.prefix", default "changelog-".to_owned();
        /// Whether index files lie beside the data files instead of in `index/`.
        index_file_in_data_file_dir: bool = "index-file-in-data-file-dir", default false, [immutable()];
        /// Directory name of a partition whose value is null or blank.
        partition_default_name: String = "partition.default-name", default "__DEFAULT_PARTITION__".to_owned();
        /// Whether partition directories are named as in old versions (dates as day numbers) or by casts to text.
        partition_legacy_name: bool = "partition.legacy-name", default true;
        /// Whether every row of an append table has an id of its own.
        row_tracking_enabled: bool = "row-tracking.enabled", default false;
        /// Whether row ids of one partition are contiguous within a commit.
        row_tracking_partition_group_on_commit: bool = "row-tracking.partition-group-on-commit", default true, [newer()];
        /// Whether the columns of a row may lie in several files.
        data_evolution_enabled: bool = "data-evolution.enabled", default false, [immutable()];
        /// Whether columns of the primary key may be null.
        primary_key_nullable: bool = "primary-key.nullable", default false, [newer()];
        /// Whether keyed files are sorted by `clustering.columns` instead of the key.
        pk_clustering_override: bool = "pk-clustering-override", default false, [newer()];
        /// Whether a nullable column can never become NOT NULL.
        alter_column_null_to_not_null_disabled: bool = "alter-column-null-to-not-null.disabled", default true;
        /// Whether column types change only by casts that lose nothing.
        disable_explicit_type_casting: bool = "disable-explicit-type-casting", default false;
        /// Whether new columns go in front of the partition columns by default.
        add_column_before_partition: bool = "add-column-before-partition", default false, [newer()];
    } } };
}
pub(crate) use table_shape_options;
