//! VARIANT values from and to JSON text.
//!
//! A VARIANT is two byte strings: a value, and metadata with the names of its objects' fields. Their encoding is the
//! Parquet Variant encoding; what is chosen where that leaves a choice is what Paimon writes: whole numbers in the smallest
//! integer, other numbers without an exponent as decimals, the rest as doubles; names in order of appearance.
//! Source: Paimon `data/variant/GenericVariantBuilder.java`, `GenericVariant.java`.

mod decode;
mod encode;

#[cfg(test)]
mod tests;

pub use decode::variant_to_json;
pub use encode::json_to_variant;
