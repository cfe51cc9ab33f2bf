//! tidewater-tidy.
