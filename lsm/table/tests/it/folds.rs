//! Tables whose versions fold: rows in many batches and commits, with and without spilled buffers, read whole, in part and by total.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch};
use tidewater_format::SchemaDefinition;
use tidewater_table::{CommitOptions, Committable, CompactScope, Table, WriteOptions};
use tidewater_types::arrow_types::to_arrow_schema;
use tidewater_types::{DataType, Predicate, RowType};

use crate::small::{environment, memory};

const KEYS: u64 = 700;
const BATCH_ROWS: usize = 500;

/// Key, total or latest, latest.
type Row = (i32, Option<i64>, Option<i32>);

struct Folded {
    engine: &'static str,
    rows: BTreeMap<i32, Row>,
}

impl Folded {
    fn add(&mut self, row: Row) {
        let now = self.rows.entry(row.0).or_insert((row.0, None, None));
        now.1 = match (self.engine, now.1, row.1) {
            ("aggregation", Some(total), Some(more)) => Some(total + more),
            (_, before, new) => new.or(before),
        };
        now.2 = row.2.or(now.2);
    }
}

async fn create(engine: &str, producer: &str) -> Table {
    let columns = RowType::of([
        ("k", DataType::int().not_null()),
        ("v", DataType::big_int()),
        ("w", DataType::int()),
    ]);
    let mut options = BTreeMap::from(
        [
            ("bucket", "2"),
            ("merge-engine", engine),
            ("changelog-producer", producer),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned())),
    );
    if engine == "aggregation" {
        options.insert("fields.v.aggregate-function".to_owned(), "sum".to_owned());
    }
    let definition = SchemaDefinition {
        fields: columns.fields,
        primary_keys: vec!["k".to_owned()],
        partition_keys: Vec::new(),
        options,
        comment: None,
    };
    let io = memory();
    let table = Table::create(
        environment(&io),
        io.clone(),
        "/w/db.db/folds",
        "t",
        definition,
    );
    table.await.unwrap().unwrap()
}

fn batch(table: &Table, rows: &[Row]) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(rows.iter().map(|row| Some(row.0)).collect::<Int32Array>()),
        Arc::new(rows.iter().map(|row| row.1).collect::<Int64Array>()),
        Arc::new(rows.iter().map(|row| row.2).collect::<Int32Array>()),
    ];
    RecordBatch::try_new(to_arrow_schema(&table.schema().row_type()), columns).unwrap()
}

async fn read(table: &Table, filter: &str) -> Vec<Row> {
    let mut scan = table.new_scan();
    if !filter.is_empty() {
        let filter = Predicate::parse_text(filter, &table.schema().row_type());
        scan = scan.filter(filter.unwrap()).unwrap();
    }
    let (mut stream, mut rows) = (scan.read().await.unwrap(), Vec::new());
    while let Some(batch) = stream.next_batch().await.unwrap() {
        let keys = batch.column(0).as_primitive::<Int32Type>();
        let totals = batch.column(1).as_primitive::<Int64Type>();
        let latest = batch.column(2).as_primitive::<Int32Type>();
        let values = totals.iter().zip(latest.iter());
        rows.extend(
            keys.values()
                .iter()
                .zip(values)
                .map(|(key, (v, w))| (*key, v, w)),
        );
    }
    assert_eq!(scan.count().await.unwrap(), rows.len() as u64);
    rows.sort_unstable();
    rows
}

async fn project(table: &Table, column: &str) -> Vec<Option<i32>> {
    let scan = table.new_scan().project(&[column.to_owned()]).unwrap();
    let (mut stream, mut values) = (scan.read().await.unwrap(), Vec::new());
    while let Some(batch) = stream.next_batch().await.unwrap() {
        values.extend(batch.column(0).as_primitive::<Int32Type>().iter());
    }
    values.sort_unstable();
    values
}

async fn holds(table: &Table, expected: &Folded) {
    let rows: Vec<Row> = expected.rows.values().copied().collect();
    assert_eq!(read(table, "").await, rows);
    let mut latest: Vec<Option<i32>> = rows.iter().map(|row| row.2).collect();
    latest.sort_unstable();
    assert_eq!(project(table, "w").await, latest);
    // Totals are in no file, so no file may be left out for them.
    for total in rows.iter().filter_map(|row| row.1).step_by(97) {
        let matching: Vec<Row> = rows
            .iter()
            .copied()
            .filter(|row| row.1 == Some(total))
            .collect();
        assert_eq!(read(table, &format!("v = {total}")).await, matching);
    }
}

/// Numbers that belong to a seed (Knuth's generator).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Rows of one commit.
fn rows(random: &mut Numbers, count: usize) -> Vec<Row> {
    let mut some = |range: u64| {
        let value = i32::try_from(random.below(range)).unwrap();
        (random.below(4) > 0).then_some(value)
    };
    let mut rows = Vec::with_capacity(count);
    for _ in 0..count {
        let (v, w) = (some(1000).map(i64::from), some(1 << 20));
        rows.push((some(KEYS).unwrap_or(3), v, w));
    }
    rows
}

#[tokio::test(flavor = "multi_thread")]
async fn totals_and_latest_values_are_right_whatever_is_spilled_flushed_and_compacted() {
    for (engine, producer) in [
        ("aggregation", "none"),
        ("aggregation", "input"),
        ("partial-update", "none"),
        ("partial-update", "input"),
    ] {
        for memory_bytes in [16 << 10, 64 << 20] {
            let mut random = Numbers(7);
            let table = create(engine, producer).await;
            let mut expected = Folded {
                engine,
                rows: BTreeMap::new(),
            };
            let mut write = table
                .new_write(WriteOptions {
                    memory_bytes: Some(memory_bytes),
                })
                .await
                .unwrap();
            let commit = table.new_commit(CommitOptions::default()).unwrap();
            for identifier in 1..=7 {
                let new = rows(&mut random, 3000);
                for part in new.chunks(BATCH_ROWS) {
                    write.write(batch(&table, part)).await.unwrap();
                }
                new.into_iter().for_each(|row| expected.add(row));
                if identifier == 7 {
                    write.compact(&CompactScope::default(), true).await.unwrap();
                }
                let messages = write.prepare_commit(true).await.unwrap();
                let committable = Committable {
                    identifier,
                    messages,
                    ..Committable::default()
                };
                commit.commit(committable).await.unwrap();
                holds(&table, &expected).await;
            }
        }
    }
}
