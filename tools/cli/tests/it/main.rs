//! The command line as a script sees it: arguments and lines in, lines and a status out.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the whole program is a test"
)]

mod call;
mod compact;
mod console;
mod demo;
mod golden;
mod kill;
mod load;
mod place;
mod refusals;
