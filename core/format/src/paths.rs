//! Where the files of a table are.
//!
//! ```text
//!  <table>/schema/schema-N  snapshot/{snapshot-N,LATEST,EARLIEST}  changelog/…  tag/tag-T  consumer/consumer-C
//!  <table>/manifest/{manifest-…,manifest-list-…,index-manifest-…}  index/index-…  statistics/stat-…
//!  <table>/branch/branch-B/{schema,snapshot,changelog,tag,consumer}/…        everything else is shared
//!  <table>/[<data dir>/]k1=v1/k2=v2/bucket-N/<data files>
//! ```
//!
//! Paths are the table's root, as it was given, and names joined by `/`. Source: spec 01 §1, Paimon
//! `utils/FileStorePathFactory.java`.

use tidewater_types::partition::partition_path;
use tidewater_types::{BinaryRow, Bucket, RowType, SchemaId, SnapshotId};

use crate::data_file_meta::DataFileMeta;
use crate::error::Result;
use crate::options::TableOptions;

/// Paths of one table, or of one of its branches.
#[derive(Debug, Clone)]
pub struct TablePaths {
    root: String,
    /// Where schema, snapshots, changelogs, tags and consumers are: the root, or a branch's folder.
    branch_root: String,
    data_directory: Option<String>,
    external_paths: Vec<String>,
    partition_default_name: String,
    partition_legacy_name: bool,
    index_beside_data: bool,
}

impl TablePaths {
    /// Paths of the main branch of the table at `table_root`.
    pub fn new(table_root: &str, options: &TableOptions) -> Self {
        let root = table_root.trim_end_matches('/').to_owned();
        let directory = options.data_file_path_directory.as_deref();
        let directory = directory.map(|directory| directory.trim_matches('/').to_owned());
        Self {
            branch_root: root.clone(),
            root,
            data_directory: directory.filter(|directory| !directory.is_empty()),
            external_paths: options
                .external_paths()
                .into_iter()
                .map(str::to_owned)
                .collect(),
            partition_default_name: options.partition_default_name.clone(),
            partition_legacy_name: options.partition_legacy_name,
            index_beside_data: options.index_file_in_data_file_dir,
        }
    }

    /// Paths of a branch of the same table; `main` is the table itself.
    #[must_use]
    pub fn branch(&self, name: &str) -> Self {
        let branch_root = if name == "main" {
            self.root.clone()
        } else {
            format!("{}/branch/branch-{name}", self.root)
        };
        Self {
            branch_root,
            ..self.clone()
        }
    }

    /// The table's folder.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// Folder of the schema files.
    pub fn schema_dir(&self) -> String {
        format!("{}/schema", self.branch_root)
    }

    /// A schema file.
    pub fn schema(&self, id: SchemaId) -> String {
        format!("{}/schema/schema-{id}", self.branch_root)
    }

    /// Folder of the snapshot files.
    pub fn snapshot_dir(&self) -> String {
        format!("{}/snapshot", self.branch_root)
    }

    /// A snapshot file.
    pub fn snapshot(&self, id: SnapshotId) -> String {
        format!("{}/snapshot/snapshot-{id}", self.branch_root)
    }

    /// Hint at the newest snapshot.
    pub fn latest_hint(&self) -> String {
        format!("{}/snapshot/LATEST", self.branch_root)
    }

    /// Hint at the oldest snapshot.
    pub fn earliest_hint(&self) -> String {
        format!("{}/snapshot/EARLIEST", self.branch_root)
    }

    /// Folder of the changelogs that outlive their snapshots.
    pub fn changelog_dir(&self) -> String {
        format!("{}/changelog", self.branch_root)
    }

    /// A long-lived changelog.
    pub fn changelog(&self, id: SnapshotId) -> String {
        format!("{}/changelog/changelog-{id}", self.branch_root)
    }

    /// Hint at the newest long-lived changelog.
    pub fn changelog_latest_hint(&self) -> String {
        format!("{}/changelog/LATEST", self.branch_root)
    }

