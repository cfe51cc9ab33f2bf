//! What a run hands in: keys and the system columns that decide between versions.

use arrow_array::{Array, Int8Array, Int64Array};
use arrow_buffer::{BooleanBuffer, Buffer, ScalarBuffer};
use tidewater_types::Keys;

use crate::error::{MergeError, Result};
use crate::sort_merge::keys::RunKeys;
use crate::sort_merge::output::Survivors;

/// Rows of one run, in key order.
///
/// Every batch of a merge must carry the same parts: either all have sequence numbers or none, and so on.
#[derive(Debug)]
pub struct MergeBatch {
    /// The trimmed primary key of each row, ascending.
    pub keys: Keys,
    /// `_SEQUENCE_NUMBER`. `None` when the run order alone decides: the caller vouches that every row of run `i`
    /// is newer than any row of the same key in run `j`, for all `i < j`
    /// ([`Section::newest_first`](crate::Section::newest_first) finds out).
    pub sequence: Option<Int64Array>,
    /// The columns of `sequence.field`, encoded so that a greater key is newer: nulls first, and inverted for
    /// `sequence.field.sort-order=descending`. Compared before the sequence number.
    pub seq_fields: Option<Keys>,
    /// `_VALUE_KIND`. `None` if every row is `+I`.
    pub kinds: Option<Int8Array>,
    /// Number of rows; all parts have this many.
    pub rows: usize,
}

/// Which optional parts the batches of a merge have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) sequence: bool,
    pub(crate) seq_fields: bool,
}

/// A pushed batch until nothing refers to it any more.
#[derive(Debug)]
pub(crate) struct Slot<K> {
    pub(crate) run: u32,
    /// The level its rows come from; 0 unless the caller said otherwise.
    pub(crate) level: i32,
    /// How many batches its run pushed before it.
    pub(crate) ordinal: usize,
    pub(crate) rows: u32,
    pub(crate) keys: K,
    pub(crate) sequence: Option<ScalarBuffer<i64>>,
    pub(crate) seq_fields: Option<Keys>,
    /// `None` also when a kinds column holds no retraction.
    retractions: Option<ScalarBuffer<i8>>,
    /// Whether two rows have the same key, so that a stretch may not be taken unseen.
    pub(crate) repeats: bool,
    /// Bit per row, set while the row survives. Empty until the first row loses.
    survivors: Vec<u8>,
}

/// Whether `_VALUE_KIND` takes a row away: `-U` and `-D` are the odd kinds (spec 02a §1.1).
#[inline]
pub(crate) fn is_retraction(kind: i8) -> bool {
    kind & 1 == 1
}

impl<K: RunKeys> Slot<K> {
    /// Checks the parts against each other and takes them over.
    pub(crate) fn new(
        run: usize,
        ordinal: usize,
        keys: K,
        rows: usize,
        sequence: Option<Int64Array>,
        seq_fields: Option<Keys>,
        kinds: Option<Int8Array>,
    ) -> Result<Self> {
        let too_large = |what, found| MergeError::TooLarge {
            what,
            found,
            limit: u32::MAX as usize,
        };
        let same_length = |part, found| {
            if found == rows {
                Ok(())
            } else {
                Err(MergeError::LengthMismatch {
                    part,
                    expected: rows,
                    found,
                })
            }
        };
        same_length("keys", keys.count())?;
        if let Some(sequence) = &sequence {
            same_length("sequence", sequence.len())?;
            no_nulls(sequence, "_SEQUENCE_NUMBER", run)?;
        }
        if let Some(seq_fields) = &seq_fields {
            same_length("sequence fields", seq_fields.len())?;
        }
        let mut retractions = None;
        if let Some(kinds) = kinds {
            same_length("kinds", kinds.len())?;
            no_nulls(&kinds, "_VALUE_KIND", run)?;
            if check_kinds(kinds.values())? {
                retractions = Some(kinds.values().clone());
            }
        }
        Ok(Self {
            run: u32::try_from(run).map_err(|_| too_large("run number", run))?,
            level: 0,
            ordinal,
            rows: u32::try_from(rows).map_err(|_| too_large("merge batch", rows))?,
            keys,
            sequence: sequence.map(|sequence| sequence.values().clone()),
            seq_fields,
            retractions,
            repeats: false,
            survivors: Vec::new(),
        })
    }

