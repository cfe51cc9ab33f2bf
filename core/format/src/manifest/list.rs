//! Manifest lists: the manifests of a snapshot, in the order in which their entries apply.
//!
//! Written with the columns of 1.3.1; if a line carries row ids (2.x), with 2.1's. pypaimon's `_TOTAL_BUCKETS` and
//! `_EXTRA_FILES` are passed: they bound nothing a reader needs.
//! Source: Paimon `manifest/ManifestList.java`, `ManifestFileMetaSerializer.java`; spec 01b §4.3.

use tidewater_types::SchemaId;

use super::file_meta::ManifestFileMeta;
use super::wire::{LatestCounts, RowReader, StatsPlan, check_version, put_stats, root_record};
use crate::avro::{
    AvroCodec, ContainerReader, ContainerWriter, Cursor, Expect, FieldSpec, RecordPlan, SkipTable,
    Step, WriterSchema, expect_block_end, field, optional_field, pass_unknown, put,
};
use crate::error::{FormatError, Result};

const LIST_VERSION: i32 = 2;
const WHAT: &str = "manifest list";

pub(super) const LIST_SCHEMA: &str = include_str!("schema/manifest-list-1.3.1.json");
pub(super) const LIST_SCHEMA_2_1: &str = include_str!("schema/manifest-list-2.1.json");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListField {
    Version,
    FileName,
    FileSize,
    Added,
    Deleted,
    PartitionStats,
    SchemaId,
    MinBucket,
    MaxBucket,
    MinLevel,
    MaxLevel,
    MinRowId,
    MaxRowId,
}

const LIST_FIELDS: [FieldSpec<ListField>; 13] = [
    field(ListField::Version, "_VERSION", Expect::Int),
    field(ListField::FileName, "_FILE_NAME", Expect::String),
    field(ListField::FileSize, "_FILE_SIZE", Expect::Long),
    field(ListField::Added, "_NUM_ADDED_FILES", Expect::Long),
    field(ListField::Deleted, "_NUM_DELETED_FILES", Expect::Long),
    field(
        ListField::PartitionStats,
        "_PARTITION_STATS",
        Expect::Record,
    ),
    field(ListField::SchemaId, "_SCHEMA_ID", Expect::Long),
    optional_field(ListField::MinBucket, "_MIN_BUCKET", Expect::Int),
    optional_field(ListField::MaxBucket, "_MAX_BUCKET", Expect::Int),
    optional_field(ListField::MinLevel, "_MIN_LEVEL", Expect::Int),
    optional_field(ListField::MaxLevel, "_MAX_LEVEL", Expect::Int),
    optional_field(ListField::MinRowId, "_MIN_ROW_ID", Expect::Long),
    optional_field(ListField::MaxRowId, "_MAX_ROW_ID", Expect::Long),
];

/// Writes a manifest list. Without lines it is a header alone, as Java's is.
///
/// # Errors
/// The codec failed.
pub fn encode(manifests: &[ManifestFileMeta], codec: AvroCodec) -> Result<Vec<u8>> {
    let with_row_ids = manifests
        .iter()
        .any(|meta| meta.min_row_id.is_some() || meta.max_row_id.is_some());
    let mut writer = ContainerWriter::new(
        if with_row_ids {
            LIST_SCHEMA_2_1
        } else {
            LIST_SCHEMA
        },
        codec,
    )?;
    for meta in manifests {
        writer.append(|out| put_meta(out, meta, with_row_ids))?;
    }
    Ok(writer.finish()?)
}

fn put_meta(out: &mut Vec<u8>, meta: &ManifestFileMeta, with_row_ids: bool) {
    put::int(out, LIST_VERSION);
    put::string(out, &meta.file_name);
    put::long(out, meta.file_size);
    put::long(out, meta.num_added_files);
    put::long(out, meta.num_deleted_files);
    put_stats(out, &meta.partition_stats);
    put::long(out, meta.schema_id.0);
    for bound in [
        meta.min_bucket,
        meta.max_bucket,
        meta.min_level,
        meta.max_level,
    ] {
        put::optional(out, bound, put::int);
    }
    if with_row_ids {
        put::optional(out, meta.min_row_id, put::long);
        put::optional(out, meta.max_row_id, put::long);
    }
}

