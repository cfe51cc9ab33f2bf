//! `tw-bench`: Tidewater's yardstick.
//!
//! ```text
//!  generate ── input ──> tw-bench OP         Tidewater          ┐ one process each, in turn:
//!                   └──> tw-bench limit OP   arrow and parquet  ┘ compare prints the ratios
//! ```
//!
//! The raw limit does the same work without a table: no catalog, no commit, everything in memory, two threads. Ratios to it stay
//! comparable from machine to machine; seconds do not.

mod answer;
mod args;
mod compare;
mod engine;
mod error;
mod generate;
mod input;
mod limit;

use std::process::ExitCode;

use crate::args::Call;
use crate::error::Result;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tw-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let call = Call::parse(std::env::args().skip(1))?;
    match call.op.as_str() {
        "compare" => return compare::compare(&call),
        "generate" => {
            let rows = call.number("rows", 2_000_000)?;
            let folder = generate::generate(&call.path("data")?, rows)?;
            println!("{}", folder.display());
            return Ok(());
        }
        _ => {}
    }
    let answer = if call.limit {
        limit::run(&call)?
    } else {
        engine::run(&call)?
    };
    println!("{}", answer.finish(&call.table()?));
    Ok(())
}
