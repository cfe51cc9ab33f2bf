//! A bucket that is written, compacted and reopened in turn reads as a map that took the same rows.

use std::collections::{BTreeMap, HashMap};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{ArrayRef, Int32Array};
use proptest::prelude::*;
use tidewater_files::FileDirectory;
use tidewater_files::FilesContext;
use tidewater_format::{SchemaDefinition, TableSchema};
use tidewater_io::{CpuPool, FileIo, MemoryBudget};
use tidewater_types::{BinaryRow, DataType, RowType};

use super::*;
use crate::{ReadSpec, SplitFiles, SplitRead, SplitReader, WriteBuffer};

/// Key, value, kind.
type Row = (i32, i32, i8);

/// What is done with the bucket.
#[derive(Debug, Clone)]
enum Action {
    Write(Vec<Row>),
    Release,
    Compact { full: bool },
    Commit { wait: bool },
    Reopen,
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let rows = prop::collection::vec((0..20_i32, any::<i32>(), 0..4_i8), 1..25);
    let action = prop_oneof![
        6 => rows.prop_map(Action::Write),
        2 => Just(Action::Release),
        1 => any::<bool>().prop_map(|full| Action::Compact { full }),
        4 => any::<bool>().prop_map(|wait| Action::Commit { wait }),
        1 => Just(Action::Reopen),
    ];
    prop::collection::vec(action, 0..40)
}

fn schema(keyed: bool, options: &[(&str, &str)]) -> Arc<TableSchema> {
    let columns = RowType::of([
        ("k", DataType::int().with_nullable(!keyed)),
        ("v", DataType::int()),
    ]);
    let definition = SchemaDefinition {
        fields: columns.fields,
        primary_keys: keyed.then(|| "k".to_owned()).into_iter().collect(),
        partition_keys: Vec::new(),
        options: options
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
        comment: None,
    };
    Arc::new(TableSchema::create(definition, 0).unwrap())
}

/// The bucket as its commits say.
#[derive(Default)]
struct Committed {
    live: Vec<Arc<DataFileMeta>>,
    changelog: Vec<Arc<DataFileMeta>>,
    levels_seen: i32,
}

impl Committed {
    fn add(&mut self, message: &CommitMessage) {
        self.live.extend(message.data.new_files.iter().cloned());
        self.changelog
            .extend(message.data.changelog_files.iter().cloned());
        for gone in &message.compact.before {
            let at = self
                .live
                .iter()
                .position(|file| file.file_name == gone.file_name && file.level == gone.level);
            self.live
                .remove(at.expect("a compaction takes away what is live"));
        }
        self.live.extend(message.compact.after.iter().cloned());
        let top = self.live.iter().map(|file| file.level).max();
        self.levels_seen = self.levels_seen.max(top.unwrap_or(0));
    }
}

struct Bucket {
    context: Arc<WriterContext>,
    place: BucketPlace,
    budget: MemoryBudget,
}

impl Bucket {
    fn new(schema: Arc<TableSchema>) -> Self {
        let (io, root) = FileIo::from_uri("memory:/t", &BTreeMap::new()).unwrap();
        let path = format!("{root}/bucket-0");
        let total_buckets = schema.bucket_mode().unwrap().total_buckets();
        let files = FilesContext::new(io, CpuPool::new(2));
        Self {
            context: Arc::new(WriterContext::new(files, schema, std::env::temp_dir()).unwrap()),
            place: BucketPlace {
                partition: BinaryRow::empty(),
                bucket: 0,
                total_buckets,
                directory: FileDirectory::of_bucket(&path),
                path,
            },
            budget: MemoryBudget::unlimited(),
        }
    }

    fn schemas(&self) -> SchemasById {
        let schema = self.context.schema();
        Arc::new(HashMap::from([(schema.id, Arc::clone(schema))]))
    }

