//! What whole-table tests share.
//!
//! - **golden tables**: [`GoldenCase`] reads `tests/fixtures/golden/CASE`, unpacks the warehouse that Java Paimon wrote and hands out the
//!   questions with Java's answers.
//! - **comparing**: [`compare_rows`], [`compare_stream`] and [`compare_objects`] hold JSON lines against one another by the rules of the
//!   command-line contract: multisets, floats bit for bit, the order of one key's rows inside a snapshot.
//! - **making**: [`ValueGen`] makes random values by type in the JSON encoding, [`Workload`] a random table with the rows to write into it
//!   and a model of what it must hold, all from one seed.

mod canonical;
mod compare;
mod error;
mod golden;
mod json_lines;
mod random;
mod sql_type;
mod values;
mod workload;

pub use self::canonical::canonical;
pub use self::compare::{compare_objects, compare_rows, compare_stream};
pub use self::error::{Result, TestkitError};
pub use self::golden::{Expectation, GoldenCase, Question, Step, golden_root};
pub use self::json_lines::{parse_lines, read_json_lines};
pub use self::random::SeededRandom;
pub use self::values::ValueGen;
pub use self::workload::{Change, TableKind, Workload, WorkloadOptions};
