//! The aggregate functions by name, and what types they take.
//!
//! Source: spec 02b §7, Paimon `mergetree/compact/aggregate/factory`.

use tidewater_types::{DataType, TypeKind};

/// How the values of one column over the versions of a key become one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AggregateFunction {
    /// The key itself.
    PrimaryKey,
    /// The sum.
    Sum,
    /// The product.
    Product,
    /// The greatest value.
    Max,
    /// The smallest value.
    Min,
    /// The newest value, null included.
    LastValue,
    /// The newest value that is not null.
    LastNonNullValue,
    /// The oldest value, null included.
    FirstValue,
    /// The oldest value that is not null.
    FirstNonNullValue,
    /// Texts with a delimiter between them.
    ListAgg,
    /// Whether all are true.
    BoolAnd,
    /// Whether one is true.
    BoolOr,
    /// The elements of all lists.
    Collect,
    /// The entries of all maps, the newest of each key.
    MergeMap,
    /// The rows of all lists of rows, by key if there is one.
    NestedUpdate,
    /// Union of 32-bit roaring bitmaps.
    Rbm32,
    /// Union of 64-bit roaring bitmaps in Java's own layout.
    Rbm64,
    /// Union of HyperLogLog sketches.
    HllSketch,
    /// Union of theta sketches.
    ThetaSketch,
}

/// Names that options may use; the first of a function is the one it is shown by.
const NAMES: [(&str, AggregateFunction); 20] = [
    ("sum", AggregateFunction::Sum),
    ("product", AggregateFunction::Product),
    ("max", AggregateFunction::Max),
    ("min", AggregateFunction::Min),
    ("last_value", AggregateFunction::LastValue),
    ("last_non_null_value", AggregateFunction::LastNonNullValue),
    ("first_value", AggregateFunction::FirstValue),
    ("first_non_null_value", AggregateFunction::FirstNonNullValue),
    ("first_not_null_value", AggregateFunction::FirstNonNullValue),
    ("listagg", AggregateFunction::ListAgg),
    ("bool_and", AggregateFunction::BoolAnd),
    ("bool_or", AggregateFunction::BoolOr),
    ("collect", AggregateFunction::Collect),
    ("merge_map", AggregateFunction::MergeMap),
    ("nested_update", AggregateFunction::NestedUpdate),
    ("rbm32", AggregateFunction::Rbm32),
    ("rbm64", AggregateFunction::Rbm64),
    ("hll_sketch", AggregateFunction::HllSketch),
    ("theta_sketch", AggregateFunction::ThetaSketch),
    ("primary-key", AggregateFunction::PrimaryKey),
];

impl AggregateFunction {
    /// The function of this name; `None` if there is none.
    pub fn parse(name: &str) -> Option<Self> {
        NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, function)| *function)
    }

    /// Its name in options.
    pub fn name(self) -> &'static str {
        let entry = NAMES.iter().find(|(_, function)| *function == self);
        entry.map_or("", |(name, _)| name)
    }

    /// All names, for messages.
    pub fn names() -> String {
        let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }

    /// Whether columns of this type can be folded by it.
    ///
    /// Java lets `max` and `min` of BOOLEAN and nested columns through and fails at the first comparison; here they
    /// are refused.
    pub fn accepts(self, data_type: &DataType) -> bool {
        let kind = &data_type.kind;
        match self {
            Self::PrimaryKey
            | Self::LastValue
            | Self::LastNonNullValue
            | Self::FirstValue
            | Self::FirstNonNullValue => true,
            Self::Sum | Self::Product => {
                kind.is_integer()
                    || matches!(
                        kind,
                        TypeKind::Float | TypeKind::Double | TypeKind::Decimal { .. }
                    )
            }
            Self::Max | Self::Min => kind.is_ordered() && *kind != TypeKind::Boolean,
            Self::ListAgg => matches!(kind, TypeKind::VarChar(_)),
            Self::BoolAnd | Self::BoolOr => *kind == TypeKind::Boolean,
            Self::Collect => matches!(kind, TypeKind::Array(_)),
            Self::MergeMap => matches!(kind, TypeKind::Map(..)),
            Self::NestedUpdate => match kind {
                TypeKind::Array(element) => matches!(element.kind, TypeKind::Row(_)),
                _ => false,
            },
            Self::Rbm32 | Self::Rbm64 | Self::HllSketch | Self::ThetaSketch => {
                matches!(kind, TypeKind::VarBinary(_))
            }
        }
    }

    /// The types it takes, in words.
    pub fn expected_type(self) -> &'static str {
        match self {
            Self::PrimaryKey
            | Self::LastValue
            | Self::LastNonNullValue
            | Self::FirstValue
            | Self::FirstNonNullValue => "any type",
            Self::Sum | Self::Product => "a numeric type",
            Self::Max | Self::Min => "a number, text, bytes, a date or a time",
            Self::ListAgg => "VARCHAR or STRING",
            Self::BoolAnd | Self::BoolOr => "BOOLEAN",
            Self::Collect => "ARRAY",
            Self::MergeMap => "MAP",
            Self::NestedUpdate => "ARRAY<ROW<...>>",
            Self::Rbm32 | Self::Rbm64 | Self::HllSketch | Self::ThetaSketch => "VARBINARY or BYTES",
        }
    }

    /// Whether it can take a value back; other functions refuse retractions unless `ignore-retract` is set.
    pub fn retracts(self) -> bool {
        matches!(
            self,
            Self::PrimaryKey
                | Self::Sum
                | Self::Product
                | Self::LastValue
                | Self::LastNonNullValue
                | Self::Collect
                | Self::MergeMap
                | Self::NestedUpdate
        )
    }
}
