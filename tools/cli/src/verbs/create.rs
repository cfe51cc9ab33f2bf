//! `create`: a database and a table from a schema file, or from the columns of a file of rows.

use std::io::Read;

use clap::Args;
use tidewater_format::SchemaDefinition;

use crate::args::TableArgs;
use crate::context::Context;
use crate::error::{CliError, EXIT_DONE, Result};
use crate::load::LikeArgs;
use crate::verbs::describe::print_schema;

/// Arguments of `create`.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// File with the table's columns, keys and options as JSON; `-` for standard input, or the JSON itself
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "like",
        conflicts_with = "like"
    )]
    pub(crate) schema: Option<String>,
    #[command(flatten)]
    pub(crate) like: LikeArgs,
    /// Do nothing if the table exists already
    #[arg(long)]
    pub(crate) if_not_exists: bool,
}

pub(crate) async fn run(args: CreateArgs, context: &mut Context) -> Result<u8> {
    args.table.refuse_later_features()?;
    let definition = match &args.schema {
        Some(schema) => {
            let text = schema_text(schema, context)?;
            let mut definition = SchemaDefinition::from_json(text.as_bytes())
                .map_err(|error| CliError::from(error).in_file(place_of(schema)))?;
            definition.options.extend(args.table.dynamic_options());
            definition
        }
        None => {
            let input = context.take_input();
            let definition = args.like.definition(input, args.table.dynamic_options())?;
            definition.ok_or_else(|| CliError::usage("create needs --schema or --like"))?
        }
    };
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

/// What to call the place that a schema came from.
fn place_of(schema: &str) -> &str {
    match schema {
        "-" => "standard input",
        text if text.trim_start().starts_with('{') => "--schema",
        file => file,
    }
}
