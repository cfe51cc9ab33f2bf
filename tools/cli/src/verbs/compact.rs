//! `compact`: one compaction, committed.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::args::{TableArgs, duration, json_argument};
use crate::context::Context;
use crate::error::{EXIT_DONE, Result};
use crate::verbs::write::session::{CompactRequest, WriteSession};

/// Arguments of `compact`.
#[derive(Debug, Args)]
pub(crate) struct CompactArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Rewrite everything, or only what is worth it
    #[arg(long, value_enum, default_value = "full")]
    pub(crate) mode: CompactMode,
    /// Only this partition, as JSON: {"pt":"a"} [default: all]
    #[arg(long, value_name = "JSON")]
    pub(crate) partition: Option<String>,
    /// Only this bucket [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) bucket: Option<i32>,
    /// Only partitions for which this holds, as text over partition columns: "dt < '2026-01-01'" [default: all]
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    pub(crate) condition: Option<String>,
    /// Only partitions that got no new file for so long, such as "1 h" or "7 d", by the wall clocks of their writers [default: all]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) idle_for: Option<Duration>,
    /// User that the snapshot names
    #[arg(long, value_name = "USER", default_value = "tidewater")]
    pub(crate) commit_user: String,
}

/// How much is rewritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompactMode {
    /// Everything into one run a bucket; of a table without buckets all small files
    Full,
    /// What the compaction rules pick
    Minor,
}

pub(crate) async fn run(args: CompactArgs, context: &mut Context) -> Result<u8> {
    let table = context.engine.table(&args.table).await?;
    let partition = args
        .partition
        .as_deref()
        .map(|text| json_argument("--partition", text))
        .transpose()?;
    let mut session = WriteSession::open(table, args.commit_user).await?;
    session
        .compact(CompactRequest {
            full: args.mode == CompactMode::Full,
            partition,
            condition: args.condition,
            bucket: args.bucket,
            idle_for: args.idle_for,
        })
        .await?;
    session.commit_rest(&mut context.output).await?;
    session.summary(&mut context.output).await?;
    Ok(EXIT_DONE)
}
