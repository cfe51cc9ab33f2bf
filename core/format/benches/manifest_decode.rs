//! Decodes and merges 100,000 manifest entries of the shape of workload W7 on one thread.
//!
//! 100 partitions in turn, eight value columns with statistics, manifests of 8 MiB with zstandard level 1, as Java makes them.
//!
//! Run: `cargo bench -p tidewater-format --bench manifest_decode`

#![expect(clippy::expect_used, reason = "a benchmark stops at the first fault")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tidewater_format::{
    AvroCodec, ColumnNames, ColumnStats, DataFileMeta, FileKind, FileSource, ManifestEntry,
    ManifestFilter, RollingManifestWriter, SimpleStats, live_entries, manifest, stats_from_columns,
};
use tidewater_types::{BinaryRow, DataType, Datum, MAX_LENGTH, SchemaId, TypeKind};

const ENTRIES: i64 = 100_000;
const PARTITIONS: i64 = 100;

fn main() {
    let types = value_types();
    let partition_types: Arc<[DataType]> = Arc::from([DataType::new(TypeKind::Int)]);
    let columns =
        ColumnNames::from(["a0", "a1", "a2", "a3", "a4", "d", "s", "m"].map(str::to_owned));
    let mut writer = RollingManifestWriter::new(AvroCodec::default(), 8 << 20, partition_types);
    for n in 0..ENTRIES {
        writer.write(&entry(n, &types, &columns)).expect("encodes");
    }
    let manifests: Vec<Vec<u8>> = writer
        .finish()
        .expect("encodes")
        .into_iter()
        .map(|manifest| manifest.bytes)
        .collect();
    let bytes: usize = manifests.iter().map(Vec::len).sum();
    println!(
        "{ENTRIES} entries in {} manifests of {bytes} bytes",
        manifests.len()
    );

    measure("decode, all of each entry", || {
        decode(&manifests, &ManifestFilter::all())
    });
    measure("decode and merge", || {
        live_entries(decode(&manifests, &ManifestFilter::all())).expect("adds up")
    });
    let bare = ManifestFilter::all()
        .without_key_stats()
        .without_value_stats();
    measure("decode and merge, without statistics", || {
        live_entries(decode(&manifests, &bare)).expect("adds up")
    });
    let wanted = int_row(42);
    let one = ManifestFilter::all().with_partition(move |partition| *partition == wanted);
    measure("decode one partition of 100", || decode(&manifests, &one));
    let entries = decode(&manifests, &ManifestFilter::all());
    measure("encode", || {
        manifest::encode_entries(&entries, AvroCodec::default()).expect("encodes")
    });
}

fn decode(manifests: &[Vec<u8>], filter: &ManifestFilter) -> Vec<ManifestEntry> {
    let mut all = Vec::new();
    for manifest in manifests {
        all.extend(manifest::decode_entries(manifest, filter).expect("decodes"));
    }
    all
}

/// Prints the best wall time of some runs and, where the system tells, the processor time of the same run: on a busy
/// machine the latter counts. The answer is dropped after the clock stopped.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn measure<T>(what: &str, mut run: impl FnMut() -> T) {
    let mut best = (Duration::MAX, None);
    for _ in 0..9 {
        let (start, cpu) = (Instant::now(), thread_cpu_nanos());
        let answer = black_box(run());
        let (wall, end) = (start.elapsed(), thread_cpu_nanos());
        drop(answer);
        if wall < best.0 {
            best = (wall, end.zip(cpu).map(|(end, start)| end - start));
        }
    }
    let cpu = best.1.map_or_else(String::new, |nanos| {
        format!(" ({:.1} ms of cpu)", nanos as f64 / 1e6)
    });
    println!("{what}: {:.1} ms{cpu}", best.0.as_secs_f64() * 1e3);
}

fn thread_cpu_nanos() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

fn value_types() -> Vec<DataType> {
    let text = TypeKind::VarChar(MAX_LENGTH);
    let mut types = vec![DataType::new(TypeKind::BigInt); 5];
    types.extend([TypeKind::Double, text.clone(), text].map(DataType::new));
    types
}

fn int_row(value: i32) -> BinaryRow {
    BinaryRow::from_datums(&[Datum::Int(value)], &[DataType::new(TypeKind::Int)]).expect("a row")
}

fn entry(n: i64, types: &[DataType], columns: &ColumnNames) -> ManifestEntry {
    let bound = |index: usize, at: i64| match index {
        0..=4 => Datum::BigInt(at * 31 + index as i64),
        5 => Datum::Double(at as f64 * 0.5),
        _ => Datum::String(format!("value-{at:010}")),
    };
    let column = |index: usize| ColumnStats {
        min: bound(index, n),
        max: bound(index, n + 10_000),
        null_count: Some(0),
    };
    let columns_stats: Vec<ColumnStats> = (0..types.len()).map(column).collect();
    let (value_stats, _) = stats_from_columns(&columns_stats, types, None).expect("statistics");
    // A name as random as a uuid, which compression cannot shrink.
    let random = (n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let more = random.rotate_left(29).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let partition = n % PARTITIONS;
    ManifestEntry {
        kind: FileKind::Add,
        partition: int_row(partition as i32),
        bucket: 0,
        total_buckets: -1,
        file: Arc::new(DataFileMeta {
            file_name: format!(
                "data-{:08x}-{:04x}-{:04x}-{:04x}-{:012x}-0.parquet",
                random >> 32,
                random & 0xffff,
                more >> 48,
                more & 0xffff,
                (random ^ more) & 0xffff_ffff_ffff
            ),
            file_size: 1_000_000 + n,
            row_count: 10_000,
            min_key: BinaryRow::empty(),
            max_key: BinaryRow::empty(),
            key_stats: SimpleStats::empty(),
            value_stats,
            min_sequence_number: 0,
            max_sequence_number: 9_999,
            schema_id: SchemaId(0),
            level: 0,
            extra_files: vec![],
            creation_time_millis: Some(1_718_000_000_000 + n),
            delete_row_count: Some(0),
            embedded_file_index: None,
            file_source: Some(FileSource::Append),
            value_stats_cols: Some(ColumnNames::clone(columns)),
            external_path: None,
            first_row_id: None,
            write_cols: None,
            write_cols_sequences: None,
        }),
    }
}
