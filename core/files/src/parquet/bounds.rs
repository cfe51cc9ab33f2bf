//! Bounds and null counts that a file states about a column, as values of the column's type.
//!
//! What footers and column indexes say is taken over only where it holds in the order that predicates use: Java's. Writers other than
//! Java's and ours leave NaN out of float bounds, though it is the greatest value, so an upper float bound of theirs is NaN here.
//! Source: spec 01c §5.2, 01e §1.

use std::cmp::Ordering;

use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::statistics::Statistics;
use tidewater_types::{DataType, Datum, TimestampValue, TypeKind};

/// What is known of a column in some part of a file. Null bounds are unknown, or there is no value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) min: Option<Datum>,
    pub(crate) max: Option<Datum>,
    pub(crate) nulls: Option<i64>,
}

impl Bounds {
    pub(crate) const UNKNOWN: Self = Self {
        min: None,
        max: None,
        nulls: None,
    };
}

/// How far the float bounds of a file can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FloatBounds {
    /// There are none when NaN occurs.
    CoverNan,
    /// NaN is left out.
    IgnoreNan,
}

impl FloatBounds {
    /// By the program that wrote the file.
    pub(crate) fn of(metadata: &ParquetMetaData) -> Self {
        match metadata.file_metadata().created_by() {
            Some(writer) if writer.starts_with("parquet-mr") || writer.starts_with("tidewater") => {
                Self::CoverNan
            }
            _ => Self::IgnoreNan,
        }
    }
}

/// One stored value, as far as types are concerned.
enum Stored<'a> {
    Bool(bool),
    Int(i64),
    Float(f32),
    Double(f64),
    Bytes(&'a [u8]),
}

/// Bounds of one leaf in one row group, `data_type` being the type of the values when the file was written.
pub(crate) fn chunk_bounds(
    row_group: &RowGroupMetaData,
    leaf: usize,
    data_type: &DataType,
    floats: FloatBounds,
) -> Bounds {
    let Some(statistics) = row_group
        .columns()
        .get(leaf)
        .and_then(|column| column.statistics())
    else {
        return Bounds::UNKNOWN;
    };
    let nulls = statistics
        .null_count_opt()
        .and_then(|nulls| i64::try_from(nulls).ok());
    let (min, max) = match statistics {
        // The old fields order bytes as signed numbers.
        Statistics::ByteArray(_) | Statistics::FixedLenByteArray(_)
            if statistics.is_min_max_deprecated() =>
        {
            (None, None)
        }
        Statistics::Boolean(typed) => (
            typed.min_opt().map(|v| Stored::Bool(*v)),
            typed.max_opt().map(|v| Stored::Bool(*v)),
        ),
        Statistics::Int32(typed) => (
            typed.min_opt().map(|v| Stored::Int((*v).into())),
            typed.max_opt().map(|v| Stored::Int((*v).into())),
        ),
        Statistics::Int64(typed) => (
            typed.min_opt().map(|v| Stored::Int(*v)),
            typed.max_opt().map(|v| Stored::Int(*v)),
        ),
        Statistics::Float(typed) => (
            typed.min_opt().map(|v| Stored::Float(*v)),
            typed.max_opt().map(|v| Stored::Float(*v)),
        ),
        Statistics::Double(typed) => (
            typed.min_opt().map(|v| Stored::Double(*v)),
            typed.max_opt().map(|v| Stored::Double(*v)),
        ),
        Statistics::ByteArray(_) | Statistics::FixedLenByteArray(_) => (
            statistics.min_bytes_opt().map(Stored::Bytes),
            statistics.max_bytes_opt().map(Stored::Bytes),
        ),
        Statistics::Int96(_) => (None, None),
    };
    bounds(min, max, nulls, data_type, floats)
}

