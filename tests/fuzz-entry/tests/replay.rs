//! Replays what fuzzers start from and what they have found: seeds, corpora, and changes of both that belong to a fixed seed.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
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

fn check(target: &Target, input: &[u8], what: &str) {
    if catch_unwind(AssertUnwindSafe(|| (target.run)(input))).is_err() {
        let shown: String = input
            .iter()
            .take(400)
            .flat_map(|b| b.escape_ascii())
            .map(char::from)
            .collect();
        panic!("{}: {what}: {shown}", target.name);
    }
}

#[test]
fn no_decoder_panics_on_seeds_corpora_and_changes_of_them() {
    for target in TARGETS {
        let seeds = (target.seeds)();
        assert!(!seeds.is_empty(), "{} has no seeds", target.name);
        let mut inputs = seeds;
        inputs.extend(corpus(target));
        inputs.push(Vec::new());
        for (at, input) in inputs.iter().enumerate() {
            check(target, input, &format!("input {at}"));
        }
        for change in 0..changes() {
            let at = usize::try_from(change).unwrap() % inputs.len();
            let input = mutate(&inputs[at], change);
            check(target, &input, &format!("change {change} of input {at}"));
        }
    }
}
