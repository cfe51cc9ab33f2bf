//! Filters: what is left out by statistics, and which rows an exact filter leaves.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray};
use proptest::prelude::*;
use tidewater_files::{FileRead, FilesContext, ParquetFileReader, ReadRequest, RowChoice};
use tidewater_format::TableSchema;
use tidewater_types::{DataField, DataType, Datum, Predicate, PredicateOp, RowType};

use crate::support::{batch, context, path, table, write};

/// 4000 rows in row groups of a few pages of 100 rows: `id` rises, `x` is scattered, `s` repeats, `f` has a NaN in every 1000 rows.
pub(crate) async fn file(context: &FilesContext) -> (Arc<TableSchema>, String) {
    let row = RowType::of([
        ("id", DataType::int().not_null()),
        ("x", DataType::int()),
        ("s", DataType::string()),
        ("f", DataType::double()),
    ]);
    let options = [
        ("parquet.page.row.count.limit", "100"),
        ("file.block-size", "1kb"),
    ];
    let schema = table(&row, &[], &options);
    let ids = 0..4000;
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from_iter_values(ids.clone())),
        Arc::new(
            ids.clone()
                .map(|id| (id % 7 > 0).then_some(id * 37 % 1000))
                .collect::<Int32Array>(),
        ),
        Arc::new(StringArray::from_iter_values(
            ids.clone().map(|id| format!("text {}", id % 50)),
        )),
        Arc::new(Float64Array::from_iter_values(ids.map(|id| {
            if id % 1000 == 999 {
                f64::NAN
            } else {
                f64::from(id)
            }
        }))),
    ];
    let rows = batch(&schema.fields, columns);
    let parts: Vec<RecordBatch> = (0..4).map(|part| rows.slice(part * 1000, 1000)).collect();
    let files = write(context, &schema, &parts).await.unwrap();
    assert_eq!(files.len(), 1);
    (schema, path(&files[0]))
}

async fn open(context: &FilesContext, path: &str, request: ReadRequest) -> FileRead {
    ParquetFileReader::open(context, path, None)
        .await
        .unwrap()
        .read(request)
        .await
        .unwrap()
}

async fn ints(mut read: FileRead, column: usize) -> Vec<i32> {
    let mut values = Vec::new();
    while let Some(batch) = read.batches.next_batch().await.unwrap() {
        values.extend_from_slice(batch.column(column).as_primitive::<Int32Type>().values());
    }
    values
}

fn leaf(schema: &TableSchema, name: &str, op: PredicateOp, value: Datum) -> Predicate {
    Predicate::leaf(&schema.row_type(), name, op, vec![value]).unwrap()
}

