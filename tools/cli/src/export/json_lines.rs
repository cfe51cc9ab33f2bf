//! JSON lines: each row an object, its values as the command-line contract has them; `load` reads them back.

use std::io::Write;

use arrow_array::RecordBatch;
use tidewater_types::RowType;

use super::destination::Destination;
use super::error::{ExportError, Result};
use crate::json::RowEncoder;

/// Bytes of lines collected before they go on.
const TEXT_BYTES: usize = 256 << 10;

/// Writes JSON lines.
pub(super) struct JsonLinesWriter {
    encoder: RowEncoder,
    destination: Destination,
    text: Vec<u8>,
}

impl JsonLinesWriter {
    pub(super) fn new(row_type: &RowType, destination: Destination) -> Self {
        Self {
            encoder: RowEncoder::new(row_type),
            destination,
            text: Vec::with_capacity(TEXT_BYTES),
        }
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut rows = self.encoder.bind(batch)?;
        for row in 0..batch.num_rows() {
            rows.write_row(row, &mut self.text)?;
            self.text.push(b'\n');
            if self.text.len() >= TEXT_BYTES || row + 1 == batch.num_rows() {
                self.destination
                    .write_all(&self.text)
                    .map_err(|source| ExportError::Write {
                        file: self.destination.name(),
                        source,
                    })?;
                self.text.clear();
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Destination {
        self.destination
    }
}
