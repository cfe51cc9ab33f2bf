//! Statistics of one column, exact or cut by a mode.
//!
//! Source: Paimon `format/SimpleColStats.java`, `statistics/*SimpleColStatsCollector.java`; spec 01c §5.2 and §5.3.

use std::cmp::Ordering;

use tidewater_types::{DataType, Datum, TypeKind};

use super::truncate::{truncate_max, truncate_min};
use crate::options::StatsMode;

/// Minimum, maximum and null count of a column. A null bound and a missing count mean unknown.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnStats {
    /// Least non-null value, or a bound below it.
    pub min: Datum,
    /// Greatest non-null value, or a bound above it.
    pub max: Datum,
    /// Nulls.
    pub null_count: Option<i64>,
}

impl ColumnStats {
    /// Nothing is known of the column.
    pub fn unknown() -> Self {
        Self {
            min: Datum::Null,
            max: Datum::Null,
            null_count: None,
        }
    }

    /// The statistics of no rows; the start of a collection.
    pub(crate) fn of_no_rows() -> Self {
        Self {
            min: Datum::Null,
            max: Datum::Null,
            null_count: Some(0),
        }
    }

    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        self.min.is_null() && self.max.is_null() && self.null_count.is_none()
    }

    /// Takes `rows` rows with this value in. Exact bounds stay exact.
    pub(crate) fn widen(&mut self, value: &Datum, rows: i64) {
        if value.is_null() {
            self.null_count = self.null_count.map(|nulls| nulls.saturating_add(rows));
            return;
        }
        self.widen_bounds(value, value);
    }

    /// Takes rows in whose non-null values lie between `min` and `max`.
    pub(crate) fn widen_bounds(&mut self, min: &Datum, max: &Datum) {
        if self.min.is_null() || min.compare(&self.min) == Some(Ordering::Less) {
            self.min = min.clone();
        }
        if self.max.is_null() || max.compare(&self.max) == Some(Ordering::Greater) {
            self.max = max.clone();
        }
    }
}

impl StatsMode {
    /// What is stored of a column whose exact statistics are `exact`, collected or taken from a file's footer.
    ///
    /// Types without an order of their own never get bounds, nor do BINARY and VARBINARY, as in 1.3.1. If text cannot be
    /// bounded from above, both bounds are unknown.
    pub fn apply(self, exact: ColumnStats, data_type: &DataType) -> ColumnStats {
        let counts = ColumnStats {
            null_count: exact.null_count,
            ..ColumnStats::unknown()
        };
        match self {
            Self::None => ColumnStats::unknown(),
            Self::Counts => counts,
            Self::Full | Self::Truncate(_)
                if !has_bounds(data_type) || exact.min.is_null() || exact.max.is_null() =>
            {
                counts
            }
            Self::Full => exact,
            Self::Truncate(length) => match (exact.min, exact.max) {
                (Datum::String(min), Datum::String(max)) => match truncate_max(&max, length) {
                    Some(max) => ColumnStats {
                        min: Datum::String(truncate_min(&min, length).to_owned()),
                        max: Datum::String(max),
                        null_count: exact.null_count,
                    },
                    None => counts,
                },
                (min, max) => ColumnStats {
                    min,
                    max,
                    null_count: exact.null_count,
                },
            },
        }
    }
}

/// Whether statistics of this type have a minimum and a maximum.
pub(crate) fn has_bounds(data_type: &DataType) -> bool {
    match data_type.kind {
        TypeKind::Boolean
        | TypeKind::TinyInt
        | TypeKind::SmallInt
        | TypeKind::Int
        | TypeKind::BigInt
        | TypeKind::Float
        | TypeKind::Double
        | TypeKind::Char(_)
        | TypeKind::VarChar(_)
        | TypeKind::Decimal { .. }
        | TypeKind::Date
        | TypeKind::Time(_)
        | TypeKind::Timestamp(_)
        | TypeKind::TimestampLtz(_) => true,
        TypeKind::Binary(_)
        | TypeKind::VarBinary(_)
        | TypeKind::Variant
        | TypeKind::Array(_)
        | TypeKind::Map(..)
        | TypeKind::Multiset(_)
        | TypeKind::Row(_) => false,
    }
}
