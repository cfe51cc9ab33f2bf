//! When a load commits. Values only: the caller brings the time.

use std::time::Duration;

/// Commits every so many rows, or after so much time, whichever comes first.
#[derive(Debug, Clone)]
pub struct CommitPace {
    every_rows: Option<u64>,
    every: Option<Duration>,
    rows: u64,
    last: Duration,
}

impl CommitPace {
    /// `now` is a monotonic time, as all times here. With neither bound a load commits at its end only.
    pub fn new(every_rows: Option<u64>, every: Option<Duration>, now: Duration) -> Self {
        Self {
            every_rows: every_rows.map(|rows| rows.max(1)),
            every,
            rows: 0,
            last: now,
        }
    }

    /// Takes note of rows that were written, bad ones that were put aside among them.
    pub fn add(&mut self, rows: u64) {
        self.rows = self.rows.saturating_add(rows);
    }

    /// Rows since the last commit.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether it is time. Without rows it never is.
    pub fn is_due(&self, now: Duration) -> bool {
        let enough = self.every_rows.is_some_and(|every| self.rows >= every);
        let late = self.remaining(now) == Some(Duration::ZERO);
        self.rows > 0 && (enough || late)
    }

    /// How long the next batch may be waited for until the time is over; none if time does not matter.
    pub fn remaining(&self, now: Duration) -> Option<Duration> {
        let every = self.every?;
        Some(every.saturating_sub(now.saturating_sub(self.last)))
    }

    /// Begins anew after a commit.
    pub fn committed(&mut self, now: Duration) {
        self.rows = 0;
        self.last = now;
    }
}

/// Rows of a batch, at most `batch_rows_max`, such that whole batches make up `every_rows` as nearly as can be.
pub fn batch_rows_for(every_rows: Option<u64>, batch_rows_max: usize) -> usize {
    let max = batch_rows_max.max(1);
    let Some(every) = every_rows.and_then(|rows| usize::try_from(rows.max(1)).ok()) else {
        return max;
    };
    every.div_ceil(every.div_ceil(max))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn rows_or_time_make_a_commit_due_but_never_without_rows() {
        let mut pace = CommitPace::new(Some(100), Some(seconds(10)), seconds(1000));
        assert!(!pace.is_due(seconds(2000)));
        pace.add(99);
        assert!(!pace.is_due(seconds(1009)));
        assert_eq!(pace.remaining(seconds(1009)), Some(seconds(1)));
        assert!(pace.is_due(seconds(1010)));
        pace.add(1);
        assert!(pace.is_due(seconds(1001)));
        pace.committed(seconds(1001));
        assert_eq!(pace.rows(), 0);
        pace.add(5);
        assert!(!pace.is_due(seconds(1010)) && pace.is_due(seconds(1011)));
        let mut never = CommitPace::new(None, None, seconds(0));
        never.add(u64::MAX);
        assert!(!never.is_due(seconds(u64::MAX)) && never.remaining(seconds(1)).is_none());
    }

    #[test]
    fn whole_batches_make_up_the_rows_of_a_commit() {
        assert_eq!(batch_rows_for(None, 65_536), 65_536);
        assert_eq!(batch_rows_for(Some(1), 65_536), 1);
        assert_eq!(batch_rows_for(Some(65_536), 65_536), 65_536);
        assert_eq!(batch_rows_for(Some(100_000), 65_536), 50_000);
        assert_eq!(batch_rows_for(Some(1_000_000), 65_536), 62_500);
    }
}
