//! Reads the vectors of the repository's tests.

use serde_json::Value;

/// The vector file with this name.
pub(crate) fn vector(name: &str) -> Value {
    let path = format!(
        "{}/../../tests/fixtures/vectors/{name}",
        env!("CARGO_MANIFEST_DIR")
    );
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_slice(&bytes).unwrap()
}
