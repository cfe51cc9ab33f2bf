//! What every format is to the source: rows in pieces.

use arrow_array::{Int8Array, RecordBatch};

use super::bad_rows::BadRow;
use super::error::Result;

/// How large a piece may become.
#[derive(Debug, Clone, Copy)]
pub(super) struct PieceSize {
    /// Rows, at least 1.
    pub(super) rows: usize,
    /// Bytes of the input's text or of its arrays; a single row may pass them.
    pub(super) bytes: usize,
}

/// Rows that stood next to each other in an input.
#[derive(Debug)]
pub(super) struct Piece {
    /// The good rows, in the table's columns and canonical types.
    pub(super) batch: RecordBatch,
    /// Their kinds; all are inserts if none.
    pub(super) kinds: Option<Int8Array>,
    /// Rows read for it, good or bad.
    pub(super) rows_read: u64,
    /// The bad ones, in the input's order.
    pub(super) bad_rows: Vec<BadRow>,
}

/// An open input.
pub(super) trait RowReader: Send {
    /// Passes over rows, good or bad, without looking at their values; before the first [`RowReader::next_piece`] only. The answer
    /// is the number passed over, smaller than `rows` if the input ends before.
    fn skip(&mut self, rows: u64) -> Result<u64>;

    /// The next rows; none at the end.
    fn next_piece(&mut self) -> Result<Option<Piece>>;
}
