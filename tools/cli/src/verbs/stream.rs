//! `stream`: the changes from one snapshot to another, as a streaming reader sees them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use arrow_array::RecordBatch;
use clap::{Args, ValueEnum};
use tidewater_table::{StreamMode, StreamOptions, StreamPosition};
use tidewater_types::{RowType, SnapshotId};

use crate::args::TableArgs;
use crate::context::Context;
use crate::error::{CliError, EXIT_DONE, Result};
use crate::json::{LineSorter, Lines, RowEncoder};
use crate::output::{Align, Cell, Output, OutputMode, RowTable};
use crate::stop;
use crate::verbs::UNSORTED_BYTES;
use crate::verbs::query::{KindColumn, QueryArgs};

/// Arguments of `stream`.
#[derive(Debug, Args)]
pub(crate) struct StreamArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
    /// Snapshot to start at, for the modes from-snapshot and from-snapshot-full
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) from_snapshot: i64,
    /// Time to start at in milliseconds since 1970 UTC, for the mode from-timestamp
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    pub(crate) from_millis: Option<i64>,
    /// Last snapshot to show [default: the latest there is; with --follow there is none]
    #[arg(long, value_name = "M")]
    pub(crate) until_snapshot: Option<i64>,
    /// Where the reader starts
    #[arg(long, value_enum, default_value = "from-snapshot")]
    pub(crate) mode: Mode,
    /// Go on without end as new snapshots come; Ctrl-C ends it after a whole snapshot
    #[arg(long)]
    pub(crate) follow: bool,
    /// Milliseconds between two looks for a new snapshot while following [default: continuous.discovery-interval of the table]
    #[arg(long, value_name = "MS", requires = "follow")]
    pub(crate) poll_millis: Option<u64>,
    /// File that remembers the place: written after each snapshot that was printed, and where a later call goes on
    #[arg(long, value_name = "FILE")]
    pub(crate) position_file: Option<PathBuf>,
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
    /// With what comes after the latest snapshot
    Latest,
    /// With the changes of the first snapshot committed at a time or later
    FromTimestamp,
}

impl StreamArgs {
    fn mode(&self) -> Result<StreamMode> {
        let snapshot = SnapshotId(self.from_snapshot);
        Ok(match (self.mode, self.from_millis) {
            (Mode::FromTimestamp, Some(millis)) => StreamMode::FromTimestamp(millis),
            (Mode::FromTimestamp, None) => {
                return Err(CliError::usage("--mode from-timestamp needs --from-millis"));
            }
            (_, Some(_)) => {
                return Err(CliError::usage("--from-millis needs --mode from-timestamp"));
            }
            (Mode::FromSnapshot, None) => StreamMode::FromSnapshot(snapshot),
            (Mode::FromSnapshotFull, None) => StreamMode::FromSnapshotFull(snapshot),
            (Mode::LatestFull, None) => StreamMode::LatestFull,
            (Mode::Latest, None) => StreamMode::Latest,
        })
    }
}

pub(crate) async fn run(args: StreamArgs, context: &mut Context) -> Result<u8> {
    let table = context.engine.table(&args.table).await?;
    let latest = table.latest_snapshot().await?.map(|latest| latest.id.0);
    let until = match (args.until_snapshot, args.follow) {
        (Some(id), _) => id,
        (None, true) => i64::MAX,
        (None, false) => latest.unwrap_or(0),
    };
    let schema = table.schema();
    let query = args.query.bind(&schema.row_type())?;
    let mut stream = table.new_stream(StreamOptions {
        mode: args.mode()?,
        project: Some(query.columns.clone()),
        filter: query.filter.clone(),
    })?;
    if let Some(file) = &args.position_file
        && let Some(position) = read_position(file)?
    {
        stream.restore(position);
    }
    let mut printer = ChangePrinter::new(
        &query.row_type,
        &schema.primary_keys,
        context.output.mode(),
        context.engine.line_sorter(),
    );
    let poll = args.poll_millis.map(Duration::from_millis);
    let mut stopped = std::pin::pin!(stop::requested());
    loop {
        let next = if args.follow {
            // What was printed is seen while the stream waits.
            context.output.flush()?;
            tokio::select! {
                plan = stream.wait_next(poll) => Some(plan?),
                stopped = &mut stopped => stopped.map(|()| None)?,
            }
        } else {
            stream.plan_next().await?
        };
        let Some(plan) = next.filter(|plan| plan.snapshot.0 <= until) else {
            break;
        };
        let snapshot = plan.snapshot;
        let mut batches = stream.read(plan).await?;
        while let Some(batch) = batches.next_batch().await? {
            printer.batch(snapshot, &batch, &mut context.output)?;
        }
        printer.end_snapshot(&mut context.output)?;
        if let Some(file) = &args.position_file {
            context.output.flush()?;
            write_position(file, stream.position())?;
        }
        if snapshot.0 >= until {
            break;
        }
    }
    printer.finish(&mut context.output)?;
    Ok(EXIT_DONE)
}

/// The place that an earlier call remembered.
fn read_position(file: &Path) -> Result<Option<StreamPosition>> {
    match std::fs::read_to_string(file) {
        Ok(text) => StreamPosition::from_json(&text)
            .map(Some)
            .map_err(|error| CliError::from(error).in_file(file.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(CliError::Read {
            path: file.display().to_string(),
            source,
        }),
    }
}

/// Remembers a place; a crash leaves the old one or the new one.
fn write_position(file: &Path, position: StreamPosition) -> Result<()> {
    let failed = |source| CliError::Write {
        path: file.display().to_string(),
        source,
    };
    let mut name = file.as_os_str().to_owned();
    name.push(".tmp");
    std::fs::write(&name, position.to_json()).map_err(failed)?;
    std::fs::rename(&name, file).map_err(failed)
}

/// Prints changes; the lines of one snapshot are ordered by key, those of one key as they came.
pub(crate) struct ChangePrinter {
    encoder: RowEncoder,
    /// Positions of the key columns that are printed.
    keys: Vec<usize>,
    /// Whether lines may be ordered: not if the table has a key that is not printed.
    ordered: bool,
    sorted: LineSorter,
    unsorted: Lines,
    table: Option<RowTable>,
}

impl ChangePrinter {
    /// Prints rows of `row_type` of a table with this primary key.
    pub(crate) fn new(
        row_type: &RowType,
        primary_keys: &[String],
        mode: OutputMode,
        sorted: LineSorter,
    ) -> Self {
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
            sorted,
            unsorted: Lines::new(),
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
            if self.ordered {
                self.sorted.push_keyed(key, line)?;
            } else {
                self.unsorted.push(line)?;
            }
        }
        if self.unsorted.bytes_held() >= UNSORTED_BYTES {
            output.lines(&self.unsorted)?;
            self.unsorted.clear();
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
        output.lines(&self.unsorted)?;
        self.unsorted.clear();
        output.sorted(&mut self.sorted)
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
