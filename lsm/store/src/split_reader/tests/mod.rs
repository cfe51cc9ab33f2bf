//! Splits read from real files against a model that replays what was written.

mod bucket;

use std::sync::Arc;

use arrow_array::{BooleanArray, Int8Array, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema};
use arrow_select::filter::filter_record_batch;
use proptest::prelude::*;
use tidewater_files::{FileDirectory, FileNames, FileWriterOptions, RollingFileWriter};
use tidewater_format::{FileSource, SchemaDefinition};
use tidewater_io::{CpuPool, Env, FileIo};
use tidewater_merge::model::{ModelRow, ModelRules};
use tidewater_types::arrow_types::to_arrow_schema;
use tidewater_types::{DataType, ErrorKind, RowType};

use super::*;
use bucket::{Bucket, DIR, Row, Setup, keeps_its_word, lines};

fn context() -> FilesContext {
    FilesContext::new(FileIo::memory().with_env(Env::seeded(7)), CpuPool::inline())
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future)
}

async fn all(mut stream: SplitStream, batch_rows: usize) -> Vec<RecordBatch> {
    let mut batches = Vec::new();
    while let Some(batch) = stream.next().await.unwrap() {
        assert_eq!(&batch.schema(), stream.schema());
        assert!((1..=batch_rows).contains(&batch.num_rows()));
        assert!(keeps_its_word(&batch));
        batches.push(batch);
    }
    assert!(stream.next().await.unwrap().is_none());
    batches
}

fn sorted(batches: &[RecordBatch]) -> Vec<String> {
    let mut lines: Vec<String> = batches.iter().flat_map(lines).collect();
    lines.sort();
    lines
}

/// One flush: its rows, and how many runs are compacted behind it into how many files.
type Flush = (Vec<Row>, Option<(usize, usize)>);

#[derive(Debug, Clone)]
struct Asked {
    projection: Vec<usize>,
    filter: usize,
    kinds: bool,
    batch_rows: usize,
}

#[derive(Debug, Clone)]
struct History {
    setup: Setup,
    flushes: Vec<Flush>,
    /// The flush before which the schema changes.
    evolve_at: usize,
    /// Sequence numbers of flushes lie between each other instead of one after the other.
    interleaved: bool,
    /// Flush `i` only writes keys from `i * spread` on, so that files overlap less.
    spread: i32,
    /// In the end, one row in so many of every second file is deleted.
    delete_every: Option<u64>,
}

const FILTERS: [&str; 9] = [
    "",
    "$k > $7",
    "$v > 0",
    "$k > $3 and $v < 20",
    "$k = $5 or $v > 10",
    "s is null",
    "$v is null and $k <> $4",
    "$k in ($1, $2, $9) and s is not null",
    "$v = 1000",
];

/// The filter with the names and literals that the table has.
fn filter_text(number: usize, bucket: &Bucket) -> String {
    let value = if bucket.schemas.len() > 1 { "w" } else { "v" };
    let mut text = FILTERS[number].replace("$v", value).replace("$k", "k");
    for digit in 0..10 {
        let literal = if bucket.setup.text_key {
            format!("'key-{digit:020}'")
        } else {
            digit.to_string()
        };
        text = text.replace(&format!("${digit}"), &literal);
    }
    text
}

async fn build(context: FilesContext, history: &History) -> Bucket {
    let mut bucket = Bucket::new(context, history.setup);
    let flushes = i64::try_from(history.flushes.len()).unwrap();
    for (at, (rows, compact)) in history.flushes.iter().enumerate() {
        if at == history.evolve_at {
            bucket.evolve();
        }
        let number = i64::try_from(at).unwrap();
        let spread = i32::try_from(at).unwrap() * history.spread;
        let moved: Vec<Row> = rows
            .iter()
            .map(|row| (row.0 + spread, row.1, row.2, row.3))
            .collect();
        let interleaved = history.interleaved;
        bucket
            .flush(&moved, |row| {
                if interleaved {
                    row * flushes + number
                } else {
                    number * 1000 + row
                }
            })
            .await;
        if let Some((newest, files)) = compact {
            bucket.compact(*newest, *files).await;
        }
    }
    if let Some(every) = history.delete_every {
        bucket.delete_every(every).await;
    }
    bucket
}

