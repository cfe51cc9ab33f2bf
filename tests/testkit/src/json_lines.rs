//! Files of JSON lines, plain or compressed.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::Value;

use crate::error::{Result, TestkitError};

/// Reads the lines of `path`; `path` with `.zst` behind it serves when only that is there.
///
/// # Errors
/// [`TestkitError::Read`] and [`TestkitError::Line`].
pub fn read_json_lines(path: &Path) -> Result<Vec<Value>> {
    parse_lines(&read_text(path)?)
}

/// Parses one value a line; blank lines are skipped.
///
/// # Errors
/// [`TestkitError::Line`] for the first line that is not JSON.
pub fn parse_lines(text: &str) -> Result<Vec<Value>> {
    text.split('\n')
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| {
            serde_json::from_str(line).map_err(|source| TestkitError::Line {
                line: index + 1,
                text: line.chars().take(200).collect(),
                source,
            })
        })
        .collect()
}

/// The text of a fixture file, unpacked if its name ends in `.zst`.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    let failed = |source| TestkitError::Read {
        path: path.to_owned(),
        source,
    };
    let mut text = String::new();
    let file = File::open(path).map_err(failed)?;
    if path.extension().is_some_and(|extension| extension == "zst") {
        zstd::Decoder::new(file)
            .and_then(|mut decoder| decoder.read_to_string(&mut text))
            .map_err(failed)?;
    } else {
        let mut file = file;
        file.read_to_string(&mut text).map_err(failed)?;
    }
    Ok(text)
}
