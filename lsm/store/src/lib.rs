//! tidewater-store.
