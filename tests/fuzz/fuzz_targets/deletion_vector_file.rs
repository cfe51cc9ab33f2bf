//! Fuzzes the decoder `deletion_vector_file` of `tests/fuzz-entry`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tidewater_fuzz_entry::fuzz("deletion_vector_file", bytes));
