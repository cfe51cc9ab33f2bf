//! Every decoder of bytes that come from outside, as a function of bytes.
//!
//! ```text
//!  tests/fuzz (libFuzzer, nightly) --.
//!                                    +--> Target::run(bytes): an answer or a typed error, never a panic
//!  tests/replay.rs (stable, CI) -----'         ^
//!                            seeds: tests/fixtures, tests/fuzz/corpus, and changes of both by a fixed seed
//! ```
//!
//! What is decoded is encoded and decoded again where the format allows: the second answer must equal the first. A broken law is a panic
//! here, since that is what fuzzers look for.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the whole crate is a test"
)]

mod files;
mod index;
mod metadata;
mod mutate;
mod requests;
mod rows;
mod seeds;

pub use self::mutate::mutate;

/// A decoder.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name: of the fuzz target and of the folder of its corpus.
    pub name: &'static str,
    /// Decodes; panics only if a law is broken.
    pub run: fn(&[u8]),
    /// Valid inputs, made from the fixtures of the repository.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All decoders.
pub const TARGETS: &[Target] = &[
    target("snapshot_json", metadata::snapshot, seeds::snapshots),
    target("tag_json", metadata::tag, seeds::tags),
    target("consumer_json", metadata::consumer, seeds::consumers),
    target("hint", metadata::hint, seeds::hints),
    target("schema_json", metadata::schema, seeds::schemas),
    target("manifest", metadata::manifest, seeds::manifests),
    target(
        "manifest_list",
        metadata::manifest_list,
        seeds::manifest_lists,
    ),
    target(
        "index_manifest",
        metadata::index_manifest,
        seeds::index_manifests,
    ),
    target(
        "deletion_vector_file",
        index::deletion_vector_file,
        seeds::deletion_vector_files,
    ),
    target("hash_index", index::hash_index, seeds::hash_files),
    target("schema_request", requests::schema, seeds::schema_requests),
    target("options", requests::options, seeds::options),
    target("data_type", requests::data_type, seeds::data_types),
    target(
        "predicate_json",
        requests::predicate_json,
        seeds::predicates_json,
    ),
    target(
        "predicate_text",
        requests::predicate_text,
        seeds::predicates_text,
    ),
    target("values_text", requests::values, seeds::values),
    target(
        "partition_path",
        requests::partition_path,
        seeds::partition_paths,
    ),
    target(
        "stream_position",
        requests::stream_position,
        seeds::positions,
    ),
    target("binary_row", rows::binary_row, seeds::binary_rows),
    target("simple_stats", rows::simple_stats, seeds::binary_rows),
    target("variant", rows::variant, seeds::variants),
    target("variant_json", rows::variant_json, seeds::variant_texts),
    target("parquet", files::parquet, seeds::parquet),
    target("avro_data_file", files::avro, seeds::avro_data_files),
    target("load_parquet", files::load_parquet, seeds::parquet),
    target("load_arrow", files::load_arrow, seeds::arrow),
    target("load_csv", files::load_csv, seeds::csv),
    target("load_json", files::load_json, seeds::json_rows),
    target("row_lines", files::row_lines, seeds::row_lines),
];

const fn target(name: &'static str, run: fn(&[u8]), seeds: fn() -> Vec<Vec<u8>>) -> Target {
    Target { name, run, seeds }
}

/// The decoder of this name.
///
/// # Panics
/// If there is none.
pub fn find(name: &str) -> Target {
    *TARGETS
        .iter()
        .find(|target| target.name == name)
        .unwrap_or_else(|| panic!("no fuzz target {name}"))
}

/// Decodes under a fuzzer.
///
/// Libraries that panic on bad files are kept on threads or behind guards that turn a panic into an error, which is fine; libFuzzer's hook
/// would end the process even so. Here only a panic that gets out ends it.
pub fn fuzz(name: &str, bytes: &[u8]) {
    static QUIET: std::sync::Once = std::sync::Once::new();
    let outcome = std::panic::catch_unwind(|| {
        QUIET.call_once(|| {
            let told = std::panic::take_hook();
            drop(told);
            std::panic::set_hook(Box::new(|info| {
                LAST.with(|last| *last.borrow_mut() = info.to_string())
            }));
        });
        (find(name).run)(bytes);
    });
    if outcome.is_err() {
        LAST.with(|last| eprintln!("{name}: {}", last.borrow()));
        std::process::abort();
    }
}

std::thread_local! {
    /// What the last panic of the thread said.
    static LAST: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
}
