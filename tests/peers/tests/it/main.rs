//! Random tables that Java Paimon and `tidewater` write in turn.
//!
//! `TIDEWATER_PEER_ROUNDS` is the number of tables (6 unless set), `TIDEWATER_PEER_SEED` the seed of the first (1 unless set).

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the whole program is a test"
)]

use tidewater_peers::{JavaPeer, Outcome, Tidewater, play};
use tidewater_testkit::WorkloadOptions;

fn number_from_env(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is not a number: {text}"))
    })
}

fn java() -> JavaPeer {
    JavaPeer::start().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn both_engines_write_in_turn_and_read_alike() {
    let (first, rounds) = (
        number_from_env("TIDEWATER_PEER_SEED", 1),
        number_from_env("TIDEWATER_PEER_ROUNDS", 6),
    );
    let mut java = java();
    let mut failures = Vec::new();
    for seed in first..first + rounds {
        let warehouse = tempfile::tempdir().unwrap();
        match play(
            seed,
            &WorkloadOptions::default(),
            warehouse.path(),
            &mut java,
            &mut Tidewater,
        ) {
            Ok(Outcome::Equal { steps }) => println!("seed {seed}: equal after {steps} steps"),
            Ok(Outcome::Different(lines)) => failures.push(lines.join("\n    ")),
            Err(error) => failures.push(format!("seed {seed}: {error}")),
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {rounds} tables differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
