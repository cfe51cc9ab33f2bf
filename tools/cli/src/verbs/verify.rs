//! `verify`: does everything that snapshots reach hold together?

use clap::Args;
use serde_json::json;
use tidewater_table::VerifyOptions;

use crate::args::TableArgs;
use crate::context::Context;
use crate::error::{EXIT_DONE, EXIT_FAULTS, Result};

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Whether files that nothing names are listed too: true or false
    #[arg(long, value_name = "BOOL", default_value_t = false, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub(crate) orphans: bool,
}

pub(crate) async fn run(args: VerifyArgs, context: &mut Context) -> Result<u8> {
    let table = context.engine.table(&args.table).await?;
    let report = table
        .verify(VerifyOptions {
            orphans: args.orphans,
        })
        .await?;
    for fault in &report.faults {
        context
            .output
            .record(&json!({"fault": fault.code, "where": fault.place, "detail": fault.detail}))?;
    }
    for note in &report.notes {
        context
            .output
            .record(&json!({"note": note.code, "where": note.place, "detail": note.detail}))?;
    }
    for orphan in &report.orphans {
        context.output.record(&json!({"orphan": orphan}))?;
    }
    let faults = report.faults.len();
    context.output.record(&json!({"summary": {
        "snapshots": report.snapshots,
        "dataFiles": report.data_files,
        "rows": report.rows,
        "faults": faults,
    }}))?;
    Ok(if faults == 0 { EXIT_DONE } else { EXIT_FAULTS })
}
