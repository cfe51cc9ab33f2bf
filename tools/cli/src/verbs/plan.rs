//! `plan`: the splits and files that a read would take.

use clap::Args;
use serde_json::{Value, json};
use tidewater_table::DataSplit;
use tidewater_types::{DataField, Datum};

use crate::args::TableArgs;
use crate::context::Context;
use crate::error::{EXIT_DONE, Result};
use crate::json::datums_to_json_row;
use crate::verbs::query::QueryArgs;
use crate::verbs::read::{AtArgs, at};

/// Arguments of `plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
    #[command(flatten)]
    pub(crate) at: AtArgs,
}

pub(crate) async fn run(args: PlanArgs, context: &mut Context) -> Result<u8> {
    args.at.refuse_later_features()?;
    let table = context.engine.table(&args.table).await?;
    let scan = at(table.new_scan(), &args.at);
    let query = args.query.bind(&scan.row_type().await?)?;
    let mut scan = scan.project(&query.columns)?;
    if let Some(filter) = query.filter {
        scan = scan.filter(filter)?;
    }
    let partition = table.schema().partition_type();
    let plan = scan.plan().await?;
    let mut lines = plan
        .splits
        .iter()
        .map(|split| describe(split, &partition.fields))
        .collect::<Result<Vec<_>>>()?;
    lines.sort_by_cached_key(Value::to_string);
    for line in &lines {
        context.output.record(line)?;
    }
    Ok(EXIT_DONE)
}

fn describe(split: &DataSplit, partition: &[DataField]) -> Result<Value> {
    let files: Vec<Value> = split
        .files
        .iter()
        .map(|file| {
            json!({
                "name": file.file_name,
                "level": file.level,
                "rows": file.row_count,
                "schema": file.schema_id.0,
                "deleted": split.deletion(file).map(|deletion| deletion.cardinality),
            })
        })
        .collect();
    let values = (0..)
        .zip(partition)
        .map(|(index, field)| split.partition.get(index, &field.data_type))
        .collect::<Result<Vec<Datum>, _>>()?;
    let partition: Value =
        serde_json::from_str(&datums_to_json_row(partition, &values)?).unwrap_or_default();
    Ok(json!({
        "snapshot": split.snapshot.0,
        "partition": partition,
        "bucket": split.bucket.0,
        "totalBuckets": split.total_buckets,
        "rawConvertible": split.raw_convertible,
        "streaming": false,
        "files": files,
    }))
}
