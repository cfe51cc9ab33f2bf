//! tidewater-files.
