//! Fuzzes the decoder `schema_json` of `tests/fuzz-entry`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tidewater_fuzz_entry::fuzz("schema_json", bytes));
