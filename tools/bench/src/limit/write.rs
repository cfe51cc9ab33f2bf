//! Rows dealt out to buckets, sorted, gathered and encoded.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{ArrayRef, Int8Array, Int64Array, RecordBatch, UInt32Array};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::{BUCKETS, Limit};
use crate::answer::Answer;
use crate::error::{BenchError, Result};
use crate::input::{KEYS, KIND, UPSERTS, upsert_file};

/// Rows gathered and encoded at once.
const CHUNK_ROWS: usize = 65_536;
/// Partitions of the append workload.
const PARTITIONS: usize = 64;

/// How rows become a file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Layout {
    /// The columns as they are.
    Plain,
    /// With copies of the key, a sequence number that begins here, and a kind: what a file of a primary-key table holds.
    Keyed { first_sequence: i64 },
}

impl Limit {
    pub(super) fn load(&self) -> Result<Answer> {
        let (rows, input, seconds) = self.write_keyed("load.arrow", "a", 0)?;
        Ok(Answer::new(seconds, rows).with("input_seconds", input))
    }

    pub(super) fn upsert(&self) -> Result<Answer> {
        let (mut rows, mut input, mut each) = (0, 0.0, Vec::with_capacity(UPSERTS));
        for number in 0..UPSERTS {
            let first_sequence = i64::try_from(number + 1).unwrap_or_default() << 40;
            let file = upsert_file(number);
            let (more, read, seconds) =
                self.write_keyed(&file, &format!("u{number:02}"), first_sequence)?;
            rows += more;
            input += read;
            each.push(seconds);
        }
        Ok(Answer::new(each.iter().sum(), rows)
            .with("input_seconds", input)
            .with("per_commit_s", each))
    }

    pub(super) fn append_load(&self) -> Result<Answer> {
        let start = self.env.monotonic();
        let batch = self.whole("append.arrow")?;
        let input = self.since(start);
        let start = self.env.monotonic();
        let column = batch
            .column_by_name("p")
            .and_then(|column| column.as_primitive_opt::<Int32Type>())
            .ok_or_else(|| BenchError::Wrong("append.arrow has no column p".to_owned()))?;
        let mut parts: Vec<Vec<u32>> = vec![Vec::new(); PARTITIONS];
        for (row, part) in (0_u32..).zip(column.values()) {
            if let Some(rows) = usize::try_from(*part)
                .ok()
                .and_then(|part| parts.get_mut(part))
            {
                rows.push(row);
            }
        }
        let parts: Vec<(usize, Vec<u32>)> = parts.into_iter().enumerate().collect();
        self.spread(&parts, |(part, rows)| {
            let path = self.folder.join(format!("p{part:02}.parquet"));
            write_rows(&batch, rows, Layout::Plain, path)
        })?;
        Ok(Answer::new(self.since(start), batch.num_rows() as u64).with("input_seconds", input))
    }

    fn whole(&self, file: &str) -> Result<RecordBatch> {
        let batches = self.input.batches(file)?;
        Ok(concat_batches(&self.input.schema(file)?, &batches)?)
    }

    /// Rows, seconds of reading the input, seconds of writing.
    fn write_keyed(
        &self,
        file: &str,
        prefix: &str,
        first_sequence: i64,
    ) -> Result<(u64, f64, f64)> {
        let start = self.env.monotonic();
        let batch = self.whole(file)?;
        let input = self.since(start);
        let start = self.env.monotonic();
        let mut buckets: Vec<Vec<(u64, u32)>> = vec![Vec::new(); BUCKETS];
        for (row, key) in (0_u32..).zip(packed_keys(&batch, KEYS)?) {
            if let Some(rows) = buckets.get_mut(bucket_of(key)) {
                rows.push((key, row));
            }
        }
        let buckets: Vec<(usize, Vec<(u64, u32)>)> = buckets.into_iter().enumerate().collect();
        self.spread(&buckets, |(bucket, rows)| {
            let mut rows = rows.clone();
            rows.sort_unstable();
            let order: Vec<u32> = rows.into_iter().map(|(_, row)| row).collect();
            let path = self.folder.join(format!("{prefix}-b{bucket}.parquet"));
            write_rows(&batch, &order, Layout::Keyed { first_sequence }, path)
        })?;
        Ok((batch.num_rows() as u64, input, self.since(start)))
    }
}

