//! tidewater-testkit.
