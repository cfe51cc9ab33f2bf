//! Fuzzes the decoder `snapshot_json` of `tests/fuzz-entry`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tidewater_fuzz_entry::fuzz("snapshot_json", bytes));
