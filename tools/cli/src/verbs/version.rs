//! `version`: which engine this is.

use serde_json::json;

use crate::context::Context;
use crate::error::{EXIT_DONE, Result};

pub(crate) fn run(context: &mut Context) -> Result<u8> {
    context
        .output
        .record(&json!({"engine": "tidewater", "version": env!("CARGO_PKG_VERSION")}))?;
    Ok(EXIT_DONE)
}
