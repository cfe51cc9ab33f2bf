//! Fuzzes the decoder `avro_data_file` of `tests/fuzz-entry`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tidewater_fuzz_entry::fuzz("avro_data_file", bytes));
