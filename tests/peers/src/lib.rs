//! Java Paimon and `tidewater` at work on the same tables.
//!
//! - [`JavaPeer`]: one Java process over the real engine, built once by Maven into a cache folder, that answers requests line by line.
//! - [`Tidewater`]: the command line, called in this process.
//! - [`Engine`]: what both can do; [`play`] lets them write one random table in turn and holds their answers against one another.
//!
//! ```text
//!  Workload (seed) -- rows --> write by java | tidewater | compact by java | tidewater
//!                                     after each step: read by both, model, verify by both
//!                                     at the end:      stream by both
//! ```

mod build;
mod error;
mod java;
mod play;
mod tidewater;

pub use self::build::java_program;
pub use self::error::{PeerError, Result};
pub use self::java::JavaPeer;
pub use self::play::{Engine, Outcome, play};
pub use self::tidewater::Tidewater;
