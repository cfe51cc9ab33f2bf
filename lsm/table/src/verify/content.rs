//! The rows of one data file, held against what the manifest says of it.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int64Type};
use arrow_array::{ArrayRef, RecordBatch};
use tidewater_format::{
    ColumnStats, DataFileMeta, ManifestEntry, SEQUENCE_NUMBER_COLUMN, StatsCollector, StatsMode,
    TableSchema, VALUE_KIND_COLUMN, key_column_name,
};
use tidewater_types::{
    BinaryRow, BucketFunction, DataField, DataType, KeyEncoder, Keys, RowKind, RowType, TypeError,
    encode_rows,
};

use super::bounds::{KEY_STATS, VALUE_STATS, check_stats};
use super::{Fault, fault};
use crate::error::Result;

/// Checks one file batch by batch.
pub(super) struct ContentCheck {
    entry: ManifestEntry,
    /// The columns of the table that the file holds.
    values: Vec<DataField>,
    statistics: StatsCollector,
    keyed: Option<KeyedCheck>,
    bucket: Option<BucketCheck>,
    partition: RowType,
    rows: u64,
    misplaced: u64,
    foreign_partition: u64,
}

/// What only files of keyed tables have.
struct KeyedCheck {
    key: RowType,
    encoder: KeyEncoder,
    statistics: StatsCollector,
    /// Whether the file holds copies of the key columns.
    has_copies: bool,
    /// Whether keys must rise.
    sorted: bool,
    last: Option<Keys>,
    first_row: Option<BinaryRow>,
    last_row: Option<BinaryRow>,
    unsorted: u64,
    copies_differ: u64,
    sequences: Option<(i64, i64)>,
    deletes: i64,
}

struct BucketCheck {
    function: BucketFunction,
    key: RowType,
}

impl ContentCheck {
    /// For a file that was written with `schema`. `bucket_function` is given if the table's buckets are fixed.
    pub(super) fn new(
        entry: ManifestEntry,
        schema: &TableSchema,
        changelog: bool,
        bucket_function: Option<BucketFunction>,
    ) -> Result<Self> {
        let written = entry.file.write_cols.as_deref();
        let holds =
            |field: &&DataField| written.is_none_or(|columns| columns.contains(&field.name));
        let values: Vec<DataField> = schema.fields.iter().filter(holds).cloned().collect();
        let all_there = |row: &RowType| {
            row.names()
                .all(|name| values.iter().any(|field| field.name == name))
        };
        let keyed = if schema.is_keyed() {
            let thin = schema.options()?.data_file_thin_mode;
            let sorted = !changelog && entry.bucket >= 0;
            Some(KeyedCheck::new(schema.key_type(), !thin, sorted)?)
        } else {
            None
        };
        let key = schema.bucket_key_type();
        let bucket = bucket_function
            .filter(|_| entry.total_buckets > 0 && entry.bucket >= 0)
            .filter(|_| !key.is_empty() && all_there(&key))
            .map(|function| BucketCheck { function, key });
        let partition = schema.partition_type();
        let partition = if all_there(&partition) {
            partition
        } else {
            RowType::new(Vec::new())
        };
        Ok(Self {
            statistics: collector(&values),
            entry,
            values,
            keyed,
            bucket,
            partition,
            rows: 0,
            misplaced: 0,
            foreign_partition: 0,
        })
    }

    /// The columns to read, in the file's order.
    pub(super) fn columns(&self, schema: &TableSchema) -> Vec<DataField> {
        match &self.keyed {
            Some(keyed) => schema.key_value_type(!keyed.has_copies).fields,
            None => self.values.clone(),
        }
    }

    /// Takes rows in.
    pub(super) fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        let values: Vec<ArrayRef> = self
            .values
            .iter()
            .map(|field| column(batch, &field.name))
            .collect::<Result<_>>()?;
        self.statistics.update(&values)?;
        if let Some(keyed) = &mut self.keyed {
            keyed.batch(batch)?;
        }
        if let Some(bucket) = &self.bucket {
            let columns = columns_of(batch, &bucket.key)?;
            let total = self.entry.total_buckets;
            let assigned = bucket
                .function
                .assign(&columns, &bucket.key.types(), total)?;
            let wrong = assigned
                .iter()
                .filter(|bucket| **bucket != self.entry.bucket);
            self.misplaced += wrong.count() as u64;
        }
        if !self.partition.is_empty() {
            let columns = columns_of(batch, &self.partition)?;
            let rows = encode_rows(&columns, &self.partition.types())?;
            let here = self.entry.partition.as_bytes();
            self.foreign_partition += rows.iter().filter(|row| *row != here).count() as u64;
        }
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// Rows taken in.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// What does not hold.
    pub(super) fn finish(self, place: &str) -> Vec<Fault> {
        let mut faults = Vec::new();
        let file: &DataFileMeta = &self.entry.file;
        let rows = i64::try_from(self.rows).unwrap_or(i64::MAX);
        let mut add = |code, detail: String| faults.push(fault(code, place, detail));
        if rows != file.row_count {
            let detail = format!("manifest says {}, has {rows}", file.row_count);
            add("row-count", detail);
        }
        if self.misplaced > 0 {
            let (wrong, total) = (self.misplaced, self.entry.total_buckets);
            let detail = format!("{wrong} rows belong to another bucket of {total}");
            add("bucket", detail);
        }
        if self.foreign_partition > 0 {
            let wrong = self.foreign_partition;
            let detail = format!("{wrong} partition values differ from the folder's");
            add("partition", detail);
        }
        if let Some(keyed) = self.keyed {
            faults.extend(keyed.finish(place, file, rows));
        }
        let actual = self.statistics.finish();
        let listed = file.value_stats_cols.as_deref();
        faults.extend(check_stats(
            VALUE_STATS,
            place,
            &file.value_stats,
            listed,
            &self.values,
            &actual,
            rows,
        ));
        faults
    }
}