/// One word per row that orders as the key does: line numbers are below 8.
pub(super) fn packed_keys(batch: &RecordBatch, names: [&str; 2]) -> Result<Vec<u64>> {
    let missing = || BenchError::Wrong(format!("no key columns {names:?}"));
    let [order, line] = names.map(|name| batch.column_by_name(name));
    let order = order
        .and_then(|column| column.as_primitive_opt::<Int64Type>())
        .ok_or_else(missing)?;
    let line = line
        .and_then(|column| column.as_primitive_opt::<Int32Type>())
        .ok_or_else(missing)?;
    let pairs = order.values().iter().zip(line.values());
    Ok(pairs
        .map(|(order, line)| order.cast_unsigned() << 3 | u64::from(line.cast_unsigned()))
        .collect())
}

fn bucket_of(key: u64) -> usize {
    let mixed = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    usize::try_from(mixed).unwrap_or_default() % BUCKETS
}

/// Gathers rows in this order and encodes them into one file.
pub(super) fn write_rows(
    batch: &RecordBatch,
    order: &[u32],
    layout: Layout,
    path: PathBuf,
) -> Result<()> {
    let file = File::create(&path).map_err(BenchError::file(&path))?;
    let schema = match layout {
        Layout::Plain => batch.schema(),
        Layout::Keyed { .. } => Arc::new(keyed_schema(batch.schema_ref())?),
    };
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_max_row_group_row_count(Some(1_000_000))
        .set_write_batch_size(4096)
        .build();
    let mut writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties))?;
    for rows in order.chunks(CHUNK_ROWS) {
        let gathered = take_record_batch(batch, &UInt32Array::from(rows.to_vec()))?;
        let gathered = match layout {
            Layout::Plain => gathered,
            Layout::Keyed { first_sequence } => {
                let sequence = rows.iter().map(|row| first_sequence + i64::from(*row));
                let sequence = Int64Array::from_iter_values(sequence);
                RecordBatch::try_new(Arc::clone(&schema), keyed_columns(&gathered, sequence))?
            }
        };
        writer.write(&gathered)?;
    }
    writer.close()?;
    Ok(())
}

fn keyed_schema(schema: &Schema) -> Result<Schema> {
    let mut fields = Vec::with_capacity(schema.fields().len() + KEYS.len() + 2);
    for key in KEYS {
        let column = schema.field_with_name(key)?;
        fields.push(column.clone().with_name(format!("_KEY_{key}")));
    }
    fields.push(Field::new("_SEQUENCE_NUMBER", DataType::Int64, false));
    fields.push(Field::new(KIND, DataType::Int8, false));
    let columns = schema.fields().iter().filter(|field| field.name() != KIND);
    fields.extend(columns.map(|field| field.as_ref().clone()));
    Ok(Schema::new(fields))
}

fn keyed_columns(batch: &RecordBatch, sequence: Int64Array) -> Vec<ArrayRef> {
    let mut columns: Vec<ArrayRef> = KEYS
        .iter()
        .filter_map(|key| batch.column_by_name(key).cloned())
        .collect();
    columns.push(Arc::new(sequence));
    columns.push(match batch.column_by_name(KIND) {
        Some(kinds) => Arc::clone(kinds),
        None => Arc::new(Int8Array::from(vec![0; batch.num_rows()])),
    });
    let fields = batch.schema_ref().fields().iter().zip(batch.columns());
    columns.extend(
        fields
            .filter(|(field, _)| field.name() != KIND)
            .map(|(_, column)| Arc::clone(column)),
    );
    columns
}
