//! Commits and plans of a table with very many files, of which only the metadata is there.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use tidewater_format::{ColumnStats, DataFileMeta, FileSource, SimpleStats, stats_from_columns};
use tidewater_store::{CommitMessage, DataIncrement};
use tidewater_table::Table;
use tidewater_types::{BinaryRow, DataType as TableType, Datum, SchemaId};

use super::read::of_partition;
use super::{Bench, META};
use crate::answer::Answer;
use crate::error::{BenchError, Result};

/// Partitions that the files are spread over.
const PARTITIONS: usize = 100;
/// Files of one commit.
const PER_COMMIT: usize = 1_000;
/// Small commits whose time is taken when the table has reached a size.
const TIMED: usize = 20;
/// Plans of which the first and the best are told.
const PLANS: usize = 5;

impl Bench {
    /// Fills a table with entries of files, and takes the time of a small commit at 1,000, 10,000 and all files.
    pub(super) async fn meta(&self, files: usize) -> Result<Answer> {
        let table = self
            .create(
                META,
                &columns(),
                &[],
                &["p"],
                &[("bucket", "-1"), ("write-only", "true")],
            )
            .await?;
        let start = self.env.monotonic();
        let mut latency = serde_json::Map::new();
        let mut made = 0;
        while made < files {
            self.commit(&table, fake(&table, made, PER_COMMIT)?).await?;
            made += PER_COMMIT;
            if made == 1_000 || made == 10_000 || made >= files {
                let mut times = Vec::with_capacity(TIMED);
                for number in 0..TIMED {
                    let messages = fake(&table, 10_000_000 + made + number, 1)?;
                    let before = self.env.monotonic();
                    self.commit(&table, messages).await?;
                    times.push(self.since(before) * 1e3);
                }
                times.sort_by(f64::total_cmp);
                let at = |index: usize| times.get(index).copied().unwrap_or_default();
                let figures = serde_json::json!({"p50_ms": at(TIMED / 2), "max_ms": at(TIMED - 1)});
                latency.insert(made.to_string(), figures);
            }
        }
        let seconds = self.since(start);
        Ok(Answer::new(seconds, made as u64).with("commit_latency", latency))
    }

    /// Plans all files, and those of one partition, each time with a table opened anew.
    pub(super) async fn meta_plan(&self) -> Result<Answer> {
        let (mut all, mut part) = (Vec::with_capacity(PLANS), Vec::with_capacity(PLANS));
        let (mut files, mut part_files) = (0, 0);
        for _ in 0..PLANS {
            let start = self.env.monotonic();
            let plan = self.table(META).await?.new_scan().plan().await?;
            files = plan
                .splits
                .iter()
                .map(|split| split.files.len())
                .sum::<usize>();
            all.push(self.since(start));
        }
        for _ in 0..PLANS {
            let start = self.env.monotonic();
            let scan = of_partition(self.table(META).await?.new_scan(), 42).await?;
            let plan = scan.plan().await?;
            part_files = plan
                .splits
                .iter()
                .map(|split| split.files.len())
                .sum::<usize>();
            part.push(self.since(start));
        }
        let best = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
        let first = all.first().copied().unwrap_or_default();
        Ok(Answer::new(first, files as u64)
            .with("plan_full_cold_s", first)
            .with("plan_full_s", best(&all))
            .with("plan_part_s", best(&part))
            .with("plan_files", files)
            .with("plan_part_files", part_files))
    }
}

fn columns() -> Schema {
    let mut fields: Vec<Field> = (0..5)
        .map(|number| Field::new(format!("a{number}"), DataType::Int64, true))
        .collect();
    fields.push(Field::new("d", DataType::Float64, true));
    fields.push(Field::new("s", DataType::Utf8, true));
    fields.push(Field::new("m", DataType::Utf8, true));
    fields.push(Field::new("p", DataType::Int32, false));
    Schema::new(fields)
}

/// Messages that add files which do not exist: `count` from number `from` on, dealt out to the partitions in turn.
fn fake(table: &Table, from: usize, count: usize) -> Result<Vec<CommitMessage>> {
    let row_type = table.schema().row_type();
    let types: Vec<TableType> = row_type
        .fields
        .iter()
        .filter(|field| field.name != "p")
        .map(|field| field.data_type.clone())
        .collect();
    let names: Vec<String> = row_type
        .fields
        .iter()
        .filter(|field| field.name != "p")
        .map(|field| field.name.clone())
        .collect();
    let names = Arc::from(names);
    let mut messages: Vec<Vec<Arc<DataFileMeta>>> = vec![Vec::new(); PARTITIONS];
    for number in from..from + count {
        if let Some(files) = messages.get_mut(number % PARTITIONS) {
            files.push(Arc::new(fake_file(number, &types, &names)?));
        }
    }
    let partition_type = table.schema().partition_type().types();
    let mut out = Vec::new();
    for (number, new_files) in messages.into_iter().enumerate() {
        if new_files.is_empty() {
            continue;
        }
        let value = i32::try_from(number).unwrap_or_default();
        out.push(CommitMessage {
            partition: BinaryRow::from_datums(&[Datum::Int(value)], &partition_type)?,
            bucket: 0,
            total_buckets: -1,
            data: DataIncrement {
                new_files,
                ..DataIncrement::default()
            },
            compact: Default::default(),
        });
    }
    Ok(out)
}

fn fake_file(number: usize, types: &[TableType], names: &Arc<[String]>) -> Result<DataFileMeta> {
    let seed = i64::try_from(number).map_err(|_| BenchError::Wrong("too many files".to_owned()))?;
    let bounds = |at: i64, upper: bool| -> Datum {
        let shift = if upper { 10_000 } else { 0 };
        match at {
            0..5 => Datum::BigInt(seed * 10_000 + at + shift),
            5 => Datum::Double(seed as f64 + shift as f64),
            _ => Datum::String(format!("value-{:08}", seed + shift)),
        }
    };
    let stats: Vec<ColumnStats> = (0..8)
        .map(|at| ColumnStats {
            min: bounds(at, false),
            max: bounds(at, true),
            null_count: Some(0),
        })
        .collect();
    let (value_stats, _) = stats_from_columns(&stats, types, None)?;
    Ok(DataFileMeta {
        file_name: format!("data-{number:08x}-0000-0000-0000-{number:012x}-0.parquet"),
        file_size: 1_000_000 + seed,
        row_count: 10_000,
        min_key: BinaryRow::empty(),
        max_key: BinaryRow::empty(),
        key_stats: SimpleStats::empty(),
        value_stats,
        min_sequence_number: 0,
        max_sequence_number: 9_999,
        schema_id: SchemaId(0),
        level: 0,
        extra_files: Vec::new(),
        creation_time_millis: Some(1_700_000_000_000 + seed),
        delete_row_count: Some(0),
        embedded_file_index: None,
        file_source: Some(FileSource::Append),
        value_stats_cols: Some(Arc::clone(names)),
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    })
}
