//! How somebody stops a call that takes long: with Ctrl-C, or as a supervisor does, with a termination signal.

use tokio::signal::unix::{SignalKind, signal};

use crate::error::{CliError, Result};

/// Done when somebody wants the call to stop. From the first poll on no such signal ends the process by itself.
pub(crate) async fn requested() -> Result<()> {
    let mut terminated = signal(SignalKind::terminate()).map_err(CliError::Runtime)?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted.map_err(CliError::Runtime),
        _ = terminated.recv() => Ok(()),
    }
}
