//! tidewater-format.
