//! Statistics that were recorded, held against the values that are there.
//!
//! Bounds may be wider than the values (truncated text), never narrower. Zeros count as one and NaN as no bound, since writers differ there.

use std::cmp::Ordering;

use tidewater_format::{ColumnStats, SimpleStats};
use tidewater_types::{DataField, DataType, Datum, TypeKind};

use super::{Fault, fault};

/// The codes of the faults of one kind of statistics.
#[derive(Debug, Clone, Copy)]
pub(super) struct StatsCodes {
    width: &'static str,
    column: &'static str,
    nulls: &'static str,
    of_nulls: &'static str,
    min: &'static str,
    max: &'static str,
}

/// Of `_KEY_STATS`.
pub(super) const KEY_STATS: StatsCodes = StatsCodes {
    width: "key-stats-width",
    column: "key-stats-column",
    nulls: "key-stats-nulls",
    of_nulls: "key-stats-of-nulls",
    min: "key-stats-min",
    max: "key-stats-max",
};

/// Of `_VALUE_STATS`.
pub(super) const VALUE_STATS: StatsCodes = StatsCodes {
    width: "value-stats-width",
    column: "value-stats-column",
    nulls: "value-stats-nulls",
    of_nulls: "value-stats-of-nulls",
    min: "value-stats-min",
    max: "value-stats-max",
};

/// Whether values of the type are compared here: what every writer orders alike.
pub(super) fn has_order(data_type: &DataType) -> bool {
    !matches!(
        data_type.kind,
        TypeKind::Array(_)
            | TypeKind::Map(..)
            | TypeKind::Multiset(_)
            | TypeKind::Row(_)
            | TypeKind::Variant
            | TypeKind::Binary(_)
            | TypeKind::VarBinary(_)
    )
}

/// Holds recorded statistics against those of the file's rows, `actual`, one for each of `fields`.
pub(super) fn check_stats(
    codes: StatsCodes,
    place: &str,
    recorded: &SimpleStats,
    listed: Option<&[String]>,
    fields: &[DataField],
    actual: &[ColumnStats],
    rows: i64,
) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut add = |code, detail: String| faults.push(fault(code, place, detail));
    let width = recorded.min_values.arity();
    if listed.is_none() && width == 0 {
        return faults;
    }
    let names: Vec<&str> = match listed {
        Some(listed) => listed.iter().map(String::as_str).collect(),
        None => fields.iter().map(|field| field.name.as_str()).collect(),
    };
    let widths = [
        width,
        recorded.max_values.arity(),
        recorded.null_counts.len(),
    ];
    if widths.into_iter().any(|width| width != names.len()) {
        let detail = format!("{width} columns where {} are named", names.len());
        add(codes.width, detail);
        return faults;
    }
    for (slot, name) in names.into_iter().enumerate() {
        let found = fields.iter().zip(actual);
        let Some((field, actual)) = found.into_iter().find(|(field, _)| field.name == name) else {
            add(codes.column, name.to_owned());
            continue;
        };
        let nulls = actual.null_count.unwrap_or(0);
        if let Some(said) = recorded.null_counts.get(slot).copied().flatten()
            && said != nulls
        {
            add(codes.nulls, format!("{name}: says {said}, has {nulls}"));
        }
        if !has_order(&field.data_type) {
            continue;
        }
        if nulls >= rows {
            if !recorded.min_values.is_null(slot) || !recorded.max_values.is_null(slot) {
                add(codes.of_nulls, format!("{name} has only nulls but bounds"));
            }
            continue;
        }
        let (low, high) = (
            bound(recorded, slot, &field.data_type, Side::Min),
            bound(recorded, slot, &field.data_type, Side::Max),
        );
        let least = comparable(&actual.min, &field.data_type);
        let greatest = comparable(&actual.max, &field.data_type);
        if let (Some(low), Some(least)) = (&low, &least)
            && low.compare(least) == Some(Ordering::Greater)
        {
            add(
                codes.min,
                format!("{name}: says {low:?}, least is {least:?}"),
            );
        }
        if let (Some(high), Some(greatest)) = (&high, &greatest)
            && high.compare(greatest) == Some(Ordering::Less)
        {
            let detail = format!("{name}: says {high:?}, greatest is {greatest:?}");
            add(codes.max, detail);
        }
    }
    faults
}

/// Whether a value lies within the bounds in a slot; nothing if it does not compare.
pub(super) fn within(
    value: &Datum,
    stats: &SimpleStats,
    slot: usize,
    data_type: &DataType,
) -> Option<bool> {
    let value = comparable(value, data_type)?;
    let low = bound(stats, slot, data_type, Side::Min);
    let high = bound(stats, slot, data_type, Side::Max);
    Some(
        low.is_none_or(|low| low.compare(&value) != Some(Ordering::Greater))
            && high.is_none_or(|high| high.compare(&value) != Some(Ordering::Less)),
    )
}

#[derive(Debug, Clone, Copy)]
enum Side {
    Min,
    Max,
}

fn bound(stats: &SimpleStats, slot: usize, data_type: &DataType, side: Side) -> Option<Datum> {
    let row = match side {
        Side::Min => &stats.min_values,
        Side::Max => &stats.max_values,
    };
    if slot >= row.arity() || row.is_null(slot) {
        return None;
    }
    comparable(&row.get(slot, data_type).ok()?, data_type)
}

/// The value in the form that is compared; nothing for nulls and NaN.
fn comparable(value: &Datum, data_type: &DataType) -> Option<Datum> {
    match value {
        Datum::Null => None,
        Datum::Float(value) => (!value.is_nan()).then_some(Datum::Float(value + 0.0)),
        Datum::Double(value) => (!value.is_nan()).then_some(Datum::Double(value + 0.0)),
        // Some writers fill bounds of CHAR up with blanks.
        Datum::String(text) if matches!(data_type.kind, TypeKind::Char(_)) => {
            Some(Datum::String(text.trim_end_matches(' ').to_owned()))
        }
        other => Some(other.clone()),
    }
}
