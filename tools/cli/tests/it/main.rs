//! The command line as a script sees it: arguments and lines in, lines and a status out.

mod call;
mod console;
