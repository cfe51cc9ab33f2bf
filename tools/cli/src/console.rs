//! The streams a command talks through, and whether a person sits at their other end.

use std::io::{BufRead, BufReader, BufWriter, IsTerminal, Write, stderr, stdin, stdout};

/// Bytes collected before they go to standard output.
const OUTPUT_BUFFER_BYTES: usize = 64 << 10;
/// Columns of a terminal that does not tell.
const WIDTH_DEFAULT: usize = 100;

/// Input, output and errors of one run; the process's own, or those of a test.
pub struct Console {
    /// Where rows and directives come from.
    pub input: Box<dyn BufRead + Send>,
    /// Where answers go.
    pub output: Box<dyn Write + Send>,
    /// Where logs, progress and errors go.
    pub errors: Box<dyn Write + Send>,
    /// Columns of the terminal that `output` is; none if it is a file or a pipe.
    pub output_width: Option<usize>,
    /// Columns of the terminal that `errors` is; none if it is a file or a pipe.
    pub errors_width: Option<usize>,
}

impl Console {
    /// The streams of this process.
    pub fn of_process() -> Self {
        let (output, errors) = (stdout(), stderr());
        let output_width = output.is_terminal().then(|| width_of(&output));
        let errors_width = errors.is_terminal().then(|| width_of(&errors));
        Self {
            input: Box::new(BufReader::with_capacity(OUTPUT_BUFFER_BYTES, stdin())),
            output: Box::new(BufWriter::with_capacity(OUTPUT_BUFFER_BYTES, output)),
            errors: Box::new(errors),
            output_width,
            errors_width,
        }
    }
}

fn width_of(terminal: impl std::os::fd::AsFd) -> usize {
    match rustix::termios::tcgetwinsize(terminal) {
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col),
        _ => WIDTH_DEFAULT,
    }
}
