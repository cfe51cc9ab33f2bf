//! tidewater-io.
