//! tidewater.
