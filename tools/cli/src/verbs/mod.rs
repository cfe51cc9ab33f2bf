//! One file per verb: its arguments, and what it does with them.

pub(crate) mod alter;
pub(crate) mod compact;
pub(crate) mod create;
pub(crate) mod demo;
pub(crate) mod describe;
pub(crate) mod drop;
pub(crate) mod inspect;
pub(crate) mod load;
pub(crate) mod options;
pub(crate) mod plan;
pub(crate) mod query;
pub(crate) mod read;
pub(crate) mod stream;
pub(crate) mod tables;
pub(crate) mod verify;
pub(crate) mod version;
pub(crate) mod write;

use crate::command::Verb;
use crate::context::Context;
use crate::error::{CliError, Result};

/// Bytes of lines held before they are printed, when nobody asked for an order.
const UNSORTED_BYTES: usize = 1 << 20;

/// Carries out a verb; the answer is the exit status.
pub(crate) async fn run(verb: Verb, context: &mut Context) -> Result<u8> {
    if let Some(name) = verb.later() {
        return Err(CliError::not_built(format!("the verb {name}")));
    }
    match verb {
        Verb::Create(args) => create::run(args, context).await,
        Verb::Describe(args) => describe::run(args, context).await,
        Verb::Write(args) => write::run(args, context).await,
        Verb::Load(args) => load::run(args, context).await,
        Verb::Read(args) => read::run(args, context).await,
        Verb::Stream(args) => stream::run(args, context).await,
        Verb::Plan(args) => plan::run(args, context).await,
        Verb::Compact(args) => compact::run(args, context).await,
        Verb::Alter(args) => alter::run(args, context).await,
        Verb::Tables(args) => tables::run(args, context).await,
        Verb::Demo(args) => demo::run(args, context).await,
        Verb::Inspect(args) => inspect::run(args, context).await,
        Verb::Verify(args) => verify::run(args, context).await,
        Verb::Drop(args) => drop::run(args, context).await,
        Verb::Options(args) => options::run(&args, context),
        _ => version::run(context),
    }
}
