//! What a running verb has at hand.

use crate::args::GlobalArgs;
use crate::console::Console;
use crate::output::{Output, OutputMode};

/// The output of one call.
pub(crate) struct Context {
    pub(crate) output: Output,
}

impl Context {
    /// How answers are shown on `console`.
    pub(crate) fn mode_of(global: &GlobalArgs, console: &Console) -> OutputMode {
        match console.output_width {
            Some(width) if !global.json => OutputMode::Table { width },
            _ => OutputMode::Lines,
        }
    }
}
