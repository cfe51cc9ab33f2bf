//! A bucket of real files beside a model of what they hold.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int8Array, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use tidewater_files::{
    FileDirectory, FileNames, FileWriterOptions, FilesContext, RollingFileWriter,
};
use tidewater_format::{
    DataFileMeta, FileSource, SchemaChange, SchemaDefinition, TableSchema, sequence_number_field,
    value_kind_field,
};
use tidewater_index::{
    DeletionFiles, DeletionVector, DvKind, deletion_files, encode_dv_files, write_dv_file,
};
use tidewater_merge::model::{ModelRow, ModelRules};
use tidewater_types::arrow_types::to_arrow_field;
use tidewater_types::{DataType, Datum, RowKind, RowType, SchemaId};

/// What somebody wrote: key, sequence field, value, kind.
pub(super) type Row = (i32, Option<i32>, Option<i32>, i8);

/// How a table is set up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setup {
    pub(super) rules: ModelRules,
    /// `sequence.field=s`.
    pub(super) fields: bool,
    /// The key is text, so that it does not pack into an integer.
    pub(super) text_key: bool,
    pub(super) thin: bool,
}

/// The values of a row, found by [`ModelRow::value`].
#[derive(Debug, Clone)]
struct Written {
    s: Option<i32>,
    v: Option<i32>,
    /// Whether its first file had the columns of the second schema.
    evolved: bool,
}

/// Some files of one run and what they hold.
pub(super) struct Run {
    pub(super) files: Vec<Arc<DataFileMeta>>,
    pub(super) rows: Vec<ModelRow>,
}

pub(super) const DIR: &str = "/table/bucket-0";
const ELSEWHERE: &str = "/elsewhere/bucket-0";

/// A bucket under test; newest run first.
pub(super) struct Bucket {
    pub(super) context: FilesContext,
    pub(super) setup: Setup,
    pub(super) runs: Vec<Run>,
    pub(super) schemas: Vec<Arc<TableSchema>>,
    pub(super) deletions: Arc<DeletionFiles>,
    written: Vec<Written>,
    names: FileNames,
    files_made: usize,
}

impl Bucket {
    pub(super) fn new(context: FilesContext, setup: Setup) -> Self {
        let key = if setup.text_key {
            DataType::string()
        } else {
            DataType::int()
        };
        let columns = RowType::of([
            ("v", DataType::int()),
            ("k", key.not_null()),
            ("s", DataType::int()),
            ("t", DataType::string()),
            ("c", DataType::int()),
        ]);
        let mut options = BTreeMap::from([("bucket".to_owned(), "1".to_owned())]);
        let mut set = |key: &str, value: &str| options.insert(key.to_owned(), value.to_owned());
        if setup.fields {
            set("sequence.field", "s");
        }
        if setup.rules.descending {
            set("sequence.field.sort-order", "descending");
        }
        if setup.rules.ignore_delete {
            set("ignore-delete", "true");
        }
        if setup.thin {
            set("data-file.thin-mode", "true");
        }
        let definition = SchemaDefinition {
            fields: columns.fields,
            primary_keys: vec!["k".to_owned()],
            partition_keys: Vec::new(),
            options,
            comment: None,
        };
        Self {
            names: FileNames::new(context.env()),
            context,
            setup,
            runs: Vec::new(),
            schemas: vec![Arc::new(TableSchema::create(definition, 0).unwrap())],
            deletions: Arc::default(),
            written: Vec::new(),
            files_made: 0,
        }
    }

    /// Renames `v` to `w`, widens it and `s`, drops `t`, turns `c` into text, and puts a new `x` in front.
    pub(super) fn evolve(&mut self) {
        let path = |name: &str| vec![name.to_owned()];
        let changes = [
            SchemaChange::ChangeType {
                path: path("v"),
                data_type: DataType::big_int(),
                keep_nullability: true,
            },
            SchemaChange::RenameColumn {
                path: path("v"),
                to: "w".to_owned(),
            },
            SchemaChange::ChangeType {
                path: path("s"),
                data_type: DataType::big_int(),
                keep_nullability: true,
            },
            SchemaChange::DropColumn { path: path("t") },
            SchemaChange::ChangeType {
                path: path("c"),
                data_type: DataType::string(),
                keep_nullability: true,
            },
            SchemaChange::AddColumn {
                path: path("x"),
                data_type: DataType::int(),
                description: None,
                position: Some(tidewater_format::ColumnPosition::First),
            },
        ];
        let next = self.schema().apply(&changes, true, 0).unwrap();
        self.schemas.push(Arc::new(next));
    }

