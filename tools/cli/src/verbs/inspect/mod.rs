//! `inspect`: what a table is made of: snapshots, schemas, options, manifests, files, and its levels as a picture.

mod files;
mod history;
pub(crate) mod levels;
pub(crate) mod picture;

use clap::{Args, ValueEnum};
use serde_json::Value;
use tidewater_format::Snapshot;
use tidewater_table::Table;
use tidewater_types::{BinaryRow, Datum, RowType, SnapshotId};

use crate::args::TableArgs;
use crate::context::Context;
use crate::error::{EXIT_DONE, Result};
use crate::json::datums_to_json_row;

/// Arguments of `inspect`.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// What to look at
    #[arg(value_enum)]
    pub(crate) what: What,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Snapshot whose files, manifests and levels are shown [default: the latest]
    #[arg(long, value_name = "N")]
    pub(crate) snapshot: Option<i64>,
    /// Only this bucket [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) bucket: Option<i32>,
}

/// What `inspect` shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// Every snapshot: who, when, what kind, how many rows
    Snapshots,
    /// Every version of the schema
    Schemas,
    /// The live data files with their levels, keys and sizes
    Files,
    /// The manifests of a snapshot and what each covers
    Manifests,
    /// Each bucket's levels; a picture on a terminal
    Levels,
    /// The options that are set, with what else they could have been
    Options,
}

pub(crate) async fn run(args: InspectArgs, context: &mut Context) -> Result<u8> {
    let table = context.engine.table(&args.table).await?;
    match args.what {
        What::Snapshots => history::snapshots(&table, &mut context.output).await?,
        What::Schemas => history::schemas(&table, &mut context.output).await?,
        What::Options => history::options(&table, &mut context.output)?,
        What::Files | What::Manifests | What::Levels => {
            let Some(snapshot) = snapshot_of(&table, args.snapshot).await? else {
                return Ok(EXIT_DONE);
            };
            let output = &mut context.output;
            match args.what {
                What::Manifests => files::manifests(&table, &snapshot, output).await?,
                What::Levels => levels::show(&table, &snapshot, args.bucket, output).await?,
                _ => files::files(&table, &snapshot, args.bucket, output).await?,
            }
        }
    }
    Ok(EXIT_DONE)
}

async fn snapshot_of(table: &Table, asked: Option<i64>) -> Result<Option<Snapshot>> {
    Ok(match asked {
        Some(id) => Some(table.log().snapshots().read(SnapshotId(id)).await?),
        None => table.latest_snapshot().await?,
    })
}

/// A key or a partition as an object.
fn row_json(row: &BinaryRow, row_type: &RowType) -> Result<Value> {
    if row.arity() != row_type.len() {
        return Ok(Value::Null);
    }
    let values: Vec<Datum> = row.to_datums(&row_type.types())?;
    let text = datums_to_json_row(&row_type.fields, &values)?;
    Ok(serde_json::from_str(&text).unwrap_or_default())
}