    fn open(&self, live: &[Arc<DataFileMeta>]) -> BucketWriter {
        let context = Arc::clone(&self.context);
        BucketWriter::open(context, self.place.clone(), live.to_vec(), self.schemas()).unwrap()
    }

    async fn write(&self, writer: &mut BucketWriter, rows: &[Row]) {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.0))),
            Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.1))),
        ];
        let schema =
            tidewater_types::arrow_types::to_arrow_schema(&self.context.schema().row_type());
        let values = RecordBatch::try_new(schema, columns).unwrap();
        let kinds = self
            .context
            .schema()
            .is_keyed()
            .then(|| Int8Array::from_iter_values(rows.iter().map(|row| row.2)));
        let memory = self
            .budget
            .reserve_forced(WriteBuffer::cost(&values, kinds.as_ref()));
        writer.write(values, kinds, memory).await.unwrap();
    }

    /// Rows as (key, value, kind), in file order.
    async fn read(&self, files: &[Arc<DataFileMeta>], read: SplitRead, kinds: bool) -> Vec<Row> {
        let spec = ReadSpec {
            schema: Arc::clone(self.context.schema()),
            schemas: self.schemas(),
            projection: vec![0, 1],
            filter: None,
            kinds,
            batch_rows: 7,
        };
        let reader = SplitReader::new(self.context.files.clone(), spec).unwrap();
        let split = SplitFiles {
            bucket_path: self.place.path.clone(),
            files: files.to_vec(),
            deletions: Arc::default(),
            read,
            parallel: 1,
        };
        let (mut stream, mut rows) = (reader.read(split).await.unwrap(), Vec::new());
        while let Some(batch) = stream.next().await.unwrap() {
            let ints = |at: usize| batch.column(at).as_primitive::<Int32Type>().clone();
            let (keys, values) = (ints(0), ints(1));
            let kind = kinds.then(|| batch.column(2).as_primitive::<Int8Type>().clone());
            for row in 0..batch.num_rows() {
                let kind = kind.as_ref().map_or(0, |kinds| kinds.value(row));
                rows.push((keys.value(row), values.value(row), kind));
            }
        }
        rows
    }

    async fn files_on_disk(&self) -> Vec<String> {
        let listed = self
            .context
            .files
            .io()
            .list(&self.place.path)
            .await
            .unwrap();
        let mut names: Vec<String> = listed.into_iter().map(|file| file.name).collect();
        names.sort();
        names
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
}

fn names<'a>(files: impl Iterator<Item = &'a Arc<DataFileMeta>>) -> Vec<String> {
    let mut names: Vec<String> = files.map(|file| file.file_name.clone()).collect();
    names.sort();
    names.dedup();
    names
}

