//! The options themselves, each declared once: field, type, key, default, meaning.
//!
//! Every group is a macro that hands its entries on; `options/mod.rs` joins the groups into one struct, so that a group
//! stays a file and an option stays one field of [`TableOptions`](super::TableOptions).
//!
//! ```text
//! /// Meaning, as the option list shows it.
//! field: Type = "key", default value, [flags];      without a default the type is an Option
//! ```
//! Flags: `immutable()` cannot change once there are snapshots; `newer()` is not an option of 1.3; `foreign()` concerns
//! other programs only, so a value we cannot read does no harm; `aliases(&[..])` are former keys; `at_least(n)` bounds
//! what may be set.
//! Source: spec 02d, 03 §21; Paimon `CoreOptions.java`, `iceberg/IcebergOptions.java`, and the options of the Flink
//! connector that are stored with tables.

mod commit;
mod compaction;
mod files;
mod merge;
mod others;
mod partitions;
mod scan;
mod table_shape;
mod writer;

pub(crate) use commit::commit_options;
pub(crate) use compaction::compaction_options;
pub(crate) use files::file_options;
pub(crate) use merge::merge_options;
pub(crate) use others::other_system_options;
pub(crate) use partitions::partition_options;
pub(crate) use scan::scan_options;
pub(crate) use table_shape::table_shape_options;
pub(crate) use writer::writer_options;
