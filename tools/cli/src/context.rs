//! What a running verb has at hand.

use std::io::{BufRead, Write};

use crate::args::GlobalArgs;
use crate::console::Console;
use crate::engine::Engine;
use crate::output::{Output, OutputMode, Progress};

/// Engine, input and output of one call.
pub(crate) struct Context {
    pub(crate) engine: Engine,
    pub(crate) input: Box<dyn BufRead + Send>,
    pub(crate) output: Output,
    /// Columns of the terminal that standard error is; progress is drawn there only.
    pub(crate) progress_width: Option<usize>,
}

impl Context {
    /// How answers are shown on `console`.
    pub(crate) fn mode_of(global: &GlobalArgs, console: &Console) -> OutputMode {
        match console.output_width {
            Some(width) if !global.json => OutputMode::Table { width },
            _ => OutputMode::Lines,
        }
    }

    /// Standard input, for a reader on a thread of its own; nothing is left of it here.
    pub(crate) fn take_input(&mut self) -> Box<dyn BufRead + Send> {
        std::mem::replace(&mut self.input, Box::new(std::io::empty()))
    }

    /// Progress of long work; drawn only if somebody watches.
    pub(crate) fn progress(&self, verb: &'static str) -> Progress {
        let terminal = self.progress_width.map(|width| {
            let terminal: Box<dyn Write + Send> = Box::new(std::io::stderr());
            (terminal, width)
        });
        Progress::start(self.engine.env().clone(), terminal, verb)
    }
}
