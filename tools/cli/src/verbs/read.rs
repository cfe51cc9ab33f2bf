//! `read`: the rows of a snapshot.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use tidewater_table::ScanBuilder;
use tidewater_types::{RowKind, RowType};

use crate::args::TableArgs;
use crate::context::Context;
use crate::error::{CliError, EXIT_DONE, Result};
use crate::export::{Destination, ExportFormat, ExportWriter};
use crate::json::{Lines, RowEncoder};
use crate::output::{Align, Cell, OutputMode, RowTable};
use crate::stop;
use crate::verbs::UNSORTED_BYTES;
use crate::verbs::query::{KindColumn, QueryArgs};

/// Arguments of `read`.
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
    #[command(flatten)]
    pub(crate) at: AtArgs,
    /// Rows at most [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Whether each row's kind is printed in front: true or false
    #[arg(long, value_name = "BOOL", default_value_t = false, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub(crate) kinds: bool,
    /// Print JSON lines as they come, not sorted by their bytes: sooner, and without files on the local disk
    #[arg(long)]
    pub(crate) unsorted: bool,
    #[command(flatten)]
    pub(crate) export: ExportArgs,
}

/// Rows for other programs.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Write plain rows, unsorted, for other programs [default: by the extension of --output, or {"row":...} lines without it]
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with_all = ["kinds", "unsorted"])]
    pub(crate) format: Option<ExportFormat>,
    /// Write rows into this file, which is there when it is whole [default: standard output]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kinds", "unsorted"])]
    pub(crate) output: Option<PathBuf>,
}

impl ExportArgs {
    /// The format asked for, in whichever way.
    fn format(&self) -> Result<Option<ExportFormat>> {
        match (self.format, &self.output) {
            (Some(format), _) => Ok(Some(format)),
            (None, None) => Ok(None),
            (None, Some(path)) => ExportFormat::of_path(path).map(Some).ok_or_else(|| {
                let path = path.display();
                CliError::usage(format!("--format is needed: the name {path} says none"))
            }),
        }
    }
}

/// Which snapshot.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AtArgs {
    /// Snapshot to read [default: the latest]
    #[arg(long, value_name = "N", conflicts_with = "timestamp_millis")]
    pub(crate) snapshot: Option<i64>,
    /// Read the latest snapshot that is not younger than this, in milliseconds since 1970 UTC
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    pub(crate) timestamp_millis: Option<i64>,
    /// Tag to read (not built yet)
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Option<String>,
}

impl AtArgs {
    /// Refuses tags.
    pub(crate) fn refuse_later_features(&self) -> Result<()> {
        match &self.tag {
            Some(_) => Err(CliError::not_built("reading a tag (--tag)")),
            None => Ok(()),
        }
    }
}

pub(crate) async fn run(args: ReadArgs, context: &mut Context) -> Result<u8> {
    args.at.refuse_later_features()?;
    let format = args.export.format()?;
    let table = context.engine.table(&args.table).await?;
    let scan = at(table.new_scan(), &args.at);
    let query = args.query.bind(&scan.row_type().await?)?;
    let mut scan = scan.project(&query.columns)?.with_kinds(args.kinds);
    if let Some(filter) = query.filter.clone() {
        scan = scan.filter(filter)?;
    }
    if let Some(limit) = args.limit {
        scan = scan.limit(limit);
    }
    if let Some(format) = format {
        if args.kinds {
            return Err(CliError::usage(
                "--kinds goes with lines and tables, not with --format and --output",
            ));
        }
        return export(scan, &query.row_type, format, args.export.output, context).await;
    }
    let mut batches = scan.read().await?;
    if let OutputMode::Table { .. } = context.output.mode() {
        let leading: &[_] = if args.kinds {
            &[("kind", Align::Left)]
        } else {
            &[]
        };
        let mut rows = RowTable::new(leading, &query.row_type);
        while let Some(batch) = batches.next_batch().await? {
            let kinds = args.kinds.then(|| KindColumn::of(&batch)).transpose()?;
            let cells = |row| {
                Ok(match &kinds {
                    Some(kinds) => vec![Cell::text(kinds.kind(row)?.short())],
                    None => Vec::new(),
                })
            };
            rows.batch(&mut context.output, &batch, cells)?;
        }
        rows.finish(&mut context.output)?;
        return Ok(EXIT_DONE);
    }
    let encoder = RowEncoder::new(&query.row_type);
    let mut lines = Lines::new();
    let mut sorted = context.engine.line_sorter();
    while let Some(batch) = batches.next_batch().await? {
        let mut bound = encoder.bind(&batch)?;
        let kinds = args.kinds.then(|| KindColumn::of(&batch)).transpose()?;
        for row in 0..batch.num_rows() {
            let kind = kinds.as_ref().map(|kinds| kinds.kind(row)).transpose()?;
            let line = |out: &mut Vec<u8>| -> Result<()> {
                write_head(out, kind);
                bound.write_row(row, out)?;
                out.push(b'}');
                Ok(())
            };
            if args.unsorted {
                lines.push(line)?;
            } else {
                sorted.push(line)?;
            }
        }
        if lines.bytes_held() >= UNSORTED_BYTES {
            context.output.lines(&lines)?;
            lines.clear();
        }
    }
    context.output.lines(&lines)?;
    context.output.sorted(&mut sorted)?;
    Ok(EXIT_DONE)
}

/// Writes the rows into a file, and says how many, or to standard output.
async fn export(
    scan: ScanBuilder,
    row_type: &RowType,
    format: ExportFormat,
    file: Option<PathBuf>,
    context: &mut Context,
) -> Result<u8> {
    let destination = match &file {
        Some(path) => Destination::file(path)?,
        None => Destination::stream(context.output.take_writer()?),
    };
    let mut writer = ExportWriter::new(format, row_type, destination)?;
    let mut progress = context.progress("read");
    let mut stopped = std::pin::pin!(stop::requested());
    let mut batches = scan.read().await?;
    loop {
        let next = tokio::select! {
            biased;
            // What was written into the temporary file goes with the writer.
            stopped = &mut stopped, if file.is_some() => {
                stopped?;
                progress.finish();
                return Err(CliError::Stopped {
                    what: "no file was written".to_owned(),
                });
            }
            next = batches.next_batch() => next?,
        };
        let Some(batch) = next else { break };
        writer.write(&batch)?;
        progress.add(u64::try_from(batch.num_rows()).unwrap_or_default());
    }
    let summary = writer.finish()?;
    progress.finish();
    if let Some(file) = file {
        let line = json!({"rows": summary.rows, "file": file.display().to_string()});
        context.output.record(&line)?;
    }
    Ok(EXIT_DONE)
}

fn write_head(out: &mut Vec<u8>, kind: Option<RowKind>) {
    out.push(b'{');
    if let Some(kind) = kind {
        out.extend_from_slice(b"\"kind\":\"");
        out.extend_from_slice(kind.short().as_bytes());
        out.extend_from_slice(b"\",");
    }
    out.extend_from_slice(b"\"row\":");
}

/// The scan at the snapshot that the arguments name.
pub(crate) fn at(scan: ScanBuilder, at: &AtArgs) -> ScanBuilder {
    match (at.snapshot, at.timestamp_millis) {
        (Some(id), _) => scan.snapshot(tidewater_types::SnapshotId(id)),
        (None, Some(millis)) => scan.timestamp_millis(millis),
        (None, None) => scan,
    }
}
