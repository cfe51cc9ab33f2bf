//! The command tree: every verb of the contract, those that are built and those that wait.

use clap::{Args, Parser, Subcommand};

use crate::args::GlobalArgs;
use crate::load::LoadArgs;
use crate::verbs::alter::AlterArgs;
use crate::verbs::compact::CompactArgs;
use crate::verbs::create::CreateArgs;
use crate::verbs::demo::DemoArgs;
use crate::verbs::describe::DescribeArgs;
use crate::verbs::drop::DropArgs;
use crate::verbs::inspect::InspectArgs;
use crate::verbs::plan::PlanArgs;
use crate::verbs::read::ReadArgs;
use crate::verbs::stream::StreamArgs;
use crate::verbs::tables::TablesArgs;
use crate::verbs::verify::VerifyArgs;
use crate::verbs::write::WriteArgs;

/// Tables on files: write, read at any snapshot, follow, compact.
///
/// Rows go in and come out as JSON lines; on a terminal, answers are aligned tables instead. Exit status: 0 done, 1 refused or failed,
/// 2 wrong usage, 3 faults found by verify, 64 not built yet. On failure the last line of standard error is
/// {"error":CLASS,"message":TEXT}. RUST_LOG=info shows what happens.
#[derive(Debug, Parser)]
#[command(
    name = "tidewater",
    version,
    args_override_self = true,
    disable_help_subcommand = true
)]
pub(crate) struct Command {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show it all on a table of its own: upserts, a follower, compaction, and the proof that both ways of reading agree
    Demo(DemoArgs),
    /// Create a database and a table from a schema file
    Create(CreateArgs),
    /// Print the table's latest schema
    Describe(DescribeArgs),
    /// Write rows from standard input, as JSON lines
    Write(WriteArgs),
    /// Load files or standard input: CSV, JSON lines, Parquet, Arrow; a load that was stopped goes on where it stood
    Load(LoadArgs),
    /// Read the rows of a snapshot
    Read(ReadArgs),
    /// Print the changes from one snapshot to another
    Stream(StreamArgs),
    /// Print the splits and files that a read would take
    Plan(PlanArgs),
    /// Merge the files of the table's buckets
    Compact(CompactArgs),
    /// Change columns, types, comments or options
    Alter(AlterArgs),
    /// List the tables of the warehouse
    Tables(TablesArgs),
    /// Delete the table and its files
    Drop(DropArgs),
    /// Re-read everything that snapshots reach and report what does not hold together
    Verify(VerifyArgs),
    /// Show what the table is made of: snapshots, schemas, files, manifests, levels, options
    Inspect(InspectArgs),
    /// Print the name and version of this engine
    Version,
    /// List every option: of tables, of their columns, of access to stores
    Options(OptionsArgs),

    /// Replace partitions by the rows of standard input (not built yet)
    Overwrite(Later),
    /// Create, delete, rename or list tags (not built yet)
    Tag(Later),
    /// Create, delete or merge branches (not built yet)
    Branch(Later),
    /// Go back to an earlier snapshot or tag (not built yet)
    Rollback(Later),
    /// Delete old snapshots and their files (not built yet)
    Expire(Later),
    /// Delete files that nothing names (not built yet)
    OrphanClean(Later),
    /// Drop whole partitions (not built yet)
    DeletePartition(Later),
    /// Drop all rows (not built yet)
    Truncate(Later),
    /// Drop partitions past their age (not built yet)
    ExpirePartitions(Later),
    /// Merge manifests (not built yet)
    CompactManifests(Later),
    /// Compute exact statistics (not built yet)
    Analyze(Later),
    /// Set, delete or list the positions of named followers (not built yet)
    Consumer(Later),
    /// Read a system table (not built yet)
    System(Later),
}

/// Arguments of `options`.
#[derive(Debug, Args)]
pub(crate) struct OptionsArgs {
    /// Print the page docs/options.md instead [default: off]
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// Whatever arguments a verb that is not built yet is given.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Later {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<String>,
}

impl Verb {
    /// The name of a verb that is not built yet.
    pub(crate) fn later(&self) -> Option<&'static str> {
        Some(match self {
            Self::Overwrite(_) => "overwrite",
            Self::Tag(_) => "tag",
            Self::Branch(_) => "branch",
            Self::Rollback(_) => "rollback",
            Self::Expire(_) => "expire",
            Self::OrphanClean(_) => "orphan-clean",
            Self::DeletePartition(_) => "delete-partition",
            Self::Truncate(_) => "truncate",
            Self::ExpirePartitions(_) => "expire-partitions",
            Self::CompactManifests(_) => "compact-manifests",
            Self::Analyze(_) => "analyze",
            Self::Consumer(_) => "consumer",
            Self::System(_) => "system",
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_tree_is_sound_and_every_option_has_a_help_text() {
        let command = Command::command();
        command.clone().debug_assert();
        for verb in command.get_subcommands() {
            assert!(
                verb.get_about().is_some(),
                "{} has no text",
                verb.get_name()
            );
            for argument in verb
                .get_arguments()
                .filter(|argument| !argument.is_hide_set())
            {
                assert!(
                    argument.get_help().is_some(),
                    "{} {} has no text",
                    verb.get_name(),
                    argument.get_id()
                );
            }
        }
    }

    #[test]
    fn verbs_that_wait_take_any_arguments() {
        let command = Command::try_parse_from([
            "tidewater",
            "tag",
            "create",
            "--name",
            "x",
            "--retain",
            "3 d",
        ])
        .unwrap();
        assert_eq!(command.verb.later(), Some("tag"));
    }
}
