//! What a merge gives: ordered picks, or a mask per input batch.

use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};

/// Names a pushed batch while output may still refer to it. Numbers are small and are used again after release.
pub type BatchSlot = u32;

/// Neighbouring rows of one batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PickRange {
    /// The batch.
    pub slot: BatchSlot,
    /// Its first row that is meant.
    pub start: u32,
    /// How many rows, at least one.
    pub len: u32,
}

impl PickRange {
    /// The rows as positions in their batch.
    pub fn rows(self) -> std::ops::Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
}

/// Some rows of the result, in key order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct MergedChunk {
    /// Where the rows lie. Neighbours that continue each other are one range.
    pub picks: Vec<PickRange>,
    /// Rows in `picks`; 0 in a chunk that only releases.
    pub rows: usize,
    /// Only with [`Versions::All`]: a bit per picked row, set if the row is in the merged result.
    pub winners: Option<BooleanBuffer>,
    /// Only with [`Versions::Groups`]: a bit per picked row, set at the last version of each key. Chunks hold whole
    /// groups.
    pub group_ends: Option<BooleanBuffer>,
    /// Batches that no later chunk refers to. Let go of them once this chunk is gathered; the next
    /// [`push`](crate::SortMerge::push) may answer with one of these numbers again.
    pub released: Vec<BatchSlot>,
}

/// Which rows of a batch are in the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Survivors {
    /// Every row: pass the batch on as it is.
    All,
    /// No row: need not be read any further.
    None,
    /// The rows whose bit is set; neither all nor none.
    Some(BooleanBuffer),
}

impl Survivors {
    /// How many of `rows` rows survive.
    pub fn count(&self, rows: usize) -> usize {
        match self {
            Self::All => rows,
            Self::None => 0,
            Self::Some(mask) => mask.count_set_bits(),
        }
    }
}

/// The verdict on one pushed batch. Batches of one run are answered in order, runs in any order.
#[derive(Debug, PartialEq, Eq)]
pub struct BatchMask {
    /// The run that pushed it.
    pub run: usize,
    /// Which of the run's batches, from 0.
    pub ordinal: usize,
    /// Its slot, free again from now on.
    pub slot: BatchSlot,
    /// The rows that are in the result.
    pub survivors: Survivors,
}

/// Which versions of a key the picks name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Versions {
    /// Only the merged result.
    Winners,
    /// Every version, oldest first within a key (spec 02b §4.2), with [`MergedChunk::winners`] telling the result:
    /// what `changelog-producer=input` writes when a buffer was spilled (spec 02b §9.2).
    All,
    /// Every version, oldest first within a key, with [`MergedChunk::group_ends`]: what a
    /// [`FoldEngine`](crate::FoldEngine) works on. Nothing is dropped, retractions included: the fold decides.
    Groups,
}

/// How the result is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeMode {
    /// Rows in key order as [`MergedChunk`]s of at most `chunk_rows` rows (at least one): for flush and compaction.
    /// A key with many versions may exceed it with [`Versions::All`].
    Picks {
        /// Rows after which a chunk is handed out.
        chunk_rows: usize,
        /// Results only, or every version.
        versions: Versions,
    },
    /// A [`BatchMask`] per pushed batch: for scans that need no order.
    Mask,
}

/// Collects picks into a chunk.
#[derive(Debug)]
pub(crate) struct ChunkBuilder {
    picks: Vec<PickRange>,
    rows: usize,
    chunk_rows: usize,
    winners: Option<BooleanBufferBuilder>,
    group_ends: Option<BooleanBufferBuilder>,
}

impl ChunkBuilder {
    pub(crate) fn new(chunk_rows: usize, versions: Versions) -> Self {
        Self {
            picks: Vec::new(),
            rows: 0,
            chunk_rows: chunk_rows.max(1),
            winners: (versions == Versions::All).then(|| BooleanBufferBuilder::new(0)),
            group_ends: (versions == Versions::Groups).then(|| BooleanBufferBuilder::new(0)),
        }
    }

    #[inline]
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Whether rows that are not results are picked too.
    #[inline]
    pub(crate) fn keeps_losers(&self) -> bool {
        self.winners.is_some() || self.group_ends.is_some()
    }

    /// Rows until the chunk is full.
    #[inline]
    pub(crate) fn room(&self) -> usize {
        self.chunk_rows.saturating_sub(self.rows)
    }

    /// Appends `len` rows; all of them are results if `wins`. Where groups are told, `wins` says that each row ends one.
    #[inline]
    pub(crate) fn pick(&mut self, slot: u32, start: u32, len: u32, wins: bool) {
        self.rows += len as usize;
        if let Some(winners) = &mut self.winners {
            winners.append_n(len as usize, wins);
        }
        if let Some(group_ends) = &mut self.group_ends {
            group_ends.append_n(len as usize, wins);
        }
        if let Some(last) = self.picks.last_mut()
            && last.slot == slot
            && last.start + last.len == start
        {
            last.len += len;
            return;
        }
        self.picks.push(PickRange { slot, start, len });
    }

    /// Hands out what there is.
    pub(crate) fn finish(&mut self, released: Vec<BatchSlot>) -> MergedChunk {
        let picks = std::mem::take(&mut self.picks);
        self.picks.reserve(picks.len());
        MergedChunk {
            picks,
            rows: std::mem::take(&mut self.rows),
            winners: self.winners.as_mut().map(BooleanBufferBuilder::finish),
            group_ends: self.group_ends.as_mut().map(BooleanBufferBuilder::finish),
            released,
        }
    }
}
