//! `load`: the rows of files or of standard input into a table, in commits of many rows, so that a load that ends early goes on later.
//!
//! ```text
//!  Source (own thread) -- batch, position behind it --> TableWrite -- every N rows, every T seconds --> commit
//!                                                                      rows and position in one snapshot
//! ```
//!
//! What comes next is known before a commit, so that the last one says that it is the last and no empty one follows.

use std::time::Duration;

use serde_json::{Value, json};
use tidewater_format::Snapshot;
use tidewater_io::Env;
use tidewater_table::{CommitOptions, Committable, Table, TableCommit, TableWrite, WriteOptions};
use tidewater_types::ErrorKind;

use crate::context::Context;
use crate::error::{CliError, EXIT_DONE, Result};
use crate::load::{
    Checkpoint, CommitPace, DeadLetters, LoadArgs, LoadIdentity, LoadProgress, PROPERTY_PREFIX,
    Resume, Source, SourceBatch, SourceFile,
};
use crate::output::{Output, Progress};
use crate::stop;

pub(crate) async fn run(args: LoadArgs, context: &mut Context) -> Result<u8> {
    let table = open_table(&args, context).await?;
    let options = args.source.options(context.take_input(), &args.commit)?;
    let mut source = Source::open(options, &table.schema().row_type())?;
    let env = context.engine.env().clone();
    let identity = LoadIdentity::new(
        &args.table.table.to_string(),
        source.files(),
        args.commit.job.as_deref(),
        &env.new_uuid(),
    );
    let before = last_of_load(&table, &identity).await?;
    let properties = before
        .as_ref()
        .and_then(|before| before.properties.as_ref());
    let committed = match Checkpoint::resume(properties, source.files(), args.commit.again)? {
        Resume::AlreadyDone(progress) if !args.commit.again => {
            tracing::warn!(
                user = identity.commit_user,
                "these files are in the table already; --again loads them again"
            );
            let latest = table.latest_snapshot().await?;
            print_summary(&progress, 0, latest.as_ref(), &mut context.output)?;
            return Ok(EXIT_DONE);
        }
        Resume::Start | Resume::AlreadyDone(_) => LoadProgress::default(),
        Resume::GoOn(progress) => progress,
    };
    source.skip_to(committed.position, committed.bad_rows)?;
    let letters = match &args.source.bad_rows {
        Some(path) => Some(DeadLetters::open(path, committed.bad_rows)?),
        None => None,
    };
    let commit = table
        .new_commit(CommitOptions {
            user: identity.commit_user.clone(),
        })?
        // The last commit tells that the load is over, with or without rows.
        .ignore_empty(false);
    let last_identifier = commit.last_identifier().await?.unwrap_or(0);
    let mut load = Load {
        write: table.new_write(WriteOptions::default()).await?,
        commit,
        last_identifier,
        files: source.files().to_vec(),
        letters,
        pace: CommitPace::new(
            args.commit.commit_rows,
            Some(args.commit.every()),
            env.monotonic(),
        ),
        env,
        ahead: None,
        reached: committed,
        committed,
        commits: 0,
        progress: context.progress("loaded"),
    };
    let outcome = load.run(&mut source, &mut context.output).await;
    let Load {
        write,
        committed,
        commits,
        progress,
        ..
    } = load;
    progress.finish();
    if outcome.is_err() {
        // What it wrote since the last commit. What cannot be removed is an orphan, which no reader sees.
        if let Err(error) = write.abort().await {
            tracing::warn!(%error, "files of rows that were not committed are left behind");
        }
    }
    let latest = table.latest_snapshot().await?;
    print_summary(&committed, commits, latest.as_ref(), &mut context.output)?;
    match outcome {
        Ok(Ended::Whole) => Ok(EXIT_DONE),
        Ok(Ended::Stopped) => Err(CliError::Stopped {
            what: where_it_stands(&committed, &identity),
        }),
        Err(error) => Err(error),
    }
}

/// The table; made for the first file if it is missing and `--create` is given.
async fn open_table(args: &LoadArgs, context: &Context) -> Result<Table> {
    match context.engine.table(&args.table).await {
        Err(error) if args.create && error.kind() == ErrorKind::NotFound => {}
        opened => return opened,
    }
    let definition = args.definition()?;
    context
        .engine
        .create_table(&args.table, definition, true)
        .await?;
    context.engine.table(&args.table).await
}

/// The newest snapshot that this load made and that says how far it was.
async fn last_of_load(table: &Table, identity: &LoadIdentity) -> Result<Option<Snapshot>> {
    if !identity.is_resumable {
        return Ok(None);
    }
    let tells = |snapshot: &Snapshot| {
        snapshot.commit_user == identity.commit_user
            && snapshot.properties.as_ref().is_some_and(|properties| {
                properties
                    .keys()
                    .any(|name| name.starts_with(PROPERTY_PREFIX))
            })
    };
    Ok(table.log().snapshots().latest_where(tells).await?)
}

fn print_summary(
    progress: &LoadProgress,
    commits: u64,
    latest: Option<&Snapshot>,
    output: &mut Output,
) -> Result<()> {
    output.record(&json!({
        "rows": progress.rows,
        "badRows": progress.bad_rows,
        "commits": commits,
        "latest": latest.map(|latest| latest.id.0),
    }))
}

