//! Speed of the fold beside a plain copy of the same columns: chunks as a merge hands them out, with a share of keys that
//! have several versions.
//!
//! `cargo run --release -p tidewater-merge --example fold_speed [rows]`

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a program for people at a terminal; it measures time, which the library never does"
)]

use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, Decimal128Array, Int32Array, Int64Array, StringArray, UInt32Array};
use arrow_buffer::BooleanBuffer;
use tidewater_format::{SchemaDefinition, TableSchema};
use tidewater_merge::{FoldEngine, GroupedRows};

const CHUNK_ROWS: usize = 8192;

fn table(engine: &str, options: &str) -> TableSchema {
    let json = format!(
        r#"{{"fields":[{{"name":"k","type":"BIGINT"}},{{"name":"g","type":"INT"}},{{"name":"a","type":"BIGINT"}},
        {{"name":"b","type":"DECIMAL(12, 2)"}},{{"name":"c","type":"STRING"}},{{"name":"d","type":"STRING"}}],
        "primaryKeys":["k"],"options":{{"bucket":"1","merge-engine":"{engine}"{options}}}}}"#
    );
    TableSchema::create(SchemaDefinition::from_json(json.as_bytes()).unwrap(), 0).unwrap()
}

/// A chunk in which every `every`th key has two versions.
fn chunk(every: usize) -> (Vec<ArrayRef>, BooleanBuffer) {
    let ends: Vec<bool> = (0..CHUNK_ROWS)
        .map(|row| every == 0 || row % (every + 1) != 0 || row + 1 == CHUNK_ROWS)
        .collect();
    let mut key = 0;
    let keys = Int64Array::from_iter_values(ends.iter().map(|end| {
        let this = key;
        key += i64::from(*end);
        this
    }));
    let numbers = || (0_i64..).take(CHUNK_ROWS);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(keys),
        Arc::new(Int32Array::from_iter_values((0..).take(CHUNK_ROWS))),
        Arc::new(Int64Array::from_iter(
            numbers().map(|n| (n % 3 > 0).then_some(n)),
        )),
        Arc::new(
            Decimal128Array::from_iter_values(numbers().map(i128::from))
                .with_precision_and_scale(12, 2)
                .unwrap(),
        ),
        Arc::new(StringArray::from_iter(
            numbers().map(|n| (n % 4 > 0).then(|| format!("text number {n}"))),
        )),
        Arc::new(StringArray::from_iter_values(
            numbers().map(|n| format!("{}", n % 100)),
        )),
    ];
    (columns, BooleanBuffer::from(ends))
}

fn main() {
    let rows = std::env::args()
        .nth(1)
        .map_or(4_000_000, |text| text.parse().unwrap());
    let chunks = rows / CHUNK_ROWS;
    let groups = r#","fields.g.sequence-group":"a,b,c,d""#;
    let functions = r#","fields.a.aggregate-function":"sum","fields.b.aggregate-function":"sum","fields.d.aggregate-function":"max""#;
    let list = r#","fields.a.aggregate-function":"sum","fields.d.aggregate-function":"listagg""#;
    let tables = [
        ("partial-update", table("partial-update", "")),
        ("partial-update, one group", table("partial-update", groups)),
        ("aggregation: sums, max", table("aggregation", functions)),
        ("aggregation: sum, listagg", table("aggregation", list)),
    ];
    for every in [0, 9, 1] {
        let (columns, ends) = chunk(every);
        let keys = ends.count_set_bits();
        println!("{CHUNK_ROWS} rows a chunk, {keys} keys");
        let last: Vec<u32> = (0_u32..)
            .zip(ends.iter())
            .filter(|(_, end)| *end)
            .map(|(row, _)| row)
            .collect();
        let last = UInt32Array::from(last);
        let start = Instant::now();
        for _ in 0..chunks {
            let copied: Vec<ArrayRef> = columns
                .iter()
                .map(|column| arrow_select::take::take(column, &last, None).unwrap())
                .collect();
            std::hint::black_box(copied);
        }
        let copy = start.elapsed();
        println!("  {:28} {copy:>10.1?}", "copy of the newest versions");
        for (name, schema) in &tables {
            let engine = FoldEngine::new(schema).unwrap();
            let start = Instant::now();
            for _ in 0..chunks {
                let folded = engine.fold(GroupedRows {
                    group_ends: &ends,
                    kinds: None,
                    columns: &columns,
                    always_call: false,
                });
                assert_eq!(folded.unwrap().sequence_rows.len(), keys);
            }
            let took = start.elapsed();
            let ratio = took.as_secs_f64() / copy.as_secs_f64();
            println!("  {name:28} {took:>10.1?}  {ratio:.2} of the copy");
        }
    }
}
