//! `create`: a database and a table from a schema file.

use std::io::Read;

use clap::Args;
use tidewater_format::SchemaDefinition;

use crate::args::TableArgs;
use crate::context::Context;
use crate::error::{CliError, EXIT_DONE, Result};
use crate::verbs::describe::print_schema;

/// Arguments of `create`.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// File with the table's columns, keys and options as JSON; `-` for standard input, or the JSON itself
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: String,
    /// Do nothing if the table exists already
    #[arg(long)]
    pub(crate) if_not_exists: bool,
}

pub(crate) async fn run(args: CreateArgs, context: &mut Context) -> Result<u8> {
    args.table.refuse_later_features()?;
    let text = schema_text(&args.schema, context)?;
    let mut definition = SchemaDefinition::from_json(text.as_bytes())?;
    definition.options.extend(args.table.dynamic_options());
    let table = context
        .engine
        .create_table(&args.table, definition, args.if_not_exists)
        .await?;
    print_schema(&table, &mut context.output)?;
    Ok(EXIT_DONE)
}

fn schema_text(argument: &str, context: &mut Context) -> Result<String> {
    let trimmed = argument.trim_start();
    if trimmed.starts_with('{') {
        return Ok(argument.to_owned());
    }
    let mut text = String::new();
    if argument == "-" {
        context
            .input
            .read_to_string(&mut text)
            .map_err(|source| CliError::Input { line: 1, source })?;
        return Ok(text);
    }
    std::fs::read_to_string(argument).map_err(|source| CliError::Read {
        path: argument.to_owned(),
        source,
    })
}