/// Runs the actions; answers what was committed and the rows that were committed, in order.
async fn run(bucket: &Bucket, actions: &[Action]) -> (Committed, Vec<Row>) {
    let mut committed = Committed::default();
    let (mut rows, mut pending) = (Vec::new(), Vec::new());
    let mut writer = bucket.open(&[]);
    let last = [Action::Commit { wait: true }];
    for action in actions.iter().chain(&last) {
        match action {
            Action::Write(batch) => {
                bucket.write(&mut writer, batch).await;
                pending.extend(batch.iter().copied());
            }
            Action::Release => writer.release_memory().await.unwrap(),
            Action::Compact { full } => writer.compact(*full).await.unwrap(),
            Action::Commit { wait } => {
                committed.add(&writer.prepare_commit(*wait).await.unwrap());
                rows.append(&mut pending);
            }
            Action::Reopen => {
                // A compaction under way ends with its commit; rows that were not committed are lost.
                committed.add(&writer.prepare_commit(true).await.unwrap());
                rows.append(&mut pending);
                bucket.write(&mut writer, &[(1, 1, 0)]).await;
                writer.abort().await;
                writer = bucket.open(&committed.live);
            }
        }
    }
    writer.abort().await;
    (committed, rows)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_keyed_bucket_reads_as_a_map(
        actions in actions(),
        spillable in any::<bool>(),
        target in prop::sample::select(vec!["1 b", "1 kb", "1 mb"]),
    ) {
        runtime().block_on(async {
            let spillable = spillable.to_string();
            let bucket = Bucket::new(schema(true, &[
                ("bucket", "1"),
                ("changelog-producer", "input"),
                ("num-sorted-run.compaction-trigger", "2"),
                ("write-buffer-spillable", &spillable),
                ("target-file-size", target),
            ]));
            let (committed, rows) = run(&bucket, &actions).await;
            let mut map: BTreeMap<i32, Row> = BTreeMap::new();
            for row in &rows {
                map.insert(row.0, *row);
            }
            let mut expected: Vec<Row> = map.values().filter(|row| row.2 % 2 == 0).copied().collect();
            expected.iter_mut().for_each(|row| row.2 = 0);
            let mut read = bucket.read(&committed.live, SplitRead::Merge, false).await;
            read.sort_unstable();
            assert_eq!(read, expected);
            // The changelog replayed gives the same.
            let mut replayed: BTreeMap<i32, Row> = BTreeMap::new();
            for row in bucket.read(&committed.changelog, SplitRead::Changes, true).await {
                replayed.insert(row.0, row);
            }
            assert_eq!(replayed, map);
            // Nothing is on disk but what is committed, or was and is still named by older snapshots.
            let all = bucket.files_on_disk().await;
            for name in names(committed.live.iter().chain(&committed.changelog)) {
                assert!(all.contains(&name), "{name} is gone");
            }
            assert_eq!(bucket.budget.used(), 0);
        });
    }

    #[test]
    fn an_append_bucket_keeps_its_rows_in_order(
        actions in actions(),
        target in prop::sample::select(vec!["1 b", "1 kb", "1 mb"]),
    ) {
        runtime().block_on(async {
            let bucket = Bucket::new(schema(false, &[
                ("bucket", "1"),
                ("bucket-key", "k"),
                ("compaction.min.file-num", "2"),
                ("target-file-size", target),
            ]));
            let (mut committed, rows) = run(&bucket, &actions).await;
            committed.live.sort_by_key(|file| file.min_sequence_number);
            let expected: Vec<Row> = rows.iter().map(|row| (row.0, row.1, 0)).collect();
            assert_eq!(bucket.read(&committed.live, SplitRead::Changes, false).await, expected);
            let mut next = 0;
            for file in &committed.live {
                assert_eq!(file.min_sequence_number, next);
                next = file.max_sequence_number + 1;
            }
            assert_eq!(bucket.budget.used(), 0);
        });
    }
}

#[test]
fn files_that_no_message_told_of_are_removed_by_abort() {
    runtime().block_on(async {
        let options = [("bucket", "1"), ("write-buffer-spillable", "false")];
        let bucket = Bucket::new(schema(true, &options));
        let mut writer = bucket.open(&[]);
        bucket.write(&mut writer, &[(1, 1, 0), (2, 2, 0)]).await;
        writer.release_memory().await.unwrap();
        assert_eq!(bucket.files_on_disk().await.len(), 1);
        writer.abort().await;
        assert_eq!(bucket.files_on_disk().await.len(), 0);
    });
}

#[test]
fn compaction_reaches_the_top_level_and_drops_deletes() {
    runtime().block_on(async {
        let bucket = Bucket::new(schema(true, &[("bucket", "1")]));
        let mut committed = Committed::default();
        let mut writer = bucket.open(&[]);
        bucket.write(&mut writer, &[(1, 1, 0), (2, 2, 0)]).await;
        committed.add(&writer.prepare_commit(true).await.unwrap());
        bucket.write(&mut writer, &[(1, 9, 3)]).await;
        committed.add(&writer.prepare_commit(true).await.unwrap());
        assert_eq!(committed.live.len(), 2);
        writer.compact(true).await.unwrap();
        committed.add(&writer.prepare_commit(true).await.unwrap());
        let [only] = committed.live.as_slice() else {
            panic!("{:?}", committed.live);
        };
        assert_eq!(
            (only.level, only.row_count, only.delete_row_count),
            (5, 1, Some(0))
        );
    });
}

