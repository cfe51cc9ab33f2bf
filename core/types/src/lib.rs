//! tidewater-types.
