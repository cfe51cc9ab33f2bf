//! Reads the vectors of the repository's tests.

use serde_json::Value;

/// The bytes of the vector file with this name.
pub(crate) fn vector_bytes(name: &str) -> Vec<u8> {
    fixture("vectors", name)
}

/// The vector file with this name, as JSON.
pub(crate) fn vector(name: &str) -> Value {
    parse(&fixture("vectors", name))
}

/// The file with this name of what Java answers to questions about schemas and options.
pub(crate) fn java_answers(name: &str) -> Value {
    parse(&fixture("format", name))
}

/// Path and text of the metadata files that Java 1.3.1 wrote: of the golden tables and of those in the vectors.
pub(crate) fn java_metadata_files() -> Vec<(String, String)> {
    let golden = zstd::decode_all(&fixture("format", "golden_metadata.json.zst")[..]).unwrap();
    let mut files = texts("", &parse(&golden));
    for table in [
        "append_part",
        "append_rt",
        "pk_changelog",
        "pk_dv",
        "pk_dyn",
        "pk_part",
        "pk_postpone",
    ] {
        files.extend(texts(
            table,
            &vector(&format!("tables/{table}.json"))["files"],
        ));
    }
    files
}

/// Path and text of the metadata files that pypaimon 2.1 wrote.
pub(crate) fn python_metadata_files() -> Vec<(String, String)> {
    let tables = ["py_ap", "py_pk"];
    tables
        .into_iter()
        .flat_map(|table| texts(table, &vector(&format!("tables/{table}.json"))["files"]))
        .collect()
}

fn texts(place: &str, files: &Value) -> Vec<(String, String)> {
    let files = files.as_array().unwrap().iter();
    files
        .filter_map(|file| {
            Some((
                format!("{place}/{}", file["path"].as_str()?),
                file["text"].as_str()?.to_owned(),
            ))
        })
        .collect()
}

/// The bytes written as hex digits.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    digits
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn parse(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

fn fixture(folder: &str, name: &str) -> Vec<u8> {
    let path = format!(
        "{}/../../tests/fixtures/{folder}/{name}",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}
