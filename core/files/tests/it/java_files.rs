//! Files that Java Paimon 1.3.1 wrote: read, and written again to see whether we say the same of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use serde_json::Value;
use tidewater_files::{FileWriterOptions, FilesContext, ParquetFileReader, ReadRequest};
use tidewater_format::manifest::{FileKind, ManifestFilter, decode_entries};
use tidewater_format::{
    DataFileMeta, FileSource, Snapshot, TableSchema, manifest_list, value_kind_field,
};
use tidewater_types::{DataField, DataType, Datum, RowType};

use crate::golden;
use crate::json_rows::{cell, rows};
use crate::support::{context, local_context, read_with, vector_path, write_with};

/// Every kind of file of one small table, column for column.
#[tokio::test]
async fn the_recorded_files_hold_the_recorded_rows() {
    let listing: Value =
        serde_json::from_slice(&std::fs::read(vector_path("02-files/files.json")).unwrap())
            .unwrap();
    let key_value = RowType::of([
        ("v", DataType::int()),
        ("k2", DataType::string().not_null()),
        ("k1", DataType::int().not_null()),
        ("d", DataType::decimal(10, 2)),
        ("s", DataType::string()),
        ("arr", DataType::array(DataType::int())),
    ]);
    let append = RowType::of([("a", DataType::int()), ("b", DataType::string())]);
    let postponed = RowType::of([("k", DataType::int().not_null()), ("v", DataType::int())]);
    let mut checked = 0;
    for file in listing["files"].as_array().unwrap() {
        let name = file["file"].as_str().unwrap();
        if !name.ends_with(".parquet") && !name.ends_with(".avro") {
            continue;
        }
        let table = match name {
            "append.parquet" => &append,
            "pk-postpone.avro" => &postponed,
            _ => &key_value,
        };
        let columns: Vec<DataField> = file["columns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|name| column(table, name.as_str().unwrap()))
            .collect();
        let path = vector_path(&format!("02-files/{name}"));
        let context = local_context();
        let batch = read_with(&context, &path, ReadRequest::new(columns.clone()))
            .await
            .unwrap();
        let got: Vec<Value> = (0..batch.num_rows())
            .map(|row| {
                columns
                    .iter()
                    .zip(batch.columns())
                    .map(|(field, array)| cell(array, row, &field.data_type))
                    .collect()
            })
            .collect();
        assert_eq!(Value::Array(got), file["rows"], "{name}");
        checked += 1;
    }
    assert_eq!(checked, 7);
}

fn column(table: &RowType, name: &str) -> DataField {
    match name {
        "_SEQUENCE_NUMBER" => tidewater_format::sequence_number_field(),
        "_VALUE_KIND" => value_kind_field(),
        _ => match name.strip_prefix("_KEY_") {
            None => table.field(name).unwrap().clone(),
            Some(key) => {
                let field = table.field(key).unwrap();
                DataField::new(
                    tidewater_format::key_column_id(field.id),
                    name,
                    field.data_type.clone(),
                )
            }
        },
    }
}

/// A table of an unpacked warehouse.
struct Table {
    root: PathBuf,
}

impl Table {
    fn schema(&self, id: i64) -> Arc<TableSchema> {
        let bytes = std::fs::read(self.root.join(format!("schema/schema-{id}"))).unwrap();
        Arc::new(TableSchema::from_json(&bytes).unwrap())
    }

    fn latest_schema(&self) -> Arc<TableSchema> {
        let newest = (0..)
            .take_while(|id| self.root.join(format!("schema/schema-{id}")).exists())
            .last()
            .unwrap();
        self.schema(newest)
    }

    /// Files that any live snapshot added, changelog files too, with their folders.
    fn files(&self) -> Vec<(PathBuf, Arc<DataFileMeta>)> {
        let (mut files, mut seen) = (Vec::new(), BTreeSet::new());
        for snapshot in std::fs::read_dir(self.root.join("snapshot")).unwrap() {
            let path = snapshot.unwrap().path();
            if !path
                .file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with("snapshot-")
            {
                continue;
            }
            let snapshot = Snapshot::from_json(&std::fs::read(path).unwrap()).unwrap();
            let lists = [
                Some(snapshot.base_manifest_list),
                Some(snapshot.delta_manifest_list),
                snapshot.changelog_manifest_list,
            ];
            for list in lists.into_iter().flatten().filter(|list| !list.is_empty()) {
                for manifest in manifest_list::decode(
                    &std::fs::read(self.root.join("manifest").join(list)).unwrap(),
                )
                .unwrap()
                {
                    let bytes = std::fs::read(self.root.join("manifest").join(&manifest.file_name))
                        .unwrap();
                    for entry in decode_entries(&bytes, &ManifestFilter::all()).unwrap() {
                        if entry.kind != FileKind::Add || !seen.insert(entry.file.file_name.clone())
                        {
                            continue;
                        }
                        if let Some(path) = find(&self.root, &entry.file.file_name) {
                            files.push((path, entry.file));
                        }
                    }
                }
            }
        }
        files
    }
}

fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if let Some(found) = find(&path, name) {
                return Some(found);
            }
        } else if path.file_name().is_some_and(|file| file == name) {
            return Some(path);
        }
    }
    None
}

