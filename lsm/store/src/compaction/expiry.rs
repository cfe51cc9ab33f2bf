//! Rows that have outlived `record-level.expire-time`: a compaction leaves them out, a read still shows them.
//!
//! A row's age is told by one column of it: seconds, milliseconds or a timestamp. Rows without a time are kept.
//!
//! Source: spec 02b §8.3; Paimon `io/RecordLevelExpire.java`.

use tidewater_format::{DataFileMeta, StatsMapping, TableOptions, TableSchema};
use tidewater_types::{Datum, Predicate, PredicateOp, StatsSource, TimestampValue, TypeKind};

use crate::bucket_writer::SchemasById;
use crate::error::{Result, StoreError};

/// From this number on a BIGINT counts milliseconds, below it seconds.
const FIRST_MILLIS: i64 = 1_000_000_000_000;

/// What expires in a table, at one moment: files and rows of a compaction are judged alike.
#[derive(Debug, Clone)]
pub(crate) struct RecordExpiry {
    /// Position of the time column.
    field: usize,
    name: String,
    /// The first second since 1970 whose rows are kept.
    first_kept: i64,
    kept: Predicate,
}

impl RecordExpiry {
    /// What has expired by `now_millis`; nothing for tables whose rows do not expire.
    ///
    /// # Errors
    /// A time column that the schema does not have, or of a type that holds no time.
    pub(crate) fn at(
        schema: &TableSchema,
        options: &TableOptions,
        now_millis: i64,
    ) -> Result<Option<Self>> {
        let (Some(age), Some(name)) = (
            options.record_level_expire_time,
            &options.record_level_time_field,
        ) else {
            return Ok(None);
        };
        let row_type = schema.row_type();
        let unknown = || StoreError::UnknownColumn {
            column: name.clone(),
        };
        let field = row_type.index_of(name).ok_or_else(unknown)?;
        let data_type = &row_type.fields.get(field).ok_or_else(unknown)?.data_type;
        let seconds = i64::try_from(age.as_secs()).unwrap_or(i64::MAX);
        let first_kept = now_millis.div_euclid(1000).saturating_sub(seconds);
        let leaf = |op, value| Predicate::leaf(&row_type, name, op, vec![value]);
        let timestamp = || {
            let millis = first_kept.saturating_mul(1000);
            let first = Datum::Timestamp(TimestampValue::from_millis(millis));
            leaf(PredicateOp::GtEq, first)
        };
        let young = match data_type.kind {
            TypeKind::Int => match i32::try_from(first_kept) {
                Ok(first) => leaf(PredicateOp::GtEq, Datum::Int(first))?,
                Err(_) if first_kept < 0 => Predicate::AlwaysTrue,
                Err(_) => Predicate::AlwaysFalse,
            },
            TypeKind::BigInt => {
                let first_millis = first_kept.saturating_mul(1000).max(FIRST_MILLIS);
                let seconds = Predicate::and([
                    leaf(PredicateOp::Lt, Datum::BigInt(FIRST_MILLIS))?,
                    leaf(PredicateOp::GtEq, Datum::BigInt(first_kept))?,
                ]);
                let millis = leaf(PredicateOp::GtEq, Datum::BigInt(first_millis))?;
                Predicate::or([seconds, millis])
            }
            TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_) => timestamp()?,
            _ => {
                return Err(StoreError::NoTimeColumn {
                    column: name.clone(),
                    data_type: data_type.to_string(),
                });
            }
        };
        let without = Predicate::leaf(&row_type, name, PredicateOp::IsNull, Vec::new())?;
        Ok(Some(Self {
            field,
            name: name.clone(),
            first_kept,
            kept: Predicate::or([young, without]),
        }))
    }

    /// Holds for the rows that stay; bound to the table's columns.
    pub(crate) fn kept(&self) -> &Predicate {
        &self.kept
    }

    /// Whether the file is known to hold rows that have expired. Files that do not tell are left as they are.
    pub(crate) fn is_in(
        &self,
        file: &DataFileMeta,
        schema: &TableSchema,
        schemas: &SchemasById,
    ) -> bool {
        let written = match schemas.get(&file.schema_id) {
            Some(written) => written.as_ref(),
            None if file.schema_id == schema.id => schema,
            None => return false,
        };
        let mapping = StatsMapping::of_values(&written.fields, &schema.fields);
        let oldest = mapping.values(file).column(self.field, &self.name).min;
        let seconds = match oldest {
            Some(Datum::Int(seconds)) => i64::from(seconds),
            Some(Datum::BigInt(time)) if time >= FIRST_MILLIS => time.div_euclid(1000),
            Some(Datum::BigInt(seconds)) => seconds,
            Some(Datum::Timestamp(time)) => time.millis.div_euclid(1000),
            _ => return false,
        };
        seconds < self.first_kept
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use arrow_array::RecordBatch;
    use tidewater_format::SchemaDefinition;
    use tidewater_types::arrow_types::to_arrow_schema;
    use tidewater_types::{DataType, RowType, datums_to_array};

    use super::*;
    use crate::testing::data_file;

    fn schema(time: DataType) -> TableSchema {
        let columns = [("k", DataType::int().not_null()), ("at", time)];
        let options = [
            ("bucket", "1"),
            ("record-level.expire-time", "1000 s"),
            ("record-level.time-field", "at"),
        ];
        let options = options.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let definition = SchemaDefinition {
            fields: RowType::of(columns).fields,
            primary_keys: vec!["k".to_owned()],
            partition_keys: Vec::new(),
            options: options.into(),
            comment: None,
        };
        TableSchema::create(definition, 0).unwrap()
    }

    fn expiry(schema: &TableSchema, now_seconds: i64) -> RecordExpiry {
        let options = schema.options().unwrap();
        let at = RecordExpiry::at(schema, &options, now_seconds * 1000 + 999);
        at.unwrap().unwrap()
    }

    /// Which of the times are kept at second `now`.
    fn kept(time: DataType, times: Vec<Datum>, now: i64) -> Vec<bool> {
        let schema = schema(time.clone());
        let keys = (0..).take(times.len()).map(Datum::Int).collect::<Vec<_>>();
        let columns = vec![
            datums_to_array(&DataType::int().not_null(), &keys).unwrap(),
            datums_to_array(&time, &times).unwrap(),
        ];
        let rows = RecordBatch::try_new(to_arrow_schema(&schema.row_type()), columns).unwrap();
        let kept = expiry(&schema, now).kept().eval(&rows).unwrap();
        kept.iter().map(|kept| kept.unwrap()).collect()
    }

    #[test]
    fn a_row_lives_until_its_time_and_the_expire_time_have_passed() {
        let seconds = [None, Some(8_999), Some(9_000), Some(20_000)];
        let expected = [true, false, true, true];
        let column =
            |make: &dyn Fn(i64) -> Datum| seconds.map(|at| at.map_or(Datum::Null, make)).to_vec();
        let ints = column(&|at| Datum::Int(i32::try_from(at).unwrap()));
        assert_eq!(kept(DataType::int(), ints, 10_000), expected);
        assert_eq!(
            kept(DataType::big_int(), column(&Datum::BigInt), 10_000),
            expected
        );
        let timestamps = column(&|at| Datum::Timestamp(TimestampValue::from_millis(at * 1000)));
        for time in [DataType::timestamp(6), DataType::timestamp_ltz(3)] {
            assert_eq!(kept(time, timestamps.clone(), 10_000), expected);
        }
    }

    #[test]
    fn large_numbers_are_milliseconds() {
        let now = 1_900_000_000;
        let times = [
            Some(now - 1001),
            Some(now - 1000),
            Some((now - 1001) * 1000 + 999),
            Some((now - 1000) * 1000),
            Some(999_999_999_999),
            Some(1_000_000_000_000),
        ];
        let times = times
            .map(|at| at.map_or(Datum::Null, Datum::BigInt))
            .to_vec();
        let expected = [false, true, false, true, true, false];
        assert_eq!(kept(DataType::big_int(), times, now), expected);
    }

    #[test]
    fn times_that_the_column_cannot_hold_expire_all_or_none() {
        let extremes = vec![Datum::Null, Datum::Int(i32::MIN), Datum::Int(i32::MAX)];
        let all = kept(DataType::int(), extremes.clone(), -3_000_000_000);
        assert_eq!(all, [true, true, true]);
        let none = kept(DataType::int(), extremes, 3_000_000_000);
        assert_eq!(none, [true, false, false]);
    }

    #[test]
    fn a_file_that_does_not_tell_is_left_alone() {
        let schema = schema(DataType::int());
        let file = data_file("a", 0);
        assert!(!expiry(&schema, 10_000).is_in(&file, &schema, &Arc::new(HashMap::new())));
    }

    #[test]
    fn tables_without_expiry_have_none() {
        let mut schema = schema(DataType::int());
        schema.options.remove("record-level.expire-time");
        let options = schema.options().unwrap();
        assert!(RecordExpiry::at(&schema, &options, 0).unwrap().is_none());
    }
}
