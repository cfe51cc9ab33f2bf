//! A full compaction in memory: decode everything, keep the newest row of each key, encode.

use std::path::PathBuf;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;

use super::read::read_whole;
use super::write::{Layout, packed_keys, write_rows};
use super::{BUCKETS, Limit, ends_with};
use crate::answer::Answer;
use crate::error::{BenchError, Result};
use crate::input::KIND;

/// Rows decoded at once.
const BATCH_ROWS: usize = 65_536;

impl Limit {
    pub(super) fn compact(&self) -> Result<Answer> {
        let start = self.env.monotonic();
        let files = self.files(".parquet")?;
        let buckets: Vec<usize> = (0..BUCKETS).collect();
        let rows = self.spread(&buckets, |bucket| self.compact_bucket(*bucket, &files))?;
        for path in &files {
            std::fs::remove_file(path).map_err(BenchError::file(path))?;
        }
        for bucket in buckets {
            let path = self.unfinished(bucket);
            let name = self.folder.join(format!("c-b{bucket}.parquet"));
            std::fs::rename(&path, name).map_err(BenchError::file(&path))?;
        }
        Ok(Answer::new(self.since(start), rows.iter().sum()))
    }

    fn unfinished(&self, bucket: usize) -> PathBuf {
        self.folder.join(format!("c-b{bucket}.tmp"))
    }

    fn compact_bucket(&self, bucket: usize, files: &[PathBuf]) -> Result<u64> {
        let suffix = format!("-b{bucket}.parquet");
        let mine: Vec<PathBuf> = files
            .iter()
            .filter(|path| ends_with(path, &suffix))
            .cloned()
            .collect();
        let all = read_whole(&mine, BATCH_ROWS)?;
        let kinds = all
            .column_by_name(KIND)
            .and_then(|kinds| kinds.as_primitive_opt::<Int8Type>())
            .ok_or_else(|| BenchError::Wrong("a file has no kinds".to_owned()))?
            .values();
        // Files are read oldest first, so the row number orders the versions of a key.
        let keys = packed_keys(&all, ["_KEY_l_orderkey", "_KEY_l_linenumber"])?;
        let mut versions: Vec<(u64, u32)> = keys.into_iter().zip(0_u32..).collect();
        versions.sort_unstable();
        let newest = versions.chunk_by(|left, right| left.0 == right.0);
        let order: Vec<u32> = newest
            .filter_map(|versions| versions.last())
            .map(|(_, row)| *row)
            .filter(|row| kinds.get(*row as usize).is_some_and(|kind| kind & 1 == 0))
            .collect();
        write_rows(&all, &order, Layout::Plain, self.unfinished(bucket))?;
        Ok(order.len() as u64)
    }
}