/// The tables of a case, by name.
fn tables(warehouse: &Path) -> Vec<(String, Table)> {
    let mut tables = Vec::new();
    for table in std::fs::read_dir(warehouse.join("db.db")).unwrap() {
        let root = table.unwrap().path();
        if root.join("snapshot").exists() {
            tables.push((
                root.file_name().unwrap().to_str().unwrap().to_owned(),
                Table { root },
            ));
        }
    }
    tables.sort_by(|left, right| left.0.cmp(&right.0));
    tables
}

async fn read_file(
    context: &FilesContext,
    path: &Path,
    asked: &[DataField],
    file: &[DataField],
) -> RecordBatch {
    let mut request = ReadRequest::new(asked.to_vec());
    request.file_fields = file.to_vec();
    read_with(context, path.to_str().unwrap(), request)
        .await
        .unwrap()
}

/// Append tables hold what was written: all files together are the answer of a full read.
async fn append_case(name: &str, only: fn(&str) -> bool, expected: fn(&str) -> String) -> usize {
    let folder = golden::unpack(name);
    let context = local_context();
    let mut checked = 0;
    for (table_name, table) in tables(&folder.path().join("warehouse")) {
        if !only(&table_name) {
            continue;
        }
        let schema = table.latest_schema();
        let mut got = Vec::new();
        for (path, file) in table.files() {
            let written_with = table.schema(file.schema_id.0);
            let batch = read_file(&context, &path, &schema.fields, &written_with.fields).await;
            assert_eq!(i64::try_from(batch.num_rows()).unwrap(), file.row_count);
            got.extend(rows(&batch, &schema.fields));
        }
        let want = golden::answer(name, &expected(&table_name));
        golden::assert_same_rows(&want, &got, &format!("{name} {table_name}"));
        checked += 1;
    }
    checked
}

#[tokio::test]
async fn every_codec_of_java_is_read() {
    let checked = append_case(
        "compressions",
        |table| !table.starts_with("orc"),
        |table| format!("{table}.jsonl"),
    )
    .await;
    assert_eq!(checked, 12);
}

#[tokio::test]
async fn every_type_of_java_is_read() {
    for case in ["types-parquet-append", "types-avro-append"] {
        let checked = append_case(case, |_| true, |_| "read-latest.jsonl".to_owned()).await;
        assert_eq!(checked, 1);
    }
}

#[tokio::test]
async fn types_that_changed_are_cast_as_in_java() {
    let checked = append_case(
        "evolution-types",
        |table| table != "orc",
        |table| match table {
            "parquet" => "read-latest.jsonl".to_owned(),
            other => format!("{other}-read-latest.jsonl"),
        },
    )
    .await;
    assert_eq!(checked, 2);
}

#[tokio::test]
async fn nested_fields_that_changed_are_read_by_id() {
    let checked = append_case(
        "evolution-nested",
        |table| table == "parquet",
        |_| "read-latest.jsonl".to_owned(),
    )
    .await;
    assert_eq!(checked, 1);
}