    /// Whether any row is a retraction.
    #[inline]
    pub(crate) fn has_retractions(&self) -> bool {
        self.retractions.is_some()
    }

    /// Whether the row takes its key away.
    #[inline]
    pub(crate) fn retracts(&self, row: u32) -> bool {
        self.retractions
            .as_ref()
            .and_then(|kinds| kinds.get(row as usize))
            .is_some_and(|kind| is_retraction(*kind))
    }

    /// The sequence number of a row, 0 if the merge has none.
    #[inline]
    pub(crate) fn sequence_number(&self, row: u32) -> i64 {
        self.sequence
            .as_ref()
            .and_then(|sequence| sequence.get(row as usize))
            .copied()
            .unwrap_or_default()
    }

    /// Notes that the row is not part of the result.
    #[inline]
    pub(crate) fn lose(&mut self, row: u32) {
        if self.survivors.is_empty() {
            self.survivors = vec![0xff; (self.rows as usize).div_ceil(8)];
        }
        if let Some(byte) = self.survivors.get_mut(row as usize / 8) {
            *byte &= !(1 << (row % 8));
        }
    }

    /// The rows that are left, without retractions if asked.
    pub(crate) fn take_survivors(&mut self, drop_retractions: bool) -> Survivors {
        let rows = self.rows as usize;
        let survivors = std::mem::take(&mut self.survivors);
        let kept =
            (!survivors.is_empty()).then(|| BooleanBuffer::new(Buffer::from(survivors), 0, rows));
        let adds = match &self.retractions {
            Some(kinds) if drop_retractions => Some(BooleanBuffer::from_iter(
                kinds.iter().map(|kind| !is_retraction(*kind)),
            )),
            _ => None,
        };
        let mask = match (kept, adds) {
            (None, None) => return Survivors::All,
            (Some(mask), None) | (None, Some(mask)) => mask,
            (Some(kept), Some(adds)) => &kept & &adds,
        };
        match mask.count_set_bits() {
            0 => Survivors::None,
            all if all == rows => Survivors::All,
            _ => Survivors::Some(mask),
        }
    }
}

fn no_nulls(array: &dyn Array, column: &'static str, run: usize) -> Result<()> {
    if array.null_count() == 0 {
        Ok(())
    } else {
        Err(MergeError::NullSystemColumn { column, run })
    }
}

/// Whether any kind is a retraction.
pub(crate) fn check_kinds(kinds: &[i8]) -> Result<bool> {
    // One pass without branches: the union of the bits shows both a bad kind and a retraction.
    let union = kinds.iter().fold(0, |union, kind| union | kind);
    if union & !3 == 0 {
        return Ok(union & 1 == 1);
    }
    let found = kinds
        .iter()
        .copied()
        .find(|kind| kind & !3 != 0)
        .unwrap_or(union);
    Err(MergeError::BadRowKind { found })
}

/// Where keys stop ascending and whether any repeats.
///
/// # Errors
/// The first row that is below its predecessor.
pub(crate) fn check_order<K: RunKeys>(keys: &K) -> Result<bool, usize> {
    let rows = keys.count();
    if rows == 0 {
        return Ok(false);
    }
    let mut repeats = false;
    if K::EXACT {
        let mut descends = false;
        let mut previous = keys.word(0, 0);
        for row in 1..rows {
            let word = keys.word(row, 0);
            descends |= word < previous;
            repeats |= word == previous;
            previous = word;
        }
        if !descends {
            return Ok(repeats);
        }
    }
    let key = |row| (keys.word(row, 0), keys.bytes(row));
    for row in 1..rows {
        match key(row).cmp(&key(row - 1)) {
            std::cmp::Ordering::Less => return Err(row),
            std::cmp::Ordering::Equal => repeats = true,
            std::cmp::Ordering::Greater => {}
        }
    }
    Ok(repeats)
}
