//! Fuzzes the decoder `variant` of `tests/fuzz-entry`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tidewater_fuzz_entry::fuzz("variant", bytes));
