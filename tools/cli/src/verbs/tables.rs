//! `tables`: what the warehouse holds.

use clap::Args;
use serde_json::json;

use crate::args::WarehouseArgs;
use crate::context::Context;
use crate::error::{EXIT_DONE, Result};

/// Arguments of `tables`.
#[derive(Debug, Args)]
pub(crate) struct TablesArgs {
    #[command(flatten)]
    pub(crate) location: WarehouseArgs,
    /// Ignored: `tables` lists them all
    #[arg(long, value_name = "DB.TABLE", hide = true)]
    pub(crate) table: Option<String>,
}

pub(crate) async fn run(args: TablesArgs, context: &mut Context) -> Result<u8> {
    for name in context.engine.table_names(&args.location).await? {
        context.output.record(&json!({"table": name}))?;
    }
    Ok(EXIT_DONE)
}