    /// Hint at the oldest long-lived changelog.
    pub fn changelog_earliest_hint(&self) -> String {
        format!("{}/changelog/EARLIEST", self.branch_root)
    }

    /// Folder of the tags.
    pub fn tag_dir(&self) -> String {
        format!("{}/tag", self.branch_root)
    }

    /// A tag.
    pub fn tag(&self, name: &str) -> String {
        format!("{}/tag/tag-{name}", self.branch_root)
    }

    /// Folder of the consumers.
    pub fn consumer_dir(&self) -> String {
        format!("{}/consumer", self.branch_root)
    }

    /// A consumer.
    pub fn consumer(&self, id: &str) -> String {
        format!("{}/consumer/consumer-{id}", self.branch_root)
    }

    /// Folder of the branches.
    pub fn branch_dir(&self) -> String {
        format!("{}/branch", self.root)
    }

    /// Folder of manifests, manifest lists and index manifests, of all branches.
    pub fn manifest_dir(&self) -> String {
        format!("{}/manifest", self.root)
    }

    /// A manifest, manifest list or index manifest.
    pub fn manifest(&self, name: &str) -> String {
        format!("{}/manifest/{name}", self.root)
    }

    /// Folder of index files that do not lie beside data.
    pub fn index_dir(&self) -> String {
        format!("{}/index", self.root)
    }

    /// An index file of the bucket whose folder is `bucket_dir`: there if the table keeps indexes beside data.
    pub fn index_file(&self, bucket_dir: &str, name: &str) -> String {
        if self.index_beside_data {
            format!("{bucket_dir}/{name}")
        } else {
            format!("{}/index/{name}", self.root)
        }
    }

    /// Folder of the statistics.
    pub fn statistics_dir(&self) -> String {
        format!("{}/statistics", self.root)
    }

    /// A statistics file.
    pub fn statistics(&self, name: &str) -> String {
        format!("{}/statistics/{name}", self.root)
    }

    /// Folder below which all partitions lie.
    pub fn data_root(&self) -> String {
        match &self.data_directory {
            Some(directory) => format!("{}/{directory}", self.root),
            None => self.root.clone(),
        }
    }

    /// Directories of a partition below the data root: `k1=v1/k2=v2/`, empty without partition columns.
    ///
    /// Different values may share one directory (spec 01 §1.2), so the way back does not exist.
    ///
    /// # Errors
    /// If the row does not fit the type.
    pub fn partition_path(
        &self,
        partition: &BinaryRow,
        partition_type: &RowType,
    ) -> Result<String> {
        let keys: Vec<String> = partition_type.names().map(str::to_owned).collect();
        Ok(partition_path(
            &keys,
            partition,
            &partition_type.types(),
            &self.partition_default_name,
            self.partition_legacy_name,
        )?)
    }

    /// Folder of a partition, without a slash at its end.
    ///
    /// # Errors
    /// As [`TablePaths::partition_path`].
    pub fn partition_dir(&self, partition: &BinaryRow, partition_type: &RowType) -> Result<String> {
        let path = self.partition_path(partition, partition_type)?;
        let directory = format!("{}/{path}", self.data_root());
        Ok(directory.trim_end_matches('/').to_owned())
    }

    /// Folder of a bucket in the table's own folder, without a slash at its end.
    ///
    /// # Errors
    /// As [`TablePaths::partition_path`].
    pub fn bucket_dir(
        &self,
        partition: &BinaryRow,
        bucket: i32,
        partition_type: &RowType,
    ) -> Result<String> {
        let path = self.partition_path(partition, partition_type)?;
        let bucket = Bucket(bucket).directory_name();
        Ok(format!("{}/{path}{bucket}", self.data_root()))
    }

    /// A data or changelog file of the bucket whose folder is `bucket_dir`: its external path if it has one.
    pub fn data_file(&self, bucket_dir: &str, file: &DataFileMeta) -> String {
        data_file_path(bucket_dir, &file.file_name, file.external_path.as_deref())
    }

