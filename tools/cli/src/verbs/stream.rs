//! `stream`: the changes from one snapshot to another, as a streaming reader sees them.

use arrow_array::RecordBatch;
use clap::{Args, ValueEnum};
use tidewater_table::{StreamMode, StreamOptions};
use tidewater_types::{RowType, SnapshotId};

use crate::args::TableArgs;
use crate::context::Context;
use crate::error::{EXIT_DONE, Result};
use crate::json::{Lines, RowEncoder};
use crate::output::{Align, Cell, Output, OutputMode, RowTable};
use crate::verbs::query::{KindColumn, QueryArgs};

/// Arguments of `stream`.
#[derive(Debug, Args)]
pub(crate) struct StreamArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
    /// Snapshot to start at
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) from_snapshot: i64,
    /// Last snapshot to show [default: the latest there is]
    #[arg(long, value_name = "M")]
    pub(crate) until_snapshot: Option<i64>,
    /// Where the reader starts
    #[arg(long, value_enum, default_value = "from-snapshot")]
    pub(crate) mode: Mode,
}

/// Where a streaming reader starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// With the changes of the first snapshot named
    FromSnapshot,
    /// With the state at the first snapshot named, then its followers' changes
    FromSnapshotFull,
    /// With the state at the latest snapshot
    LatestFull,
}

pub(crate) async fn run(args: StreamArgs, context: &mut Context) -> Result<u8> {
    let table = context.engine.table(&args.table).await?;
    let until = match args.until_snapshot {
        Some(id) => id,
        None => match table.latest_snapshot().await? {
            Some(latest) => latest.id.0,
            None => return Ok(EXIT_DONE),
        },
    };
    let schema = table.schema();
    let query = args.query.bind(&schema.row_type())?;
    let mode = match args.mode {
        Mode::FromSnapshot => StreamMode::FromSnapshot(SnapshotId(args.from_snapshot)),
        Mode::FromSnapshotFull => StreamMode::FromSnapshotFull(SnapshotId(args.from_snapshot)),
        Mode::LatestFull => StreamMode::LatestFull,
    };
    let options = StreamOptions {
        mode,
        project: Some(query.columns.clone()),
        filter: query.filter.clone(),
    };
    let mut stream = table.new_stream(options)?;
    let mut printer =
        ChangePrinter::new(&query.row_type, &schema.primary_keys, context.output.mode());
    while let Some(plan) = stream.plan_next().await? {
        if plan.snapshot.0 > until {
            break;
        }
        let snapshot = plan.snapshot;
        let mut batches = stream.read(plan).await?;
        while let Some(batch) = batches.next_batch().await? {
            printer.batch(snapshot, &batch, &mut context.output)?;
        }
        printer.end_snapshot(&mut context.output)?;
        if snapshot.0 >= until {
            break;
        }
    }
    printer.finish(&mut context.output)?;
    Ok(EXIT_DONE)
}

/// Prints changes; the lines of one snapshot are ordered by key, those of one key as they came.
pub(crate) struct ChangePrinter {
    encoder: RowEncoder,
    /// Positions of the key columns that are printed.
    keys: Vec<usize>,
    /// Whether lines may be ordered: not if the table has a key that is not printed.
    ordered: bool,
    lines: Lines,
    table: Option<RowTable>,
}

impl ChangePrinter {
    /// Prints rows of `row_type` of a table with this primary key.
    pub(crate) fn new(row_type: &RowType, primary_keys: &[String], mode: OutputMode) -> Self {
        let keys: Vec<usize> = primary_keys
            .iter()
            .filter_map(|key| row_type.index_of(key))
            .collect();
        let table = matches!(mode, OutputMode::Table { .. }).then(|| {
            RowTable::new(
                &[("snapshot", Align::Right), ("kind", Align::Left)],
                row_type,
            )
        });
        let ordered = keys.len() == primary_keys.len();
        Self {
            encoder: RowEncoder::new(row_type),
            keys,
            ordered,
            lines: Lines::new(),
            table,
        }
    }

    /// Takes the rows of a snapshot in.
    ///
    /// # Errors
    /// When a value cannot be written or the output fails.
    pub(crate) fn batch(
        &mut self,
        snapshot: SnapshotId,
        batch: &RecordBatch,
        output: &mut Output,
    ) -> Result<()> {
        let kinds = KindColumn::of(batch)?;
        if let Some(table) = &mut self.table {
            let cells = |row| {
                Ok(vec![
                    Cell::text(&snapshot.0.to_string()),
                    Cell::text(kinds.kind(row)?.short()),
                ])
            };
            return table.batch(output, batch, cells);
        }
        let bound = std::cell::RefCell::new(self.encoder.bind(batch)?);
        for row in 0..batch.num_rows() {
            let kind = kinds.kind(row)?;
            let key = |out: &mut Vec<u8>| -> Result<()> {
                for &column in &self.keys {
                    bound.borrow_mut().write_value(row, column, out)?;
                    out.push(1);
                }
                Ok(())
            };
            let line = |out: &mut Vec<u8>| -> Result<()> {
                out.extend_from_slice(
                    format!(
                        "{{\"snapshot\":{},\"kind\":\"{}\",\"row\":",
                        snapshot.0,
                        kind.short()
                    )
                    .as_bytes(),
                );
                bound.borrow_mut().write_row(row, out)?;
                out.push(b'}');
                Ok(())
            };
            self.lines.push_keyed(key, line)?;
        }
        Ok(())
    }

    /// Prints the lines of the snapshot that is through.
    ///
    /// # Errors
    /// When the output fails.
    pub(crate) fn end_snapshot(&mut self, output: &mut Output) -> Result<()> {
        if let Some(table) = &mut self.table {
            return table.print_held(output);
        }
        if self.ordered {
            self.lines.sort();
        }
        output.lines(&self.lines)?;
        self.lines.clear();
        Ok(())
    }

    /// Prints what is held back.
    ///
    /// # Errors
    /// When the output fails.
    pub(crate) fn finish(self, output: &mut Output) -> Result<()> {
        match self.table {
            Some(table) => table.finish(output).map(drop),
            None => Ok(()),
        }
    }
}
