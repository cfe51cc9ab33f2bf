//! Deleted rows: they are gone before anything else looks, whatever else is left out and however the file is read.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;
use proptest::prelude::*;
use tidewater_files::{FilesContext, FilesError, ParquetFileReader, ReadRequest, RowChoice};
use tidewater_index::{DeletionVector, DvKind};
use tidewater_types::{DataType, ErrorKind, Predicate, RowType};

use crate::pruning::{any_predicate, file};
use crate::support::{context, local_context, read, read_with};

/// Rows of the file of `pruning`: four row groups of 1000, in pages of 100.
const ROWS: u64 = 4000;

fn vector(rows: impl IntoIterator<Item = u64>) -> Arc<DeletionVector> {
    Arc::new(DeletionVector::of(DvKind::Bits32, rows).unwrap())
}

fn without(rows: &RecordBatch, deleted: &DeletionVector) -> RecordBatch {
    let live: BooleanArray = (0..ROWS).map(|row| Some(!deleted.contains(row))).collect();
    filter_record_batch(rows, &live).unwrap()
}

async fn ids(context: &FilesContext, path: &str, request: ReadRequest) -> Vec<i32> {
    let rows = read_with(context, path, request).await.unwrap();
    rows.column(0).as_primitive::<Int32Type>().values().to_vec()
}

#[tokio::test]
async fn row_groups_without_live_rows_are_not_read() {
    let context = context();
    let (schema, path) = file(&context).await;
    let reader = ParquetFileReader::open(&context, &path, None)
        .await
        .unwrap();
    let mut request = ReadRequest::new(schema.fields[..1].to_vec());
    request.deleted = Some(vector((0..1000).chain([1500]).chain(2500..4000)));
    let read = reader.read(request.clone()).await.unwrap();
    assert_eq!(read.row_groups, (4, 2));
    assert_eq!(read.rows, [1000..1500, 1501..2500]);
    let expected: Vec<i32> = (1000..1500).chain(1501..2500).collect();
    assert_eq!(ids(&context, &path, request.clone()).await, expected);
    request.rows = RowChoice::Ranges(vec![990..1010, 1499..1502]);
    let expected: Vec<i32> = (1000..1010).chain([1499, 1501]).collect();
    assert_eq!(ids(&context, &path, request.clone()).await, expected);
    request.deleted = Some(vector(0..ROWS));
    assert_eq!(reader.read(request).await.unwrap().row_groups, (4, 0));
}

#[tokio::test]
async fn a_vector_of_another_file_is_refused() {
    let context = context();
    let (schema, path) = file(&context).await;
    let reader = ParquetFileReader::open(&context, &path, None)
        .await
        .unwrap();
    let mut request = ReadRequest::new(schema.fields.clone());
    request.deleted = Some(vector([7, ROWS]));
    let error = reader.read(request).await.unwrap_err();
    assert!(
        matches!(
            error,
            FilesError::DeletedBeyondEnd {
                position: ROWS,
                rows: ROWS,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

/// Few rows, stretches of them, or most of them.
fn any_deleted() -> impl Strategy<Value = BTreeSet<u64>> {
    let few = prop::collection::btree_set(0..ROWS, 0..20);
    let stretches = prop::collection::vec((0..ROWS, 1..1500_u64), 0..4).prop_map(|stretches| {
        let rows = stretches
            .into_iter()
            .flat_map(|(start, length)| start..start + length);
        rows.filter(|row| *row < ROWS).collect()
    });
    let dense = (2..40_u64, 0..ROWS)
        .prop_map(|(step, from)| (from..ROWS).filter(|row| row % step != 0).collect());
    let every = (2..200_usize).prop_map(|step| (0..ROWS).step_by(step).collect());
    prop_oneof![few, stretches, dense, every]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// The rows that are read are those that are not deleted and match, in the store's memory and in place, with one lane and with more.
    #[test]
    fn reading_gives_the_rows_that_are_left(
        deleted in any_deleted(),
        predicate in prop::option::of(any_predicate(RowType::of([
            ("id", DataType::int().not_null()), ("x", DataType::int()), ("s", DataType::string()), ("f", DataType::double()),
        ]))),
        columns in prop::sample::subsequence(vec![0_usize, 1, 2, 3], 1..=4),
        batch_rows in prop_oneof![Just(8192_usize), 1..300_usize],
        unit_bytes in prop_oneof![Just(64_u64 << 20), 100..3000_u64],
        parallel in 1..4_usize,
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let context = context();
            let (schema, path) = file(&context).await;
            let deleted = vector(deleted);
            let left = without(&read(&context, &path, &schema.fields).await.unwrap(), &deleted);
            let matching = |predicate: &Predicate| filter_record_batch(&left, &predicate.eval(&left).unwrap()).unwrap();
            let expected = predicate.as_ref().map_or_else(|| left.clone(), matching);
            let fields = columns.iter().map(|column| schema.fields[*column].clone());
            let request = ReadRequest {
                filter_columns: schema.fields.clone(),
                exact_filter: predicate.is_some(),
                filter: predicate,
                deleted: Some(deleted),
                batch_rows,
                unit_bytes,
                parallel,
                ..ReadRequest::new(fields.collect())
            };
            let expected = expected.project(&columns).unwrap();
            assert_eq!(read_with(&context, &path, request.clone()).await.unwrap(), expected);
            let folder = tempfile::tempdir().unwrap();
            let copy = folder.path().join("data-0.parquet");
            std::fs::write(&copy, context.io().read(&path).await.unwrap()).unwrap();
            let in_place = read_with(&local_context(), copy.to_str().unwrap(), request).await.unwrap();
            assert_eq!(in_place, expected);
        });
    }
}
