//! Java Paimon and `tidewater` at work on the same tables.
