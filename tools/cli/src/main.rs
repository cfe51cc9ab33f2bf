//! The `tidewater` binary: hands the process's arguments and streams to the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    few_arenas();
    tidewater_cli::main_of_process()
}

/// Bounds the arenas of the C library's allocator, before any thread has one.
///
/// By default there may be eight for each core. Batches are made on one thread and dropped on another, so free memory piles up in all of
/// them: a load of ten million rows with `--memory 256MiB` held a fifth more, and took no less time.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(
    unsafe_code,
    reason = "mallopt is a call into C that takes two numbers"
)]
fn few_arenas() {
    const ARENAS: libc::c_int = 2;
    // SAFETY: no memory is touched, and no other thread runs yet. A refusal (0) leaves the default, which is slower to give memory back only.
    let _accepted = unsafe { libc::mallopt(libc::M_ARENA_MAX, ARENAS) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn few_arenas() {}
