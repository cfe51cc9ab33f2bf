//! Replays what fuzzers start from and what they have found: seeds, corpora, and changes of both that belong to a fixed seed.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the whole program is a test"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use tidewater_fuzz_entry::{TARGETS, Target, mutate};

/// Changed inputs of each target; `TIDEWATER_FUZZ_CHANGES` tries more.
fn changes() -> u64 {
    std::env::var("TIDEWATER_FUZZ_CHANGES").map_or(150, |text| text.parse().unwrap())
}

fn corpus(target: &Target) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    let Ok(files) = std::fs::read_dir(folder.join(target.name)) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort_unstable();
    paths
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}

/// What the decoder did wrong, if it did.
fn fault(target: &Target, input: &[u8], what: &str) -> Option<String> {
    catch_unwind(AssertUnwindSafe(|| (target.run)(input))).err()?;
    let shown = input.iter().take(400).flat_map(|byte| byte.escape_ascii());
    let shown: String = shown.map(char::from).collect();
    Some(format!("{}: {what}: {shown}", target.name))
}

fn replay(target: &Target) -> Option<String> {
    let mut inputs = (target.seeds)();
    assert!(!inputs.is_empty(), "{} has no seeds", target.name);
    inputs.extend(corpus(target));
    inputs.push(Vec::new());
    let told = inputs
        .iter()
        .enumerate()
        .find_map(|(at, input)| fault(target, input, &format!("input {at}")));
    told.or_else(|| {
        (0..changes()).find_map(|change| {
            let at = usize::try_from(change).unwrap() % inputs.len();
            let input = mutate(&inputs[at], change);
            fault(target, &input, &format!("change {change} of input {at}"))
        })
    })
}

#[test]
fn no_decoder_panics_on_seeds_corpora_and_changes_of_them() {
    let only = std::env::var("TIDEWATER_FUZZ_TARGET").ok();
    let faults: Vec<String> = TARGETS
        .iter()
        .filter(|target| only.as_ref().is_none_or(|only| only == target.name))
        .filter_map(replay)
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
