//! Pieces that the records of manifests, manifest lists and index manifests share: rows, statistics, versions.
//!
//! Source: spec 01b §4.2 and §4.3, 01c §3 and §5.1.

use tidewater_types::BinaryRow;

use crate::avro::{
    AvroError, Cursor, Expect, Fault, FieldSpec, RawItems, RecordPlan, SkipTable, Step, ValuePlan,
    WriterSchema, field, nested_record, pass_unknown, put,
};
use crate::error::{FormatError, Result};
use crate::stats::{NullCounts, SimpleStats};

/// A serialised row of no fields.
const EMPTY_ROW: [u8; 12] = [0; 12];

/// Reads the rows of one file. Rows of no fields, the most frequent ones, are shared; within the file only, so that threads
/// that read several files do not contend for one counter.
#[derive(Debug)]
pub(super) struct RowReader {
    empty: BinaryRow,
}

impl RowReader {
    pub(super) fn new() -> Self {
        Self {
            empty: BinaryRow::empty(),
        }
    }

    /// Reads a serialised row.
    #[inline]
    pub(super) fn read(&self, bytes: &[u8]) -> Result<BinaryRow> {
        if bytes == EMPTY_ROW {
            return Ok(self.empty.clone());
        }
        Ok(BinaryRow::from_serialized(bytes)?)
    }

    /// Statistics of no column.
    pub(super) fn no_stats(&self) -> SimpleStats {
        SimpleStats {
            min_values: self.empty.clone(),
            max_values: self.empty.clone(),
            null_counts: NullCounts::default(),
        }
    }
}

/// Writes a serialised row as Avro bytes.
#[inline]
pub(super) fn put_row(out: &mut Vec<u8>, row: &BinaryRow) {
    let bytes = row.as_bytes();
    put::length(out, bytes.len() + 4);
    // An arity is read from four bytes, or is a count of columns.
    out.extend_from_slice(&u32::try_from(row.arity()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// Refuses records of another version than `supported`, the only one there has ever been.
#[inline]
pub(super) fn check_version(found: i32, supported: i32, what: &'static str) -> Result<()> {
    if found == supported {
        Ok(())
    } else if found > supported {
        Err(FormatError::NewerVersion {
            what,
            found: i64::from(found),
            supported: i64::from(supported),
        })
    } else {
        Err(FormatError::Corrupt {
            what,
            reason: format!("its version is {found}"),
        })
    }
}

/// The schema of a file and its root record's fields.
pub(super) fn root_record(schema: &WriterSchema) -> Result<&[crate::avro::RecordField], AvroError> {
    schema
        .record(schema.root())
        .ok_or_else(|| AvroError::Schema {
            reason: "the root is not a record".to_owned(),
        })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StatsField {
    Min,
    Max,
    NullCounts,
}

const STATS_FIELDS: [FieldSpec<StatsField>; 3] = [
    field(StatsField::Min, "_MIN_VALUES", Expect::Bytes),
    field(StatsField::Max, "_MAX_VALUES", Expect::Bytes),
    field(
        StatsField::NullCounts,
        "_NULL_COUNTS",
        Expect::NullableLongArray,
    ),
];

/// How a statistics record is written in one file.
#[derive(Debug, Clone)]
pub(super) struct StatsPlan {
    record: RecordPlan<StatsField>,
    null_counts: Option<ValuePlan>,
}

/// A statistics record that was walked over but not taken apart.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StatsView<'a> {
    min: &'a [u8],
    max: &'a [u8],
    null_counts: Option<&'a [u8]>,
}

impl StatsPlan {
    /// Plans the statistics record in field `name` of `parent`.
    pub(super) fn compile(
        schema: &WriterSchema,
        skips: &SkipTable,
        parent: &[crate::avro::RecordField],
        name: &'static str,
    ) -> Result<Self, AvroError> {
        let fields =
            nested_record(schema, parent, name).ok_or(AvroError::MissingField { field: name })?;
        let record = RecordPlan::compile(schema, skips, fields, &STATS_FIELDS)?;
        let null_counts = record.value(StatsField::NullCounts).cloned();
        Ok(Self {
            record,
            null_counts,
        })
    }

    /// Walks over one record. `latest` keeps the null counts walked over last.
    #[inline]
    pub(super) fn view<'a>(
        &self,
        skips: &SkipTable,
        cursor: &mut Cursor<'a>,
        latest: &mut Vec<u8>,
        carries_unknown: &mut bool,
    ) -> Result<StatsView<'a>, Fault> {
        let mut view = StatsView::default();
        for step in &self.record.steps {
            match step {
                Step::Read { field, value } => match field {
                    StatsField::Min => view.min = value.bytes(cursor)?,
                    StatsField::Max => view.max = value.bytes(cursor)?,
                    StatsField::NullCounts => {
                        view.null_counts = if value.present(cursor)? {
                            Some(value.raw_array(cursor, RawItems::Varints, latest)?)
                        } else {
                            None
                        };
                    }
                },
                Step::Pass { skip, optional } => {
                    *carries_unknown |= pass_unknown(skips, skip, *optional, cursor)?
                }
            }
        }
        Ok(view)
    }

    /// Takes a walked-over record apart. `latest` shares null counts that repeat from record to record.
    pub(super) fn read(
        &self,
        view: &StatsView<'_>,
        rows: &RowReader,
        latest: &mut LatestCounts,
    ) -> Result<SimpleStats> {
        Ok(SimpleStats {
            min_values: rows.read(view.min)?,
            max_values: rows.read(view.max)?,
            null_counts: latest.read(self.null_counts.as_ref(), view.null_counts)?,
        })
    }
}

/// The null counts read last.
#[derive(Debug, Default)]
pub(super) struct LatestCounts {
    raw: Vec<u8>,
    counts: NullCounts,
}

impl LatestCounts {
    #[inline]
    fn read(&mut self, plan: Option<&ValuePlan>, raw: Option<&[u8]>) -> Result<NullCounts, Fault> {
        let (Some(plan), Some(raw)) = (plan, raw) else {
            return Ok(NullCounts::default());
        };
        if self.raw != raw {
            let mut counts = Vec::new();
            plan.nullable_longs(&mut Cursor::new(raw), &mut counts)?;
            self.counts = counts.into();
            self.raw.clear();
            self.raw.extend_from_slice(raw);
        }
        Ok(NullCounts::clone(&self.counts))
    }
}

/// Writes a statistics record.
pub(super) fn put_stats(out: &mut Vec<u8>, stats: &SimpleStats) {
    put_row(out, &stats.min_values);
    put_row(out, &stats.max_values);
    put::optional(out, Some(&*stats.null_counts), |out, counts| {
        put::array(out, counts.iter(), |out, count| {
            put::optional(out, *count, put::long)
        });
    });
}
