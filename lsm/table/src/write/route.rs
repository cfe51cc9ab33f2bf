//! Which partition and bucket each row belongs to, and the rows taken apart by it.
//!
//! Source: spec 01c §4, 02b §2; Paimon `table/sink/FixedBucketRowKeyExtractor.java`.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{Array, ArrayRef, Int8Array, RecordBatch, UInt32Array};
use arrow_select::take::{take, take_record_batch};
use tidewater_format::{BucketMode, TableOptions, TableSchema};
use tidewater_types::{BinaryRow, BucketFunction, DataType, RowType, encode_rows};

use crate::error::{Result, TableError};
use crate::scan::bucket_function;
use crate::write::prepare::PreparedRows;

/// Gives rows their partition and bucket.
#[derive(Debug)]
pub(crate) struct RowRouter {
    partition_columns: Vec<usize>,
    partition_types: Vec<DataType>,
    /// `None` for tables without buckets: all rows of a partition go to bucket 0.
    buckets: Option<Buckets>,
}

#[derive(Debug)]
struct Buckets {
    columns: Vec<usize>,
    types: Vec<DataType>,
    function: BucketFunction,
    count: i32,
}

/// Rows of one bucket, in the order given.
#[derive(Debug)]
pub(crate) struct RoutedRows {
    pub(crate) partition: BinaryRow,
    pub(crate) bucket: i32,
    pub(crate) values: RecordBatch,
    pub(crate) kinds: Option<Int8Array>,
}

impl RowRouter {
    pub(crate) fn new(schema: &TableSchema, options: &TableOptions) -> Result<Self> {
        let row_type = schema.row_type();
        let buckets = match schema.bucket_mode()? {
            BucketMode::Fixed(count) => Some(Buckets {
                columns: positions(&row_type, &schema.bucket_key_type())?,
                types: schema.bucket_key_type().types(),
                function: bucket_function(options)?,
                count,
            }),
            BucketMode::Unaware => None,
            _ => {
                return Err(TableError::Bug {
                    what: "a table whose buckets cannot be written was opened for writing",
                });
            }
        };
        Ok(Self {
            partition_columns: positions(&row_type, &schema.partition_type())?,
            partition_types: schema.partition_type().types(),
            buckets,
        })
    }

    /// Takes the rows apart. `bucket` forces one for all of them. CPU work.
    pub(crate) fn route(&self, rows: PreparedRows, bucket: Option<i32>) -> Result<Vec<RoutedRows>> {
        if rows.values.num_rows() == 0 {
            return Ok(Vec::new());
        }
        let buckets = match (bucket, &self.buckets) {
            (Some(bucket), Some(known)) if (0..known.count).contains(&bucket) => {
                Assigned::One(bucket)
            }
            (Some(bucket), known) => {
                return Err(TableError::NoSuchBucket {
                    bucket,
                    buckets: known.as_ref().map_or(0, |known| known.count),
                });
            }
            (None, None) => Assigned::One(0),
            (None, Some(known)) if known.count == 1 => Assigned::One(0),
            (None, Some(known)) => {
                let columns = pick(&rows.values, &known.columns)?;
                Assigned::Each(known.function.assign(&columns, &known.types, known.count)?)
            }
        };
        let slots = self.slots(&rows.values, &buckets)?;
        take_apart(rows, slots)
    }

    /// Numbers the (partition, bucket) pairs that occur, and says each row's.
    fn slots(&self, values: &RecordBatch, buckets: &Assigned) -> Result<Slots> {
        let rows = values.num_rows();
        if self.partition_columns.is_empty() {
            let mut pairs = Pairs::new(buckets.limit());
            let of_rows = (0..rows).map(|row| pairs.slot(0, buckets.of(row)));
            return Ok(Slots {
                of_rows: of_rows.collect(),
                places: pairs.places(|_| BinaryRow::empty()),
            });
        }
        let columns = pick(values, &self.partition_columns)?;
        let partitions = encode_rows(&columns, &self.partition_types)?;
        let mut pairs = Pairs::new(buckets.limit());
        let mut known: HashMap<&[u8], u32> = HashMap::new();
        // A row of each partition, by number.
        let mut examples: Vec<usize> = Vec::new();
        let mut last: Option<(&[u8], u32)> = None;
        let mut of_rows = Vec::with_capacity(rows);
        for row in 0..rows {
            let partition = partitions.row(row);
            let number = match last {
                Some((same, number)) if same == partition => number,
                _ => *known.entry(partition).or_insert_with(|| {
                    examples.push(row);
                    u32::try_from(examples.len() - 1).unwrap_or(u32::MAX)
                }),
            };
            last = Some((partition, number));
            of_rows.push(pairs.slot(number, buckets.of(row)));
        }
        let place = |number: u32| {
            let row = examples.get(number as usize);
            let partition = row.and_then(|row| partitions.to_row(*row));
            partition.unwrap_or_else(BinaryRow::empty)
        };
        Ok(Slots {
            of_rows,
            places: pairs.places(place),
        })
    }
}

/// Numbers of (partition number, bucket) pairs, in the order in which they occur.
struct Pairs {
    /// Buckets of a partition.
    buckets: usize,
    /// The number of each pair, partition by partition; `FREE` where a pair has not occurred.
    numbers: Vec<u32>,
    /// The same for pairs that lie too far out.
    far: HashMap<usize, u32>,
    found: Vec<(u32, i32)>,
}

