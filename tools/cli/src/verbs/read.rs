//! `read`: the rows of a snapshot.

use clap::Args;
use tidewater_types::RowKind;

use crate::args::TableArgs;
use crate::context::Context;
use crate::error::{CliError, EXIT_DONE, Result};
use crate::json::{Lines, RowEncoder};
use crate::output::{Align, Cell, OutputMode, RowTable};
use crate::verbs::query::{KindColumn, QueryArgs};

/// Bytes of lines held before they are printed, when nobody asked for an order.
const UNSORTED_BYTES: usize = 1 << 20;

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
    /// Print JSON lines as they come, not sorted by their bytes; needs little memory
    #[arg(long)]
    pub(crate) unsorted: bool,
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
    while let Some(batch) = batches.next_batch().await? {
        let mut bound = encoder.bind(&batch)?;
        let kinds = args.kinds.then(|| KindColumn::of(&batch)).transpose()?;
        for row in 0..batch.num_rows() {
            let kind = kinds.as_ref().map(|kinds| kinds.kind(row)).transpose()?;
            lines.push(|out| -> Result<()> {
                write_head(out, kind);
                bound.write_row(row, out)?;
                out.push(b'}');
                Ok(())
            })?;
        }
        if args.unsorted && lines.bytes_held() >= UNSORTED_BYTES {
            context.output.lines(&lines)?;
            lines.clear();
        }
    }
    if !args.unsorted {
        lines.sort();
    }
    context.output.lines(&lines)?;
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
pub(crate) fn at(scan: tidewater_table::ScanBuilder, at: &AtArgs) -> tidewater_table::ScanBuilder {
    match (at.snapshot, at.timestamp_millis) {
        (Some(id), _) => scan.snapshot(tidewater_types::SnapshotId(id)),
        (None, Some(millis)) => scan.timestamp_millis(millis),
        (None, None) => scan,
    }
}
