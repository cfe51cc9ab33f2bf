//! Follows a table: a first plan, then one plan for each snapshot that changed rows.
//!
//! ```text
//!  StreamMode ─start─> [state of a snapshot] then next_snapshot = n
//!                           │ plan_next
//!                           v
//!   snapshot n: none there -> nothing now     not a change -> n + 1, go on     else -> its plan, n + 1
//! ```
//!
//! [`StreamPosition`] is all there is to keep. Source: spec 03 §6; Paimon `table/source/DataTableStreamScan.java`.

mod follow;
mod position;
mod rows;
mod start;

pub use follow::{StreamOptions, StreamPlan, StreamPlanKind, StreamScan};
pub use position::StreamPosition;
pub use rows::ChangeStream;
pub use start::StreamMode;
