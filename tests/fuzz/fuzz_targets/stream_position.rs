//! Fuzzes the decoder `stream_position` of `tests/fuzz-entry`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tidewater_fuzz_entry::fuzz("stream_position", bytes));
