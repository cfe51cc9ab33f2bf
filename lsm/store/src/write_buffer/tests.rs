//! What leaves a buffer against replaying what went in, however it was cut, spilled and chunked.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, Int64Type};
use arrow_array::{ArrayRef, Int8Array, Int32Array, RecordBatch};
use proptest::prelude::*;
use tidewater_format::{SchemaDefinition, TableSchema};
use tidewater_io::{CpuPool, Env, MemoryBudget, ScratchDir};
use tidewater_merge::MergeEngine;
use tidewater_types::{DataType, RowType};

use super::*;

/// Key, sequence field, value, kind.
type Row = (i32, Option<i32>, i32, i8);
/// Key, sequence number, kind, value.
type Out = (i32, i64, i8, i32);

fn layout(options: &[(&str, &str)]) -> Arc<KeyValueLayout> {
    let columns = RowType::of([
        ("v", DataType::int()),
        ("k", DataType::int().not_null()),
        ("s", DataType::int()),
    ]);
    let definition = SchemaDefinition {
        fields: columns.fields,
        primary_keys: vec!["k".to_owned()],
        partition_keys: Vec::new(),
        options: options
            .iter()
            .chain(&[("bucket", "1")])
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
        comment: None,
    };
    Arc::new(KeyValueLayout::new(&TableSchema::create(definition, 0).unwrap()).unwrap())
}

fn batch(layout: &KeyValueLayout, rows: &[Row]) -> (RecordBatch, Option<Int8Array>) {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.2))),
        Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.0))),
        Arc::new(rows.iter().map(|row| row.1).collect::<Int32Array>()),
    ];
    let values = RecordBatch::try_new(Arc::clone(layout.value_schema()), columns).unwrap();
    let kinds = rows.iter().any(|row| row.3 != 0);
    (
        values,
        kinds.then(|| Int8Array::from_iter_values(rows.iter().map(|row| row.3))),
    )
}

fn rows_of(layout: &KeyValueLayout, batch: &RecordBatch) -> Vec<Out> {
    assert_eq!(&batch.schema(), layout.file_schema());
    let at = layout.values_at();
    let sequence = batch.column(at - 2).as_primitive::<Int64Type>();
    let kinds = batch.column(at - 1).as_primitive::<Int8Type>();
    let values = batch.column(at).as_primitive::<Int32Type>();
    let keys = batch.column(at + 1).as_primitive::<Int32Type>();
    (0..batch.num_rows())
        .map(|row| {
            (
                keys.value(row),
                sequence.value(row),
                kinds.value(row),
                values.value(row),
            )
        })
        .collect()
}

/// Rows of the data chunks and of the changelog chunks.
async fn drained(
    layout: &KeyValueLayout,
    buffer: &mut WriteBuffer,
    cpu: &CpuPool,
) -> (Vec<Out>, Vec<Out>) {
    let (mut data, mut changelog) = (Vec::new(), Vec::new());
    let mut drain = buffer.drain(cpu).await.unwrap();
    while let Some(chunk) = drain.next(cpu).await.unwrap() {
        data.extend(chunk.data.iter().flat_map(|batch| rows_of(layout, batch)));
        changelog.extend(
            chunk
                .changelog
                .iter()
                .flat_map(|batch| rows_of(layout, batch)),
        );
    }
    (data, changelog)
}

/// What a replay says: all rows in buffer order, and the newest of each key. Null is the oldest in both sort orders.
fn replayed(batches: &[Vec<Row>], fields: bool, descending: bool) -> (Vec<Out>, Vec<Out>) {
    let mut all: Vec<(i32, Option<i64>, Out)> = Vec::new();
    for (sequence, row) in (0_i64..).zip(batches.iter().flatten()) {
        let version = row
            .1
            .filter(|_| fields)
            .map(|field| i64::from(field) * if descending { -1 } else { 1 });
        all.push((row.0, version, (row.0, sequence, row.3, row.2)));
    }
    all.sort_by_key(|(key, version, out)| (*key, *version, out.1));
    let newest: BTreeMap<i32, Out> = all.iter().map(|(key, _, out)| (*key, *out)).collect();
    (
        newest.into_values().collect(),
        all.into_iter().map(|(_, _, out)| out).collect(),
    )
}

