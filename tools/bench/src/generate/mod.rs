//! The input of all workloads, the same bytes on every machine, and the facts that follow from it.
//!
//! ```text
//!  load.arrow            N rows like TPC-H's lineitem in random order, keys unique
//!  upsert-00..09.arrow   N/50 rows each: 85 % updates, 10 % new keys inside the key range, 5 % deletes; keys unique in one file
//!  append.arrow          the rows of load.arrow with a partition column p, 0 to 63 by date
//!  facts.tsv             row counts and sums that every program must reproduce
//! ```

mod lineitem;
mod random;

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int8Array, Int32Array, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use self::lineitem::{Key, Lines, SHIP_DAYS, lines_schema};
use self::random::Random;
use crate::error::{BenchError, Result};
use crate::input::{KIND, UPSERTS, upsert_file};

const SEED: u64 = 20_260_801;
/// Rows of a batch.
const BATCH_ROWS: usize = 65_536;
/// Partitions of the append workload.
const PARTITIONS: i64 = 64;

/// Writes the input for this many rows into a folder of `data`, unless it is there; answers the folder.
///
/// # Errors
/// A disk that is full or cannot be written.
pub(crate) fn generate(data: &Path, rows: usize) -> Result<PathBuf> {
    let folder = data.join(rows.to_string());
    let facts = folder.join("facts.tsv");
    if facts.exists() {
        return Ok(folder);
    }
    fs::create_dir_all(&folder).map_err(BenchError::file(&folder))?;
    let keys = keys(rows);
    let mut image = Image::new(&keys);
    let lines = Lines::new(SEED, rows);
    let mut told = write_load(&folder, &keys, &lines, &mut image)?;
    told.extend(write_upserts(&folder, &keys, &lines, &mut image)?);
    let text: String = told
        .into_iter()
        .map(|(name, value)| format!("{name}\t{value}\n"))
        .collect();
    // Last, since it tells that the rest is there.
    fs::write(&facts, text).map_err(BenchError::file(&facts))?;
    Ok(folder)
}

