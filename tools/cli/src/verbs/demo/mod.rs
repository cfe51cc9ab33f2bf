//! `demo`: one table, both ways at once, and the proof that they agree.
//!
//! ```text
//!  feed      seeded upserts and deletes -> TableWrite -> a snapshot a commit, compactions in between
//!  follower  StreamScan -> prints the changes, replays them into a map
//!            at every snapshot: the map must equal the batch read
//! ```

mod feed;
mod follower;

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use tidewater_catalog::{Catalog, FileSystemCatalog, Identifier};
use tidewater_format::SchemaDefinition;
use tidewater_table::{Table, VerifyOptions};
use tidewater_types::{DataType, RowType};

use self::feed::Feed;
use self::follower::{Follower, Proof};
use crate::context::Context;
use crate::error::{CliError, EXIT_DONE, EXIT_FAULTS, Result};
use crate::output::{OutputMode, grouped};
use crate::verbs::inspect::levels;

/// Milliseconds between two commits when somebody watches.
const PAUSE_MILLIS: u64 = 250;

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Folder that keeps the table [default: a temporary one that is removed at the end]
    #[arg(long, value_name = "DIR")]
    pub(crate) warehouse: Option<PathBuf>,
    /// Commits to make
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub(crate) commits: u32,
    /// Changes in each commit
    #[arg(long, value_name = "N", default_value_t = 5000)]
    pub(crate) rows: u32,
    /// Number that the changes are drawn from; the same number gives the same table
    #[arg(long, value_name = "SEED", default_value_t = 42)]
    pub(crate) seed: u64,
    /// Milliseconds between two commits [default: 250 on a terminal, else 0]
    #[arg(long, value_name = "MS")]
    pub(crate) pause_millis: Option<u64>,
}

pub(crate) async fn run(args: DemoArgs, context: &mut Context) -> Result<u8> {
    let temporary = match &args.warehouse {
        Some(_) => None,
        None => Some(tempfile::tempdir().map_err(|source| CliError::Write {
            path: std::env::temp_dir().display().to_string(),
            source,
        })?),
    };
    let folder = temporary
        .as_ref()
        .map(|folder| folder.path().to_path_buf())
        .or_else(|| args.warehouse.clone())
        .unwrap_or_default();
    let table = create(context, &folder.display().to_string()).await?;
    say(
        context,
        "A table keyed by order id. A writer upserts and deletes; a follower replays the changes as they come, and at every\n\
         snapshot its state is held against a batch read.\n\n",
    )?;

    let watched = matches!(context.output.mode(), OutputMode::Table { .. });
    let pause = args
        .pause_millis
        .unwrap_or(if watched { PAUSE_MILLIS } else { 0 });
    let feed = Feed::new(table.clone(), &args, pause);
    let (done, is_done) = tokio::sync::watch::channel(None);
    let mut follower = Follower::new(table.clone())?;
    let (fed, followed) = tokio::join!(
        async {
            let last = feed.run().await;
            // The follower stops behind this snapshot, or at once if the feed failed.
            done.send_replace(Some(last.as_ref().map_or(0, |last| *last)));
            last
        },
        follower.run(is_done, &mut context.output)
    );
    fed?;
    let mut proof = followed?;

    draw(context, &table, "\nThe tree before a full compaction:\n\n").await?;
    let last = feed::compact(&table).await?;
    proof.add(follower.check(last).await?);
    draw(context, &table, "\nand after it:\n\n").await?;
    let verified = table.verify(VerifyOptions { orphans: true }).await?;
    let faults = verified.faults.len() + verified.orphans.len();
    conclude(context, &proof, faults)?;
    if let Some(folder) = &args.warehouse {
        let shown = folder.display();
        say(
            context,
            &format!(
                "Look around: tidewater inspect levels --warehouse {shown} --table demo.orders\n"
            ),
        )?;
    }
    Ok(if proof.holds() && faults == 0 {
        EXIT_DONE
    } else {
        EXIT_FAULTS
    })
}

async fn create(context: &Context, warehouse: &str) -> Result<Table> {
    let catalog = FileSystemCatalog::open(
        warehouse,
        &std::collections::BTreeMap::new(),
        context.engine.table_env(),
    )?;
    let columns = RowType::of([
        ("id", DataType::big_int().not_null()),
        ("customer", DataType::string()),
        ("amount", DataType::double()),
        ("version", DataType::int()),
    ]);
    let definition = SchemaDefinition::keyed(columns, ["id"])
        .with_option("bucket", "2")
        .with_option("changelog-producer", "input");
    catalog.create_database("demo", true).await?;
    let name = Identifier::new("demo", "orders");
    Ok(catalog.create_table(&name, definition, false).await?)
}

async fn draw(context: &mut Context, table: &Table, heading: &str) -> Result<()> {
    say(context, heading)?;
    match table.latest_snapshot().await? {
        Some(snapshot) => levels::show(table, &snapshot, None, &mut context.output).await,
        None => Ok(()),
    }
}

fn conclude(context: &mut Context, proof: &Proof, faults: usize) -> Result<()> {
    let line: Value = json!({
        "proof": if proof.holds() && faults == 0 { "holds" } else { "FAILS" },
        "snapshots": proof.snapshots,
        "changes": proof.changes,
        "rows": proof.rows,
        "different": proof.different,
        "faults": faults,
    });
    if context.output.mode() == OutputMode::Lines {
        return context.output.record(&line);
    }
    let text = if proof.holds() && faults == 0 {
        format!(
            "\nPROOF: {} changes replayed give exactly the batch read at each of {} snapshots; {} rows at the last one, all equal.\n\
             Every file was read again and verified: no fault, nothing left over.\n",
            grouped(proof.changes),
            proof.snapshots,
            grouped(proof.rows),
        )
    } else {
        format!(
            "\nNO PROOF: the states differ at snapshots {:?}; {faults} faults were found.\n",
            proof.different
        )
    };
    context.output.text(&text)
}

/// Says something to people.
fn say(context: &mut Context, text: &str) -> Result<()> {
    match context.output.mode() {
        OutputMode::Lines => Ok(()),
        OutputMode::Table { .. } => context
            .output
            .text(text)
            .and_then(|()| context.output.flush()),
    }
}
