//! Golden tables for this crate alone: unpacked, and their answers held against rows of ours.
//!
//! The testkit has more of this, but arrows from core to tests are not for drawing.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

/// The folder of a case.
pub(crate) fn folder(case: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fixtures/golden")
        .join(case)
}

/// The case's warehouse, in the folder `warehouse` of the answer.
pub(crate) fn unpack(case: &str) -> TempDir {
    let target = tempfile::tempdir().unwrap();
    let archive = File::open(folder(case).join("warehouse.tar.zst")).unwrap();
    tar::Archive::new(zstd::Decoder::new(archive).unwrap())
        .unpack(target.path())
        .unwrap();
    target
}

/// Java's answer, one value a line.
pub(crate) fn answer(case: &str, file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder(case).join("expected").join(file)).unwrap();
    text.split('\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Asserts that both are the same rows in any order, floats bit for bit.
pub(crate) fn assert_same_rows(want: &[Value], got: &[Value], what: &str) {
    let counted = |rows: &[Value]| {
        let mut counts = BTreeMap::new();
        for row in rows {
            *counts.entry(canonical(row)).or_insert(0) += 1;
        }
        counts
    };
    assert_eq!(counted(got), counted(want), "{what}");
}

/// One text for all spellings of a value: `1e-5` is `1.0E-5`, and `1` is not `1.0`.
fn canonical(value: &Value) -> String {
    match value {
        Value::Number(number) => {
            let text = number.to_string();
            if text.contains(['.', 'e', 'E']) {
                format!("{:?}", text.parse::<f64>().unwrap())
            } else {
                text
            }
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(members) => {
            let members: BTreeMap<&String, String> = members
                .iter()
                .map(|(name, value)| (name, canonical(value)))
                .collect();
            format!("{members:?}")
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.to_string(),
    }
}
