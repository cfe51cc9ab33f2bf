//! `describe`: the table's latest schema.

use clap::Args;
use serde_json::{Value, json};
use tidewater_format::TableSchema;

use crate::args::TableArgs;
use crate::context::Context;
use crate::error::{EXIT_DONE, Result};
use crate::output::{Output, OutputMode};

/// Arguments of `describe`.
#[derive(Debug, Args)]
pub(crate) struct DescribeArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
}

pub(crate) async fn run(args: DescribeArgs, context: &mut Context) -> Result<u8> {
    args.table.refuse_later_features()?;
    let schema = context.engine.latest_schema(&args.table).await?;
    print_schema(&schema, &mut context.output)?;
    Ok(EXIT_DONE)
}

/// Prints a schema: the line of its file for scripts; columns, keys and options as tables for people.
pub(crate) fn print_schema(schema: &TableSchema, output: &mut Output) -> Result<()> {
    let document = schema.to_json_value();
    if output.mode() == OutputMode::Lines {
        return output.record(&document);
    }
    for field in &schema.fields {
        let key = match (
            schema.primary_keys.contains(&field.name),
            schema.partition_keys.contains(&field.name),
        ) {
            (true, true) => "primary, partition",
            (true, false) => "primary",
            (false, true) => "partition",
            (false, false) => "",
        };
        output.record(&json!({
            "id": field.id,
            "column": field.name,
            "type": field.data_type.to_string(),
            "key": key,
            "description": field.description.clone().unwrap_or_default(),
        }))?;
    }
    for (key, value) in &schema.options {
        output.record(&json!({"option": key, "value": value}))?;
    }
    let comment = schema.comment.clone().map_or(Value::Null, Value::from);
    output.document(&json!({"schema": schema.id.0, "comment": comment}))
}