/// Reads a manifest list, in file order.
///
/// # Errors
/// The bytes are no manifest list of version 2, or are torn.
pub fn decode(bytes: &[u8]) -> Result<Vec<ManifestFileMeta>> {
    let mut reader = ContainerReader::open(bytes)?;
    let mut lines = LineReader::new(reader.schema_text())?;
    let mut block = Vec::new();
    let mut manifests = Vec::new();
    while let Some(count) = reader.next_block(&mut block)? {
        let mut cursor = Cursor::new(&block);
        for _ in 0..count {
            manifests.push(lines.read(&mut cursor)?);
        }
        expect_block_end(&cursor)?;
    }
    Ok(manifests)
}

/// Reads the lines of one list.
struct LineReader {
    record: RecordPlan<ListField>,
    stats: StatsPlan,
    skips: SkipTable,
    rows: RowReader,
    counts: LatestCounts,
    latest: Vec<u8>,
}

impl LineReader {
    fn new(schema_text: &[u8]) -> Result<Self> {
        let schema = WriterSchema::parse(schema_text)?;
        let skips = SkipTable::new(&schema);
        let root = root_record(&schema)?;
        Ok(Self {
            record: RecordPlan::compile(&schema, &skips, root, &LIST_FIELDS)?,
            stats: StatsPlan::compile(&schema, &skips, root, "_PARTITION_STATS")?,
            skips,
            rows: RowReader::new(),
            counts: LatestCounts::default(),
            latest: vec![],
        })
    }

    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<ManifestFileMeta> {
        let mut meta = ManifestFileMeta {
            file_name: String::new(),
            file_size: 0,
            num_added_files: 0,
            num_deleted_files: 0,
            partition_stats: self.rows.no_stats(),
            schema_id: SchemaId(0),
            min_bucket: None,
            max_bucket: None,
            min_level: None,
            max_level: None,
            min_row_id: None,
            max_row_id: None,
        };
        // A column this build does not know can only be one more bound, and a bound that is not there is unknown.
        let mut carries_unknown = false;
        for step in &self.record.steps {
            let (field, value) = match step {
                Step::Read { field, value } => (*field, value),
                Step::Pass { skip, optional } => {
                    pass_unknown(&self.skips, skip, *optional, cursor)?;
                    continue;
                }
            };
            match field {
                ListField::Version => check_version(value.int(cursor)?, LIST_VERSION, WHAT)?,
                ListField::FileName => meta.file_name = value.string(cursor)?.to_owned(),
                ListField::FileSize => meta.file_size = value.long(cursor)?,
                ListField::Added => meta.num_added_files = value.long(cursor)?,
                ListField::Deleted => meta.num_deleted_files = value.long(cursor)?,
                ListField::PartitionStats => {
                    value.require(cursor)?;
                    let view = self.stats.view(
                        &self.skips,
                        cursor,
                        &mut self.latest,
                        &mut carries_unknown,
                    )?;
                    meta.partition_stats = self.stats.read(&view, &self.rows, &mut self.counts)?;
                }
                ListField::SchemaId => meta.schema_id = SchemaId(value.long(cursor)?),
                ListField::MinBucket => meta.min_bucket = value.optional_int(cursor)?,
                ListField::MaxBucket => meta.max_bucket = value.optional_int(cursor)?,
                ListField::MinLevel => meta.min_level = value.optional_int(cursor)?,
                ListField::MaxLevel => meta.max_level = value.optional_int(cursor)?,
                ListField::MinRowId => meta.min_row_id = value.optional_long(cursor)?,
                ListField::MaxRowId => meta.max_row_id = value.optional_long(cursor)?,
            }
        }
        if meta.file_name.is_empty()
            || meta.file_size < 0
            || meta.num_added_files < 0
            || meta.num_deleted_files < 0
        {
            return Err(FormatError::corrupt(
                WHAT,
                "a line has no file name, or a negative size or count",
            ));
        }
        Ok(meta)
    }
}
