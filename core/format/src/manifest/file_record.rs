//! The `_FILE` record of a manifest: walked over first, taken apart only if somebody wants the file.
//!
//! ```text
//!  block bytes ──FilePlan::view──> FileView (borrowed, no allocation) ──filters──> FileReader::read ──> DataFileMeta
//! ```
//!
//! Source: Paimon `io/DataFileMetaSerializer.java` and its successors; spec 01b §4.4.

use tidewater_types::SchemaId;

use super::wire::{LatestCounts, RowReader, StatsPlan, StatsView, put_row, put_stats};
use crate::avro::{
    AvroError, Cursor, Expect, Fault, FieldSpec, RawItems, RecordField, RecordPlan, SkipTable,
    Step, ValuePlan, WriterSchema, field, nested_record, optional_field, pass_unknown, put,
};
use crate::data_file_meta::{ColumnNames, DataFileMeta, FileSource};
use crate::error::{FormatError, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileField {
    FileName,
    FileSize,
    RowCount,
    MinKey,
    MaxKey,
    KeyStats,
    ValueStats,
    MinSequence,
    MaxSequence,
    SchemaId,
    Level,
    ExtraFiles,
    CreationTime,
    DeleteRowCount,
    EmbeddedIndex,
    FileSource,
    ValueStatsCols,
    ExternalPath,
    FirstRowId,
    WriteCols,
    WriteColsSequences,
}

const FILE_FIELDS: [FieldSpec<FileField>; 21] = [
    field(FileField::FileName, "_FILE_NAME", Expect::String),
    field(FileField::FileSize, "_FILE_SIZE", Expect::Long),
    field(FileField::RowCount, "_ROW_COUNT", Expect::Long),
    field(FileField::MinKey, "_MIN_KEY", Expect::Bytes),
    field(FileField::MaxKey, "_MAX_KEY", Expect::Bytes),
    field(FileField::KeyStats, "_KEY_STATS", Expect::Record),
    field(FileField::ValueStats, "_VALUE_STATS", Expect::Record),
    field(FileField::MinSequence, "_MIN_SEQUENCE_NUMBER", Expect::Long),
    field(FileField::MaxSequence, "_MAX_SEQUENCE_NUMBER", Expect::Long),
    field(FileField::SchemaId, "_SCHEMA_ID", Expect::Long),
    field(FileField::Level, "_LEVEL", Expect::Int),
    field(FileField::ExtraFiles, "_EXTRA_FILES", Expect::StringArray),
    optional_field(FileField::CreationTime, "_CREATION_TIME", Expect::Long),
    optional_field(FileField::DeleteRowCount, "_DELETE_ROW_COUNT", Expect::Long),
    optional_field(
        FileField::EmbeddedIndex,
        "_EMBEDDED_FILE_INDEX",
        Expect::Bytes,
    ),
    optional_field(FileField::FileSource, "_FILE_SOURCE", Expect::Int),
    optional_field(
        FileField::ValueStatsCols,
        "_VALUE_STATS_COLS",
        Expect::StringArray,
    ),
    optional_field(FileField::ExternalPath, "_EXTERNAL_PATH", Expect::String),
    optional_field(FileField::FirstRowId, "_FIRST_ROW_ID", Expect::Long),
    optional_field(FileField::WriteCols, "_WRITE_COLS", Expect::StringArray),
    optional_field(
        FileField::WriteColsSequences,
        "_WRITE_COLS_SEQUENCES",
        Expect::LongArray,
    ),
];

/// How `_FILE` is written in one manifest.
#[derive(Debug, Clone)]
pub(super) struct FilePlan {
    record: RecordPlan<FileField>,
    key_stats: StatsPlan,
    value_stats: StatsPlan,
    extra_files: Option<ValuePlan>,
    value_stats_cols: Option<ValuePlan>,
    write_cols: Option<ValuePlan>,
    write_cols_sequences: Option<ValuePlan>,
}

/// A `_FILE` record that was walked over.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FileView<'a> {
    file_name: &'a str,
    file_size: i64,
    row_count: i64,
    min_key: &'a [u8],
    max_key: &'a [u8],
    key_stats: StatsView<'a>,
    value_stats: StatsView<'a>,
    min_sequence_number: i64,
    max_sequence_number: i64,
    schema_id: i64,
    pub(super) level: i32,
    extra_files: Option<&'a [u8]>,
    creation_time_millis: Option<i64>,
    delete_row_count: Option<i64>,
    embedded_file_index: Option<&'a [u8]>,
    file_source: Option<i32>,
    value_stats_cols: Option<&'a [u8]>,
    external_path: Option<&'a str>,
    first_row_id: Option<i64>,
    write_cols: Option<&'a [u8]>,
    write_cols_sequences: Option<&'a [u8]>,
}