    /// Forbids nulls in `v`, whatever the files have.
    pub(super) fn forbid_nulls(&mut self) {
        let mut next = TableSchema::clone(self.schema());
        next.id = next.id.next();
        next.fields[0].data_type = next.fields[0].data_type.clone().not_null();
        self.schemas.push(Arc::new(next));
    }

    pub(super) fn schema(&self) -> &Arc<TableSchema> {
        self.schemas.last().unwrap()
    }

    pub(super) fn schemas_by_id(&self) -> Arc<HashMap<SchemaId, Arc<TableSchema>>> {
        let all = self.schemas.iter();
        Arc::new(all.map(|schema| (schema.id, Arc::clone(schema))).collect())
    }

    /// Writes rows as a new level-0 file; `number` tells the sequence number of a row.
    pub(super) async fn flush(&mut self, rows: &[Row], number: impl Fn(i64) -> i64) {
        let mut input = Vec::new();
        for (at, (key, s, v, kind)) in (0_i64..).zip(rows) {
            let key = if self.setup.text_key {
                Datum::String(format!("key-{key:020}"))
            } else {
                Datum::Int(*key)
            };
            input.push(ModelRow {
                key: vec![key],
                seq_fields: if self.setup.fields {
                    vec![s.map_or(Datum::Null, Datum::Int)]
                } else {
                    Vec::new()
                },
                sequence: number(at),
                kind: RowKind::from_i8(*kind).unwrap(),
                value: i64::try_from(self.written.len()).unwrap(),
            });
            self.written.push(Written {
                s: *s,
                v: *v,
                evolved: self.schemas.len() > 1,
            });
        }
        let folded = self.setup.rules.merge(&[input]);
        self.add(0, 0, folded, 1).await;
    }

    /// Merges the newest runs into one, of several files.
    pub(super) async fn compact(&mut self, newest: usize, files: usize) {
        let newest = newest.min(self.runs.len());
        let drop_delete = newest == self.runs.len();
        let inputs: Vec<Vec<ModelRow>> = self.runs.drain(..newest).map(|run| run.rows).collect();
        let mut merged = self.setup.rules.merge(&inputs);
        merged.retain(|row| !(drop_delete && row.kind.is_retract()));
        self.add(0, 5, merged, files).await;
    }

    async fn add(&mut self, place: usize, level: i32, rows: Vec<ModelRow>, files: usize) {
        if rows.is_empty() {
            return;
        }
        let schema = Arc::clone(self.schema());
        let mut metas = Vec::new();
        for part in rows.chunks(rows.len().div_ceil(files.max(1))) {
            self.files_made += 1;
            let directory = if self.files_made % 3 == 2 {
                FileDirectory::external(ELSEWHERE)
            } else {
                FileDirectory::of_bucket(DIR)
            };
            let options = FileWriterOptions::data(&schema, level, FileSource::Append).unwrap();
            let mut writer = RollingFileWriter::new(
                &self.context,
                self.names.clone(),
                directory,
                Arc::clone(&schema),
                options,
            )
            .unwrap();
            writer
                .write(&self.batch(&schema, part, true))
                .await
                .unwrap();
            for mut file in writer.finish().await.unwrap() {
                // Old writers do not tell how many retractions there are.
                if self.files_made % 4 == 1 {
                    file.delete_row_count = None;
                }
                metas.push(Arc::new(file));
            }
        }
        self.runs.insert(place, Run { files: metas, rows });
    }