/// Bounds of one leaf in each of its pages; none if the file has no index for it.
pub(crate) fn page_bounds(
    index: &ColumnIndexMetaData,
    pages: usize,
    data_type: &DataType,
    floats: FloatBounds,
) -> Option<Vec<Bounds>> {
    // The decoder leaves out an index that the file has not; it cannot even be asked for its pages.
    if matches!(
        index,
        ColumnIndexMetaData::NONE | ColumnIndexMetaData::INT96(_)
    ) {
        return None;
    }
    let page = |page: usize| {
        let (min, max) = match index {
            ColumnIndexMetaData::NONE | ColumnIndexMetaData::INT96(_) => return None,
            ColumnIndexMetaData::BOOLEAN(typed) => (
                typed.min_value(page).map(|v| Stored::Bool(*v)),
                typed.max_value(page).map(|v| Stored::Bool(*v)),
            ),
            ColumnIndexMetaData::INT32(typed) => (
                typed.min_value(page).map(|v| Stored::Int((*v).into())),
                typed.max_value(page).map(|v| Stored::Int((*v).into())),
            ),
            ColumnIndexMetaData::INT64(typed) => (
                typed.min_value(page).map(|v| Stored::Int(*v)),
                typed.max_value(page).map(|v| Stored::Int(*v)),
            ),
            ColumnIndexMetaData::FLOAT(typed) => (
                typed.min_value(page).map(|v| Stored::Float(*v)),
                typed.max_value(page).map(|v| Stored::Float(*v)),
            ),
            ColumnIndexMetaData::DOUBLE(typed) => (
                typed.min_value(page).map(|v| Stored::Double(*v)),
                typed.max_value(page).map(|v| Stored::Double(*v)),
            ),
            ColumnIndexMetaData::BYTE_ARRAY(typed)
            | ColumnIndexMetaData::FIXED_LEN_BYTE_ARRAY(typed) => (
                typed.min_value(page).map(Stored::Bytes),
                typed.max_value(page).map(Stored::Bytes),
            ),
        };
        Some(bounds(min, max, index.null_count(page), data_type, floats))
    };
    (usize::try_from(index.num_pages()) == Ok(pages))
        .then(|| (0..pages).map(page).collect())
        .flatten()
}

fn bounds(
    min: Option<Stored<'_>>,
    max: Option<Stored<'_>>,
    nulls: Option<i64>,
    data_type: &DataType,
    floats: FloatBounds,
) -> Bounds {
    let (min, max) = (
        min.and_then(|min| datum(&min, data_type)),
        max.and_then(|max| datum(&max, data_type)),
    );
    // A zero stands for both zeros, NaN for no bound.
    let (min, max) = match (min, max) {
        (Some(Datum::Float(min)), Some(Datum::Float(max))) => {
            let (min, max) = float_bounds(min.into(), max.into(), floats);
            (
                min.map(|min| Datum::Float(as_f32(min))),
                max.map(|max| Datum::Float(as_f32(max))),
            )
        }
        (Some(Datum::Double(min)), Some(Datum::Double(max))) => {
            let (min, max) = float_bounds(min, max, floats);
            (min.map(Datum::Double), max.map(Datum::Double))
        }
        (Some(Datum::Float(_) | Datum::Double(_)), None)
        | (None, Some(Datum::Float(_) | Datum::Double(_))) => (None, None),
        other => other,
    };
    Bounds {
        min,
        max,
        nulls: nulls.filter(|&nulls| nulls >= 0),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the value was widened from 32 bits"
)]
fn as_f32(value: f64) -> f32 {
    value as f32
}

fn float_bounds(min: f64, max: f64, floats: FloatBounds) -> (Option<f64>, Option<f64>) {
    if min.is_nan() || max.is_nan() {
        return (None, None);
    }
    let max = match floats {
        FloatBounds::IgnoreNan => f64::NAN,
        FloatBounds::CoverNan if max == 0.0 => 0.0,
        FloatBounds::CoverNan => max,
    };
    (Some(if min == 0.0 { -0.0 } else { min }), Some(max))
}

/// The value as the column's type has it; none if it cannot be one.
fn datum(stored: &Stored<'_>, data_type: &DataType) -> Option<Datum> {
    Some(match (stored, &data_type.kind) {
        (Stored::Bool(value), TypeKind::Boolean) => Datum::Boolean(*value),
        (Stored::Int(value), TypeKind::TinyInt) => Datum::TinyInt((*value).try_into().ok()?),
        (Stored::Int(value), TypeKind::SmallInt) => Datum::SmallInt((*value).try_into().ok()?),
        (Stored::Int(value), TypeKind::Int) => Datum::Int((*value).try_into().ok()?),
        (Stored::Int(value), TypeKind::BigInt) => Datum::BigInt(*value),
        (Stored::Int(value), TypeKind::Date) => Datum::Date((*value).try_into().ok()?),
        (Stored::Int(value), TypeKind::Time(_)) => Datum::Time((*value).try_into().ok()?),
        (
            Stored::Int(value),
            TypeKind::Timestamp(precision) | TypeKind::TimestampLtz(precision),
        ) => match precision {
            0..=3 => Datum::Timestamp(TimestampValue {
                millis: *value,
                nano_of_milli: 0,
            }),
            4..=6 => Datum::Timestamp(TimestampValue {
                millis: value.div_euclid(1_000),
                nano_of_milli: i32::try_from(value.rem_euclid(1_000)).ok()? * 1_000,
            }),
            _ => return None,
        },
        (Stored::Float(value), TypeKind::Float) => Datum::Float(*value),
        (Stored::Double(value), TypeKind::Double) => Datum::Double(*value),
        (Stored::Bytes(bytes), TypeKind::Char(_) | TypeKind::VarChar(_)) => {
            Datum::String(std::str::from_utf8(bytes).ok()?.to_owned())
        }
        (Stored::Bytes(bytes), TypeKind::Binary(_) | TypeKind::VarBinary(_)) => {
            Datum::Bytes(bytes.to_vec())
        }
        (stored, TypeKind::Decimal { precision, scale }) => {
            let unscaled = match stored {
                Stored::Int(value) => i128::from(*value),
                Stored::Bytes(bytes) => big_endian(bytes)?,
                _ => return None,
            };
            Datum::Decimal {
                unscaled,
                precision: *precision,
                scale: *scale,
            }
        }
        _ => return None,
    })
}