#[test]
fn a_write_only_writer_refuses_a_full_compaction_and_never_compacts() {
    runtime().block_on(async {
        let bucket = Bucket::new(schema(true, &[("bucket", "1"), ("write-only", "true")]));
        let mut writer = bucket.open(&[]);
        for round in 0..8 {
            bucket.write(&mut writer, &[(1, round, 0)]).await;
            let message = writer.prepare_commit(true).await.unwrap();
            assert_eq!(message.data.new_files.len(), 1);
            assert!(message.compact.is_empty());
        }
        assert!(matches!(
            writer.compact(true).await,
            Err(StoreError::WriteOnly)
        ));
    });
}

#[test]
fn deletes_stay_until_they_meet_the_oldest_rows() {
    runtime().block_on(async {
        let options = [("bucket", "1"), ("num-sorted-run.compaction-trigger", "2")];
        let bucket = Bucket::new(schema(true, &options));
        let mut committed = Committed::default();
        let mut writer = bucket.open(&[]);
        let rows: Vec<Row> = (0..5000)
            .map(|key: i32| (key, key.wrapping_mul(77_777), 0))
            .collect();
        bucket.write(&mut writer, &rows).await;
        writer.compact(true).await.unwrap();
        committed.add(&writer.prepare_commit(true).await.unwrap());
        for key in [1, 2] {
            bucket.write(&mut writer, &[(key, 0, 3)]).await;
            committed.add(&writer.prepare_commit(true).await.unwrap());
        }
        let mut shape: Vec<(i32, Option<i64>)> = committed
            .live
            .iter()
            .map(|file| (file.level, file.delete_row_count))
            .collect();
        shape.sort_unstable();
        assert_eq!(shape, [(1, Some(2)), (2, Some(0))]);
        let read = bucket.read(&committed.live, SplitRead::Merge, false).await;
        assert_eq!(read.len(), 4998);
    });
}

/// Rows of 1970 among rows of 2038: a read shows all, a full compaction leaves the young ones, also where a file lies on the top level alone.
#[test]
fn compactions_leave_out_rows_that_have_expired_and_nothing_else_does() {
    runtime().block_on(async {
        let options = [
            ("bucket", "1"),
            ("record-level.expire-time", "1 h"),
            ("record-level.time-field", "v"),
        ];
        let (old, young) = (5, i32::MAX);
        let bucket = Bucket::new(schema(true, &options));
        let rows = [(1, old, 0), (2, young, 0), (3, old, 0)];
        for levels in [0, 5] {
            let mut committed = Committed::default();
            let mut writer = bucket.open(&[]);
            bucket.write(&mut writer, &rows).await;
            committed.add(&writer.prepare_commit(true).await.unwrap());
            if levels == 5 {
                // A table that lets its rows expire from now on: what it has lies on the top level.
                for file in &mut committed.live {
                    *file = Arc::new(file.upgraded(5));
                }
                writer = bucket.open(&committed.live);
            }
            let all = bucket.read(&committed.live, SplitRead::Merge, false).await;
            assert_eq!(all, rows);
            writer.compact(true).await.unwrap();
            committed.add(&writer.prepare_commit(true).await.unwrap());
            let left = bucket.read(&committed.live, SplitRead::Merge, false).await;
            assert_eq!(left, [(2, young, 0)]);
            // Nothing is left to do.
            writer.compact(true).await.unwrap();
            assert!(
                writer
                    .prepare_commit(true)
                    .await
                    .unwrap()
                    .compact
                    .is_empty()
            );
        }
    });
}