type Facts = Vec<(&'static str, i64)>;

/// The table as it is after each step: `l_partkey` of every key, none once deleted.
struct Image {
    loaded: Vec<Option<i64>>,
    added: Vec<i64>,
}

impl Image {
    fn new(keys: &[Key]) -> Self {
        Self {
            loaded: vec![None; keys.len()],
            added: Vec::new(),
        }
    }

    fn set(&mut self, position: usize, part: Option<i64>) {
        if let Some(held) = self.loaded.get_mut(position) {
            *held = part;
        }
    }

    fn parts(&self) -> impl Iterator<Item = i64> {
        self.loaded.iter().flatten().chain(&self.added).copied()
    }
}

/// Orders of one to seven lines, their numbers sparse as TPC-H's: eight of each thirty-two are used.
fn keys(rows: usize) -> Vec<Key> {
    let mut random = Random::new(SEED);
    let mut keys = Vec::with_capacity(rows);
    let mut order = 0_i64;
    while keys.len() < rows {
        let lines = random.between(1, 7);
        for line in 1..=lines {
            if keys.len() < rows {
                keys.push(Key {
                    order: (order / 8) * 32 + order % 8 + 1,
                    line: i32::try_from(line).unwrap_or_default(),
                });
            }
        }
        order += 1;
    }
    keys
}

fn write_load(folder: &Path, keys: &[Key], lines: &Lines, image: &mut Image) -> Result<Facts> {
    let plain = lines_schema(&[]);
    let parted = lines_schema(&[Field::new("p", DataType::Int32, false)]);
    let mut load = Output::create(&folder.join("load.arrow"), &plain)?;
    let mut append = Output::create(&folder.join("append.arrow"), &parted)?;
    let mut random = Random::new(SEED + 1);
    let places = random.shuffled(keys.len());
    let mut seventh = 0;
    for places in places.chunks(BATCH_ROWS) {
        let some: Vec<Key> = places
            .iter()
            .filter_map(|at| keys.get(*at).copied())
            .collect();
        let made = lines.make(&mut random, &some);
        for (place, part) in places.iter().zip(&made.parts) {
            image.set(*place, Some(*part));
        }
        let partitions: Vec<i32> = made
            .ship_days
            .iter()
            .map(|day| i32::try_from(i64::from(*day) * PARTITIONS / SHIP_DAYS).unwrap_or_default())
            .collect();
        seventh += partitions
            .iter()
            .filter(|partition| **partition == 7)
            .count();
        load.write(made.columns.clone())?;
        let mut columns = made.columns;
        columns.push(Arc::new(Int32Array::from(partitions)));
        append.write(columns)?;
    }
    load.close()?;
    append.close()?;
    let rows = i64::try_from(keys.len()).unwrap_or(i64::MAX);
    Ok(vec![
        ("load_rows", rows),
        ("load_sum_partkey", image.parts().sum()),
        ("append_rows", rows),
        ("append_p7_rows", i64::try_from(seventh).unwrap_or(i64::MAX)),
    ])
}

fn write_upserts(folder: &Path, keys: &[Key], lines: &Lines, image: &mut Image) -> Result<Facts> {
    let schema = lines_schema(&[Field::new(KIND, DataType::Int8, false)]);
    let orders: Vec<Key> = keys.iter().filter(|key| key.line == 1).copied().collect();
    let free = Random::new(SEED + 2).shuffled(orders.len());
    let rows = keys.len() / 50;
    let (new, deleted) = (rows / 10, rows / 20);
    for number in 0..UPSERTS {
        let mut random = Random::new(SEED + 100 + number as u64);
        let known = random.some_of(keys.len(), rows - new);
        // (place of a known key, its key, whether it goes)
        let mut changes: Vec<(Option<usize>, Key, bool)> = known
            .into_iter()
            .enumerate()
            .filter_map(|(at, place)| Some((Some(place), *keys.get(place)?, at < deleted)))
            .collect();
        let unused = free.iter().skip(number * new).take(new);
        changes.extend(unused.filter_map(|order| {
            // Eight further on lies a number that no order of the load has.
            let key = orders.get(*order)?;
            let order = key.order + 8;
            Some((None, Key { order, line: 1 }, false))
        }));
        random.shuffle(&mut changes);
        let mut output = Output::create(&folder.join(upsert_file(number)), &schema)?;
        for changes in changes.chunks(BATCH_ROWS) {
            let some: Vec<Key> = changes.iter().map(|change| change.1).collect();
            let made = lines.make(&mut random, &some);
            for ((place, _, goes), part) in changes.iter().zip(&made.parts) {
                match place {
                    Some(place) => image.set(*place, (!goes).then_some(*part)),
                    None => image.added.push(*part),
                }
            }
            let kinds = changes.iter().map(|change| if change.2 { 3 } else { 0 });
            let mut columns = made.columns;
            columns.push(Arc::new(Int8Array::from_iter_values(kinds)));
            output.write(columns)?;
        }
        output.close()?;
    }
    let merged = image.parts().count();
    Ok(vec![
        ("upsert_rows", i64::try_from(rows).unwrap_or(i64::MAX)),
        ("merged_rows", i64::try_from(merged).unwrap_or(i64::MAX)),
        ("merged_sum_partkey", image.parts().sum()),
    ])
}

/// One Arrow IPC file.
struct Output {
    schema: SchemaRef,
    writer: FileWriter<BufWriter<File>>,
}

impl Output {
    fn create(path: &Path, schema: &Schema) -> Result<Self> {
        let file = File::create(path).map_err(BenchError::file(path))?;
        Ok(Self {
            writer: FileWriter::try_new_buffered(file, schema)?,
            schema: Arc::new(schema.clone()),
        })
    }

    fn write(&mut self, columns: Vec<ArrayRef>) -> Result<()> {
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        Ok(self.writer.write(&batch)?)
    }

    fn close(mut self) -> Result<()> {
        Ok(self.writer.finish()?)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int8Type, Int32Type, Int64Type};

    use super::*;
    use crate::input::Input;

    /// Applies the files to a map, as any table would.
    #[test]
    fn the_facts_follow_from_the_files() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = generate(scratch.path(), 5_000).unwrap();
        let input = Input::new(folder);
        let facts = input.facts().unwrap();
        let mut table: HashMap<(i64, i32), i64> = HashMap::new();
        let files = (0..UPSERTS).map(upsert_file);
        for file in std::iter::once("load.arrow".to_owned()).chain(files) {
            for batch in input.batches(&file).unwrap() {
                let order = batch.column(0).as_primitive::<Int64Type>();
                let line = batch.column(1).as_primitive::<Int32Type>();
                let part = batch.column(2).as_primitive::<Int64Type>();
                let kinds = batch.column_by_name(KIND);
                for row in 0..batch.num_rows() {
                    let key = (order.value(row), line.value(row));
                    let gone =
                        kinds.is_some_and(|kinds| kinds.as_primitive::<Int8Type>().value(row) == 3);
                    if gone {
                        table.remove(&key);
                    } else {
                        table.insert(key, part.value(row));
                    }
                }
            }
            if file == "load.arrow" {
                assert_eq!(table.len(), 5_000);
                assert_eq!(facts["load_sum_partkey"], table.values().sum::<i64>());
            }
        }
        assert_eq!(facts["merged_rows"], table.len() as i64);
        assert_eq!(facts["merged_sum_partkey"], table.values().sum::<i64>());
    }
}