/// Reads each Parquet and Avro file of a case and writes its rows again with the table's options: what we say of our file is what Java said of
/// its own. Sizes, names, times and levels are the job's, not the rows'.
async fn describe_again(name: &str) -> usize {
    let folder = golden::unpack(name);
    let local = local_context();
    let mut checked = 0;
    for (table_name, table) in tables(&folder.path().join("warehouse")) {
        for (path, java) in table.files() {
            if path.extension().is_none_or(|extension| extension == "orc") {
                continue;
            }
            let schema = table.schema(java.schema_id.0);
            let changelog = java.file_name.starts_with("changelog");
            let source = java.file_source.unwrap_or(FileSource::Append);
            let mut options = if changelog {
                FileWriterOptions::changelog(&schema, java.level).unwrap()
            } else {
                FileWriterOptions::data(&schema, java.level, source).unwrap()
            };
            options.target_file_bytes = u64::MAX;
            options.first_sequence_number = java.min_sequence_number;
            let columns = if schema.is_keyed() {
                schema.key_value_type(true).fields
            } else {
                schema.fields.clone()
            };
            let rows = read_file(&local, &path, &columns, &[]).await;
            let context = context();
            let ours = write_with(&context, &schema, options, &[rows])
                .await
                .unwrap();
            let [ours] = ours.as_slice() else {
                panic!("{} files", ours.len())
            };
            let expected = DataFileMeta {
                file_name: ours.file_name.clone(),
                file_size: ours.file_size,
                creation_time_millis: ours.creation_time_millis,
                // Companion files and tracking are not the writer's.
                extra_files: Vec::new(),
                embedded_file_index: None,
                max_sequence_number: if schema.is_keyed() {
                    java.max_sequence_number
                } else {
                    ours.max_sequence_number
                },
                ..DataFileMeta::clone(&java)
            };
            assert_eq!(ours, &expected, "{name} {table_name} {}", path.display());
            checked += 1;
        }
    }
    checked
}

macro_rules! described_as_by_java {
    ($($test:ident: $case:literal),* $(,)?) => {$(
        #[tokio::test]
        async fn $test() {
            let checked = describe_again($case).await;
            assert!(checked > 0, "no file was compared");
        }
    )*};
}

described_as_by_java! {
    files_of_every_stats_mode_are_described_as_by_java: "stats-modes",
    keyed_files_of_every_type_are_described_as_by_java: "types-parquet-pk",
    append_files_of_every_type_are_described_as_by_java: "types-parquet-append",
    keyed_avro_files_of_every_type_are_described_as_by_java: "types-avro-pk",
    append_avro_files_of_every_type_are_described_as_by_java: "types-avro-append",
    variant_files_are_described_as_by_java: "types-variant",
    multiset_files_are_described_as_by_java: "types-multiset",
    composite_keys_are_described_as_by_java: "pk-composite-key",
    changelog_files_are_described_as_by_java: "pk-changelog-input",
    files_of_compactions_are_described_as_by_java: "lsm-levels",
    files_with_deletes_are_described_as_by_java: "pk-rowkind-and-ignore",
}

/// The kind and sequence columns are found by their reserved ids, key copies are not needed.
#[tokio::test]
async fn the_footer_tells_the_number_of_rows() {
    let context = local_context();
    let path = vector_path("02-files/pk-level0-thin.parquet");
    let reader = ParquetFileReader::open(&context, &path, None)
        .await
        .unwrap();
    assert_eq!(reader.row_count(), 3);
    assert_eq!(reader.has_field_id(2_147_483_645), Some(true));
    assert_eq!(reader.has_field_id(1_073_741_823), Some(false));
    let kinds = read_with(&context, &path, ReadRequest::new(vec![value_kind_field()]))
        .await
        .unwrap();
    let kinds: Vec<Datum> = (0..3)
        .map(|row| Datum::from_array(kinds.column(0), row, &DataType::tiny_int()).unwrap())
        .collect();
    assert_eq!(
        kinds,
        [Datum::TinyInt(3), Datum::TinyInt(0), Datum::TinyInt(0)]
    );
}
