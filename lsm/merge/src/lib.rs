//! tidewater-merge.
