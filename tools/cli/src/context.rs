//! What a running verb has at hand.

use std::io::{BufRead, stderr};

use crate::args::GlobalArgs;
use crate::console::Console;
use crate::engine::Engine;
use crate::output::{Output, OutputMode, Progress};

/// Input, output and the engine of one call.
pub(crate) struct Context {
    pub(crate) input: Box<dyn BufRead + Send>,
    pub(crate) output: Output,
    pub(crate) engine: Engine,
    progress_width: Option<usize>,
}

impl Context {
    /// The streams of `console`, bar the one for errors, which the caller keeps.
    pub(crate) fn new(
        global: &GlobalArgs,
        input: Box<dyn BufRead + Send>,
        output: Output,
        progress_width: Option<usize>,
    ) -> Self {
        Self {
            input,
            output,
            engine: Engine::new(global),
            progress_width,
        }
    }

    /// How answers are shown on `console`.
    pub(crate) fn mode_of(global: &GlobalArgs, console: &Console) -> OutputMode {
        match console.output_width {
            Some(width) if !global.json => OutputMode::Table { width },
            _ => OutputMode::Lines,
        }
    }

    /// A progress line on the terminal, if there is one.
    pub(crate) fn progress(&self, what: &'static str) -> Progress {
        let terminal = self
            .progress_width
            .map(|width| (Box::new(stderr()) as Box<dyn std::io::Write + Send>, width));
        Progress::start(self.engine.env().clone(), terminal, what)
    }
}
