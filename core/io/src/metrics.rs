//! Counters of what went to the store, and of what did not have to.
//!
//! Names follow `tidewater.io.<noun>.<unit>`; work done (ranges fetched) stands beside work asked (ranges wanted).

use std::array;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::PutOutcome;

macro_rules! operations {
    ($( $(#[doc = $doc:literal])+ $name:ident = $text:literal, )+) => {
        /// Kinds of requests, as metrics, retries and scripted faults tell them apart.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum IoOperation {
            $( $(#[doc = $doc])+ $name, )+
        }

        impl IoOperation {
            /// Every kind, in the order of their metrics.
            pub const ALL: &'static [Self] = &[$( Self::$name, )+];

            /// The word for it in metric names and log lines.
            pub fn name(self) -> &'static str {
                match self {
                    $( Self::$name => $text, )+
                }
            }
        }
    };
}

operations! {
    /// A whole file.
    Read = "read",
    /// Byte ranges of a file.
    ReadRanges = "read-ranges",
    /// The length of a file.
    Size = "size",
    /// Whether a name is taken.
    Exists = "exists",
    /// A folder, one level or all of them.
    List = "list",
    /// A whole new file.
    Write = "write",
    /// A whole file that may replace another.
    Overwrite = "overwrite",
    /// A whole file that must not replace another.
    PutIfAbsent = "put-if-absent",
    /// The start of a streamed file.
    OpenWrite = "open-write",
    /// A piece of a streamed file.
    SinkWrite = "sink-write",
    /// The end of a streamed file.
    SinkFinish = "sink-finish",
    /// One file to remove.
    Delete = "delete",
    /// A folder to remove.
    DeleteDir = "delete-dir",
    /// A folder to move.
    RenameDir = "rename-dir",
    /// A folder to make.
    CreateDir = "create-dir",
}

const KINDS: usize = IoOperation::ALL.len();

type Counters = [AtomicU64; KINDS];

/// Live counters of one [`crate::FileIo`] and its clones.
#[derive(Debug)]
pub(crate) struct LiveMetrics {
    requests: Counters,
    retries: Counters,
    bytes_read: AtomicU64,
    bytes_written: AtomicU64,
    ranges_asked: AtomicU64,
    ranges_fetched: AtomicU64,
    puts_created: AtomicU64,
    puts_lost: AtomicU64,
    puts_unknown: AtomicU64,
}

impl Default for LiveMetrics {
    fn default() -> Self {
        let zeros = || array::from_fn(|_| AtomicU64::new(0));
        Self {
            requests: zeros(),
            retries: zeros(),
            bytes_read: AtomicU64::new(0),
            bytes_written: AtomicU64::new(0),
            ranges_asked: AtomicU64::new(0),
            ranges_fetched: AtomicU64::new(0),
            puts_created: AtomicU64::new(0),
            puts_lost: AtomicU64::new(0),
            puts_unknown: AtomicU64::new(0),
        }
    }
}

impl LiveMetrics {
    /// The counts at this moment.
    pub(crate) fn snapshot(&self) -> FileIoMetrics {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        FileIoMetrics {
            requests: self.requests.each_ref().map(load),
            retries: self.retries.each_ref().map(load),
            bytes_read: load(&self.bytes_read),
            bytes_written: load(&self.bytes_written),
            ranges_asked: load(&self.ranges_asked),
            ranges_fetched: load(&self.ranges_fetched),
            puts_created: load(&self.puts_created),
            puts_lost: load(&self.puts_lost),
            puts_unknown: load(&self.puts_unknown),
        }
    }

    pub(crate) fn count_request(&self, operation: IoOperation) {
        bump(&self.requests, operation);
    }

    pub(crate) fn count_retry(&self, operation: IoOperation) {
        bump(&self.retries, operation);
    }

    pub(crate) fn count_read(&self, bytes: usize) {
        add(&self.bytes_read, bytes);
    }

    pub(crate) fn count_written(&self, bytes: usize) {
        add(&self.bytes_written, bytes);
    }

    pub(crate) fn count_ranges(&self, asked: usize, fetched: usize) {
        add(&self.ranges_asked, asked);
        add(&self.ranges_fetched, fetched);
    }

    pub(crate) fn count_put(&self, outcome: PutOutcome) {
        let counter = match outcome {
            PutOutcome::Created => &self.puts_created,
            PutOutcome::Exists => &self.puts_lost,
            PutOutcome::Unknown => &self.puts_unknown,
        };
        add(counter, 1);
    }
}

fn bump(counters: &Counters, operation: IoOperation) {
    if let Some(counter) = counters.get(operation as usize) {
        add(counter, 1);
    }
}

fn add(counter: &AtomicU64, count: usize) {
    counter.fetch_add(count as u64, Ordering::Relaxed);
}

/// Counts of one moment; subtract two to see what a piece of work cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileIoMetrics {
    requests: [u64; KINDS],
    retries: [u64; KINDS],
    /// Bytes that stores sent, gaps between coalesced ranges included.
    pub bytes_read: u64,
    /// Bytes handed to stores.
    pub bytes_written: u64,
    /// Ranges that callers asked for.
    pub ranges_asked: u64,
    /// Ranges that were fetched for them after merging.
    pub ranges_fetched: u64,
    /// `put_if_absent` calls that made the file.
    pub puts_created: u64,
    /// `put_if_absent` calls that found the name taken.
    pub puts_lost: u64,
    /// `put_if_absent` calls whose end the store did not tell.
    pub puts_unknown: u64,
}

impl FileIoMetrics {
    /// Requests of a kind, retries included.
    pub fn requests(&self, operation: IoOperation) -> u64 {
        self.requests.get(operation as usize).copied().unwrap_or(0)
    }

    /// Requests of a kind that were sent again after a transient error.
    pub fn retries(&self, operation: IoOperation) -> u64 {
        self.retries.get(operation as usize).copied().unwrap_or(0)
    }

    /// What came on top of an `earlier` snapshot of the same counters.
    pub fn since(&self, earlier: &Self) -> Self {
        let minus = |now: &[u64; KINDS], then: &[u64; KINDS]| {
            let mut pairs = now.iter().zip(then);
            array::from_fn(|_| {
                pairs
                    .next()
                    .map_or(0, |(now, then)| now.saturating_sub(*then))
            })
        };
        Self {
            requests: minus(&self.requests, &earlier.requests),
            retries: minus(&self.retries, &earlier.retries),
            bytes_read: self.bytes_read.saturating_sub(earlier.bytes_read),
            bytes_written: self.bytes_written.saturating_sub(earlier.bytes_written),
            ranges_asked: self.ranges_asked.saturating_sub(earlier.ranges_asked),
            ranges_fetched: self.ranges_fetched.saturating_sub(earlier.ranges_fetched),
            puts_created: self.puts_created.saturating_sub(earlier.puts_created),
            puts_lost: self.puts_lost.saturating_sub(earlier.puts_lost),
            puts_unknown: self.puts_unknown.saturating_sub(earlier.puts_unknown),
        }
    }

    /// Name and value of every counter, in a fixed order, for exporters.
    pub fn named(&self) -> Vec<(String, u64)> {
        let kinds = IoOperation::ALL.iter();
        let requests = kinds.clone().map(|&kind| {
            (
                format!("tidewater.io.{}.requests", kind.name()),
                self.requests(kind),
            )
        });
        let retries = kinds.map(|&kind| {
            (
                format!("tidewater.io.{}.retries", kind.name()),
                self.retries(kind),
            )
        });
        let totals = [
            ("tidewater.io.read.bytes", self.bytes_read),
            ("tidewater.io.written.bytes", self.bytes_written),
            ("tidewater.io.ranges-asked.count", self.ranges_asked),
            ("tidewater.io.ranges-fetched.count", self.ranges_fetched),
            ("tidewater.io.puts-created.count", self.puts_created),
            ("tidewater.io.puts-lost.count", self.puts_lost),
            ("tidewater.io.puts-unknown.count", self.puts_unknown),
        ];
        let totals = totals
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value));
        requests.chain(retries).chain(totals).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_of_snapshots_is_the_work_in_between() {
        let metrics = LiveMetrics::default();
        metrics.count_request(IoOperation::List);
        let before = metrics.snapshot();
        metrics.count_request(IoOperation::List);
        metrics.count_retry(IoOperation::CreateDir);
        metrics.count_put(PutOutcome::Unknown);
        metrics.count_ranges(5, 2);
        let work = metrics.snapshot().since(&before);
        assert_eq!(
            (
                work.requests(IoOperation::List),
                work.retries(IoOperation::CreateDir)
            ),
            (1, 1)
        );
        assert_eq!(
            (work.puts_unknown, work.ranges_asked, work.ranges_fetched),
            (1, 5, 2)
        );
    }

    #[test]
    fn every_counter_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<_> = LiveMetrics::default()
            .snapshot()
            .named()
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names.len(), 2 * KINDS + 7);
    }
}
