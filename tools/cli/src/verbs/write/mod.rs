//! `write`: rows and commits from standard input, as JSON lines.

mod directive;
pub(crate) mod session;

use std::io::BufRead;

use clap::Args;

use crate::args::TableArgs;
use crate::context::Context;
use crate::error::{CliError, EXIT_DONE, Result};
use crate::json::{InputLine, JsonError};

use self::directive::Directive;
use self::session::WriteSession;

/// Rows decoded before they go to the table.
const BATCH_ROWS: usize = 8192;
/// Bytes of lines decoded before they go to the table.
const BATCH_BYTES: usize = 4 << 20;

/// Arguments of `write`.
#[derive(Debug, Args)]
pub(crate) struct WriteArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// User that snapshots name; a job keeps its user when it restarts
    #[arg(long, value_name = "USER", default_value = "tidewater")]
    pub(crate) commit_user: String,
}

pub(crate) async fn run(args: WriteArgs, context: &mut Context) -> Result<u8> {
    let table = context.engine.table(&args.table).await?;
    let mut progress = context.progress("wrote");
    let mut session = WriteSession::open(table, args.commit_user).await?;
    let mut text = String::new();
    let mut number = 0;
    loop {
        text.clear();
        number += 1;
        let read = context
            .input
            .read_line(&mut text)
            .map_err(|source| CliError::Input {
                line: number,
                source,
            })?;
        if read == 0 {
            break;
        }
        match session.decoder().line(number, &text)? {
            InputLine::Blank => {}
            InputLine::Row => {
                let decoder = session.decoder();
                if decoder.rows() >= BATCH_ROWS || decoder.text_bytes() >= BATCH_BYTES {
                    progress.add(session.hand_over().await?);
                }
            }
            InputLine::Directive(members) => {
                progress.add(session.hand_over().await?);
                let directive =
                    Directive::from_json(&members).map_err(|what| directive_error(number, what))?;
                let done = obey(directive, &mut session, context).await;
                done.map_err(|source| CliError::AtLine {
                    line: number,
                    source: Box::new(source),
                })?;
            }
        }
    }
    progress.add(session.hand_over().await?);
    session.commit_rest(&mut context.output).await?;
    progress.finish();
    session.summary(&mut context.output).await?;
    Ok(EXIT_DONE)
}

fn directive_error(line: u64, error: directive::DirectiveError) -> CliError {
    match error {
        directive::DirectiveError::NotBuilt(what) => {
            CliError::not_built(format!("line {line}: {what}"))
        }
        directive::DirectiveError::Meaningless(what) => JsonError::Line { line, what }.into(),
    }
}

async fn obey(
    directive: Directive,
    session: &mut WriteSession,
    context: &mut Context,
) -> Result<()> {
    match directive {
        Directive::Commit(request) => session.commit(request, &mut context.output).await,
        Directive::Compact(request) => session.compact(request).await,
        Directive::Reopen => session.reopen(None).await,
        Directive::CommitUser(user) => session.reopen(Some(user)).await,
    }
}