/// What the answer must be, out of the rows before filter and projection.
fn expected(bucket: &Bucket, rows: &[ModelRow], spec: &ReadSpec) -> RecordBatch {
    let schema = bucket.schema();
    let batch = bucket.batch(schema, rows, false);
    let kinds = Int8Array::from_iter_values(rows.iter().map(|row| row.kind.as_i8()));
    let matching = match &spec.filter {
        Some(filter) => filter.eval(&batch).unwrap(),
        None => BooleanArray::from(vec![true; rows.len()]),
    };
    let mut columns: Vec<_> = spec
        .projection
        .iter()
        .map(|at| Arc::clone(batch.column(*at)))
        .collect();
    let mut fields: Vec<Field> = spec
        .projection
        .iter()
        .map(|at| batch.schema().field(*at).clone())
        .collect();
    if spec.kinds {
        columns.push(Arc::new(kinds));
        fields.push(Field::new(
            "_VALUE_KIND",
            arrow_schema::DataType::Int8,
            false,
        ));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    let all = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
        .unwrap();
    filter_record_batch(&all, &matching).unwrap()
}

fn spec(bucket: &Bucket, asked: &Asked) -> ReadSpec {
    let schema = Arc::clone(bucket.schema());
    let columns = schema.fields.len();
    let filter = filter_text(asked.filter, bucket);
    let filter =
        (!filter.is_empty()).then(|| Predicate::parse_text(&filter, &schema.row_type()).unwrap());
    ReadSpec {
        projection: asked.projection.iter().map(|at| at % columns).collect(),
        schemas: bucket.schemas_by_id(),
        filter,
        kinds: asked.kinds,
        batch_rows: asked.batch_rows,
        schema,
    }
}

fn any_history() -> impl Strategy<Value = History> {
    let row = (
        0..14_i32,
        prop::option::weighted(0.8, -3..3_i32),
        prop::option::weighted(0.9, -40..40_i32),
        prop::sample::select(vec![0_i8, 0, 0, 2, 1, 3]),
    );
    let flush = (
        prop::collection::vec(row, 1..20),
        prop::option::weighted(0.3, (1..4_usize, 1..4_usize)),
    );
    let setup =
        (any::<[bool; 5]>()).prop_map(|[ignore_delete, descending, fields, text_key, thin]| {
            Setup {
                rules: ModelRules {
                    ignore_delete,
                    descending: descending && fields,
                },
                fields,
                text_key,
                thin,
            }
        });
    (
        setup,
        prop::collection::vec(flush, 0..6),
        0..9_usize,
        any::<bool>(),
        prop::sample::select(vec![0, 0, 9, 15]),
        prop::option::weighted(0.4, 1..6_u64),
    )
        .prop_map(
            |(setup, flushes, evolve_at, interleaved, spread, delete_every)| History {
                setup,
                flushes,
                evolve_at,
                interleaved,
                spread,
                delete_every,
            },
        )
}

fn any_asked() -> impl Strategy<Value = Asked> {
    (
        prop::collection::vec(0..5_usize, 0..6),
        0..FILTERS.len(),
        any::<bool>(),
        1..20_usize,
    )
        .prop_map(|(projection, filter, kinds, batch_rows)| Asked {
            projection,
            filter,
            kinds,
            batch_rows,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever was written, compacted and altered, a merge read gives the newest row of each key.
    #[test]
    fn a_merge_read_equals_replaying(history in any_history(), asked in prop::collection::vec(any_asked(), 4)) {
        block_on(async {
            let bucket = build(context(), &history).await;
            for asked in &asked {
                let spec = spec(&bucket, asked);
                let mut rows = bucket.merged();
                rows.retain(|row| spec.kinds || !row.kind.is_retract());
                let expected = expected(&bucket, &rows, &spec);
                let reader = SplitReader::new(bucket.context.clone(), spec).unwrap();
                let split = SplitFiles { bucket_path: DIR.to_owned(), files: bucket.files(), deletions: Arc::clone(&bucket.deletions), read: SplitRead::Merge, parallel: 2 };
                let read = all(reader.read(split).await.unwrap(), asked.batch_rows).await;
                assert_eq!(sorted(&read), sorted(&[expected]), "{asked:?}");
            }
        });
    }

    /// A raw read gives the rows of each file as they are, in order.
    #[test]
    fn a_raw_read_gives_file_after_file(history in any_history(), asked in any_asked()) {
        block_on(async {
            let bucket = build(context(), &history).await;
            let spec = spec(&bucket, &asked);
            let mut rows: Vec<ModelRow> = bucket.runs.iter().rev().flat_map(|run| run.rows.clone()).collect();
            rows.retain(|row| spec.kinds || !row.kind.is_retract());
            let expected = expected(&bucket, &rows, &spec);
            let reader = SplitReader::new(bucket.context.clone(), spec).unwrap();
            let split = SplitFiles { bucket_path: DIR.to_owned(), files: bucket.files(), deletions: Arc::clone(&bucket.deletions), read: SplitRead::Changes, parallel: 2 };
            let read = all(reader.read(split).await.unwrap(), asked.batch_rows).await;
            assert_eq!(read.iter().flat_map(lines).collect::<Vec<_>>(), lines(&expected));
        });
    }

    /// Merged sections are the rows that a compaction writes: in key order, with numbers and kinds.
    #[test]
    fn a_merge_stream_equals_compacting(history in any_history(), drop_deletes in any::<bool>(), batch_rows in 1..20_usize) {
        block_on(async {
            let bucket = build(context(), &history).await;
            let schema = Arc::clone(bucket.schema());
            let keys = KeyComparator::new(schema.key_type().types());
            let request = MergeRequest {
                schemas: bucket.schemas_by_id(),
                bucket_path: DIR.to_owned(),
                sections: interval_partition(&bucket.files(), &keys).unwrap(),
                deletions: Arc::clone(&bucket.deletions),
                keep: None,
                drop_deletes,
                batch_rows,
                schema: Arc::clone(&schema),
            };
            let mut stream = MergeStream::open(&bucket.context, request).unwrap();
            let file_schema = to_arrow_schema(&schema.key_value_type(history.setup.thin));
            let mut read = Vec::new();
            while let Some(batch) = stream.next().await.unwrap() {
                assert_eq!(batch.schema(), file_schema);
                assert!((1..=batch_rows).contains(&batch.num_rows()));
                let copies = usize::from(!history.setup.thin);
                let plain: Vec<usize> = (copies..batch.num_columns()).collect();
                if copies > 0 {
                    assert_eq!(batch.column(0), batch.column_by_name("k").unwrap());
                }
                read.extend(lines(&batch.project(&plain).unwrap()));
            }
            let mut rows = bucket.merged();
            rows.retain(|row| !(drop_deletes && row.kind.is_retract()));
            assert_eq!(read, lines(&bucket.batch(&schema, &rows, true)));
        });
    }
}

const PLAIN: Setup = Setup {
    rules: ModelRules {
        ignore_delete: false,
        descending: false,
    },
    fields: false,
    text_key: false,
    thin: false,
};

fn everything(bucket: &Bucket, batch_rows: usize) -> ReadSpec {
    let asked = Asked {
        projection: (0..bucket.schema().fields.len()).collect(),
        filter: 0,
        kinds: false,
        batch_rows,
    };
    spec(bucket, &asked)
}

fn split(bucket: &Bucket, read: SplitRead) -> SplitFiles {
    SplitFiles {
        bucket_path: DIR.to_owned(),
        files: bucket.files(),
        deletions: Arc::clone(&bucket.deletions),
        read,
        parallel: 2,
    }
}

#[tokio::test]
async fn large_runs_are_merged_batch_by_batch_on_several_threads() {
    let context = FilesContext::new(FileIo::memory().with_env(Env::seeded(7)), CpuPool::new(2));
    let mut bucket = Bucket::new(context, PLAIN);
    for run in 0..4 {
        let rows: Vec<Row> = (0..40_000 / (run + 1))
            .map(|at| {
                (
                    at * (run + 1) * 2 + run % 2,
                    Some(at),
                    Some(run),
                    if at % 7 == run { 3 } else { 0 },
                )
            })
            .collect();
        bucket
            .flush(&rows, |row| i64::from(run) * 1_000_000 + row)
            .await;
    }
    let spec = everything(&bucket, 8192);
    let mut rows = bucket.merged();
    rows.retain(|row| !row.kind.is_retract());
    let expected = expected(&bucket, &rows, &spec);
    let reader = SplitReader::new(bucket.context.clone(), spec).unwrap();
    let read = all(
        reader.read(split(&bucket, SplitRead::Merge)).await.unwrap(),
        8192,
    )
    .await;
    assert_eq!(sorted(&read), sorted(&[expected]));
}

#[tokio::test]
async fn nulls_of_old_files_are_read_where_none_are_allowed_any_more() {
    let mut bucket = Bucket::new(context(), PLAIN);
    bucket
        .flush(&[(1, None, None, 0), (2, None, Some(7), 0)], |row| row)
        .await;
    bucket.forbid_nulls();
    bucket.flush(&[(2, None, Some(8), 0)], |row| 10 + row).await;
    let mut spec = everything(&bucket, 10);
    spec.projection = vec![1, 0];
    let reader = SplitReader::new(bucket.context.clone(), spec).unwrap();
    let read = all(
        reader.read(split(&bucket, SplitRead::Merge)).await.unwrap(),
        10,
    )
    .await;
    assert_eq!(sorted(&read), ["1|null", "2|8"]);
}

/// A footer has no checksum. What a compaction took for nulls would be nulls for ever.
#[tokio::test]
async fn a_file_without_a_column_that_its_schema_has_is_damaged_for_reads_and_compactions() {
    let mut bucket = Bucket::new(context(), PLAIN);
    let rows = [(1, None, Some(1), 0), (2, None, Some(2), 0)];
    bucket.flush(&rows, |row| row).await;
    let old = Arc::clone(&bucket.files()[0]);
    bucket.evolve();
    bucket.flush(&rows, |row| 10 + row).await;
    let newest = bucket.schema().id;
    let claims_the_new_column = Arc::new(DataFileMeta {
        schema_id: newest,
        ..(*old).clone()
    });
    let mut files = bucket.files();
    let place = files
        .iter()
        .position(|file| file.file_name == old.file_name);
    files[place.unwrap()] = claims_the_new_column;
    let keys = KeyComparator::new(bucket.schema().key_type().types());
    let request = MergeRequest {
        schema: Arc::clone(bucket.schema()),
        schemas: bucket.schemas_by_id(),
        bucket_path: DIR.to_owned(),
        sections: interval_partition(&files, &keys).unwrap(),
        deletions: Arc::default(),
        keep: None,
        drop_deletes: true,
        batch_rows: 10,
    };
    let mut compaction = MergeStream::open(&bucket.context, request).unwrap();
    let error = compaction.next().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error_text(&error).contains(&old.file_name), "{error:?}");
    let reader = SplitReader::new(bucket.context.clone(), everything(&bucket, 10)).unwrap();
    let whole = SplitFiles {
        files,
        ..split(&bucket, SplitRead::Merge)
    };
    let error = reader.read(whole).await.unwrap().next().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

/// The error with all that led to it.
fn error_text(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}

#[tokio::test]
async fn files_of_an_append_table_have_only_inserts() {
    let folder = tempfile::tempdir().unwrap();
    let context = FilesContext::new(FileIo::local(), CpuPool::new(1));
    let columns = RowType::of([("a", DataType::int()), ("b", DataType::string())]);
    let definition = SchemaDefinition {
        fields: columns.fields.clone(),
        primary_keys: Vec::new(),
        partition_keys: Vec::new(),
        options: [("bucket".to_owned(), "-1".to_owned())].into(),
        comment: None,
    };
    let schema = Arc::new(TableSchema::create(definition, 0).unwrap());
    let bucket_path = format!("{}/bucket-0", folder.path().display());
    let mut files = Vec::new();
    for part in 0..3 {
        let options = FileWriterOptions::data(&schema, 0, FileSource::Append).unwrap();
        let names = FileNames::new(context.env());
        let directory = FileDirectory::of_bucket(bucket_path.clone());
        let mut writer =
            RollingFileWriter::new(&context, names, directory, Arc::clone(&schema), options)
                .unwrap();
        let a = arrow_array::Int32Array::from_iter_values(part * 10..part * 10 + 5);
        let b: arrow_array::StringArray = (0..5)
            .map(|row| (row % 2 == 0).then(|| format!("b{row}")))
            .collect();
        let batch = RecordBatch::try_new(to_arrow_schema(&columns), vec![Arc::new(a), Arc::new(b)])
            .unwrap();
        writer.write(&batch).await.unwrap();
        files.extend(writer.finish().await.unwrap().into_iter().map(Arc::new));
    }
    let spec = |projection: Vec<usize>, filter: Option<&str>, kinds| ReadSpec {
        filter: filter.map(|text| Predicate::parse_text(text, &schema.row_type()).unwrap()),
        schema: Arc::clone(&schema),
        schemas: Arc::default(),
        projection,
        kinds,
        batch_rows: 3,
    };
    let read = async |spec: ReadSpec| {
        let reader = SplitReader::new(context.clone(), spec).unwrap();
        let split = SplitFiles {
            bucket_path: bucket_path.clone(),
            files: files.clone(),
            deletions: Arc::default(),
            read: SplitRead::Merge,
            parallel: 2,
        };
        all(reader.read(split).await.unwrap(), 3).await
    };
    let found = read(spec(vec![1, 0], Some("b is null and a > 3"), true)).await;
    assert_eq!(
        found.iter().flat_map(lines).collect::<Vec<_>>(),
        ["null|11|0", "null|13|0", "null|21|0", "null|23|0"]
    );
    let counted = read(spec(Vec::new(), None, false)).await;
    assert!(counted.iter().all(|batch| batch.num_columns() == 0));
    assert_eq!(counted.iter().map(RecordBatch::num_rows).sum::<usize>(), 15);
    let counted = read(spec(Vec::new(), Some("b = 'b2'"), false)).await;
    assert_eq!(counted.iter().map(RecordBatch::num_rows).sum::<usize>(), 3);
}

#[tokio::test]
async fn a_read_that_was_given_up_does_not_end_as_if_it_were_complete() {
    let context = FilesContext::new(FileIo::memory().with_env(Env::seeded(7)), CpuPool::new(1));
    let mut bucket = Bucket::new(context, PLAIN);
    for run in 0..2 {
        let rows: Vec<Row> = (0..100).map(|key| (key, None, Some(run), 0)).collect();
        bucket.flush(&rows, |row| i64::from(run) * 1000 + row).await;
    }
    let reader = SplitReader::new(bucket.context.clone(), everything(&bucket, 10)).unwrap();
    let mut stream = reader.read(split(&bucket, SplitRead::Merge)).await.unwrap();
    {
        let waiting = std::pin::pin!(stream.next());
        assert!(futures::poll!(waiting).is_pending());
    }
    assert!(matches!(
        stream.next().await,
        Err(StoreError::ReadCancelled)
    ));
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_by_name() {
    let mut bucket = Bucket::new(context(), PLAIN);
    bucket.flush(&[(1, None, None, 0)], |row| row).await;
    let mut out_of_range = everything(&bucket, 10);
    out_of_range.projection = vec![5];
    let error = SplitReader::new(bucket.context.clone(), out_of_range).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);

    let reader = SplitReader::new(bucket.context.clone(), everything(&bucket, 10)).unwrap();
    let refused = async |change: fn(&mut DataFileMeta)| {
        let mut file = (*bucket.files()[0]).clone();
        change(&mut file);
        let mut split = split(&bucket, SplitRead::Merge);
        split.files = vec![Arc::new(file)];
        match reader.read(split).await {
            Err(error) => error,
            Ok(mut stream) => stream.next().await.unwrap_err(),
        }
    };
    let error = refused(|file| file.schema_id = SchemaId(9)).await;
    assert!(matches!(
        error,
        StoreError::UnknownSchema {
            schema: SchemaId(9),
            ..
        }
    ));
    let error = refused(|file| file.file_name = "data-1.orc".to_owned()).await;
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let error = refused(|file| file.file_name = "data-gone.parquet".to_owned()).await;
    assert_eq!(error.kind(), ErrorKind::NotFound);
}
