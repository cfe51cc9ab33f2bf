//! Fuzzes the decoder `index_manifest` of `tests/fuzz-entry`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tidewater_fuzz_entry::fuzz("index_manifest", bytes));
