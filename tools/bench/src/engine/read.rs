//! Scanning and counting.

use tidewater_table::ScanBuilder;
use tidewater_types::{Datum, Predicate, PredicateOp};

use super::{APPEND, Bench, KEYED};
use crate::answer::Answer;
use crate::error::Result;
use crate::input::{SUMMED, sum_of};

/// Repeats in the same process, of which the best is told beside the first.
const WARM: usize = 3;

impl Bench {
    /// All rows of a table, with all columns or some.
    pub(super) async fn scan(&self, name: &str, columns: Option<&[&str]>) -> Result<Answer> {
        let start = self.env.monotonic();
        let scan = self.table(name).await?.new_scan();
        let scan = match columns {
            Some(columns) => scan.project(columns)?,
            None => scan,
        };
        self.drain(start, &scan).await
    }

    /// One partition of the append table, planned afresh each time.
    pub(super) async fn append_part(&self) -> Result<Answer> {
        let first = self.scan_partition(7).await?;
        let mut warm = f64::INFINITY;
        for _ in 0..WARM {
            let start = self.env.monotonic();
            self.scan_partition(7).await?;
            warm = warm.min(self.since(start));
        }
        Ok(first.with("warm_s", warm))
    }

    async fn scan_partition(&self, partition: i32) -> Result<Answer> {
        let start = self.env.monotonic();
        let scan = self.table(APPEND).await?.new_scan();
        let scan = of_partition(scan, partition).await?;
        self.drain(start, &scan).await
    }

    /// The number of rows of the keyed table.
    pub(super) async fn count(&self) -> Result<Answer> {
        let start = self.env.monotonic();
        let rows = self.table(KEYED).await?.new_scan().count().await?;
        Ok(Answer::new(self.since(start), rows))
    }

    async fn drain(&self, start: std::time::Duration, scan: &ScanBuilder) -> Result<Answer> {
        let mut stream = scan.read().await?;
        let (mut rows, mut sum) = (0, 0_i64);
        let summed = if stream.schema().index_of(SUMMED).is_ok() {
            SUMMED
        } else {
            "l_orderkey"
        };
        while let Some(batch) = stream.next_batch().await? {
            rows += batch.num_rows() as u64;
            sum = sum.wrapping_add(sum_of(&batch, summed));
        }
        Ok(Answer::new(self.since(start), rows).with("checksum", sum))
    }
}

/// Narrows a read to the rows whose column `p` has this value.
pub(super) async fn of_partition(scan: ScanBuilder, partition: i32) -> Result<ScanBuilder> {
    let row_type = scan.row_type().await?;
    let values = vec![Datum::Int(partition)];
    let filter = Predicate::leaf(&row_type, "p", PredicateOp::Eq, values)?;
    Ok(scan.filter(filter)?)
}