impl Pairs {
    const FREE: u32 = u32::MAX;
    /// Most pairs that are numbered by place.
    const NEAR: usize = 1 << 20;

    fn new(buckets: usize) -> Self {
        Self {
            buckets,
            numbers: Vec::new(),
            far: HashMap::new(),
            found: Vec::new(),
        }
    }

    fn slot(&mut self, partition: u32, bucket: i32) -> u32 {
        let inside = usize::try_from(bucket).unwrap_or_default();
        let at = partition as usize * self.buckets + inside;
        let next = u32::try_from(self.found.len()).unwrap_or(Self::FREE);
        let number = if at < Self::NEAR {
            if at >= self.numbers.len() {
                self.numbers.resize(at + 1, Self::FREE);
            }
            self.numbers.get_mut(at)
        } else {
            Some(self.far.entry(at).or_insert(Self::FREE))
        };
        match number {
            Some(known) if *known != Self::FREE => return *known,
            Some(free) => *free = next,
            None => {}
        }
        self.found.push((partition, bucket));
        next
    }

    fn places(self, partition: impl Fn(u32) -> BinaryRow) -> Vec<(BinaryRow, i32)> {
        let found = self.found.into_iter();
        found
            .map(|(number, bucket)| (partition(number), bucket))
            .collect()
    }
}

enum Assigned {
    One(i32),
    Each(Vec<i32>),
}

impl Assigned {
    /// A number above every bucket.
    fn limit(&self) -> usize {
        let largest = match self {
            Self::One(bucket) => *bucket,
            Self::Each(buckets) => buckets.iter().copied().max().unwrap_or_default(),
        };
        usize::try_from(largest).unwrap_or_default() + 1
    }

    fn of(&self, row: usize) -> i32 {
        match self {
            Self::One(bucket) => *bucket,
            Self::Each(buckets) => buckets.get(row).copied().unwrap_or_default(),
        }
    }
}

/// The (partition, bucket) pairs that occur, and each row's number among them.
struct Slots {
    places: Vec<(BinaryRow, i32)>,
    of_rows: Vec<u32>,
}

fn take_apart(rows: PreparedRows, slots: Slots) -> Result<Vec<RoutedRows>> {
    let PreparedRows { values, kinds } = rows;
    let whole = slots.places.len() == 1 && !is_small_slice(&values);
    let mut parts: Vec<Vec<u32>> = Vec::new();
    if !whole {
        let mut counts = vec![0_usize; slots.places.len()];
        for slot in &slots.of_rows {
            if let Some(count) = counts.get_mut(*slot as usize) {
                *count += 1;
            }
        }
        parts = counts.into_iter().map(Vec::with_capacity).collect();
        for (row, slot) in (0_u32..).zip(&slots.of_rows) {
            if let Some(part) = parts.get_mut(*slot as usize) {
                part.push(row);
            }
        }
    }
    let mut parts = parts.into_iter();
    slots
        .places
        .into_iter()
        .map(|(partition, bucket)| {
            let (values, kinds) = match parts.next() {
                None => (values.clone(), kinds.clone()),
                Some(rows) => {
                    let rows = UInt32Array::from(rows);
                    let kinds = match &kinds {
                        None => None,
                        Some(kinds) => {
                            Some(take(kinds, &rows, None)?.as_primitive::<Int8Type>().clone())
                        }
                    };
                    (take_record_batch(&values, &rows)?, kinds)
                }
            };
            Ok(RoutedRows {
                partition,
                bucket,
                values,
                kinds,
            })
        })
        .collect()
}

/// Whether the rows are a small part of buffers that they would keep alive.
fn is_small_slice(values: &RecordBatch) -> bool {
    let (mut held, mut used) = (0, 0);
    for column in values.columns() {
        held += column.get_buffer_memory_size();
        used += column
            .to_data()
            .get_slice_memory_size()
            .unwrap_or_else(|_| column.get_buffer_memory_size());
    }
    held > used.saturating_mul(2)
}

fn positions(row_type: &RowType, wanted: &RowType) -> Result<Vec<usize>> {
    wanted
        .names()
        .map(|name| {
            row_type.index_of(name).ok_or_else(|| TableError::NoColumn {
                column: name.to_owned(),
                asked_by: "a key",
            })
        })
        .collect()
}

fn pick(values: &RecordBatch, at: &[usize]) -> Result<Vec<ArrayRef>> {
    at.iter()
        .map(|index| {
            values
                .columns()
                .get(*index)
                .map(Arc::clone)
                .ok_or(TableError::Bug {
                    what: "a key column is not among the columns",
                })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Also where partitions times buckets are more than can be numbered by place.
        #[test]
        fn pairs_are_numbered_in_the_order_in_which_they_occur(
            rows in prop::collection::vec((0_u32..40, prop::sample::select(vec![0, 1, 7, 99_999, 1_999_999])), 0..200),
        ) {
            let mut pairs = Pairs::new(2_000_000);
            let mut expected: Vec<(u32, i32)> = Vec::new();
            for pair in &rows {
                if !expected.contains(pair) {
                    expected.push(*pair);
                }
                let slot = pairs.slot(pair.0, pair.1);
                prop_assert_eq!(expected.get(slot as usize), Some(pair));
            }
            prop_assert_eq!(pairs.found, expected);
        }
    }
}
