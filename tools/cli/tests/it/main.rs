//! The command line from outside.

mod console;
mod golden;
mod verbs;
