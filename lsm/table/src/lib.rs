//! tidewater-table.