    /// Absolute URIs that new data files go to in turn; empty if they go to the table's folder.
    pub fn external_paths(&self) -> &[String] {
        &self.external_paths
    }

    /// Folder of a bucket below an external path.
    ///
    /// # Errors
    /// As [`TablePaths::partition_path`].
    pub fn external_bucket_dir(
        &self,
        external_path: &str,
        partition: &BinaryRow,
        bucket: i32,
        partition_type: &RowType,
    ) -> Result<String> {
        let path = self.partition_path(partition, partition_type)?;
        let bucket = Bucket(bucket).directory_name();
        let external_path = external_path.trim_end_matches('/');
        Ok(match &self.data_directory {
            Some(directory) => format!("{external_path}/{directory}/{path}{bucket}"),
            None => format!("{external_path}/{path}{bucket}"),
        })
    }
}

/// Path of a data file: its external path if it has one, else its name in the bucket's folder.
pub fn data_file_path(bucket_dir: &str, file_name: &str, external_path: Option<&str>) -> String {
    match external_path {
        Some(path) => path.to_owned(),
        None => format!("{bucket_dir}/{file_name}"),
    }
}

/// Path of a file that lies beside a data file, such as its index.
pub fn extra_file_path(data_file_path: &str, extra_name: &str) -> String {
    match data_file_path.rsplit_once('/') {
        Some((directory, _)) => format!("{directory}/{extra_name}"),
        None => extra_name.to_owned(),
    }
}

