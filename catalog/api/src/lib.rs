//! tidewater-catalog.
