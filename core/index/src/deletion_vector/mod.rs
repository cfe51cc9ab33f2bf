//! The deleted rows of one data file, as a set of positions.
//!
//! Positions are physical: rows are counted from 0 in the order in which the file stores them, before anything is left out.
//! Source: spec 02c §1; Paimon `deletionvectors/BitmapDeletionVector.java`, `Bitmap64DeletionVector.java`.

mod body;
mod entry;
mod file;
mod place;
#[cfg(test)]
mod tests;

use std::ops::Range;

use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use roaring::{RoaringBitmap, RoaringTreemap};

pub use self::file::{
    DvEntry, EncodedDvFile, check_dv_layout, decode_dv_entries, decode_dv_file, encode_dv_files,
    read_dv_file, write_dv_file,
};
pub use self::place::{
    DELETION_VECTORS, DeletionFile, DeletionFiles, deletion_files, read_deletion_vector,
};
use crate::error::{IndexError, Result};

/// How a vector is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DvKind {
    /// One bitmap of positions up to 2^31 - 1.
    #[default]
    Bits32,
    /// A bitmap for each 2^32 positions (`deletion-vectors.bitmap64`).
    Bits64,
}

impl DvKind {
    /// The largest position of a vector of this kind. Beyond that of [`DvKind::Bits64`] a vector would be mostly empty bitmaps: all of
    /// them are stored, also those below the first one that is used.
    pub fn last_position(self) -> u64 {
        match self {
            Self::Bits32 => (1 << 31) - 1,
            Self::Bits64 => (1 << 48) - 1,
        }
    }
}

/// Positions of the deleted rows of one data file.
#[derive(Debug, Clone, PartialEq)]
pub struct DeletionVector {
    kind: DvKind,
    positions: RoaringTreemap,
}

impl DeletionVector {
    /// No deleted rows.
    pub fn new(kind: DvKind) -> Self {
        Self {
            kind,
            positions: RoaringTreemap::new(),
        }
    }

    /// These rows.
    ///
    /// # Errors
    /// [`IndexError::Position`], see [`DeletionVector::insert`].
    pub fn of(kind: DvKind, positions: impl IntoIterator<Item = u64>) -> Result<Self> {
        let mut vector = Self::new(kind);
        for position in positions {
            vector.insert(position)?;
        }
        Ok(vector)
    }

    pub(crate) fn from_bitmaps(kind: DvKind, bitmaps: Vec<(u32, RoaringBitmap)>) -> Self {
        let filled = bitmaps.into_iter().filter(|(_, bitmap)| !bitmap.is_empty());
        Self {
            kind,
            positions: RoaringTreemap::from_bitmaps(filled),
        }
    }

    /// The bitmaps of positions with the same upper 32 bits, none of them empty, in order.
    pub(crate) fn bitmaps(&self) -> impl Iterator<Item = (u32, &RoaringBitmap)> {
        self.positions.bitmaps()
    }

    /// How it is stored.
    pub fn kind(&self) -> DvKind {
        self.kind
    }

    /// Deletes a row; whether it was there before.
    ///
    /// # Errors
    /// [`IndexError::Position`] if the kind has no place for it.
    pub fn insert(&mut self, position: u64) -> Result<bool> {
        let limit = self.kind.last_position();
        if position > limit {
            return Err(IndexError::Position { position, limit });
        }
        Ok(self.positions.insert(position))
    }

    /// Deletes the rows of `other` too. Of two kinds the wider one is left.
    pub fn union(&mut self, other: &Self) {
        if other.kind == DvKind::Bits64 {
            self.kind = DvKind::Bits64;
        }
        self.positions |= &other.positions;
    }

    /// Whether the row is deleted.
    pub fn contains(&self, position: u64) -> bool {
        self.positions.contains(position)
    }

    /// The number of deleted rows.
    pub fn cardinality(&self) -> u64 {
        self.positions.len()
    }

    /// Whether no row is deleted.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// The last deleted row.
    pub fn last(&self) -> Option<u64> {
        self.positions.max()
    }

    /// The deleted rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.positions.iter()
    }

    /// The deleted rows among `rows`, as stretches in order. Costs what the stretches cost, not the rows.
    pub fn stretches(&self, rows: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        self.bitmaps().flat_map(move |(high, bitmap)| {
            let base = u64::from(high) << 32;
            let mut found = inside(&rows, base).map(|local| bitmap.range(local));
            std::iter::from_fn(move || {
                let stretch = found.as_mut()?.next_range()?;
                let (first, last) = (u64::from(*stretch.start()), u64::from(*stretch.end()));
                Some(base + first..base + last + 1)
            })
        })
    }

    /// The number of deleted rows among `rows`.
    pub fn cardinality_in(&self, rows: Range<u64>) -> u64 {
        let parts = self.bitmaps().filter_map(|(high, bitmap)| {
            let local = inside(&rows, u64::from(high) << 32)?;
            let before = local
                .start()
                .checked_sub(1)
                .map_or(0, |row| bitmap.rank(row));
            Some(bitmap.rank(*local.end()) - before)
        });
        parts.sum()
    }

    /// A bit for each of `rows`, set if the row is not deleted; nothing if none of them is.
    pub fn live_mask(&self, rows: Range<u64>) -> Option<BooleanBuffer> {
        let length = usize::try_from(rows.end.checked_sub(rows.start)?).ok()?;
        let mut stretches = self.stretches(rows.clone()).peekable();
        stretches.peek()?;
        let mut mask = BooleanBufferBuilder::new(length);
        let mut at = rows.start;
        for stretch in stretches {
            // Both fit: they are parts of the length.
            mask.append_n(usize::try_from(stretch.start - at).unwrap_or(0), true);
            let deleted = stretch.end - stretch.start;
            mask.append_n(usize::try_from(deleted).unwrap_or(0), false);
            at = stretch.end;
        }
        mask.append_n(length.saturating_sub(mask.len()), true);
        Some(mask.finish())
    }
}

/// The part of `rows` that lies in the 2^32 positions from `base` on, counted from there.
fn inside(rows: &Range<u64>, base: u64) -> Option<std::ops::RangeInclusive<u32>> {
    let last = rows.end.checked_sub(1)?.min(base + u64::from(u32::MAX));
    let first = rows.start.max(base);
    if first > last {
        return None;
    }
    let local = |row: u64| u32::try_from(row - base).ok();
    Some(local(first)?..=local(last)?)
}