#[tokio::test]
async fn a_range_of_a_sorted_column_reads_its_pages_only() {
    let context = context();
    let (schema, path) = file(&context).await;
    let between = Predicate::leaf(
        &schema.row_type(),
        "id",
        PredicateOp::Between,
        vec![Datum::Int(1730), Datum::Int(1810)],
    );
    let mut request = ReadRequest::new(schema.fields.clone());
    request.filter = Some(between.unwrap());
    let read = open(&context, &path, request.clone()).await;
    assert_eq!(read.rows, vec![1700..1900; 1]);
    assert_eq!(read.row_groups, (4, 1));
    assert_eq!(ints(read, 0).await, (1700..1900).collect::<Vec<_>>());
    request.exact_filter = true;
    assert_eq!(
        ints(open(&context, &path, request).await, 0).await,
        (1730..=1810).collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn nothing_is_read_when_nothing_can_match() {
    let context = context();
    let (schema, path) = file(&context).await;
    let mut request = ReadRequest::new(schema.fields[..1].to_vec());
    request.filter = Some(leaf(&schema, "id", PredicateOp::Gt, Datum::Int(3999)));
    let read = open(&context, &path, request).await;
    assert_eq!((read.row_count(), read.row_groups), (0, (4, 0)));
    assert_eq!(ints(read, 0).await, Vec::<i32>::new());
}

#[tokio::test]
async fn nan_is_never_pruned_away() {
    let context = context();
    let (schema, path) = file(&context).await;
    let mut request = ReadRequest::new(schema.fields.clone());
    request.filter = Some(leaf(&schema, "f", PredicateOp::Gt, Datum::Double(1e9)));
    request.exact_filter = true;
    let mut read = open(&context, &path, request).await;
    let mut found = 0;
    while let Some(batch) = read.batches.next_batch().await.unwrap() {
        assert!(
            batch
                .column(3)
                .as_primitive::<Float64Type>()
                .values()
                .iter()
                .all(|value| value.is_nan())
        );
        found += batch.num_rows();
    }
    assert_eq!(found, 4);
}

#[tokio::test]
async fn a_filter_on_a_column_that_is_not_asked_for() {
    let context = context();
    let (schema, path) = file(&context).await;
    let mut request = ReadRequest::new(schema.fields[..1].to_vec());
    request.filter_columns = schema.fields.clone();
    request.filter = Some(leaf(
        &schema,
        "s",
        PredicateOp::Eq,
        Datum::String("text 3".to_owned()),
    ));
    request.exact_filter = true;
    let read = open(&context, &path, request).await;
    assert_eq!(read.batches.schema().fields().len(), 1);
    assert_eq!(
        ints(read, 0).await,
        (0..80).map(|step| step * 50 + 3).collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn a_column_that_the_file_lacks_is_null_to_a_filter() {
    let context = context();
    let (schema, path) = file(&context).await;
    let mut columns = schema.fields.clone();
    columns.push(DataField::new(99, "new", DataType::int()));
    let row = RowType::new(columns.clone());
    for (op, literals, rows) in [
        (PredicateOp::IsNull, vec![], 4000),
        (PredicateOp::Eq, vec![Datum::Int(1)], 0),
    ] {
        let mut request = ReadRequest::new(columns.clone());
        request.file_fields = schema.fields.clone();
        request.filter = Some(Predicate::leaf(&row, "new", op, literals).unwrap());
        assert_eq!(open(&context, &path, request).await.row_count(), rows);
    }
}

#[tokio::test]
async fn keys_first_then_the_values_of_the_rows_that_won() {
    let context = context();
    let (schema, path) = file(&context).await;
    let reader = ParquetFileReader::open(&context, &path, None)
        .await
        .unwrap();
    let mut keys = ReadRequest::new(schema.fields[..1].to_vec());
    keys.filter = Some(leaf(&schema, "id", PredicateOp::GtEq, Datum::Int(2950)));
    let mut read = reader.read(keys).await.unwrap();
    let positions: Vec<u64> = read.rows.iter().cloned().flatten().collect();
    let (mut winners, mut row) = (Vec::new(), 0);
    while let Some(batch) = read.batches.next_batch().await.unwrap() {
        for id in batch.column(0).as_primitive::<Int32Type>().values() {
            if id % 1000 < 3 {
                winners.push(positions[row]..positions[row] + 1);
            }
            row += 1;
        }
    }
    assert_eq!(row, positions.len());
    let mut values = ReadRequest::new(schema.fields[1..3].to_vec());
    values.rows = RowChoice::Ranges(winners);
    let mut read = reader.read(values).await.unwrap();
    let mut texts = Vec::new();
    while let Some(batch) = read.batches.next_batch().await.unwrap() {
        texts.extend(
            batch
                .column(1)
                .as_string::<i32>()
                .iter()
                .map(|text| text.unwrap().to_owned()),
        );
    }
    assert_eq!(texts, ["text 0", "text 1", "text 2"].map(str::to_owned));
}

pub(crate) fn any_predicate(row: RowType) -> impl Strategy<Value = Predicate> {
    let number = prop_oneof![-10..4100_i32, Just(i32::MIN), Just(i32::MAX)];
    let op = prop::sample::select(vec![
        PredicateOp::Eq,
        PredicateOp::NotEq,
        PredicateOp::Lt,
        PredicateOp::LtEq,
        PredicateOp::Gt,
        PredicateOp::GtEq,
        PredicateOp::IsNull,
        PredicateOp::IsNotNull,
    ]);
    let column = prop::sample::select(vec!["id", "x", "s", "f"]);
    let leaf = (column, op, number).prop_map(move |(column, op, number)| {
        let literal = match column {
            "s" => Datum::String(format!("text {}", number % 60)),
            "f" => Datum::Double(f64::from(number)),
            _ => Datum::Int(number),
        };
        let none = matches!(op, PredicateOp::IsNull | PredicateOp::IsNotNull);
        Predicate::leaf(&row, column, op, if none { vec![] } else { vec![literal] }).unwrap()
    });
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..3).prop_map(Predicate::and),
            prop::collection::vec(inner.clone(), 1..3).prop_map(Predicate::or),
            inner.prop_map(|part| part.negate()),
        ]
    })
}

fn asked(row: &RowType, columns: &[usize]) -> Vec<DataField> {
    columns
        .iter()
        .map(|&column| row.fields[column].clone())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is pruned, an exact filter gives the rows that the predicate has on all rows.
    #[test]
    fn exact_filters_give_the_rows_that_match(
        predicate in any_predicate(RowType::of([
            ("id", DataType::int().not_null()), ("x", DataType::int()), ("s", DataType::string()), ("f", DataType::double()),
        ])),
        columns in prop::sample::subsequence(vec![0_usize, 1, 2, 3], 1..=4),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let context = context();
            let (schema, path) = file(&context).await;
            let all = crate::support::read(&context, &path, &schema.fields).await.unwrap();
            let kept = predicate.eval(&all).unwrap();
            let expected = arrow_select::filter::filter_record_batch(&all, &kept).unwrap().project(&columns).unwrap();
            let mut request = ReadRequest::new(asked(&schema.row_type(), &columns));
            request.filter_columns = schema.fields.clone();
            request.filter = Some(predicate.clone());
            request.exact_filter = true;
            let got = crate::support::read_with(&context, &path, request).await.unwrap();
            assert_eq!(got, expected, "{predicate}");
        });
    }
}