    /// Deletes one row in so many of every second file by deletion vectors, which the last call decides alone.
    pub(super) async fn delete_every(&mut self, every: u64) {
        let mut vectors = Vec::new();
        for (number, run) in self.runs.iter_mut().enumerate() {
            let mut rows = std::mem::take(&mut run.rows).into_iter();
            for (at, file) in run.files.iter().enumerate() {
                let count = u64::try_from(file.row_count).unwrap();
                let spared = (number + at) % 2 == 0;
                let deleted = (0..count).filter(|row| !spared && row % every == 0);
                let kind = [DvKind::Bits32, DvKind::Bits64][at % 2];
                let vector = DeletionVector::of(kind, deleted).unwrap();
                let of_file: Vec<_> = (0..count).zip(rows.by_ref()).collect();
                let left = of_file.into_iter().filter(|row| !vector.contains(row.0));
                run.rows.extend(left.map(|row| row.1));
                if !spared {
                    vectors.push((file.file_name.clone(), vector));
                }
            }
        }
        let vectors = vectors.iter().map(|(name, vector)| (name.as_str(), vector));
        let file = encode_dv_files(vectors, None).unwrap().pop().unwrap();
        let io = self.context.io();
        let meta = write_dv_file(io, "/table/index/index-0", "index-0".to_owned(), &file);
        let places = deletion_files("/table/index/index-0", &meta.await.unwrap());
        self.deletions = Arc::new(places.unwrap().into_iter().collect());
    }

    /// The columns of these rows as `schema` has them, with or without system columns.
    pub(super) fn batch(
        &self,
        schema: &TableSchema,
        rows: &[ModelRow],
        system: bool,
    ) -> RecordBatch {
        let written = |row: &ModelRow| self.written[usize::try_from(row.value).unwrap()].clone();
        let (mut fields, mut columns): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
        if system {
            fields.push(to_arrow_field(&sequence_number_field()));
            fields.push(to_arrow_field(&value_kind_field()));
            columns.push(Arc::new(Int64Array::from_iter_values(
                rows.iter().map(|row| row.sequence),
            )));
            columns.push(Arc::new(Int8Array::from_iter_values(
                rows.iter().map(|row| row.kind.as_i8()),
            )));
        }
        for field in &schema.fields {
            fields.push(to_arrow_field(field));
            let text = field.data_type.kind == DataType::string().kind;
            let wide = field.data_type.kind == DataType::big_int().kind;
            let number = |row: &ModelRow| match (field.name.as_str(), &row.key[0]) {
                ("k", Datum::Int(key)) => Some(*key),
                ("v" | "w" | "c", _) => written(row).v,
                ("x", _) => written(row).v.filter(|_| written(row).evolved),
                _ => written(row).s,
            };
            let string = |row: &ModelRow| match (field.name.as_str(), &row.key[0]) {
                ("k", Datum::String(key)) => Some(key.clone()),
                ("c", _) => written(row).v.map(|v| v.to_string()),
                _ => Some(format!("text {}", row.value)),
            };
            columns.push(match (text, wide) {
                (true, _) => Arc::new(rows.iter().map(string).collect::<StringArray>()),
                (false, true) => {
                    let numbers = rows.iter().map(|row| number(row).map(i64::from));
                    Arc::new(numbers.collect::<Int64Array>())
                }
                (false, false) => Arc::new(rows.iter().map(number).collect::<Int32Array>()),
            });
        }
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
    }

    /// All files, in an order that means nothing.
    pub(super) fn files(&self) -> Vec<Arc<DataFileMeta>> {
        let all = self.runs.iter().rev().flat_map(|run| &run.files);
        all.cloned().collect()
    }

    /// The merged rows, retractions included, in key order.
    pub(super) fn merged(&self) -> Vec<ModelRow> {
        let runs: Vec<Vec<ModelRow>> = self.runs.iter().map(|run| run.rows.clone()).collect();
        self.setup.rules.merge(&runs)
    }
}

/// Rows as text, one line each, for comparing.
pub(super) fn lines(batch: &RecordBatch) -> Vec<String> {
    let options = arrow_cast::display::FormatOptions::default().with_null("null");
    let columns: Vec<_> = batch
        .columns()
        .iter()
        .map(|column| arrow_cast::display::ArrayFormatter::try_new(column, &options).unwrap())
        .collect();
    (0..batch.num_rows())
        .map(|row| {
            let cells = columns.iter().map(|column| column.value(row).to_string());
            cells.collect::<Vec<_>>().join("|")
        })
        .collect()
}

/// Whether any column has a null that its field does not allow.
pub(super) fn keeps_its_word(batch: &RecordBatch) -> bool {
    let schema = batch.schema();
    let mut columns = schema.fields().iter().zip(batch.columns());
    columns.all(|(field, column)| field.is_nullable() || column.null_count() == 0)
}
