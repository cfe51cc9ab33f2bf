//! Speed of the merge and of the fold over a table as workload W3 of the benches has it: one large run of order lines
//! and ten small ones of upserts and deletes between them.
//!
//! `cargo run --release -p tidewater-merge --example merge_speed [rows]`

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a program for people at a terminal; it measures time, which the library never does"
)]

use std::time::Instant;

use arrow_array::{Int8Array, Int64Array};
use tidewater_merge::{
    FoldInput, MergeBatch, MergeEngine, MergeMode, MergeOptions, SortMerge, Step, Versions,
    sort_fold,
};
use tidewater_types::Keys;

const UPSERT_RUNS: usize = 10;
const BATCH_ROWS: usize = 8192;

/// The rows of one run in key order: (key, is a delete).
type Run = Vec<(u128, bool)>;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn key(order: u64, line: u64) -> u128 {
    u128::from(order ^ (1 << 63)) << 32 | u128::from(line as u32 ^ (1 << 31))
}

/// Newest run first, the large one last.
fn table(rows: usize) -> Vec<Run> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let base: Vec<u128> = (0..rows as u64)
        .map(|row| key(row / 4 * 8, row % 4))
        .collect();
    let mut runs = Vec::new();
    for _ in 0..UPSERT_RUNS {
        let mut run: Run = (0..rows / 50)
            .map(|_| {
                let dice = random.next() % 100;
                let at = random.next() % rows as u64;
                if dice < 90 {
                    (base[at as usize], dice < 5)
                } else {
                    (key(at / 4 * 8 + 1 + at % 7, at % 4), false)
                }
            })
            .collect();
        run.sort_unstable();
        run.dedup_by_key(|row| row.0);
        runs.push(run);
    }
    runs.push(base.into_iter().map(|key| (key, false)).collect());
    runs
}

/// Encodes keys as the merge would get them: native, or as bytes.
fn keys(rows: &[(u128, bool)], bytes: bool) -> Keys {
    if !bytes {
        return Keys::U128(rows.iter().map(|row| row.0).collect());
    }
    let text = arrow_array::StringArray::from_iter_values(
        rows.iter().map(|row| format!("order-{:024x}", row.0)),
    );
    let converter = arrow_row::RowConverter::new(vec![arrow_row::SortField::new(
        arrow_schema::DataType::Utf8,
    )]);
    Keys::Rows(
        converter
            .unwrap()
            .convert_columns(&[std::sync::Arc::new(text)])
            .unwrap(),
    )
}

fn batches(runs: &[Run], sequence: bool, bytes: bool) -> Vec<Vec<MergeBatch>> {
    let batch = |run: usize, rows: &[(u128, bool)]| MergeBatch {
        keys: keys(rows, bytes),
        sequence: sequence.then(|| Int64Array::from_value((runs.len() - run) as i64, rows.len())),
        seq_fields: None,
        kinds: (run < UPSERT_RUNS)
            .then(|| Int8Array::from_iter_values(rows.iter().map(|row| if row.1 { 3 } else { 0 }))),
        rows: rows.len(),
    };
    let cut = |(run, rows): (usize, &Run)| {
        rows.chunks(BATCH_ROWS)
            .map(|rows| batch(run, rows))
            .collect()
    };
    runs.iter().enumerate().map(cut).collect()
}

/// Merges once; answers the surviving rows and the milliseconds.
fn merge(runs: &[Run], input: Vec<Vec<MergeBatch>>, mode: MergeMode) -> (usize, f64) {
    let expected: Vec<u64> = runs.iter().map(|run| run.len() as u64).collect();
    let options = MergeOptions {
        engine: MergeEngine::Deduplicate {
            ignore_delete: false,
        },
        mode,
        drop_retractions: true,
    };
    let mut input: Vec<_> = input.into_iter().map(Vec::into_iter).collect();
    let started = Instant::now();
    let mut merge = SortMerge::new(&expected, options).unwrap();
    let mut survivors = 0;
    let mut rows_of = std::collections::HashMap::new();
    loop {
        match merge.step() {
            Step::NeedInput(run) => match input[run].next() {
                Some(batch) => {
                    let rows = batch.rows;
                    rows_of.insert(merge.push(run, batch).unwrap(), rows);
                }
                None => merge.finish_run(run).unwrap(),
            },
            Step::Output(chunk) => survivors += chunk.rows,
            Step::Mask(mask) => survivors += mask.survivors.count(rows_of[&mask.slot]),
            Step::Done => return (survivors, started.elapsed().as_secs_f64() * 1e3),
        }
    }
}

fn main() {
    let rows: usize = std::env::args()
        .nth(1)
        .map_or(2_000_000, |text| text.parse().unwrap());
    let runs = table(rows);
    let total: usize = runs.iter().map(Vec::len).sum();
    println!("{total} rows in {} runs", runs.len());
    let picks = MergeMode::Picks {
        chunk_rows: BATCH_ROWS,
        versions: Versions::Winners,
    };
    for (name, mode, sequence, bytes) in [
        ("mask, run order, u128", MergeMode::Mask, false, false),
        ("mask, sequence, u128", MergeMode::Mask, true, false),
        ("picks, run order, u128", picks, false, false),
        ("picks, sequence, u128", picks, true, false),
        ("mask, run order, bytes", MergeMode::Mask, false, true),
        ("picks, sequence, bytes", picks, true, true),
    ] {
        let (mut survivors, mut best) = (0, f64::MAX);
        for _ in 0..5 {
            let (count, millis) = merge(&runs, batches(&runs, sequence, bytes), mode);
            survivors = count;
            best = best.min(millis);
        }
        println!(
            "{name:24} {best:7.1} ms {:6.1} ns/row, {survivors} rows survive",
            best * 1e6 / total as f64
        );
    }

    // A write buffer: the large run in random order, one row in twenty twice.
    let mut random = Random(42);
    let mut buffered: Vec<(u128, bool)> = runs[UPSERT_RUNS].iter().take(500_000).copied().collect();
    buffered.extend_from_within(..buffered.len() / 20);
    for at in (1..buffered.len()).rev() {
        buffered.swap(at, (random.next() % (at as u64 + 1)) as usize);
    }
    for (name, bytes) in [("fold, u128", false), ("fold, bytes", true)] {
        let keys = keys(&buffered, bytes);
        let input = FoldInput {
            keys: &keys,
            seq_fields: None,
            kinds: None,
        };
        let mut best = f64::MAX;
        let mut winners = 0;
        for _ in 0..5 {
            let started = Instant::now();
            winners = sort_fold(
                input,
                MergeEngine::Deduplicate {
                    ignore_delete: false,
                },
                false,
            )
            .unwrap()
            .winners
            .len();
            best = best.min(started.elapsed().as_secs_f64() * 1e3);
        }
        println!(
            "{name:24} {best:7.1} ms {:6.1} ns/row, {winners} rows survive",
            best * 1e6 / buffered.len() as f64
        );
    }
}