fn any_batches() -> impl Strategy<Value = Vec<(Vec<Row>, bool)>> {
    let row = (
        0..12_i32,
        prop::option::of(-3..3_i32),
        any::<i32>(),
        0..4_i8,
    );
    prop::collection::vec((prop::collection::vec(row, 0..30), any::<bool>()), 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// One row per key, and every row if asked for, whatever was spilled in between and however small the chunks.
    #[test]
    fn draining_equals_replaying(
        batches in any_batches(),
        keep_input in any::<bool>(),
        fields in any::<bool>(),
        descending in any::<bool>(),
        chunk_rows in 1..40_usize,
        codec in prop::sample::select(vec![SpillCompression::None, SpillCompression::Lz4, SpillCompression::Zstd]),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let sort_order = if descending { "descending" } else { "ascending" };
            let options = [("sequence.field", "s"), ("sequence.field.sort-order", sort_order)];
            let layout = layout(if fields { &options } else { &[] });
            let (cpu, budget) = (CpuPool::inline(), MemoryBudget::unlimited());
            let scratch = Arc::new(ScratchDir::in_temp(&Env::seeded(1)).unwrap());
            let mut buffer = WriteBuffer::new(Arc::clone(&layout), WriteBufferOptions {
                engine: MergeEngine::Deduplicate { ignore_delete: false },
                fold: None,
                keep_input,
                chunk_rows,
                spill_compression: codec,
            });
            let mut sequence = 0;
            for (rows, spill) in &batches {
                let (values, kinds) = batch(&layout, rows);
                let memory = budget.reserve_forced(WriteBuffer::cost(&values, kinds.as_ref()));
                buffer.append(values, kinds, sequence, memory);
                sequence += i64::try_from(rows.len()).unwrap();
                if *spill {
                    buffer.spill(&scratch, &cpu).await.unwrap();
                    assert_eq!((buffer.memory_bytes(), budget.used()), (0, 0));
                }
            }
            let rows: Vec<Vec<Row>> = batches.iter().map(|(rows, _)| rows.clone()).collect();
            let (newest, all) = replayed(&rows, fields, descending);
            let (data, changelog) = drained(&layout, &mut buffer, &cpu).await;
            assert_eq!(data, newest);
            assert_eq!(changelog, if keep_input { all } else { Vec::new() });
            assert!(buffer.is_empty());
            assert_eq!(budget.used(), 0);
            assert_eq!(std::fs::read_dir(scratch.path()).unwrap().filter(|entry| {
                entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with("run"))
            }).count(), 0);
        });
    }
}

#[test]
fn thin_files_have_no_key_columns() {
    let names = |layout: Arc<KeyValueLayout>| -> Vec<String> {
        layout
            .file_schema()
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    };
    assert_eq!(
        names(layout(&[])),
        ["_KEY_k", "_SEQUENCE_NUMBER", "_VALUE_KIND", "v", "k", "s"]
    );
    assert_eq!(
        names(layout(&[("data-file.thin-mode", "true")])),
        ["_SEQUENCE_NUMBER", "_VALUE_KIND", "v", "k", "s"]
    );
}

#[test]
fn codecs_are_named_as_in_the_option() {
    assert_eq!(
        SpillCompression::from_option("ZSTD").unwrap(),
        SpillCompression::Zstd
    );
    assert_eq!(
        SpillCompression::from_option("lz4").unwrap(),
        SpillCompression::Lz4
    );
    assert!(matches!(
        SpillCompression::from_option("gzip"),
        Err(crate::StoreError::SpillCodec { .. })
    ));
}
