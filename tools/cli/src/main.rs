//! The `tidewater` binary: hands the process's arguments and streams to the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    tidewater_cli::main_of_process()
}
