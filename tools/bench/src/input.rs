//! The input of a workload: Arrow IPC files, so that no program is helped or hindered by a decoder of its own, and the facts that every
//! program must reproduce.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::FileReader;
use arrow_schema::SchemaRef;

use crate::error::{BenchError, Result};

/// Upserts that the workload has.
pub(crate) const UPSERTS: usize = 10;
/// The primary key of the keyed workload.
pub(crate) const KEYS: [&str; 2] = ["l_orderkey", "l_linenumber"];
/// What a narrow scan reads: three columns, without the second key column.
pub(crate) const NARROW: [&str; 3] = ["l_orderkey", "l_extendedprice", "l_shipdate"];
/// Column whose sum tells whether the right rows were read.
pub(crate) const SUMMED: &str = "l_partkey";
/// Kind of change of a row, in files of upserts.
pub(crate) const KIND: &str = "_VALUE_KIND";

/// Name of the file of the upsert with this number.
pub(crate) fn upsert_file(number: usize) -> String {
    format!("upsert-{number:02}.arrow")
}

/// Folder with the files of one workload size.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    folder: PathBuf,
}

impl Input {
    /// The files in `folder`.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn open(&self, file: &str) -> Result<FileReader<File>> {
        let path = self.folder.join(file);
        let opened = File::open(&path).map_err(BenchError::file(&path))?;
        Ok(FileReader::try_new(opened, None)?)
    }

    /// The columns of a file.
    pub(crate) fn schema(&self, file: &str) -> Result<SchemaRef> {
        Ok(self.open(file)?.schema())
    }

    /// All batches of a file.
    pub(crate) fn batches(&self, file: &str) -> Result<Vec<RecordBatch>> {
        let batches: std::result::Result<Vec<_>, _> = self.open(file)?.collect();
        Ok(batches?)
    }

    /// The batches of a file, read by a thread that stays one batch ahead.
    pub(crate) fn stream(
        &self,
        file: &str,
    ) -> Result<impl Iterator<Item = Result<RecordBatch>> + Send + use<>> {
        let reader = self.open(file)?;
        let (sender, receiver) = sync_channel(1);
        std::thread::spawn(move || {
            for batch in reader {
                // Nobody listens once the run has failed.
                if sender.send(batch.map_err(BenchError::from)).is_err() {
                    break;
                }
            }
        });
        Ok(receiver.into_iter())
    }

    /// Row counts and sums, by name.
    pub(crate) fn facts(&self) -> Result<BTreeMap<String, i64>> {
        read_facts(&self.folder.join("facts.tsv"))
    }
}

fn read_facts(path: &Path) -> Result<BTreeMap<String, i64>> {
    let text = fs::read_to_string(path).map_err(BenchError::file(path))?;
    text.lines()
        .map(|line| {
            let fact = line
                .split_once('\t')
                .and_then(|(name, value)| Some((name.to_owned(), value.parse().ok()?)));
            fact.ok_or_else(|| BenchError::Wrong(format!("{}: {line:?}", path.display())))
        })
        .collect()
}

/// Sum of an `Int64` column, wrapping; 0 if it is not among the columns.
pub(crate) fn sum_of(batch: &RecordBatch, column: &str) -> i64 {
    let Some(column) = batch
        .column_by_name(column)
        .and_then(|column| column.as_primitive_opt::<Int64Type>())
    else {
        return 0;
    };
    if column.null_count() == 0 {
        return column
            .values()
            .iter()
            .fold(0, |sum, value| sum.wrapping_add(*value));
    }
    column.iter().flatten().fold(0, i64::wrapping_add)
}
