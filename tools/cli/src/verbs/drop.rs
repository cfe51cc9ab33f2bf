//! `drop`: the table and all its files go.

use clap::Args;

use crate::args::TableArgs;
use crate::context::Context;
use crate::error::{EXIT_DONE, Result};

/// Arguments of `drop`.
#[derive(Debug, Args)]
pub(crate) struct DropArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
}

pub(crate) async fn run(args: DropArgs, context: &mut Context) -> Result<u8> {
    args.table.refuse_later_features()?;
    context.engine.drop_table(&args.table).await?;
    Ok(EXIT_DONE)
}
