//! Rows of a table for people: widths come from the first rows, the rest flows below in the same columns.

use arrow_array::RecordBatch;
use tidewater_types::{RowType, TypeKind};

use super::table::{Align, Cell, Layout, TextTable};
use super::{Output, OutputMode};
use crate::error::Result;
use crate::json::RowEncoder;

/// Rows that are looked at before widths are settled.
const ROWS_FOR_WIDTHS: usize = 500;

/// Prints batches as one aligned table.
pub struct RowTable {
    encoder: RowEncoder,
    columns: usize,
    table: TextTable,
    layout: Option<Layout>,
    rows: u64,
}

impl RowTable {
    /// A table of these fields; `leading` columns of the caller's stand before them.
    pub fn new(leading: &[(&str, Align)], row_type: &RowType) -> Self {
        let leading = leading
            .iter()
            .map(|(name, align)| ((*name).to_owned(), *align));
        let fields = row_type
            .fields
            .iter()
            .map(|field| (field.name.clone(), align_of(&field.data_type.kind)));
        Self {
            encoder: RowEncoder::new(row_type),
            columns: row_type.len(),
            table: TextTable::new(leading.chain(fields).collect()),
            layout: None,
            rows: 0,
        }
    }

    /// Appends the rows of `batch`; `leading` gives the caller's cells of a row.
    ///
    /// # Errors
    /// When a value cannot be written or the stream fails.
    pub fn batch(
        &mut self,
        output: &mut Output,
        batch: &RecordBatch,
        leading: impl Fn(usize) -> Result<Vec<Cell>>,
    ) -> Result<()> {
        let mut bound = self.encoder.bind(batch)?;
        for row in 0..batch.num_rows() {
            let mut cells = leading(row)?;
            for column in 0..self.columns {
                cells.push(
                    bound
                        .cell(row, column)?
                        .map_or(Cell::Null, |text| Cell::text(&text)),
                );
            }
            self.table.push(cells);
            self.rows += 1;
            if self.table.len() >= ROWS_FOR_WIDTHS {
                print(&mut self.table, &mut self.layout, output)?;
            }
        }
        Ok(())
    }

    /// Prints what is held back; the answer is the number of all rows.
    ///
    /// # Errors
    /// When the stream fails.
    pub fn finish(mut self, output: &mut Output) -> Result<u64> {
        print(&mut self.table, &mut self.layout, output)?;
        Ok(self.rows)
    }

    /// Prints the rows so far although more may come, as a follower does.
    ///
    /// # Errors
    /// When the stream fails.
    pub fn print_held(&mut self, output: &mut Output) -> Result<()> {
        print(&mut self.table, &mut self.layout, output)
    }
}

fn print(table: &mut TextTable, layout: &mut Option<Layout>, output: &mut Output) -> Result<()> {
    let width = match output.mode() {
        OutputMode::Table { width } => width,
        OutputMode::Lines => usize::MAX,
    };
    let mut text = String::new();
    let layout = layout.get_or_insert_with(|| {
        let layout = table.layout(width);
        layout.push_header(&mut text);
        layout
    });
    table.push_rows(&mut text, layout);
    table.clear();
    output.text(&text)
}

fn align_of(kind: &TypeKind) -> Align {
    match kind {
        TypeKind::Float | TypeKind::Double | TypeKind::Decimal { .. } => Align::Right,
        kind if kind.is_integer() => Align::Right,
        _ => Align::Left,
    }
}
