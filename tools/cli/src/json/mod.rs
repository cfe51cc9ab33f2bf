//! Rows as JSON lines and back, exactly as the command-line contract spells values.
//!
//! ```text
//!  RecordBatch -- RowEncoder::bind --> BoundRows -- write_row --> bytes of one line
//!  line -- RowDecoder::line --> columns under construction -- take --> RecordBatch + kinds
//! ```
//!
//! Both ways work on columns: types are resolved once a batch, not once a value, and numbers never pass through a double on their way
//! to an integer or a decimal. Source: the contract's sections 2 and 3; its page is `docs/cli.md`.

mod cells;
mod civil;
mod column_builder;
mod decimal;
mod decoder;
mod encoder;
mod error;
mod escape;
mod line_sorter;
mod lines;
mod scanner;
#[cfg(test)]
mod tests;
mod timestamps;
mod value;

pub use self::decoder::{DecodedRows, InputLine, RowDecoder};
pub use self::encoder::{BoundRows, RowEncoder};
pub use self::error::JsonError;
pub use self::escape::write_string;
pub use self::line_sorter::LineSorter;
pub use self::lines::Lines;
pub use self::value::{JsonColumn, datum_from_json, datums_to_json_row};
