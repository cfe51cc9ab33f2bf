//! `alter`: all changes of a call make one new schema.

use clap::Args;
use tidewater_format::SchemaChange;

use crate::args::{TableArgs, json_argument};
use crate::context::Context;
use crate::error::{EXIT_DONE, Result};
use crate::verbs::describe::print_schema;

/// Arguments of `alter`.
#[derive(Debug, Args)]
pub(crate) struct AlterArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// A change as JSON, such as {"op":"add-column","column":"c","type":"INT"}; may be repeated
    #[arg(
        long = "change",
        value_name = "JSON",
        required = true,
        allow_hyphen_values = true
    )]
    pub(crate) changes: Vec<String>,
}

pub(crate) async fn run(args: AlterArgs, context: &mut Context) -> Result<u8> {
    args.table.refuse_later_features()?;
    let mut changes = Vec::new();
    for text in &args.changes {
        json_argument("--change", text)?;
        changes.extend(SchemaChange::list_from_json(text.as_bytes())?);
    }
    let schema = context.engine.alter_table(&args.table, &changes).await?;
    print_schema(&schema, &mut context.output)?;
    Ok(EXIT_DONE)
}
