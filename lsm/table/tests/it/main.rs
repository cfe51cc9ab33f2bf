//! Tables that Java Paimon wrote, planned, followed and verified through this crate's front door.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the whole program is a test"
)]

mod cases;
mod damage;
mod deletions;
mod faults;
mod folds;
mod golden;
mod law;
mod marked;
mod plan;
mod small;
mod stream;
mod vectors;
mod verify;
mod writers;
