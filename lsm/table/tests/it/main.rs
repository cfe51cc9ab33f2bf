//! Tables that Java Paimon wrote, planned, followed and verified through this crate's front door.

mod golden;
mod plan;
mod stream;