impl FilePlan {
    pub(super) fn compile(
        schema: &WriterSchema,
        skips: &SkipTable,
        entry: &[RecordField],
    ) -> Result<Self, AvroError> {
        let fields = nested_record(schema, entry, "_FILE")
            .ok_or(AvroError::MissingField { field: "_FILE" })?;
        let record = RecordPlan::compile(schema, skips, fields, &FILE_FIELDS)?;
        let value = |field| record.value(field).cloned();
        Ok(Self {
            key_stats: StatsPlan::compile(schema, skips, fields, "_KEY_STATS")?,
            value_stats: StatsPlan::compile(schema, skips, fields, "_VALUE_STATS")?,
            extra_files: value(FileField::ExtraFiles),
            value_stats_cols: value(FileField::ValueStatsCols),
            write_cols: value(FileField::WriteCols),
            write_cols_sequences: value(FileField::WriteColsSequences),
            record,
        })
    }

    /// Walks over one record, keeping where its parts are.
    pub(super) fn view<'a>(
        &self,
        skips: &SkipTable,
        cursor: &mut Cursor<'a>,
        latest: &mut LatestArrays,
        carries_unknown: &mut bool,
    ) -> Result<FileView<'a>, Fault> {
        let mut view = FileView::default();
        for step in &self.record.steps {
            let (field, value) = match step {
                Step::Read { field, value } => (*field, value),
                Step::Pass { skip, optional } => {
                    *carries_unknown |= pass_unknown(skips, skip, *optional, cursor)?;
                    continue;
                }
            };
            match field {
                FileField::FileName => view.file_name = value.string(cursor)?,
                FileField::FileSize => view.file_size = value.long(cursor)?,
                FileField::RowCount => view.row_count = value.long(cursor)?,
                FileField::MinKey => view.min_key = value.bytes(cursor)?,
                FileField::MaxKey => view.max_key = value.bytes(cursor)?,
                FileField::KeyStats => {
                    value.require(cursor)?;
                    view.key_stats = self.key_stats.view(
                        skips,
                        cursor,
                        &mut latest.key_counts,
                        carries_unknown,
                    )?;
                }
                FileField::ValueStats => {
                    value.require(cursor)?;
                    view.value_stats = self.value_stats.view(
                        skips,
                        cursor,
                        &mut latest.value_counts,
                        carries_unknown,
                    )?;
                }
                FileField::MinSequence => view.min_sequence_number = value.long(cursor)?,
                FileField::MaxSequence => view.max_sequence_number = value.long(cursor)?,
                FileField::SchemaId => view.schema_id = value.long(cursor)?,
                FileField::Level => view.level = value.int(cursor)?,
                FileField::ExtraFiles => {
                    view.extra_files = raw(
                        value,
                        cursor,
                        RawItems::LengthPrefixed,
                        &mut latest.extra_files,
                    )?
                }
                FileField::CreationTime => {
                    view.creation_time_millis = value.optional_long(cursor)?
                }
                FileField::DeleteRowCount => view.delete_row_count = value.optional_long(cursor)?,
                FileField::EmbeddedIndex => {
                    view.embedded_file_index = value.optional_bytes(cursor)?
                }
                FileField::FileSource => view.file_source = value.optional_int(cursor)?,
                FileField::ValueStatsCols => {
                    view.value_stats_cols = raw(
                        value,
                        cursor,
                        RawItems::LengthPrefixed,
                        &mut latest.value_stats_cols,
                    )?
                }
                FileField::ExternalPath => view.external_path = value.optional_string(cursor)?,
                FileField::FirstRowId => view.first_row_id = value.optional_long(cursor)?,
                FileField::WriteCols => {
                    view.write_cols = raw(
                        value,
                        cursor,
                        RawItems::LengthPrefixed,
                        &mut latest.write_cols,
                    )?
                }
                FileField::WriteColsSequences => {
                    view.write_cols_sequences = raw(
                        value,
                        cursor,
                        RawItems::Varints,
                        &mut latest.write_cols_sequences,
                    )?
                }
            }
        }
        Ok(view)
    }
}

#[inline]
fn raw<'a>(
    value: &ValuePlan,
    cursor: &mut Cursor<'a>,
    items: RawItems,
    latest: &mut Vec<u8>,
) -> Result<Option<&'a [u8]>, Fault> {
    if value.present(cursor)? {
        value.raw_array(cursor, items, latest).map(Some)
    } else {
        Ok(None)
    }
}

/// The arrays walked over last, by field.
#[derive(Debug, Default)]
pub(super) struct LatestArrays {
    key_counts: Vec<u8>,
    value_counts: Vec<u8>,
    extra_files: Vec<u8>,
    value_stats_cols: Vec<u8>,
    write_cols: Vec<u8>,
    write_cols_sequences: Vec<u8>,
}

/// Takes file records of one manifest apart. Lists of columns that repeat from file to file are shared.
#[derive(Debug)]
pub(super) struct FileReader {
    rows: RowReader,
    key_counts: LatestCounts,
    value_counts: LatestCounts,
    value_stats_cols: NamesCache,
    write_cols: NamesCache,
}

#[derive(Debug, Default)]
struct NamesCache {
    raw: Vec<u8>,
    names: Option<ColumnNames>,
}

