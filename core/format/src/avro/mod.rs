//! Avro object containers, read by the writer's schema and written as Java does.
//!
//! Manifests are read on every plan, and their record shapes are few and fixed. So this is not a general Avro library:
//!
//! ```text
//!  file ──ContainerReader──> block bytes ──Cursor──> fields
//!    └─ avro.schema ─WriterSchema─> RecordPlan (once per file): which field comes next, which bytes to pass
//! ```
//!
//! Avro data files (`tidewater-files`) are read and written with the same parts; their values become columns there.
//!
//! Nothing here trusts a length: each is checked against the bytes left before it is used.

mod codec;
mod cursor;
mod error;
pub mod put;
mod reader;
mod resolve;
mod schema;
mod skip;
mod writer;

pub use codec::{AvroCodec, BlockDecompressor};
pub use cursor::{ArrayBlock, Cursor};
pub use error::{AvroError, Fault};
pub use reader::{Block, Header, expect_block_end};
pub use schema::{AvroType, LogicalType, NamedType, RecordField, WriterSchema};
pub use skip::{Skip, SkipTable};
pub use writer::ContainerWriter;

pub(crate) use reader::ContainerReader;
pub(crate) use resolve::{
    Expect, FieldSpec, RawItems, RecordPlan, Step, ValuePlan, field, nested_record, optional_field,
    pass_unknown,
};