/// Name of a temporary file that becomes `final_name`, in the same folder. Listings of versioned files skip it, because
/// it starts with a dot (spec 01 §1).
pub fn temporary_name(final_name: &str, uuid: &str) -> String {
    format!(".{final_name}.{uuid}.tmp")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tidewater_types::{DataType, Datum};

    use super::*;

    fn paths(options: &[(&str, &str)]) -> TablePaths {
        let options: BTreeMap<_, _> = options
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        TablePaths::new("/w/d.db/t/", &TableOptions::from_map(&options).unwrap())
    }

    fn partition(values: &[Datum], columns: &[(&str, DataType)]) -> (BinaryRow, RowType) {
        let row_type = RowType::of(columns.iter().cloned());
        (
            BinaryRow::from_datums(values, &row_type.types()).unwrap(),
            row_type,
        )
    }

    #[test]
    fn metadata_lies_in_the_tables_folder_and_a_branch_has_its_own_part_of_it() {
        let main = paths(&[]);
        let branch = main.branch("b");
        assert_eq!(main.schema(SchemaId(3)), "/w/d.db/t/schema/schema-3");
        assert_eq!(
            branch.schema(SchemaId(3)),
            "/w/d.db/t/branch/branch-b/schema/schema-3"
        );
        assert_eq!(
            branch.snapshot(SnapshotId(7)),
            "/w/d.db/t/branch/branch-b/snapshot/snapshot-7"
        );
        assert_eq!(
            branch.latest_hint(),
            "/w/d.db/t/branch/branch-b/snapshot/LATEST"
        );
        assert_eq!(
            branch.earliest_hint(),
            "/w/d.db/t/branch/branch-b/snapshot/EARLIEST"
        );
        assert_eq!(
            branch.changelog(SnapshotId(7)),
            "/w/d.db/t/branch/branch-b/changelog/changelog-7"
        );
        assert_eq!(branch.tag("v1"), "/w/d.db/t/branch/branch-b/tag/tag-v1");
        assert_eq!(
            branch.consumer("me"),
            "/w/d.db/t/branch/branch-b/consumer/consumer-me"
        );
        for shared in [&main, &branch, &branch.branch("main")] {
            assert_eq!(
                shared.manifest("manifest-u-0"),
                "/w/d.db/t/manifest/manifest-u-0"
            );
            assert_eq!(
                shared.statistics("stat-u-0"),
                "/w/d.db/t/statistics/stat-u-0"
            );
            assert_eq!(shared.branch_dir(), "/w/d.db/t/branch");
            assert_eq!(shared.data_root(), "/w/d.db/t");
        }
        assert_eq!(branch.branch("main").snapshot_dir(), "/w/d.db/t/snapshot");
    }

    #[test]
    fn data_lies_below_partition_and_bucket() {
        let (none, no_type) = partition(&[], &[]);
        assert_eq!(
            paths(&[]).bucket_dir(&none, 0, &no_type).unwrap(),
            "/w/d.db/t/bucket-0"
        );
        assert_eq!(
            paths(&[]).bucket_dir(&none, -2, &no_type).unwrap(),
            "/w/d.db/t/bucket-postpone"
        );
        assert_eq!(
            paths(&[]).partition_dir(&none, &no_type).unwrap(),
            "/w/d.db/t"
        );
        let columns = [("dt", DataType::date()), ("s", DataType::string())];
        let (row, row_type) = partition(
            &[Datum::Date(19_782), Datum::String("a/b".to_owned())],
            &columns,
        );
        let bucket_dir =
            |options: &[(&str, &str)]| paths(options).bucket_dir(&row, 3, &row_type).unwrap();
        assert_eq!(bucket_dir(&[]), "/w/d.db/t/dt=19782/s=a%2Fb/bucket-3");
        assert_eq!(
            bucket_dir(&[("partition.legacy-name", "false")]),
            "/w/d.db/t/dt=2024-02-29/s=a%2Fb/bucket-3"
        );
        assert_eq!(
            bucket_dir(&[("data-file.path-directory", "x/y")]),
            "/w/d.db/t/x/y/dt=19782/s=a%2Fb/bucket-3"
        );
        let (row, row_type) = partition(&[Datum::Null, Datum::String(" ".to_owned())], &columns);
        let named = paths(&[("partition.default-name", "NONE")]);
        assert_eq!(
            named.partition_dir(&row, &row_type).unwrap(),
            "/w/d.db/t/dt=NONE/s=NONE"
        );
    }

    /// As Java 1.3.1 lays out a table with these options.
    #[test]
    fn external_paths_repeat_what_lies_below_the_table() {
        let (row, row_type) = partition(
            &[Datum::String("a".to_owned())],
            &[("pt", DataType::string())],
        );
        let external = paths(&[
            ("data-file.external-paths", "file:///ext/"),
            ("data-file.external-paths.strategy", "round-robin"),
            ("data-file.path-directory", "dd"),
        ]);
        assert_eq!(external.external_paths(), ["file:///ext"]);
        let directory = external
            .external_bucket_dir("file:///ext", &row, 0, &row_type)
            .unwrap();
        assert_eq!(directory, "file:///ext/dd/pt=a/bucket-0");
    }

    #[test]
    fn a_file_lies_where_its_metadata_says() {
        let path = data_file_path("/t/bucket-0", "data-u-0.parquet", None);
        assert_eq!(path, "/t/bucket-0/data-u-0.parquet");
        assert_eq!(
            extra_file_path(&path, "data-u-0.parquet.index"),
            "/t/bucket-0/data-u-0.parquet.index"
        );
        let external = data_file_path(
            "/t/bucket-0",
            "data-u-0.parquet",
            Some("s3://b/x/data-u-0.parquet"),
        );
        assert_eq!(external, "s3://b/x/data-u-0.parquet");
        assert_eq!(extra_file_path(&external, "i"), "s3://b/x/i");
        let beside = paths(&[("index-file-in-data-file-dir", "true")]);
        assert_eq!(
            beside.index_file("/t/bucket-0", "index-u-0"),
            "/t/bucket-0/index-u-0"
        );
        assert_eq!(
            paths(&[]).index_file("/t/bucket-0", "index-u-0"),
            "/w/d.db/t/index/index-u-0"
        );
        assert_eq!(temporary_name("snapshot-7", "u"), ".snapshot-7.u.tmp");
    }
}