impl NamesCache {
    fn read(
        &mut self,
        plan: Option<&ValuePlan>,
        raw: Option<&[u8]>,
    ) -> Result<Option<ColumnNames>, Fault> {
        let (Some(plan), Some(raw)) = (plan, raw) else {
            return Ok(None);
        };
        if let Some(names) = &self.names
            && self.raw == raw
        {
            return Ok(Some(ColumnNames::clone(names)));
        }
        let names = ColumnNames::from(plan.strings(&mut Cursor::new(raw))?);
        self.raw.clear();
        self.raw.extend_from_slice(raw);
        self.names = Some(ColumnNames::clone(&names));
        Ok(Some(names))
    }
}

/// Which statistics of a file are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct WantedStats {
    pub(super) key: bool,
    pub(super) value: bool,
}

impl FileReader {
    pub(super) fn new() -> Self {
        Self {
            rows: RowReader::new(),
            key_counts: LatestCounts::default(),
            value_counts: LatestCounts::default(),
            value_stats_cols: NamesCache::default(),
            write_cols: NamesCache::default(),
        }
    }

    pub(super) fn read(
        &mut self,
        plan: &FilePlan,
        view: &FileView<'_>,
        wanted: WantedStats,
    ) -> Result<DataFileMeta> {
        let (value_stats, value_stats_cols) = if wanted.value {
            (
                plan.value_stats
                    .read(&view.value_stats, &self.rows, &mut self.value_counts)?,
                self.value_stats_cols
                    .read(plan.value_stats_cols.as_ref(), view.value_stats_cols)?,
            )
        } else {
            // Without the list, empty statistics would be taken for statistics of all columns.
            (self.rows.no_stats(), Some(ColumnNames::default()))
        };
        let extra_files = match (&plan.extra_files, view.extra_files) {
            (Some(plan), Some(raw)) => plan.strings(&mut Cursor::new(raw))?,
            _ => Vec::new(),
        };
        let write_cols_sequences = match (&plan.write_cols_sequences, view.write_cols_sequences) {
            (Some(plan), Some(raw)) => Some(plan.longs(&mut Cursor::new(raw))?),
            _ => None,
        };
        let file_source = match view.file_source {
            None => None,
            Some(number) => Some(FileSource::from_i32(number).ok_or_else(|| {
                FormatError::corrupt("manifest entry", format!("its file source is {number}"))
            })?),
        };
        Ok(DataFileMeta {
            file_name: view.file_name.to_owned(),
            file_size: view.file_size,
            row_count: view.row_count,
            min_key: self.rows.read(view.min_key)?,
            max_key: self.rows.read(view.max_key)?,
            key_stats: if wanted.key {
                plan.key_stats
                    .read(&view.key_stats, &self.rows, &mut self.key_counts)?
            } else {
                self.rows.no_stats()
            },
            value_stats,
            min_sequence_number: view.min_sequence_number,
            max_sequence_number: view.max_sequence_number,
            schema_id: SchemaId(view.schema_id),
            level: view.level,
            extra_files,
            creation_time_millis: view.creation_time_millis,
            delete_row_count: view.delete_row_count,
            embedded_file_index: view.embedded_file_index.map(<[u8]>::to_vec),
            file_source,
            value_stats_cols,
            external_path: view.external_path.map(str::to_owned),
            first_row_id: view.first_row_id,
            write_cols: self
                .write_cols
                .read(plan.write_cols.as_ref(), view.write_cols)?,
            write_cols_sequences,
        })
    }
}

/// Writes a `_FILE` record with the fields of 1.3.1, and with `_WRITE_COLS_SEQUENCES` if `with_sequences`.
pub(super) fn put_file(out: &mut Vec<u8>, file: &DataFileMeta, with_sequences: bool) {
    let names = |out: &mut Vec<u8>, names: &Option<ColumnNames>| {
        put::optional(out, names.as_deref(), |out, names| {
            put::array(out, names.iter(), |out, name| put::string(out, name));
        });
    };
    put::string(out, &file.file_name);
    put::long(out, file.file_size);
    put::long(out, file.row_count);
    put_row(out, &file.min_key);
    put_row(out, &file.max_key);
    put_stats(out, &file.key_stats);
    put_stats(out, &file.value_stats);
    put::long(out, file.min_sequence_number);
    put::long(out, file.max_sequence_number);
    put::long(out, file.schema_id.0);
    put::int(out, file.level);
    put::array(out, file.extra_files.iter(), |out, name| {
        put::string(out, name)
    });
    put::optional(out, file.creation_time_millis, put::long);
    put::optional(out, file.delete_row_count, put::long);
    put::optional(out, file.embedded_file_index.as_deref(), put::bytes);
    put::optional(out, file.file_source, |out, source| {
        put::int(out, source.as_i32())
    });
    names(out, &file.value_stats_cols);
    put::optional(out, file.external_path.as_deref(), put::string);
    put::optional(out, file.first_row_id, put::long);
    names(out, &file.write_cols);
    if with_sequences {
        put::optional(
            out,
            file.write_cols_sequences.as_deref(),
            |out, sequences| {
                put::array(out, sequences.iter(), |out, sequence| {
                    put::long(out, *sequence)
                });
            },
        );
    }
}
