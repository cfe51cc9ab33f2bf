//! One file per verb: its arguments, and what it does with them.
//!
//! Joined so far: `options` and `version`. The files of the other verbs and `engine.rs` lie here already, written against the seams of the table and catalog crates; they
//! are joined when those crates are in, and until then the verbs answer that they are not built.

pub(crate) mod options;
pub(crate) mod version;

use crate::command::Verb;
use crate::context::Context;
use crate::error::{CliError, Result};

/// Carries out a verb; the answer is the exit status.
pub(crate) fn run(verb: &Verb, context: &mut Context) -> Result<u8> {
    match (verb, verb.later()) {
        (_, Some(name)) => Err(CliError::not_built(format!("the verb {name}"))),
        (Verb::Options(args), None) => options::run(args, context),
        (_, None) => version::run(context),
    }
}
