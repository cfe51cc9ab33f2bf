//! The `tidewater` command line as a library, so that tests can call it in their own process.
//!
//! ```text
//!  arguments -> Command (clap) -> verbs::run -> Engine (table, catalog) -> batches
//!                                                                             |
//!  Console.output <- Output (JSON lines | aligned tables) <- RowEncoder <-----'
//!  Console.input  -> RowDecoder -> batches -> TableWrite -> commit
//! ```
//!
//! - [`run`] carries out one call; `main_of_process` does so with the process's own streams.
//! - `command` is the tree of verbs, `verbs` has one file for each.
//! - [`json`] turns rows into lines and back; `output` prints.

pub mod args;
mod command;
mod console;
mod context;
mod engine;
mod error;
pub mod export;
pub mod json;
pub mod load;
pub mod output;
mod stop;
mod verbs;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

pub use self::console::Console;
pub use self::error::{
    CliError, EXIT_DONE, EXIT_FAILED, EXIT_FAULTS, EXIT_UNSUPPORTED, EXIT_USAGE,
};

use self::command::Command;
use self::context::Context;
use self::engine::Engine;
use self::error::Result;
use self::output::Output;

/// Threads that wait for storage and hand work out; computing has its own.
const ASYNC_THREADS: usize = 2;

/// Carries out one call; `arguments` begins with the program's name. The answer is the exit status.
///
/// Everything is said through `console`: answers on its output, and on failure a last line of errors for scripts.
pub fn run<I>(arguments: I, console: Console) -> u8
where
    I: IntoIterator,
    I::Item: Into<OsString> + Clone,
{
    let mut console = console;
    let command = match Command::try_parse_from(arguments) {
        Ok(command) => command,
        Err(error) if error.use_stderr() => {
            let error = CliError::usage(error.render().to_string().trim_end());
            return report(&error, &mut *console.errors, console.errors_width.is_some());
        }
        Err(help) => {
            // Nobody is left to tell if help cannot be printed.
            let printed =
                write!(console.output, "{}", help.render()).and_then(|()| console.output.flush());
            return if printed.is_ok() {
                EXIT_DONE
            } else {
                EXIT_FAILED
            };
        }
    };
    let mode = Context::mode_of(&command.global, &console);
    let human = console.errors_width.is_some() && !command.global.json;
    let Console {
        input,
        output,
        mut errors,
        errors_width,
        ..
    } = console;
    let context = Context {
        engine: Engine::new(&command.global),
        input,
        output: Output::new(output, mode),
        progress_width: errors_width.filter(|_| human),
    };
    match carry_out(command, context) {
        Ok(status) => status,
        Err(error) if error.is_broken_pipe() => EXIT_DONE,
        Err(error) => report(&error, &mut *errors, human),
    }
}

fn carry_out(command: Command, mut context: Context) -> Result<u8> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(ASYNC_THREADS)
        .enable_all()
        .build()
        .map_err(CliError::Runtime)?;
    let outcome = runtime.block_on(verbs::run(command.verb, &mut context));
    // What was printed before a failure stays printed.
    let flushed = context.output.flush();
    outcome.and_then(|status| flushed.map(|()| status))
}

/// Says how a call failed; for scripts as the last line.
fn report(error: &CliError, errors: &mut dyn Write, human: bool) -> u8 {
    let text = if human {
        format!("error: {}", error.message())
    } else {
        error.json_line()
    };
    let usage = matches!(error, CliError::Usage { .. }) && !human;
    let said = if usage {
        writeln!(errors, "{}\n{text}", error.message())
    } else {
        writeln!(errors, "{text}")
    };
    // The status still tells when nothing can be said.
    said.and_then(|()| errors.flush()).unwrap_or_default();
    error.exit_status()
}

/// Carries out the call that this process was started for; logs as `RUST_LOG` says, warnings if it says nothing.
pub fn main_of_process() -> ExitCode {
    use tracing_subscriber::EnvFilter;

    let console = Console::of_process();
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(console.errors_width.is_some())
        .init();
    quiet_workers();
    ExitCode::from(run(std::env::args_os(), console))
}

/// Leaves the reports of panics on worker threads to the log: decoders of the libraries panic over some damaged files, which the worker
/// turns into an error that names the file.
fn quiet_workers() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let thread = std::thread::current();
        if thread
            .name()
            .is_some_and(|name| name.starts_with("tidewater-cpu"))
        {
            tracing::debug!(%info, "a job panicked; its error tells");
        } else {
            usual(info);
        }
    }));
}