fn where_it_stands(committed: &LoadProgress, identity: &LoadIdentity) -> String {
    let rows = committed.rows;
    if identity.is_resumable {
        format!("{rows} rows are committed, and the same command goes on behind them")
    } else {
        format!(
            "{rows} rows are committed; a load of standard input goes on only if --job names it"
        )
    }
}

/// How a load ended without an error.
enum Ended {
    Whole,
    /// By a signal.
    Stopped,
}

/// What is to be done next.
enum Step {
    Write(SourceBatch),
    Commit,
    End,
}

/// What was read before it is wanted.
enum Ahead {
    Batch(SourceBatch),
    End,
}

/// A load under way.
struct Load {
    write: TableWrite,
    commit: TableCommit,
    last_identifier: i64,
    files: Vec<SourceFile>,
    letters: Option<DeadLetters>,
    pace: CommitPace,
    env: Env,
    ahead: Option<Ahead>,
    /// Behind the last row given to the writer.
    reached: LoadProgress,
    /// Behind the last row that a snapshot holds.
    committed: LoadProgress,
    commits: u64,
    progress: Progress,
}

impl Load {
    async fn run(&mut self, source: &mut Source, output: &mut Output) -> Result<Ended> {
        let mut stopped = std::pin::pin!(stop::requested());
        loop {
            // A commit is not left in its middle; everything else is, for the writer is given up then.
            let committable = tokio::select! {
                biased;
                stopped = &mut stopped => {
                    stopped?;
                    return Ok(Ended::Stopped);
                }
                work = self.work(source) => work?,
            };
            self.publish(committable, output).await?;
            if self.committed.is_done {
                return Ok(Ended::Whole);
            }
        }
    }

    /// Reads and writes until it is time to commit; the answer is what to commit.
    async fn work(&mut self, source: &mut Source) -> Result<Committable> {
        loop {
            match self.next_step(source).await? {
                Step::Write(batch) => self.take(batch).await?,
                Step::Commit => return self.prepare().await,
                Step::End => {
                    self.reached.is_done = true;
                    return self.prepare().await;
                }
            }
        }
    }

    async fn next_step(&mut self, source: &mut Source) -> Result<Step> {
        if self.ahead.is_none() {
            let wait = self
                .pace
                .remaining(self.env.monotonic())
                .filter(|_| self.pace.rows() > 0);
            let next = tokio::select! {
                next = source.next_batch() => next?,
                () = self.env.sleep(wait.unwrap_or(Duration::MAX)), if wait.is_some() => return Ok(Step::Commit),
            };
            self.ahead = Some(next.map_or(Ahead::End, Ahead::Batch));
        }
        match self.ahead.take() {
            Some(Ahead::Batch(batch)) if self.pace.is_due(self.env.monotonic()) => {
                self.ahead = Some(Ahead::Batch(batch));
                Ok(Step::Commit)
            }
            Some(Ahead::Batch(batch)) => Ok(Step::Write(batch)),
            Some(Ahead::End) | None => Ok(Step::End),
        }
    }

    async fn take(&mut self, batch: SourceBatch) -> Result<()> {
        let SourceBatch {
            batch,
            kinds,
            end,
            bad_rows,
        } = batch;
        let count = |rows: usize| u64::try_from(rows).unwrap_or(u64::MAX);
        let (rows, bad) = (count(batch.num_rows()), count(bad_rows.len()));
        if rows > 0 {
            match kinds {
                Some(kinds) => self.write.write_with_kinds(batch, kinds).await?,
                None => self.write.write(batch).await?,
            }
        }
        if let Some(letters) = &mut self.letters {
            letters.write(&bad_rows)?;
        }
        self.reached = LoadProgress {
            position: end,
            rows: self.reached.rows + rows,
            bad_rows: self.reached.bad_rows + bad,
            is_done: false,
        };
        self.pace.add(rows + bad);
        self.progress.add(rows);
        Ok(())
    }

    async fn prepare(&mut self) -> Result<Committable> {
        if let Some(letters) = &mut self.letters {
            letters.sync()?;
        }
        // Compactions go on from commit to commit; only the last one waits for them.
        let messages = self.write.prepare_commit(self.reached.is_done).await?;
        Ok(Committable {
            identifier: self.last_identifier.saturating_add(1),
            watermark: None,
            properties: Checkpoint::new(&self.files, self.reached).to_properties(),
            messages,
        })
    }

    async fn publish(&mut self, committable: Committable, output: &mut Output) -> Result<()> {
        let identifier = committable.identifier;
        let compacts = committable.compacts();
        let made = self.commit.commit(committable).await?;
        if Committable::lost_compaction(compacts, &made) {
            let table = self.write.table().clone();
            self.write = table.new_write(WriteOptions::default()).await?;
        }
        self.last_identifier = identifier;
        self.committed = self.reached;
        self.commits += 1;
        self.pace.committed(self.env.monotonic());
        let snapshots: Vec<Value> = made
            .iter()
            .map(|snapshot| json!({"id": snapshot.id.0, "kind": snapshot.kind.to_string()}))
            .collect();
        output.record(&json!({
            "commit": identifier,
            "rows": self.committed.rows,
            "badRows": self.committed.bad_rows,
            "snapshots": snapshots,
        }))?;
        // Whoever follows knows of each commit at once; a table for people waits for the end.
        output.flush_lines()
    }
}
