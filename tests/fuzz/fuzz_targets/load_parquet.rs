//! Fuzzes the decoder `load_parquet` of `tests/fuzz-entry`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tidewater_fuzz_entry::fuzz("load_parquet", bytes));