/// A two's complement number of at most 16 bytes.
fn big_endian(bytes: &[u8]) -> Option<i128> {
    let (&first, _) = bytes.split_first()?;
    let mut wide = [if first < 0x80 { 0 } else { 0xff }; 16];
    wide.get_mut(16_usize.checked_sub(bytes.len())?..)?
        .copy_from_slice(bytes);
    Some(i128::from_be_bytes(wide))
}

/// Bounds of a column in a whole file that this crate wrote; none for nested columns, of which footers say nothing.
pub(crate) fn file_bounds(
    metadata: &ParquetMetaData,
    column: usize,
    data_type: &DataType,
) -> Option<Bounds> {
    if data_type.is_nested() || data_type.kind == TypeKind::Variant {
        return None;
    }
    let schema = metadata.file_metadata().schema_descr();
    let leaf =
        (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == column)?;
    let floats = FloatBounds::of(metadata);
    let parts = metadata.row_groups().iter().map(|row_group| {
        (
            chunk_bounds(row_group, leaf, data_type, floats),
            row_group.num_rows(),
        )
    });
    Some(merge_bounds(parts))
}

/// Bounds of several parts taken together; a part that holds only nulls does not narrow what is known.
pub(crate) fn merge_bounds(parts: impl IntoIterator<Item = (Bounds, i64)>) -> Bounds {
    let mut merged = Bounds {
        min: None,
        max: None,
        nulls: Some(0),
    };
    let mut known = true;
    for (part, rows) in parts {
        merged.nulls = merged
            .nulls
            .zip(part.nulls)
            .map(|(left, right)| left + right);
        match (part.min, part.max) {
            (Some(min), Some(max)) => {
                merged.min = Some(pick(merged.min.take(), min, Ordering::Less));
                merged.max = Some(pick(merged.max.take(), max, Ordering::Greater));
            }
            _ => known &= part.nulls == Some(rows),
        }
    }
    if known {
        merged
    } else {
        Bounds {
            min: None,
            max: None,
            nulls: merged.nulls,
        }
    }
}

fn pick(held: Option<Datum>, new: Datum, wanted: Ordering) -> Datum {
    match held {
        Some(held) if new.compare(&held) != Some(wanted) => held,
        _ => new,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_other_writers_leave_room_for_nan() {
        let both = |floats| float_bounds(0.0, 4.0, floats);
        assert_eq!(both(FloatBounds::CoverNan), (Some(-0.0), Some(4.0)));
        assert!(both(FloatBounds::IgnoreNan).1.unwrap().is_nan());
        assert_eq!(
            float_bounds(f64::NAN, 4.0, FloatBounds::CoverNan),
            (None, None)
        );
    }

    #[test]
    fn decimals_are_read_from_bytes_of_any_width() {
        assert_eq!(big_endian(&[0xff]), Some(-1));
        assert_eq!(big_endian(&[0, 0x80]), Some(128));
        assert_eq!(big_endian(&[0; 17]), None);
        assert_eq!(big_endian(&[]), None);
    }

    #[test]
    fn microseconds_before_1970_have_nanos_that_count_up() {
        let datum = datum(&Stored::Int(-1), &DataType::timestamp(6)).unwrap();
        assert_eq!(
            datum,
            Datum::Timestamp(TimestampValue {
                millis: -1,
                nano_of_milli: 999_000
            })
        );
    }

    #[test]
    fn merged_bounds_are_unknown_as_soon_as_a_part_with_values_is() {
        let part = |min, max, nulls| Bounds {
            min: Some(Datum::Int(min)),
            max: Some(Datum::Int(max)),
            nulls: Some(nulls),
        };
        let only_nulls = Bounds {
            min: None,
            max: None,
            nulls: Some(5),
        };
        let merged = merge_bounds([(part(3, 9, 1), 10), (only_nulls, 5), (part(1, 4, 0), 10)]);
        assert_eq!(merged, part(1, 9, 6));
        let unknown = Bounds {
            min: None,
            max: None,
            nulls: Some(2),
        };
        let merged = merge_bounds([(part(3, 9, 1), 10), (unknown, 5)]);
        assert_eq!(
            merged,
            Bounds {
                min: None,
                max: None,
                nulls: Some(3)
            }
        );
    }
}
