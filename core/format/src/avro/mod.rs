//! Avro object containers, read by the writer's schema and written as Java does.
//!
//! Manifests are read on every plan, and their record shapes are few and fixed. So this is not a general Avro library:
//!
//! ```text
//!  file ──ContainerReader──> block bytes ──Cursor──> fields
//!    └─ avro.schema ─WriterSchema─> RecordPlan (once per file): which field comes next, which bytes to pass
//! ```
//!
//! Nothing here trusts a length: each is checked against the bytes left before it is used.

mod codec;
mod cursor;
mod error;
pub(crate) mod put;
mod reader;
mod resolve;
mod schema;
mod skip;
mod writer;

pub use codec::AvroCodec;
pub use error::AvroError;
pub(crate) use error::Fault;

pub(crate) use cursor::Cursor;
pub(crate) use reader::{ContainerReader, expect_block_end};
pub(crate) use resolve::{
    Expect, FieldSpec, RawItems, RecordPlan, Step, ValuePlan, field, nested_record, optional_field,
    pass_unknown,
};
pub(crate) use schema::{RecordField, WriterSchema};
pub(crate) use skip::SkipTable;
pub(crate) use writer::ContainerWriter;