impl KeyedCheck {
    fn new(key: RowType, has_copies: bool, sorted: bool) -> Result<Self> {
        Ok(Self {
            encoder: KeyEncoder::new(&key.types())?,
            statistics: collector(&key.fields),
            key,
            has_copies,
            sorted,
            last: None,
            first_row: None,
            last_row: None,
            unsorted: 0,
            copies_differ: 0,
            sequences: None,
            deletes: 0,
        })
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        let rows = batch.num_rows();
        let Some(last) = rows.checked_sub(1) else {
            return Ok(());
        };
        let columns = columns_of(batch, &self.key)?;
        self.statistics.update(&columns)?;
        let keys = self.encoder.encode(&columns)?;
        if self.has_copies {
            let copies = self
                .key
                .names()
                .map(|name| column(batch, &key_column_name(name)));
            let copies = self.encoder.encode(&copies.collect::<Result<Vec<_>>>()?)?;
            let differ = (0..rows).filter(|row| !keys.eq(*row, &copies, *row));
            self.copies_differ += differ.count() as u64;
        }
        if self.sorted {
            let falls = (1..rows).filter(|row| keys.cmp(row - 1, &keys, *row).is_ge());
            self.unsorted += falls.count() as u64;
            if let Some(before) = &self.last
                && let Some(end) = before.len().checked_sub(1)
                && before.cmp(end, &keys, 0).is_ge()
            {
                self.unsorted += 1;
            }
            self.last = Some(keys);
        }
        // Only the first and the last row become rows of bytes.
        let ends = |row: usize| -> Result<Option<BinaryRow>> {
            let one: Vec<ArrayRef> = columns.iter().map(|column| column.slice(row, 1)).collect();
            Ok(encode_rows(&one, &self.key.types())?.to_row(0))
        };
        if self.first_row.is_none() {
            self.first_row = ends(0)?;
        }
        self.last_row = ends(last)?;
        let sequences = column(batch, SEQUENCE_NUMBER_COLUMN)?;
        let kinds = column(batch, VALUE_KIND_COLUMN)?;
        let (Some(sequences), Some(kinds)) = (
            sequences.as_primitive_opt::<Int64Type>(),
            kinds.as_primitive_opt::<Int8Type>(),
        ) else {
            return Err(
                TypeError::corrupt("data file", "its system columns have other types").into(),
            );
        };
        for sequence in sequences.values() {
            let (min, max) = self.sequences.unwrap_or((*sequence, *sequence));
            self.sequences = Some((min.min(*sequence), max.max(*sequence)));
        }
        for kind in kinds.values() {
            if RowKind::from_i8(*kind)?.is_retract() {
                self.deletes += 1;
            }
        }
        Ok(())
    }

    fn finish(self, place: &str, file: &DataFileMeta, rows: i64) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut add = |code, detail: String| faults.push(fault(code, place, detail));
        if self.unsorted > 0 {
            let detail = format!("{} rows not above the row before", self.unsorted);
            add("key-order", detail);
        }
        if self.copies_differ > 0 {
            let detail = format!(
                "{} stored keys differ from the value columns",
                self.copies_differ
            );
            add("key-columns", detail);
        }
        let Some((min, max)) = self.sequences else {
            return faults;
        };
        if (min, max) != (file.min_sequence_number, file.max_sequence_number) {
            let detail = format!(
                "manifest says {}..{}, has {min}..{max}",
                file.min_sequence_number, file.max_sequence_number
            );
            add("sequence-range", detail);
        }
        if let Some(said) = file.delete_row_count
            && said != self.deletes
        {
            let detail = format!("manifest says {said}, has {}", self.deletes);
            add("delete-row-count", detail);
        }
        if self.first_row.as_ref() != Some(&file.min_key)
            || self.last_row.as_ref() != Some(&file.max_key)
        {
            let detail = "manifest's min/max key is not the first/last key";
            add("key-range", detail.to_owned());
        }
        let actual: Vec<ColumnStats> = self.statistics.finish();
        faults.extend(check_stats(
            KEY_STATS,
            place,
            &file.key_stats,
            None,
            &self.key.fields,
            &actual,
            rows,
        ));
        faults
    }
}

fn collector(fields: &[DataField]) -> StatsCollector {
    let types: Vec<DataType> = fields.iter().map(|field| field.data_type.clone()).collect();
    StatsCollector::new(&types, &vec![StatsMode::Full; types.len()])
}

fn column(batch: &RecordBatch, name: &str) -> Result<ArrayRef> {
    let found = batch.column_by_name(name).cloned();
    Ok(found.ok_or_else(|| TypeError::UnknownColumn {
        name: name.to_owned(),
    })?)
}

fn columns_of(batch: &RecordBatch, row: &RowType) -> Result<Vec<ArrayRef>> {
    row.names().map(|name| column(batch, name)).collect()
}
