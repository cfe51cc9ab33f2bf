//! Logical types and Arrow types.
//!
//! [`to_arrow_type`] is the one canonical in-memory type of each logical type; every crate hands batches around in it.
//! [`from_arrow_schema`] and [`coerce_batch`] take in the many types other programs hand us.
//!
//! | logical | Arrow |
//! |---|---|
//! | CHAR, VARCHAR; BINARY, VARBINARY | Utf8; Binary |
//! | DECIMAL(p, s) | Decimal128(p, s) |
//! | TIME | Time32(Millisecond) |
//! | TIMESTAMP p <= 3, <= 6, >= 7 | Timestamp(Millisecond, Microsecond, Nanosecond), no zone; _LTZ: zone "UTC" |
//! | ARRAY | List("element") |
//! | MAP | Map("key_value" {"key" not null, "value"}), unsorted |
//! | MULTISET | Map("key_value" {"key" not null, "value" Int32 not null}) |
//! | ROW | Struct |
//! | VARIANT | Struct {"value" Binary not null, "metadata" Binary not null} |

mod coerce;
mod from_arrow;
mod mapping;

pub use coerce::coerce_batch;
pub use from_arrow::from_arrow_schema;
pub use mapping::{
    FIELD_ID_KEY, TimestampUnit, to_arrow_field, to_arrow_field_with_nested_ids, to_arrow_schema,
    to_arrow_schema_with_nested_ids, to_arrow_type,
};
